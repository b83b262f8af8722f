"""The shapes of all files, read from the grammar in FORMAT.md: a second reader, which shares nothing.

FORMAT.md says of each format its classes, in indented lines such as `gap {by: by, gap: monomial}`. Here those
lines are parsed, and JSON data are held against them. What FORMAT.md says in sentences (lengths of at most
2^40, forms of a total degree of at most 64) is not read, but for the order of accepting states and of nodes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

Shape = tuple[Any, ...]
"""A name or a text; one of several, or a row of shapes; a list; a tagged list, or its tag; an object."""

TOKEN = re.compile(r'\s*("[^"]*"|[A-Za-z_]+|\.\.\.|[\[\]{}:,|])')


@dataclass(frozen=True)
class Grammar:
    """The rules of one format: its own section's first, then those of all others."""

    top: Shape
    rules: dict[str, Shape]
    tagged: dict[str, Shape]

    def fits(self, data: Any, kind: str = "") -> bool:
        """Whether data have the shape of a file of the format, or that of a kind in it, such as `program`."""
        return self._fits(("name", kind) if kind else self.top, data)

    def _fits(self, shape: Shape, data: Any) -> bool:
        match shape:
            case ("text", wanted):
                return isinstance(data, str) and data == wanted
            case ("one of", shapes):
                return any(self._fits(each, data) for each in shapes)
            case ("list", inner):
                return isinstance(data, list) and all(self._fits(inner, each) for each in data)
            case ("row", shapes):
                return (
                    isinstance(data, list) and len(data) == len(shapes) and all(map(self._fits, shapes, data))
                )
            case ("tagged", tag, shapes):
                return (
                    isinstance(data, list)
                    and len(data) == len(shapes) + 1
                    and data[0] == tag
                    and all(map(self._fits, shapes, data[1:]))
                    and (tag != "dfa" or data[-1] == sorted(set(data[-1])))  # accepting states ascend
                )
            case ("see", tag):
                return self._fits(self.tagged[tag], data)
            case ("object", entries):
                return (
                    isinstance(data, dict)
                    and data.keys() == entries.keys()
                    and all(self._fits(each, data[name]) for name, each in entries.items())
                )
            case ("name", "formula"):
                return self._is_formula(data)
            case ("name", name) if name in self.rules:
                return self._fits(self.rules[name], data)
            case ("name", name):
                return _is_plain(name, data)
        raise AssertionError(shape)

    def _is_formula(self, data: Any) -> bool:
        """A list of different nodes that name earlier ones; each is named but for the last."""
        if not isinstance(data, list) or not data:
            return False
        if not all(self._fits(self.rules["node"], node) for node in data):
            return False
        named = [number for node in data for number in _parts(node)]
        return (
            all(part < index for index, node in enumerate(data) for part in _parts(node))
            and set(named) == set(range(len(data) - 1))
            and len({repr(node) for node in data}) == len(data)
            and _in_order(data)
        )


def _parts(node: Any) -> list[int]:
    """The numbers of the nodes that a node names, from left to right."""
    match node:
        case ["unary", _, part]:
            return [part]
        case ["binary", _, left, right]:
            return [left, right]
        case ["comparison", _, left, right]:
            return [*_counted(left), *_counted(right)]
        case ["numerical", _, term]:
            return _counted(term)
        case _:
            return []


def _counted(term: Any) -> list[int]:
    return [atom[2] for _, atom in term["parts"] if atom[0] == "count atom"]


def _in_order(nodes: list[Any]) -> bool:
    """Whether each node stands where it is met first, operands first and from left to right."""
    met: list[int] = []
    waiting = [(len(nodes) - 1, False)]
    seen = set[int]()
    while waiting:
        index, is_done = waiting.pop()
        if is_done:
            met.append(index)
        elif index not in seen:
            seen.add(index)
            waiting.append((index, True))
            waiting.extend((part, False) for part in reversed(_parts(nodes[index])))
    return met == sorted(met)


def _is_plain(name: str, data: Any) -> bool:
    match name:
        case "null":
            return data is None
        case "text":
            return isinstance(data, str)
        case "bool":
            return isinstance(data, bool)
        case "natural" | "ref" | "earlier":
            return type(data) is int and 0 <= data < 2**63
        case "positive":
            return type(data) is int and 0 < data < 2**63
        case "integer":
            return type(data) is int and abs(data) <= 10**11
        case "float":
            return isinstance(data, str) and _is_hexadecimal(data)
        case "rational":
            return _is_lowest(data, 40)
        case "number":
            return _is_lowest(data, 1000)
    raise AssertionError(f"FORMAT.md does not say what '{name}' is")


