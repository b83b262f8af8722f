"""Frozen data classes as JSON data and back, by their annotations: the one rule of every file (FORMAT.md).

    bool, int, str, None      as they are; an integer has at most 63 bits
    Fraction                  the text p or p/q, in lowest terms
    float                     its text in hexadecimal
    StrEnum, Literal          one of its texts
    tuple, frozenset          a list; of a set, ascending
    a data class              an object with an entry for each field; of a single field, what that field is
    one of several classes    a list: the name of the class in small letters, then its fields in their order

Numbers may be kept `Within` limits. What is `SHARED` is the list of its distinct parts, each after its own,
which it names by number. Nothing is read that is not written: what was read is written again and compared.
A new format is a data class; a new kind of field is one more case of `_rule`.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from types import UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    TypeVar,
    Union,
    final,
    get_args,
    get_origin,
    get_type_hints,
)

from attemper.errors import AttemperError

Value = TypeVar("Value")

DEEPEST = 200
"""At most so many lists and objects stand one inside the other."""

LARGEST = 2**63 - 1

MOST_SHOWN = 80
"""So many characters of other data are shown."""


class CodecError(ValueError):
    """Data that are no value of the kind: the path to what is wrong, and what is."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path = ""

    def inside(self, step: int | str) -> CodecError:
        """The same error, seen from the list or the object around it, in which it stands at that place."""
        self.path = f"[{step}]{self.path}" if isinstance(step, int) else f".{step}{self.path}"
        return self

    def __str__(self) -> str:
        path = self.path.removeprefix(".")
        return f"{path}: {self.args[0]}" if path else str(self.args[0])


@final
@dataclass(frozen=True)
class Within:
    """Which numbers a field holds: from least to most; of a fraction p/q, with how many digits."""

    least: int | None = None
    most: int | None = None
    digits: int = 1_000

    def has(self, number: int | Fraction) -> bool:
        """Whether the number lies between the limits."""
        return (self.least is None or self.least <= number) and (self.most is None or number <= self.most)


@final
@dataclass(frozen=True)
class SharedParts:
    """The mark of what is written as the list of its distinct parts."""


SHARED = SharedParts()

Natural = Annotated[int, Within(0, LARGEST)]
"""A number from 0 on."""

Positive = Annotated[int, Within(1, LARGEST)]
"""A number from 1 on."""

LONGEST = 2**40
"""Longer words than this are nobody's."""

WordLength = Annotated[int, Within(1, LONGEST)]
"""How many symbols a word has."""

Ordinary = Annotated[int, Within(-(10**11), 10**11)]
"""An integer of a closed form, a formula or a program: arguments of tests fit 64 bits for i up to 10^7."""

Rational = Annotated[Fraction, Within(digits=40)]
"""A number of a network or a program."""

NotNegative = Annotated[Fraction, Within(0)]
"""A number from 0 on."""


@final
class Codec(Generic[Value]):
    """Writes and reads the values of one kind: of a class, or of the union of several.

    >>> limits: Codec[Within] = Codec(Within)
    >>> limits.encode(Within(0, 5))
    {'least': 0, 'most': 5, 'digits': 1000}
    >>> limits.read({"least": 0, "most": "5", "digits": 1000})
    Traceback (most recent call last):
    attemper.exact.codec.CodecError: most: expected an integer, not '5'
    """

    def __init__(self, kind: object) -> None:
        self.kind = kind

    def encode(self, value: Value) -> Any:
        """The value as JSON data."""
        return _rule(self.kind).write(value, WrittenParts())

    def read(self, data: object) -> Value:
        """The value that is written as the data; raises `CodecError`."""
        rule = _rule(self.kind)
        value: Value = rule.read(data, DEEPEST, ())
        if rule.write(value, WrittenParts()) != data:
            raise CodecError("it is not written in the one way that it has")
        return value


INTEGER: Codec[int] = Codec(Ordinary)
RATIONAL: Codec[Fraction] = Codec(Rational)


