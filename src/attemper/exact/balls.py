"""Real numbers known up to a proven error: Arb balls (python-flint), at an explicit precision."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import flint


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with `bits` bits of precision inside the block."""
    before = flint.ctx.prec
    flint.ctx.prec = bits
    try:
        yield
    finally:
        flint.ctx.prec = before


def ball(value: Fraction) -> flint.arb:
    """A ball that contains the rational."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def positive_part(value: flint.arb) -> flint.arb:
    """A ball that contains ReLU(x) for every x in the ball."""
    if value >= 0:
        return value
    if value <= 0:
        return flint.arb(0)
    # Undecided: the ball straddles 0, and ReLU maps it into the hull of 0 and its upper end.
    return flint.arb(0).union(value.upper())


def upper_bound(value: flint.arb) -> Fraction:
    """A rational that is at least every number in the ball; 0 or at least 2^-1000.

    Raises `OverflowError` where there is none up to 2^1000.
    """
    if not (value.is_finite() and value < flint.arb(2) ** 1000):
        raise OverflowError("no finite bound")
    if value == 0:
        return Fraction(0)
    if value < flint.arb(2) ** -1000:
        return Fraction(1, 2**1000)
    upper = value.upper().fmpq()
    return Fraction(int(upper.p), int(upper.q))
