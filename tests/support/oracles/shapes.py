"""The shapes that FORMAT.md writes down in its indented lines, and JSON as its one rule has it.

Nothing here imports attemper: the lines are parsed, and a file has the shape that they say, or it has not.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from math import gcd
from pathlib import Path
from typing import Any

FORMAT = Path(__file__).parents[3] / "src" / "attemper" / "certificates" / "FORMAT.md"

NESTED = 200
"""So many lists and objects may stand one inside the other."""

FORMATS = {
    0: "network",
    1: "certificate",
    8: "refutation",
    9: "limit",
    10: "approximation",
    12: "depth",
    14: "stream",
}
"""The files by the sections that begin with them."""

SECTIONS = (*FORMATS, 3, 11)

SAID_IN_WORDS = {(1, "earlier"): "natural", (1, "formula"): "[node, ...]", (3, "ref"): "natural"}
"""Kinds that the text explains beside the lines, by section."""


class MisshapenError(Exception):
    """This is no JSON of the one rule, or has another shape."""


@dataclass(frozen=True)
class Name:
    """A kind by its name, as it is meant in a section."""

    name: str
    section: int


@dataclass(frozen=True)
class Quoted:
    """The text that must stand there."""

    text: str


@dataclass(frozen=True)
class Several:
    """A list of any length."""

    each: Kind


@dataclass(frozen=True)
class Just:
    """A list of so many."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Tagged:
    """A list of a tag and fields; None stands for those that the class has elsewhere."""

    tag: str
    fields: tuple[tuple[str, Kind], ...] | None


@dataclass(frozen=True)
class Entries:
    """An object."""

    fields: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class Either:
    """One of several kinds."""

    kinds: tuple[Kind, ...]


Kind = Name | Quoted | Several | Just | Tagged | Entries | Either


def read_json(data: bytes) -> Any:
    """JSON in UTF-8 without a key twice, and nested no deeper than the rule allows."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as wrong:
        raise MisshapenError("no JSON") from wrong
    level = [value]
    for _ in range(NESTED + 1):
        level = [part for one in level if isinstance(one, list | dict) for part in _inside(one)]
    if any(isinstance(one, list | dict) for one in level):
        raise MisshapenError("nested too deeply")
    return value


def require(name: str, value: Any, section: int) -> None:
    """The value is of a kind that a section names, such as `network`; else `MisshapenError`."""
    waiting: list[tuple[Kind, Any]] = [(Name(name, section), value)]
    while waiting:
        kind, value = waiting.pop()
        chosen = [own for own in _kinds(kind) if _fits(own, value)]
        if not chosen:
            raise MisshapenError(f"{str(value)[:80]} is no {str(kind)[:200]}")
        (own,) = chosen
        waiting += _parts(own, value)


def is_of(name: str, value: Any, section: int) -> bool:
    """Whether a value is of a kind that a section names."""
    try:
        require(name, value, section)
    except MisshapenError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise MisshapenError("a key twice")
    return dict(pairs)


def _no_number(name: str) -> Any:
    raise MisshapenError(name)


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value


# Values of a kind ---------------------------------------------------------------------------------------


def _is_integer(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def _is_rational(value: Any, digits: int) -> bool:
    if not isinstance(value, str) or not re.fullmatch(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?", value):
        return False
    above, _, below = value.removeprefix("-").partition("/")
    if max(len(above), len(below)) > digits or value == "-0":
        return False
    return not below or (below != "1" and gcd(int(above), int(below)) == 1)


FLOAT = r"-?(0x1\.[0-9a-f]{13}|0x0\.(0|[0-9a-f]{13}))p[+-](0|[1-9][0-9]*)|-?inf|nan"

BUILT_IN = {
    "null": lambda value: value is None,
    "text": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "natural": lambda value: _is_integer(value, 0, 2**63 - 1),
    "positive": lambda value: _is_integer(value, 1, 2**63 - 1),
    "integer": lambda value: _is_integer(value, -(10**11), 10**11),
    "rational": lambda value: _is_rational(value, 40),
    "number": lambda value: _is_rational(value, 1000),
    "float": lambda value: isinstance(value, str) and re.fullmatch(FLOAT, value) is not None,
}
"""The kinds of the one rule that are no classes and no lists."""


def _kinds(kind: Kind) -> list[Kind]:
    """The kinds that are no names of others, of which one is meant."""
    match kind:
        case Either(kinds):
            return [own for one in kinds for own in _kinds(one)]
        case Name(name, section) if name not in BUILT_IN:
            return _kinds(_written()[_meant(name, section)])
        case Tagged(tag, None):
            return [_by_tag()[tag]]
        case _:
            return [kind]


def _fits(kind: Kind, value: Any) -> bool:
    """Whether the value looks like that from outside: what is in it is another question."""
    match kind:
        case Name(name, _):
            return BUILT_IN[name](value)
        case Quoted(text):
            return isinstance(value, str) and value == text
        case Several():
            return isinstance(value, list)
        case Just(kinds):
            return isinstance(value, list) and len(value) == len(kinds)
        case Entries(fields):
            return isinstance(value, dict) and set(value) == {name for name, _ in fields}
        case Tagged(tag, fields):
            assert fields is not None
            return isinstance(value, list) and value[:1] == [tag] and len(value) == len(fields) + 1
        case _:
            raise AssertionError(kind)


def _parts(kind: Kind, value: Any) -> list[tuple[Kind, Any]]:
    match kind:
        case Several(each):
            return [(each, one) for one in value]
        case Just(kinds):
            return list(zip(kinds, value, strict=True))
        case Entries(fields):
            return [(own, value[name]) for name, own in fields]
        case Tagged(_, fields):
            assert fields is not None
            return [(own, one) for (_, own), one in zip(fields, value[1:], strict=True)]
        case _:
            return []


# The lines ----------------------------------------------------------------------------------------------


def _meant(name: str, section: int) -> tuple[int, str]:
    """What a section means by a name: its own kind, or else that of the first section that has one."""
    if (section, name) in _written():
        return section, name
    return next(key for key in sorted(_written()) if key[1] == name)


@cache
def _by_tag() -> dict[str, Tagged]:
    """Each class that is written as a list, where its fields stand."""
    found: dict[str, Tagged] = {}
    for kind in _written().values():
        for own in kind.kinds if isinstance(kind, Either) else (kind,):
            if isinstance(own, Tagged) and own.fields is not None:
                assert own.tag not in found, f"{own.tag} is written twice"
                found[own.tag] = own
    return found


@cache
def _written() -> dict[tuple[int, str], Kind]:
    """Every kind of FORMAT.md by its section and name; a file's by the name in its format."""
    found = {key: _parsed(text, key[0]) for key, text in SAID_IN_WORDS.items()}
    section, name, texts = -1, "", dict[tuple[int, str], str]()
    for line in FORMAT.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = int(line[3:].partition(".")[0])
        elif section not in SECTIONS or not line.startswith("    "):
            continue
        elif line.startswith("    {format: "):
            texts[section, FORMATS[section]] = line
        elif line.strip().startswith("| "):
            texts[section, name] += line
        else:
            name, _, text = line.strip().partition(" ")
            assert (section, name) not in texts
            texts[section, name] = text
    return found | {key: _parsed(text, key[0]) for key, text in texts.items()}


