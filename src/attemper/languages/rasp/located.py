"""Errors that point at their place in a text, and lark's complaints in our words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from lark import Token
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from attemper.errors import AttemperError, SourceError, UnsupportedError
from attemper.languages.rasp.syntax import RESERVED, Location

NEAREST = "nearest rightmost[j <= i : p(j), x(j) ~ y(i)] v"
"""How a nearest Integer is asked for."""


def mistake(message: str, text: str, place: Location, *expected: str) -> SourceError:
    """What is wrong at the place, with a caret under it."""
    return SourceError(message, text=text, line=place.line, column=place.column, expected=expected)


def unsupported(message: str, text: str, place: Location) -> UnsupportedError:
    """What is meaningful but not built, with a caret under it."""
    located = mistake(message, text, place)
    return UnsupportedError(message, located.place, **located.details)


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """The known name that is spelt most like this one, if any is; one end of it is right."""
    alike = [one for one in known if one[:1] == name[:1] or one[-1:] == name[-1:]]
    return next(iter(get_close_matches(name, alike, n=1, cutoff=0.7)), None)


def in_our_words(error: UnexpectedInput, text: str, line: int) -> AttemperError:
    """lark's complaint about the line of that number."""
    source = text.split("\n")[line - 1]
    if isinstance(error, UnexpectedCharacters):
        column = (error.pos_in_stream or 0) + 1
        return _unknown(source[column - 1 :], text, Location(line, column), _expected(error.allowed))
    assert isinstance(error, UnexpectedToken)
    history = [token for token in error.token_history or [] if token is not None]
    expected = _expected(error.accepts or error.expected)
    if error.token.type == "$END":
        return mistake("the line ends too early", text, Location(line, len(source.rstrip()) + 1), *expected)
    place = Location(line, error.token.column or 1)
    if history and (meant := _meant(history[-1], text)):
        before = Location(line, history[-1].column or 1)
        return mistake(f"unknown name '{history[-1].value[:40]}': did you mean {meant}?", text, before)
    return mistake(_unexpected(error.token, history), text, place, *expected)


def _unknown(rest: str, text: str, place: Location, expected: tuple[str, ...]) -> AttemperError:
    if rest[:1] in {"'", '"'}:
        return mistake("a quotation mark is not closed", text, place)
    found = re.match(r"[A-Za-z_0-9]+|.", rest)
    return mistake(f"unexpected {found.group()[:40] if found else rest[:1]!r}", text, place, *expected)


def _meant(before: Token, text: str) -> str | None:
    """The word of the language for which a name was written, if what follows it cannot follow a name."""
    name = before.value
    if before.type != "NAME" or re.search(rf"^\s*{name}\s*=", text, re.MULTILINE):
        return None
    return nearest_name(name, RESERVED)


def _unexpected(token: Token, history: list[Token]) -> str:
    before = history[-1] if history else None
    if before is not None and before.value == "in":
        return f"symbols of the word stand in quotes: in '{token.value}'"
    if token.type == "PERCENT":
        return "'%' speaks of one integer: put a sum in round brackets, (s + t) % 2 = 1"
    if token.type == "STAR":
        return "a product is a number times an integer, with the number first: 2 * x"
    if token.value == "~":
        return f"'~' stands only in nearest, behind a comma if there is a condition: {NEAREST}"
    if before is not None and before.value == "nearest":
        return f"behind 'nearest' stands 'rightmost' or 'leftmost': {NEAREST}"
    if token.value == "[":
        return "'[' stands only behind some, every, count, rightmost and leftmost"
    if token.value in {")", "]"}:
        return f"'{token.value}' closes nothing, or comes too early"
    return f"'{token.value[:40]}' cannot stand here"


_STARTS = frozenset({"NAME", "LPAR", "TRUTH", "QUANTIFIER"})
_WORDS = {
    "$END": "the end of the line",
    "AT": "(i) or (j)",
    "COLON": ":",
    "COMMA": "a comma",
    "DIVISOR": "pos, len or visible",
    "ELSE": "else",
    "END": "first or last",
    "EQUALS": "=",
    "INTEGER": "an integer",
    "LSQB": "[",
    "PERCENT": "%",
    "PROBABILITY": "a probability, such as 1/3 or 0.25",
    "QMARK": "?",
    "QUOTED": "a symbol in quotes",
    "RBRACE": "}",
    "RELATION": "a comparison (<= < >= > = !=)",
    "RPAR": ")",
    "RSQB": "]",
    "TILDE": "~",
    "VERDICT": "accept or reject",
}


def _expected(terminals: Iterable[str] | None) -> tuple[str, ...]:
    """A few words for what could stand here."""
    names = set(terminals or ())
    words: list[str] = []
    if names >= _STARTS:
        words.append("an expression")
        names -= {"END", "INTEGER", "QUOTED"}
    if "MASK" in names:
        words.append("which j are seen: j <= i, j < i, j >= i, j > i or all")
    if "AMPERSAND" in names:
        words.append("an operator (& | xor -> ? + -)")
    if "RELATION" in names:
        names.discard("EQUALS")
    words.extend(_WORDS[name] for name in sorted(names) if name in _WORDS)
    return tuple(dict.fromkeys(words))
