"""Binary floating-point formats, as the rounding analysis needs them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final


@final
@dataclass(frozen=True)
class FloatFormat:
    """A format with round to nearest.

    `roundoff` is u: |fl(x) - x| <= u |x|, and multiples of 2^g up to 2^g / u are exact. `sum_roundoff` is
    that of the format in which sums are formed before they are rounded to this one: at least float32.
    `range` is a bound that no number of a run may exceed, and whose inverse none may fall below, far
    inside the format's own. `least_normal` is the least number from which on roundings are relative: what is
    smaller may be flushed to 0. exp is within `exp` u (measured in docs/arithmetic.md).
    """

    name: str
    roundoff: Fraction
    sum_roundoff: Fraction
    range: int
    least_normal: Fraction
    exp: int


FLOAT64 = FloatFormat("float64", Fraction(1, 2**53), Fraction(1, 2**53), 2**900, Fraction(1, 2**1022), 8)
FLOAT32 = FloatFormat("float32", Fraction(1, 2**24), Fraction(1, 2**24), 2**100, Fraction(1, 2**126), 8)
BFLOAT16 = FloatFormat("bfloat16", Fraction(1, 2**8), Fraction(1, 2**24), 2**100, Fraction(1, 2**126), 2)

REAL = FloatFormat("real", Fraction(0), Fraction(0), 2**900, Fraction(1, 2**1022), 0)
"""Real arithmetic as a format that never rounds: with a range, and what is lost below it, like float64."""

FORMATS = {form.name: form for form in (FLOAT64, FLOAT32, BFLOAT16)}
