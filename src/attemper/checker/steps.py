"""What hidden units add that read whole numbers: a step at each threshold. (SHASA Theorem 20, third stage.)

The form is S = the sum of lam_k w_k + bits, lam_k integers, w_k counts c_k between 1 and the number of
positions. Its values lie a whole number apart, so that units whose sum f is 0 below and constant above take
few values there: f(S) is the sum of f(s) - f(s - 1) over all s that it can be, where S >= s.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import ceil, floor

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Clamped, Names, UnprovenError, Whole
from attemper.networks.layers import Masking

MAX_STEPS = 64
"""More thresholds than that nobody needs: a comparison has one."""


def is_whole(names: Names, value: Affine) -> bool:
    """Whether a value has whole numbers in it."""
    return any(isinstance(names.quantities[number], Whole) for number, _ in value.parts)


def points(value: Fraction, corners: list[Fraction], room: Fraction) -> list[Fraction]:
    """What S can be that is at most so far from a corner, or next to that, a whole number off the value."""
    low, high = floor(min(corners) - room - value), ceil(max(corners) + room - value)
    if high - low > MAX_STEPS:
        raise UnprovenError("hidden units step at too many values of an integer that grows with the word")
    return [value + step for step in range(low, high + 1)]


def stepped(
    names: Names, curve: Callable[[Fraction], Fraction], corners: list[Fraction], diagram: Diagram
) -> Diagram:
    """What the units add, their sum being that curve. Raises `UnprovenError` for other forms."""
    parts, *others = {value.parts for value in names.values(diagram)}
    if others or any(lam.denominator != 1 for _, lam in parts):
        raise UnprovenError("an integer is weighed differently at different positions")
    wholes = ((names.quantities[number], int(lam)) for number, lam in parts)
    clamps = {own: lam for own, lam in wholes if isinstance(own, Clamped) and own.power == 1}
    if len(clamps) != len(parts):
        raise UnprovenError("an integer that grows with the word stands where a bounded number is needed")
    zeros, reaches = _reaching(names, clamps)
    rest = names.plus(names.constant_part(diagram), zeros)
    total = names.false
    for value in names.constants(rest, "what is added to an integer"):
        added = names.false
        for point in points(value, corners, Fraction(0))[1:]:
            step = curve(point) - curve(point - 1)
            added = names.plus(added, names.scaled(reaches(int(point - value)), step)) if step else added
        total = names.choose(names.equals(rest, value), added, total)
    return total


def _reaching(names: Names, clamps: Mapping[Clamped, int]) -> tuple[Diagram, Callable[[int], Diagram]]:
    """What is to be added to the bits, and [the rest >= s].

    A count of bits is no more than the positions: it is w - [c = 0]. Any other integer stands alone.
    """
    if len(clamps) == 1 and not all(names.is_bit(own.summand) for own in clamps):
        ((own, lam),) = clamps.items()
        return names.false, lambda s: _alone(names, own, lam, s)
    zeros, sums = names.false, dict.fromkeys(Masking, names.false)
    for own, lam in clamps.items():
        if not names.is_bit(own.summand):
            raise UnprovenError("integers that are no counts of bits are added up")
        none = names.negation(names.positions.sum_at_least(own.masking, own.summand, 1))
        zeros = names.plus(zeros, names.scaled(none, lam))
        sums[own.masking] = names.plus(sums[own.masking], names.scaled(own.summand, lam))
    return zeros, lambda s: names.positions.total_at_least(sums, s)


def _alone(names: Names, own: Clamped, lam: int, least: int) -> Diagram:
    """[lam w >= least], w = clamp(c, 1, V)."""
    if lam < 0:
        return names.negation(_alone(names, own, -lam, 1 - least))
    threshold, (a, b, c) = -(-least // lam), own.among.number_visible_form
    reached = names.positions.sum_at_least(own.masking, own.summand, threshold)
    return names.true if threshold <= 1 else names.both(names.at_least_place(a, b, c - threshold), reached)
