"""What hidden units add that read whole numbers: a step at each of few thresholds. (SHASA Theorem 20, third stage.)

The form is S = the sum of lam_k w_k + bits, lam_k integers, w_k counts c_k between 1 and the number of positions.
Its values lie a whole number apart, so that units whose sum f is 0 below and constant above take few values there:
f(S) is the sum of f(s) - f(s - 1) over all s that it can be, where S >= s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import ceil, floor

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Clamped, ClampedVisible, Names, UnprovenError, Whole
from attemper.networks.layers import Masking

MAX_STEPS = 64
"""More thresholds than that nobody needs: a comparison has one."""

GROWS = "an integer that grows with the word stands where a bounded number is needed"

Count = Clamped | ClampedVisible
Curve = Callable[[Fraction], Fraction]
"""The units' sum, as a function of what they read."""


def is_whole(names: Names, value: Affine) -> bool:
    """Whether a value has whole numbers in it."""
    return any(isinstance(names.quantities[number], Whole) for number, _ in value.parts)


def points(value: Fraction, corners: list[Fraction], room: Fraction) -> Iterator[Fraction]:
    """What S can be that is at most so far from a corner, or next to that, a whole number off the value."""
    low, high = floor(min(corners) - room - value), ceil(max(corners) + room - value)
    if high - low > MAX_STEPS:
        raise UnprovenError(GROWS)
    return (value + step for step in range(low, high + 1))


def stepped(names: Names, curve: Curve, corners: list[Fraction], diagram: Diagram) -> Diagram:
    """What the units add. Raises `UnprovenError` if they do not step between two constants."""
    parts, *others = {value.parts for value in names.values(diagram)}
    if others or any(factor.denominator != 1 for _, factor in parts):
        raise UnprovenError("an integer is weighed differently at different positions")
    rest, reaches = _reaching(names, {_count(names, number): int(lam) for number, lam in parts})
    rest = names.plus(names.constant_part(diagram), rest)
    total = names.false
    for value in names.constants(rest, "what is added to an integer"):
        added = names.false
        before, *later = points(value, corners, Fraction(0))
        for point in later:
            step = curve(point) - curve(point - 1)
            added = names.plus(added, names.scaled(reaches(int(point - value)), step)) if step else added
        total = names.choose(names.equals(rest, value), added, total)
    return total


def _count(names: Names, number: int) -> Count:
    own = names.quantities[number]
    if not isinstance(own, Count) or (isinstance(own, Clamped) and own.power != 1):
        raise UnprovenError(GROWS)
    return own


def _reaching(names: Names, counts: dict[Count, int]) -> tuple[Diagram, Callable[[int], Diagram]]:
    """Bits to be added, and [the sum of lam w, less these bits, >= s].

    A count of bits is no more than the positions: it is w - [c = 0]. Any other integer stands alone.
    """
    if not all(names.is_bit(count.summand) for count in counts):
        if len(counts) != 1:
            raise UnprovenError("integers that are no counts of bits are added up")
        ((count, lam),) = counts.items()
        return names.false, lambda s: _alone(names, count, lam, s)
    rest, sums = names.false, dict.fromkeys(Masking, names.false)
    for count, lam in counts.items():
        none = names.negation(names.positions.sum_at_least(count.masking, count.summand, 1))
        rest = names.plus(rest, names.scaled(none, lam))
        sums[count.masking] = names.plus(sums[count.masking], names.scaled(count.summand, lam))
    return rest, lambda s: names.positions.total_at_least(sums, s)


def _alone(names: Names, count: Count, lam: int, least: int) -> Diagram:
    """[lam w >= least], w = clamp(c, 1, V), V all positions or the visible ones."""
    if lam < 0:
        return names.negation(_alone(names, count, -lam, 1 - least))
    threshold = -(-least // lam)
    if threshold <= 1:
        return names.true
    seen = count.masking if isinstance(count, ClampedVisible) else Masking.NONE
    a, b, c = seen.number_visible_form
    has_room = names.at_least_place(a, b, c - threshold)
    return names.both(has_room, names.positions.sum_at_least(count.masking, count.summand, threshold))
