"""Positions as far as places of a program tell them apart (FORMAT.md section 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

from tests.support.oracles.second_reader.forms import Form, NothingShownError, holds, leaves, value_of

_MOST_PLACES = 2_000


@dataclass(frozen=True)
class Places:
    """Positions 1, ..., threshold, and then one place for each remainder."""

    threshold: int
    period: int

    def after(self, place: int) -> int:
        return place + 1 if place < self.threshold + self.period else self.threshold + 1


def places_of(all_forms: Sequence[Form], followed: Sequence[Form]) -> Places:
    """The places that a program tells apart; those that are followed must be bits."""
    parts = [part for form in all_forms for part in leaves(form)]
    places = Places(max([1, *map(_threshold, parts)]), lcm(*map(_period, parts)))
    if places.threshold + places.period > _MOST_PLACES:
        raise NothingShownError("too many places")
    for form in followed:
        if any(value_of(form, i, i) not in (0, 1) for i in range(1, places.threshold + places.period + 1)):
            raise NothingShownError("a place that is no bit")
    return places


def _threshold(part: Form) -> int:
    """From the next position on, nothing but remainders counts."""
    match part:
        case ["position"] | ["length"]:
            raise NothingShownError("a place that is not made of tests of i")
        case ["test", predicate, a, b, c]:
            if b != 0:
                raise NothingShownError("a place that is not made of tests of i")
            if predicate not in (["zero"], ["non negative"]):
                return 1
            return abs(c) // abs(a) + 1 if a else 1
        case _:
            return 1


def _period(part: Form) -> int:
    match part:
        case ["alternating"]:
            return 2
        case ["test", ["remainder", m, _], *_]:
            return int(m)
        case ["test", predicate, *_]:
            holds(predicate, Fraction(0))
            return 1
        case _:
            return 1
