"""What the coordinates hold on a sample of words: powers of i and n in symbols, everything else as tables.

Integers that are only approximate are known by what they should be, and by how far they are off at length n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from tests.support.oracles.second_reader.forms import Form, NothingShownError, leaves, value_of
from tests.support.oracles.second_reader.laurent import Laurent, plus, scaled

Table = tuple[Fraction, ...]
"""A number for each spot of the sample."""

_MOST_WORDS = 110
_LONGEST = 36


@dataclass(frozen=True)
class Sample:
    """Words, and all their positions as spots, word by word."""

    words: tuple[tuple[str, ...], ...]

    @property
    def spots(self) -> list[tuple[tuple[str, ...], int]]:
        return [(word, i) for word in self.words for i in range(1, len(word) + 1)]

    def table(self, function: Callable[[str, int, int], Fraction]) -> Table:
        """A function of letter, i and n."""
        return tuple(function(word[i - 1], i, len(word)) for word, i in self.spots)


@dataclass(frozen=True)
class Known:
    """A coordinate: powers of i and n, such powers times the digits of n, and a table; off by `error`.

    `mixed` has the powers of i and n that stand before a table of their own.
    """

    powers: Laurent
    table: Table
    error: Fraction = Fraction(0)
    digits: Laurent = field(default_factory=dict)
    mixed: Mapping[tuple[int, int], Table] = field(default_factory=dict)

    def plus(self, other: Known) -> Known:
        table = tuple(x + y for x, y in zip(self.table, other.table, strict=True))
        powers, digits = plus(self.powers, other.powers), plus(self.digits, other.digits)
        mixed = {key: tuple(row) for key, row in self.mixed.items()}
        for key, row in other.mixed.items():
            mixed[key] = tuple(x + y for x, y in zip(mixed[key], row, strict=True)) if key in mixed else row
        return Known(powers, table, self.error + other.error, digits, mixed)

    def times(self, factor: Fraction) -> Known:
        table = tuple(factor * x for x in self.table)
        powers, digits = scaled(self.powers, factor), scaled(self.digits, factor)
        mixed = {key: tuple(factor * x for x in row) for key, row in self.mixed.items()}
        return Known(powers, table, abs(factor) * self.error, digits, mixed)


@dataclass(frozen=True)
class Integer:
    """A coordinate: factor n^growth w^power, w an integer within 1..n; off by at most error n^fading."""

    factor: Fraction
    growth: int
    power: int
    table: tuple[int, ...]
    """The integer w itself."""
    error: Fraction
    fading: int

    def times(self, factor: Fraction) -> Integer:
        return replace(self, factor=factor * self.factor, error=abs(factor) * self.error)


Held = Known | Integer | NothingShownError
"""A coordinate, or why this reader does not follow it."""


def linear(stream: Sequence[Held], factors: Sequence[Fraction], size: int) -> Known:
    """A linear form of the stream without mixed powers; raises the reason of a coordinate not followed."""
    total = linear_with_mixed(stream, factors, size)
    if total.mixed:
        raise NothingShownError("a power of i or n times something that is no number")
    return total


def linear_with_mixed(stream: Sequence[Held], factors: Sequence[Fraction], size: int) -> Known:
    """A linear form of the stream; raises the reason of a coordinate that is not followed."""
    total = Known({}, (Fraction(0),) * size)
    for held, factor in zip(stream, factors, strict=True):
        if factor:
            if isinstance(held, NothingShownError):
                raise held
            if isinstance(held, Integer):
                raise NothingShownError("an integer where a number is needed")
            total = total.plus(held.times(factor))
    return total


def linear_or_integer(stream: Sequence[Held], factors: Sequence[Fraction], size: int) -> Known | Integer:
    """The same, or a multiple of the only coordinate in it, which is an integer."""
    read = [(held, factor) for held, factor in zip(stream, factors, strict=True) if factor]
    match read:
        case [(Integer() as integer, factor)]:
            return integer.times(factor)
        case _:
            return linear(stream, factors, size)


def sample_for(alphabet: Sequence[str], forms: Sequence[Form]) -> Sample:
    """Short words, all of them as far as there are not too many, and longer ones."""
    random = Random(0)
    chosen: list[tuple[str, ...]] = []
    for length in range(1, 8):
        every = len(alphabet) ** length
        if len(chosen) + every <= _MOST_WORDS:
            chosen += product(alphabet, repeat=length)
        else:
            chosen += [tuple(random.choices(alphabet, k=length)) for _ in range(30)]
    reach = max((_reach(leaf) for form in forms for leaf in leaves(form)), default=0)
    for length in range(8, min(reach + 3, _LONGEST) + 1):
        chosen += [tuple(random.choices(alphabet, k=length)) for _ in range(3)]
    return Sample(tuple(chosen))


def of_form(form: Form, sample: Sample) -> Held:
    """A closed form as powers of i and n plus a table."""
    try:
        by_power = _expanded(form, sample)
    except NothingShownError as reason:
        return reason
    powers: dict[tuple[int, ...], Fraction] = {}
    digits: dict[tuple[int, ...], Fraction] = {}
    mixed: dict[tuple[int, int], Table] = {}
    for (a, b, d), table in by_power.items():
        if (a, b, d) != (0, 0, 0):
            if len(set(table)) > 1 and not d:
                mixed[a, b] = table
            elif len(set(table)) > 1 or d > 1:
                return NothingShownError("digits times something that is no number")
            elif table[0]:
                (digits if d else powers)[a, b] = table[0]
    numbers = by_power.get((0, 0, 0), sample.table(lambda *_: Fraction(0)))
    return Known(powers, numbers, digits=digits, mixed=mixed)


Expanded = dict[tuple[int, int, int], Table]
"""By the exponents of i, of n, and of the number of binary digits of n."""


def _expanded(form: Form, sample: Sample) -> Expanded:
    match form:
        case ["sum", parts]:
            total: Expanded = {}
            for part in parts:
                total = _sum(total, _expanded(part, sample))
            return total
        case ["product", parts]:
            product_ = {(0, 0, 0): sample.table(lambda *_: Fraction(1))}
            for part in parts:
                product_ = _product(product_, _expanded(part, sample))
            return product_
        case ["power", ["position" | "length" as base], exponent]:
            key = (exponent, 0, 0) if base == "position" else (0, exponent, 0)
            return {key: sample.table(lambda *_: Fraction(1))}
        case ["power", base, exponent] if exponent >= 0:
            return _expanded(["product", [base] * exponent], sample)
        case ["position"] | ["length"]:
            return _expanded(["power", form, 1], sample)
        case ["digits", ["length"]]:
            return {(0, 0, 1): sample.table(lambda *_: Fraction(1))}
        case ["number" | "alternating" | "test", *_]:
            return {(0, 0, 0): sample.table(lambda _, i, n: value_of(form, i, n))}
        case _:
            raise NothingShownError("a negative power of a form, or digits of something else than n")


def _sum(left: Expanded, right: Expanded) -> Expanded:
    total = dict(left)
    for key, table in right.items():
        total[key] = tuple(x + y for x, y in zip(total[key], table, strict=True)) if key in total else table
    return total


def _product(left: Expanded, right: Expanded) -> Expanded:
    total: Expanded = {}
    for one, first in left.items():
        for other, second in right.items():
            table = tuple(x * y for x, y in zip(first, second, strict=True))
            a, b, d = (x + y for x, y in zip(one, other, strict=True))
            total = _sum(total, {(a, b, d): table})
    return total


def _reach(leaf: Any) -> int:
    match leaf:
        case ["test", ["remainder", m, _], *_]:
            return 2 * int(m)
        case ["test", _, a, b, c]:
            return int(abs(c) // max(1, min((abs(x) for x in (a, b) if x), default=1)) + 2)
        case _:
            return 2
