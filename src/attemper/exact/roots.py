"""Square roots of rationals, nearly."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt


def square_root(value: Fraction, bits: int) -> Fraction:
    """The square root of a number above 0, from below, to so many bits at least.

    >>> square_root(Fraction(9, 4), 10)
    Fraction(3, 2)
    """
    shift = max(0, bits + value.denominator.bit_length() - value.numerator.bit_length())
    return Fraction(isqrt(value.numerator * value.denominator << 2 * shift), value.denominator << shift)