@final
@dataclass
class WrittenParts:
    """The numbers of the parts that are written, and those that must be written before what has them."""

    numbers: dict[Any, int] = field(default_factory=dict)
    missing: list[Any] = field(default_factory=list)


@final
@dataclass(frozen=True)
class FieldRule:
    """How values of one kind are written and read.

    `write` is told which parts are written, `read` how deep it may go and the parts so far.
    """

    expected: str
    write: Callable[[Any, WrittenParts], Any]
    read: Callable[[object, int, Sequence[Any]], Any]

    def refused(self, data: object) -> CodecError:
        """What is said of other data."""
        return CodecError(f"expected {self.expected}, not {_shown(data)}")


def _shown(data: object) -> str:
    """The beginning of data."""
    try:
        text = reprlib.repr(data)
    except ValueError:  # Python writes no number of thousands of digits
        return "data with a number of thousands of digits"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


@cache
def _rule(kind: Any, part: Any = None) -> FieldRule:
    """The rule of an annotation; inside of what is shared, `part` is the kind of its numbered parts."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind == part:
        return _numbered()
    if origin is Annotated and inner[1] == SHARED:
        return _shared(inner[0])
    if origin is Annotated:
        return _number(*inner)
    if origin is Literal:
        return _text(inner, str)
    if origin in {Union, UnionType}:
        return _union(inner, part)
    if origin is frozenset:
        return _set(_rule(inner[0], part))
    if origin is tuple:
        is_list = inner[1:] == (...,)
        return _list(_rule(inner[0], part)) if is_list else _row([_rule(each, part) for each in inner])
    if is_dataclass(kind):
        return _class(kind, part)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _text([str(each) for each in kind], kind)
    return _number(kind, Within(-LARGEST, LARGEST)) if kind is int else _plain(kind)


# What has no parts -----------------------------------------------------------------------------------


def _plain(kind: Any) -> FieldRule:
    """True and false, texts and null as they are; fractions and floats as texts."""
    if kind is Fraction:
        return _number(kind, Within())
    if kind is float:
        return FieldRule(
            "a number in hexadecimal", lambda value, _: value.hex(), lambda data, *_: _float(data)
        )
    names = {bool: "true or false", str: "a text", type(None): "null"}

    def read(data: object, _: int, __: Sequence[Any]) -> Any:
        if type(data) is not kind:
            raise rule.refused(data)
        return data

    rule = FieldRule(names[kind], lambda value, _: value, read)
    return rule


def _float(data: object) -> float:
    with suppress(ValueError, OverflowError):
        if isinstance(data, str) and (number := float.fromhex(data)).hex() == data:
            return number
    raise CodecError(f"expected a number in hexadecimal, not {_shown(data)}")


def _number(kind: Any, limits: Within) -> FieldRule:
    def read_integer(data: object, _: int, __: Sequence[Any]) -> Any:
        if type(data) is not int or not limits.has(data):
            raise rule.refused(data)
        return data

    def read_fraction(data: object, _: int, __: Sequence[Any]) -> Any:
        if not isinstance(data, str) or not shape.fullmatch(data):
            raise rule.refused(data)
        number = Fraction(data)
        if str(number) != data or not limits.has(number):
            raise rule.refused(data)
        return number

    more = f"[0-9]{{0,{limits.digits - 1}}}"
    shape = re.compile(f"-?(0|[1-9]{more})(/[1-9]{more})?")

    ends = (("from", limits.least), ("to", limits.most))
    sides = [f"{name} {end}" for name, end in ends if end is not None and abs(end) < LARGEST]
    if kind is int:
        rule = FieldRule(" ".join(["an integer", *sides]), lambda value, _: value, read_integer)
    else:
        said = " ".join(['a fraction such as "3/2", in lowest terms', *sides])
        rule = FieldRule(said, lambda value, _: str(value), read_fraction)
    return rule


def _text(texts: Sequence[str], kind: Callable[[str], Any]) -> FieldRule:
    def read(data: object, _: int, __: Sequence[Any]) -> Any:
        if not isinstance(data, str) or data not in texts:
            raise rule.refused(data)
        return kind(data)

    rule = FieldRule("one of " + ", ".join(f'"{text}"' for text in texts), lambda value, _: str(value), read)
    return rule


# Lists -----------------------------------------------------------------------------------------------


def _list(inner: FieldRule) -> FieldRule:
    def read(data: object, left: int, known: Sequence[Any]) -> tuple[Any, ...]:
        if not isinstance(data, list):
            raise rule.refused(data)
        return tuple(_items(enumerate([inner] * len(data)), data, left, known))

    rule = FieldRule("a list", lambda value, parts: [inner.write(item, parts) for item in value], read)
    return rule


def _set(inner: FieldRule) -> FieldRule:
    items = _list(inner)

    def read(data: object, left: int, known: Sequence[Any]) -> frozenset[Any]:
        found = items.read(data, left, known)
        if list(found) != sorted(set(found)):
            raise CodecError("expected a list that ascends, without repetition")
        return frozenset(found)

    return FieldRule(items.expected, lambda value, parts: items.write(sorted(value), parts), read)


def _row(inner: Sequence[FieldRule]) -> FieldRule:
    def write(value: Any, parts: WrittenParts) -> list[Any]:
        return [own.write(item, parts) for own, item in zip(inner, value, strict=True)]

    def read(data: object, left: int, known: Sequence[Any]) -> tuple[Any, ...]:
        if not isinstance(data, list) or len(data) != len(inner):
            raise rule.refused(data)
        return tuple(_items(enumerate(inner), data, left, known))

    rule = FieldRule(f"a list of {len(inner)} entries", write, read)
    return rule


def _items(
    rules: Iterable[tuple[int | str, FieldRule]], data: Sequence[Any], left: int, known: Sequence[Any]
) -> Iterator[Any]:
    """What stands in a list or an object, each by the rule of its place."""
    if not left:
        raise CodecError(f"more than {DEEPEST} lists and objects stand one inside the other")
    for (step, rule), item in zip(rules, data, strict=True):
        try:
            yield rule.read(item, left - 1, known)
        except CodecError as error:
            raise error.inside(step) from None


# Classes ---------------------------------------------------------------------------------------------


@cache
def _fields(kind: Any, part: Any) -> tuple[tuple[str, FieldRule], ...]:
    """The fields of a class with their rules: looked up late, as classes may have themselves for parts."""
    hints = get_type_hints(kind, include_extras=True)
    return tuple((own.name, _rule(hints[own.name], part)) for own in fields(kind))


def tag_of(kind: Any) -> str:
    """How a class is named where it is one of several.

    >>> tag_of(CodecError)
    'codec error'
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind.__name__).lower()


