"""How much attention each softened head gives to other positions than the hard one does.

With r = e^-B, the mass off the chosen position (for sign heads: off the positions of its sign) is at most

    Uniform     0
    Neighbour   r
    Select      r + r^3
    Sign        1/(e^B - e^(B/3)) unbounded (worst at i = 3); 2 r^2 otherwise
    LocalSign   4 r^2
    Lookup      2.3 r                                     (Lemma 7)

The sources are Lemmas 6 and 7 of the paper and theory.md, section 4; the local sign head's bound is
proved in docs/theory.md. Each bound is rounded up to a rational by ball arithmetic.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import assert_never

import flint

from attemper.compiling.regimes import Regime
from attemper.exact.balls import precision, upper_bound
from attemper.networks.layers import (
    Construction,
    LocalSign,
    Lookup,
    Neighbour,
    Select,
    Sign,
    Uniform,
)

MARGINS = (4, 8, 16, 32, 64)
"""The margins B to choose from: powers of two, so that integer scores stay exact in floats."""


def stray_mass(construction: Construction, regime: Regime, margin: int) -> Fraction:
    """A bound on the mass off the right positions for a head with margin B, for every word."""
    match construction:
        case Uniform():
            return Fraction(0)
        case Neighbour():
            return _exp(-margin)
        case Select():
            return _exp(-margin) + _exp(-3 * margin)
        case Sign():
            if regime is Regime.UNBOUNDED:
                return _wrong_sign_mass(margin)
            return 2 * _exp(-2 * margin)
        case LocalSign():
            return 4 * _exp(-2 * margin)
        case Lookup():
            return Fraction(23, 10) * _exp(-margin)
        case _:
            assert_never(construction)


@cache
def _exp(exponent: int) -> Fraction:
    with precision(64):
        return upper_bound(flint.arb(exponent).exp())


@cache
def _wrong_sign_mass(margin: int) -> Fraction:
    with precision(64):
        ball = flint.arb(margin)
        return upper_bound(1 / (ball.exp() - (ball / 3).exp()))
