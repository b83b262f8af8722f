"""How far each softened head's output can be from the hard one, in real arithmetic.

With r = e^-B, for values in [0, 1] (the mass off the chosen position) or, for sign heads, in [-1, 1]:

    Uniform     0
    Neighbour   r
    Select      r + r^3
    Sign        2 * 1/(e^B - e^(B/3)) unbounded (worst at i = 3); 2 * 2 r^2 otherwise
    LocalSign   2 * 4 r^2
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


def output_error(construction: Construction, regime: Regime, margin: int) -> Fraction:
    """A bound on |soft output - hard output| of a head with margin B."""
    match construction:
        case Uniform():
            return Fraction(0)
        case Neighbour():
            return _exp(-margin)
        case Select():
            return _exp(-margin) + _exp(-3 * margin)
        case Sign():
            if regime is Regime.UNBOUNDED:
                return 2 * _wrong_sign_mass(margin)
            return 4 * _exp(-2 * margin)
        case LocalSign():
            return 8 * _exp(-2 * margin)
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