def _class(kind: Any, part: Any) -> FieldRule:
    def write(value: Any, parts: WrittenParts) -> Any:
        found = {name: own.write(getattr(value, name), parts) for name, own in _fields(kind, part)}
        return next(iter(found.values())) if len(found) == 1 else found

    def read(data: object, left: int, known: Sequence[Any]) -> Any:
        own = _fields(kind, part)
        if len(own) == 1:
            return _made(kind, [own[0][1].read(data, left, known)])
        names = [name for name, _ in own]
        if not isinstance(data, dict) or data.keys() != set(names):
            raise CodecError(_other_entries(data, names))
        return _made(kind, _items(own, [data[name] for name in names], left, known))

    return FieldRule(tag_of(kind), write, read)


def _other_entries(data: object, names: Sequence[str]) -> str:
    if not isinstance(data, dict):
        return f"expected an object with the entries {', '.join(names)}, not {_shown(data)}"
    missing = next((name for name in names if name not in data), None)
    if missing is not None:
        return f"the entry '{missing}' is missing"
    odd = next(name for name in data if name not in names)
    return f"the entry '{str(odd)[:80]}' is unknown; remove it"


def _made(kind: Callable[..., Any], values: Iterable[Any]) -> Any:
    """A value of the class, which may refuse what its fields are together."""
    own = list(values)
    try:
        return kind(*own)
    except (ValueError, AttemperError) as error:
        raise CodecError(str(error)) from None


