"""Text from files as it is printed: nothing in it moves the cursor, hides, or turns the line around.

A tensor's name, a symbol or a path can hold anything. Whoever prints for people prints through `escaped`,
whoever prints JSON through `escaped_json`.
"""

from __future__ import annotations

import json
import re
from unicodedata import category, is_normalized

HIDDEN = re.compile("[\u115f-\u11ff\u2800\u3164\uffa0\U0001d159]")
"""What Python calls printable, and is drawn as nothing or, in Korean, as a part of the syllable before it."""


def escaped(text: str) -> str:
    r"""The text on one line, with every character that is not seen by itself as its escape.

    These are the control characters, line breaks among them, what changes the direction of text, has no
    width or no meaning (the characters that Python does not call printable, but for the blank), what is drawn
    as nothing, what is drawn onto another character, and the second codes of a character that has two, as the
    Kelvin sign is a K. (Letters of other scripts that look like these are printed as they are.)

    >>> escaped("\x1b[2J PROVED\r\n\u202e\x9b")
    '\\x1b[2J PROVED\\r\\n\\u202e\\x9b'
    >>> escaped("a\u0301 is not \xe1, and here is \u3164")
    'a\\u0301 is not á, and here is \\u3164'
    """
    return text if _is_seen(text) else "".join(map(_escaped_character, text))


def _is_seen(text: str) -> bool:
    """Whether each character is drawn by itself, and has no other code."""
    if text.isascii() or not text.isprintable():
        return text.isprintable()
    others = (category(c) in {"Mn", "Me"} or not is_normalized("NFC", c) for c in text)
    return not HIDDEN.search(text) and not any(others)


def _escaped_character(character: str) -> str:
    return character if _is_seen(character) else character.encode("unicode_escape").decode("ascii")


def escaped_json(record: object) -> str:
    r"""The record as JSON on one line; what is not seen by itself stands in its texts as \uXXXX.

    >>> escaped_json({"word": ["\x7f", "\x9b", "\U000e0001"]})
    '{"word": ["\\u007f", "\\u009b", "\\udb40\\udc01"]}'
    """
    text = json.dumps(record, ensure_ascii=False)
    if _is_seen(text):
        return text
    return "".join(c if _is_seen(c) else _escaped_units(c) for c in text)


def _escaped_units(character: str) -> str:
    r"""The character in JSON's spelling: \uXXXX for each of its 16-bit units."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))