def _is_hexadecimal(text: str) -> bool:
    try:
        return float.fromhex(text).hex() == text
    except (ValueError, OverflowError):
        return False


def _is_lowest(data: Any, digits: int) -> bool:
    if not isinstance(data, str) or not re.fullmatch("-?[0-9]+(/[0-9]+)?", data, re.ASCII):
        return False
    above, _, below = data.removeprefix("-").partition("/")
    if max(len(above), len(below)) > digits or below.strip("0") == "" != below:
        return False
    return str(Fraction(data)) == data


# Reading FORMAT.md -----------------------------------------------------------------------------------


@cache
def grammars(path: Path) -> dict[str, Grammar]:
    """The grammar of each format, by its name and number."""
    sections = [_lines(text) for text in re.split(r"(?m)^## ", path.read_text(encoding="utf-8"))]
    parsed = [[(name, _shape(text)) for name, text in lines] for lines in sections]
    common: dict[str, Shape] = {}
    for rules in parsed:
        for name, shape in rules:
            common.setdefault(name, shape)
    tagged: dict[str, Shape] = {}
    for rules in parsed:
        for _, shape in rules:
            for own in _tagged_in(shape):
                tagged.setdefault(own[1], own)
    found: dict[str, Grammar] = {}
    for rules in parsed:
        for name, shape in rules:
            if name.startswith("attemper-"):
                found[name] = Grammar(shape, {**common, **dict(rules)}, tagged)
    return found


def _lines(text: str) -> list[tuple[str, str]]:
    """The rules of a section: names and what stands behind them; of a format, its name and number."""
    rules: list[tuple[str, str]] = []
    for line in text.splitlines():
        top = re.match(r'    (\{format: "(attemper-[a-z]+/[0-9]+)".*)', line)
        rule = re.match(r"    ([a-z]+) +([\[{\"a-z].*)", line)
        more = re.match(r"     +\| (.*)", line)
        if top:
            rules.append((top[2], top[1]))
        elif rule:
            rules.append((rule[1], rule[2]))
        elif more and rules:
            rules[-1] = (rules[-1][0], f"{rules[-1][1]} | {more[1]}")
    return rules


def _shape(text: str) -> Shape:
    tokens = TOKEN.findall(text)
    shape, rest = _alternatives(tokens)
    assert not rest, (text, rest)
    return shape


def _alternatives(tokens: list[str]) -> tuple[Shape, list[str]]:
    shape, rest = _one(tokens)
    shapes = [shape]
    while rest[:1] == ["|"]:
        shape, rest = _one(rest[1:])
        shapes.append(shape)
    return (shapes[0] if len(shapes) == 1 else ("one of", tuple(shapes))), rest


def _one(tokens: list[str]) -> tuple[Shape, list[str]]:
    first, rest = tokens[0], tokens[1:]
    if first == "{":
        entries, rest = _fields(rest, "}")
        return ("object", dict(entries)), rest
    if first != "[":
        return (("text", first[1:-1]) if first[0] == '"' else ("name", first)), rest
    if rest[0][0] == '"' and rest[1] in {",", "]"}:
        return _tagged(rest)
    shapes: list[Shape] = []
    while True:
        shape, rest = _alternatives(rest)
        shapes.append(shape)
        if rest[:3] == [",", "...", "]"]:
            assert len(shapes) == 1
            return ("list", shape), rest[3:]
        if rest[0] == "]":
            return ("row", tuple(shapes)), rest[1:]
        rest = rest[1:]


def _tagged(tokens: list[str]) -> tuple[Shape, list[str]]:
    tag, rest = tokens[0][1:-1], tokens[1:]
    if rest[:3] == [",", "...", "]"]:
        return ("see", tag), rest[3:]
    if rest[0] == "]":
        return ("tagged", tag, ()), rest[1:]
    entries, rest = _fields(rest[1:], "]")
    return ("tagged", tag, tuple(shape for _, shape in entries)), rest


def _fields(tokens: list[str], end: str) -> tuple[list[tuple[str, Shape]], list[str]]:
    entries: list[tuple[str, Shape]] = []
    while True:
        name, colon, *rest = tokens
        assert colon == ":", tokens
        shape, rest = _alternatives(rest)
        entries.append((name, shape))
        if rest[0] == end:
            return entries, rest[1:]
        tokens = rest[1:]


def _tagged_in(shape: Any) -> list[Shape]:
    if isinstance(shape, dict):
        return [found for each in shape.values() for found in _tagged_in(each)]
    if not isinstance(shape, tuple):
        return []
    own = [shape] if shape[:1] == ("tagged",) else []
    return own + [found for each in shape for found in _tagged_in(each)]