def _union(kinds: Sequence[Any], part: Any) -> FieldRule:
    """Of several classes each has its tag; texts stand beside them, and null."""
    several = [kind for kind in kinds if kind is not type(None)]
    inner = _rule(several[0], part) if len(several) == 1 else _tagged(several, part)
    if len(several) == len(kinds):
        return inner
    return FieldRule(
        f"null or {inner.expected}",
        lambda value, parts: None if value is None else inner.write(value, parts),
        lambda data, left, known: None if data is None else inner.read(data, left, known),
    )


def _tagged(kinds: Sequence[Any], part: Any) -> FieldRule:
    classes: dict[str, Any] = {tag_of(kind): kind for kind in kinds if is_dataclass(kind)}
    others = [_rule(kind, part) for kind in kinds if not is_dataclass(kind)]
    tags = {kind: tag for tag, kind in classes.items()}
    if len(classes) + len(others) < len(kinds) or len(others) > 1:
        raise TypeError(f"a file does not tell these kinds apart: {kinds}")

    def write(value: Any, parts: WrittenParts) -> Any:
        kind: Any = type(value)
        if kind not in tags:
            return others[0].write(value, parts)
        return [
            tags[kind],
            *(rule.write(getattr(value, name), parts) for name, rule in _fields(kind, part)),
        ]

    def read(data: object, left: int, known: Sequence[Any]) -> Any:
        if isinstance(data, str) and others:
            return others[0].read(data, left, known)
        tag = data[0] if isinstance(data, list) and data else None
        kind = classes.get(tag) if isinstance(tag, str) else None
        if kind is None or not isinstance(data, list):
            raise rule.refused(data)
        own = _fields(kind, part)
        if len(data) != len(own) + 1:
            names = ", ".join(name for name, _ in own) or "nothing"
            raise CodecError(f'after "{tag}" stands {names}, not {_shown(data[1:])}')
        return _made(kind, _items(own, data[1:], left, known))

    names = [*(f'["{tag}", ...]' for tag in classes), *(other.expected for other in others)]
    rule = FieldRule("one of " + ", ".join(names), write, read)
    return rule


# Parts that are shared -------------------------------------------------------------------------------


def _shared(kind: Any) -> FieldRule:
    node = _tagged(get_args(kind), kind)

    def write(value: Any, _: WrittenParts) -> list[Any]:
        numbers, nodes, waiting = dict[Any, int](), list[Any](), [value]
        while waiting:
            own, parts = waiting[-1], WrittenParts(numbers)
            if own in numbers:
                waiting.pop()
                continue
            written = node.write(own, parts)
            waiting.extend(reversed(parts.missing))
            if not parts.missing:
                numbers[own] = len(nodes)
                nodes.append(written)
        return nodes

    def read(data: object, left: int, _: Sequence[Any]) -> Any:
        if not isinstance(data, list) or not data:
            raise CodecError(f"expected a list of parts, the last of them the whole, not {_shown(data)}")
        known: list[Any] = []
        seen = set[Any]()
        for part in _items(enumerate([node] * len(data)), data, left, known):
            if part in seen:  # also as equal parts that are several are compared for ever
                raise CodecError("expected each part once").inside(len(known))
            seen.add(part)
            known.append(part)
        if write(known[-1], WrittenParts()) != data:
            raise CodecError("expected each part after its own, from left to right, and none that nobody has")
        return known[-1]

    return FieldRule("a list of parts", write, read)


def _numbered() -> FieldRule:
    def write(value: Any, parts: WrittenParts) -> int | None:
        if value not in parts.numbers:
            parts.missing.append(value)
        return parts.numbers.get(value)

    def read(data: object, _: int, known: Sequence[Any]) -> Any:
        if type(data) is not int or not 0 <= data < len(known):
            raise rule.refused(data)
        return known[data]

    rule = FieldRule("the number of an earlier part", write, read)
    return rule
