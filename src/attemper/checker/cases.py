"""Bits and integers in many cases at once: the k-th binary digit of an integer is about the k-th case.

What is not known in a case is unknown in all that it decides, and only there (Kleene's strong logic).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple


class KnownBit(NamedTuple):
    """A bit: the cases where it is 1, and those where it is 0; in all others it is not known."""

    yes: int
    no: int


KnownInteger = dict[int, int]
"""An integer: the cases where it is each value; in those that are missing it is not known."""


def inverted(bit: KnownBit) -> KnownBit:
    """1 - bit."""
    return KnownBit(bit.no, bit.yes)


def both(left: KnownBit, right: KnownBit) -> KnownBit:
    """Conjunction."""
    return KnownBit(left.yes & right.yes, left.no | right.no)


def either(left: KnownBit, right: KnownBit) -> KnownBit:
    """Disjunction."""
    return KnownBit(left.yes | right.yes, left.no & right.no)


def different(left: KnownBit, right: KnownBit) -> KnownBit:
    """Exclusive or."""
    return KnownBit(left.yes & right.no | left.no & right.yes, left.yes & right.yes | left.no & right.no)


def chosen(bit: KnownBit, high: KnownBit, low: KnownBit) -> KnownBit:
    """`high` where the bit is 1, `low` where it is 0; known also where they agree."""
    yes = bit.yes & high.yes | bit.no & low.yes | high.yes & low.yes
    return KnownBit(yes, bit.yes & high.no | bit.no & low.no | high.no & low.no)


def overlap(bits: Iterable[KnownBit], cases: int) -> int:
    """The cases in which two of the bits can be 1."""
    one = two = 0
    for bit in bits:
        possible = cases & ~bit.no
        one, two = one | possible, two | one & possible
    return two


def holds(test: Callable[[int], bool], number: KnownInteger) -> KnownBit:
    """The bit that says whether a number passes the test."""
    yes = no = 0
    for value, cases in number.items():
        if test(value):
            yes |= cases
        else:
            no |= cases
    return KnownBit(yes, no)


def increased(number: KnownInteger, factor: int, bit: KnownBit) -> KnownInteger:
    """number + factor * bit."""
    return _gathered(
        (value + factor * one, cases & own)
        for value, cases in number.items()
        for one, own in ((1, bit.yes), (0, bit.no))
    )


def mapped(function: Callable[[int], int | None], number: KnownInteger) -> KnownInteger:
    """A function of the number; not known where it is None."""
    images = ((function(value), cases) for value, cases in number.items())
    return _gathered((value, cases) for value, cases in images if value is not None)


def _gathered(parts: Iterable[tuple[int, int]]) -> KnownInteger:
    found: KnownInteger = {}
    for value, cases in parts:
        if cases:
            found[value] = found.get(value, 0) | cases
    return found


# Case by case -----------------------------------------------------------------------------------------


def digits(cases: int, count: int) -> str:
    """Whether each of `count` cases is among them, as "0" or "1", the first case first."""
    return format(cases, f"0{count}b")


def from_digits(text: Iterable[str]) -> int:
    """The other way round."""
    return int("".join(text), 2)


def values_of(number: KnownInteger, count: int) -> list[int | None]:
    """The number in each of `count` cases, the first case first."""
    found: list[int | None] = [None] * count
    for value, cases in number.items():
        text = digits(cases, count)
        at = text.find("1")
        while at >= 0:
            found[at] = value
            at = text.find("1", at + 1)
    return found


def from_values(values: Sequence[Hashable]) -> KnownInteger:
    """The other way round; what is no integer is not known."""
    distinct = {value for value in values if isinstance(value, int)}
    return {one: from_digits("1" if value == one else "0" for value in values) for one in distinct}
