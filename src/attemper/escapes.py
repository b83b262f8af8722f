"""Text from files as it is printed: nothing in it moves the cursor, hides, or turns the line around.

A tensor's name, a symbol or a path can hold anything. Whoever prints for people prints through `escaped`,
whoever prints JSON through `escaped_json`.
"""

from __future__ import annotations

import json


def escaped(text: str) -> str:
    r"""The text on one line, with every character that is not printable as its escape.

    These are the control characters, line breaks among them, and what changes the direction of text, has no
    width or no meaning. (The characters that Python does not call printable, but for the blank.)

    >>> escaped("\x1b[2J PROVED\r\n\u202e\x9b")
    '\\x1b[2J PROVED\\r\\n\\u202e\\x9b'
    """
    return text if text.isprintable() else "".join(map(_escaped_character, text))


def _escaped_character(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def escaped_json(record: object) -> str:
    r"""The record as JSON on one line; what is not printable stands in its texts as \uXXXX.

    >>> escaped_json({"word": ["\x7f", "\x9b", "\U000e0001"]})
    '{"word": ["\\u007f", "\\u009b", "\\udb40\\udc01"]}'
    """
    text = json.dumps(record, ensure_ascii=False)
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escaped_units(c) for c in text)


def _escaped_units(character: str) -> str:
    r"""The character in JSON's spelling: \uXXXX for each of its 16-bit units."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))