def _parsed(text: str, section: int) -> Kind:
    tokens = re.findall(r'"[^"]*"|\.\.\.|\w+|\S', text)
    tokens.append("")
    kind = _Parser(tokens, section).kind()
    assert tokens == [""], f"{text}: {tokens}"
    return kind


class _Parser:
    """Takes tokens from the front of a list."""

    def __init__(self, tokens: list[str], section: int) -> None:
        self.tokens, self.section = tokens, section

    def kind(self) -> Kind:
        kinds = [self._one()]
        while self._takes("|"):
            kinds.append(self._one())
        return kinds[0] if len(kinds) == 1 else Either(tuple(kinds))

    def _takes(self, token: str) -> bool:
        if self.tokens[0] != token:
            return False
        self.tokens.pop(0)
        return True

    def _one(self) -> Kind:
        token = self.tokens.pop(0)
        match token:
            case "{":
                return Entries(self._fields("}"))
            case "[":
                return self._list()
            case _ if token.startswith('"'):
                return Quoted(token[1:-1])
            case _:
                assert re.fullmatch(r"\w+", token), token
                return Name(token, self.section)

    def _list(self) -> Kind:
        if self.tokens[0].startswith('"'):
            tag = self.tokens.pop(0)[1:-1]
            if self._takes("]"):
                return Tagged(tag, ())
            assert self._takes(",")
            if self._takes("..."):
                assert self._takes("]")
                return Tagged(tag, None)
            return Tagged(tag, self._fields("]"))
        kinds = [self.kind()]
        while self._takes(","):
            if self._takes("..."):
                assert self._takes("]")
                (each,) = kinds
                return Several(each)
            kinds.append(self.kind())
        assert self._takes("]")
        return Just(tuple(kinds))

    def _fields(self, end: str) -> tuple[tuple[str, Kind], ...]:
        fields = []
        while True:
            name = self.tokens.pop(0)
            assert self._takes(":"), name
            fields.append((name, self.kind()))
            if self._takes(end):
                return tuple(fields)
            assert self._takes(","), name
