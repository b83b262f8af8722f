"""What the coordinates hold on a sample of words: powers of i and n in symbols, everything else as tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from tests.support.second_reader.forms import Form, NothingShownError, leaves, value_of
from tests.support.second_reader.laurent import Laurent, plus, scaled

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
    """A coordinate: powers of i and n, plus a table, off by at most `error`."""

    powers: Laurent
    table: Table
    error: Fraction = Fraction(0)

    def plus(self, other: Known) -> Known:
        table = tuple(x + y for x, y in zip(self.table, other.table, strict=True))
        return Known(plus(self.powers, other.powers), table, self.error + other.error)

    def times(self, factor: Fraction) -> Known:
        return Known(
            scaled(self.powers, factor), tuple(factor * x for x in self.table), abs(factor) * self.error
        )


Held = Known | NothingShownError
"""A coordinate, or why this reader does not follow it."""


def linear(stream: Sequence[Held], factors: Sequence[Fraction], size: int) -> Known:
    """A linear form of the stream; raises the reason of a coordinate that is not followed."""
    total = Known({}, (Fraction(0),) * size)
    for held, factor in zip(stream, factors, strict=True):
        if factor:
            if isinstance(held, NothingShownError):
                raise held
            total = total.plus(held.times(factor))
    return total


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
    powers: dict[tuple[int, int], Fraction] = {}
    for key, table in by_power.items():
        if key != (0, 0):
            if len(set(table)) > 1:
                return NothingShownError("a power of i or n times something that is no number")
            if table[0]:
                powers[key] = table[0]
    return Known(powers, by_power.get((0, 0), sample.table(lambda *_: Fraction(0))))


def _expanded(form: Form, sample: Sample) -> dict[tuple[int, int], Table]:
    match form:
        case ["+", *parts]:
            total: dict[tuple[int, int], Table] = {}
            for part in parts:
                total = _sum(total, _expanded(part, sample))
            return total
        case ["*", *parts]:
            product_ = {(0, 0): sample.table(lambda *_: Fraction(1))}
            for part in parts:
                product_ = _product(product_, _expanded(part, sample))
            return product_
        case ["^", "i" | "n" as base, exponent]:
            return {(exponent, 0) if base == "i" else (0, exponent): sample.table(lambda *_: Fraction(1))}
        case ["^", base, exponent] if exponent >= 0:
            return _expanded(["*", *[base] * exponent], sample)
        case "i" | "n":
            return _expanded(["^", form, 1], sample)
        case str() | ["test", *_]:
            return {(0, 0): sample.table(lambda _, i, n: value_of(form, i, n))}
        case _:
            raise NothingShownError("a negative power of a form")


def _sum(
    left: dict[tuple[int, int], Table], right: dict[tuple[int, int], Table]
) -> dict[tuple[int, int], Table]:
    total = dict(left)
    for key, table in right.items():
        total[key] = tuple(x + y for x, y in zip(total[key], table, strict=True)) if key in total else table
    return total


def _product(
    left: dict[tuple[int, int], Table], right: dict[tuple[int, int], Table]
) -> dict[tuple[int, int], Table]:
    total: dict[tuple[int, int], Table] = {}
    for (a, b), first in left.items():
        for (c, d), second in right.items():
            table = tuple(x * y for x, y in zip(first, second, strict=True))
            total = _sum(total, {(a + c, b + d): table})
    return total


def _reach(leaf: Any) -> int:
    match leaf:
        case ["test", ["mod", m, _], *_]:
            return 2 * int(m)
        case ["test", _, a, b, c]:
            return int(abs(c) // max(1, min((abs(x) for x in (a, b) if x), default=1)) + 2)
        case _:
            return 2
