"""What numbers mean that a program or a network puts out at every position, and how far they may be off."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction


class Measure(StrEnum):
    """What the numbers at a position are.

    An integer is put out as its share of the visible positions: times their number it is the integer.
    """

    INTEGER = "integer"
    FRACTION = "fraction"
    DISTRIBUTION = "distribution"


REAL_ACCURACY = Fraction(1, 2**40)
"""A fraction or probability is at most so far off in real arithmetic: weights are rounded to float64."""

FLOAT_ACCURACY = Fraction(1, 2**16)
"""A fraction or probability is at most so far off where a float format computes it."""

NEAR = Fraction(1, 4)
"""An integer's share, computed in floats, times the number of visible positions is at most so far off."""


def describe(measure: Measure) -> str:
    """What the numbers are, in words."""
    return f"an {measure}" if measure is Measure.INTEGER else f"a {measure}"


def meant_by(measure: Measure | None, *, in_floats: bool) -> str:
    """What a claim about numbers says of each of them, as the end of a line; empty for bits."""
    match measure, in_floats:
        case None, _:
            return ""
        case Measure.INTEGER, False:
            return "; each number is exactly the integer's share of the visible positions"
        case Measure.INTEGER, True:
            return "; each number times the visible positions is within 1/4 of the integer"
        case _, False:
            return "; each number is within 2^-40"
        case _, True:
            return "; each number is within 2^-16"
