"""Uniform: the average over all visible positions.

Form: no term of the score depends on j.
Side conditions: none.
Bound: every visible position is a right one; nothing is stray.
Output: the mean of the value over the visible positions.
Floats: an exact sum divided once, or else a quotient of two sums; exact over one position.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.scores import Output, ReadHead
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import ZERO, Kernel, Off, OfNumber, OnGrid, Rounded
from attemper.checker.rounding.attention import RoundedHead
from attemper.checker.rules import HeadFact
from attemper.exact.balls import ball

MEAN = 4
"""A mean of values with exact sums is within so many u: the sum times a rounded reciprocal, rounded."""


@final
@dataclass(frozen=True)
class UniformRule:
    """All visible scores are equal."""

    gap: Fraction = Fraction(0)

    @property
    def least_gap(self) -> Fraction:
        """0: all scores are the greatest, whatever the values."""
        return Fraction(0)

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """0: there is no right position."""
        return flint.arb(0)

    def offs(self, head: RoundedHead) -> list[Off]:
        """Scores that only cancel have no rule."""
        if head.rows:
            raise head.uncovered()
        return [_average(head, *pair) for pair in head.values]


def uniform(head: ReadHead) -> HeadFact:
    """Raises `UnprovenError` if some score differs from another."""
    if head.scores:
        raise UnprovenError("its scores are not all equal")
    return HeadFact(UniformRule(), head.outputs(lambda value: head.names.mean(head.masking, value)))


def _average(head: RoundedHead, value: Rounded, output: Output) -> OfNumber:
    """How far an average of these values can be off."""
    lengths = head.lengths
    has_means = lengths.arithmetic.has_means({(0, 0): output.diagram})
    whole = lengths.long * ball(output.size)
    divided = MEAN * lengths.u
    if head.kernel is not Kernel.NORMALISE_FIRST and isinstance(value, OnGrid) and whole <= ball(value.grid):
        # The average of a constant is a constant, but not computed as one.
        return OfNumber(ZERO, ZERO if has_means else divided * ball(output.size), ZERO, divided)
    mean = value.absolute + (ball(output.size) + value.absolute) * head.sums
    alone = value.absolute if has_means else mean
    return OfNumber(alone, alone, mean, divided)
