"""Entropies and the losses of binary decisions, in balls and nats."""

from __future__ import annotations

from fractions import Fraction

import flint

from attemper.exact.balls import ball, precision

PRECISION = 128
"""Bits of every ball in this room; what is returned is wider than 2^-100 only where this is said."""


def in_bits(nats: flint.arb) -> flint.arb:
    """The same amount in bits.

    >>> in_bits(entropy(Fraction(1, 2))).str(3, radius=False)
    '1.00'
    """
    with precision(PRECISION):
        return nats / flint.arb.const_log2()


def entropy(u: Fraction) -> flint.arb:
    """h(u) = -u ln u - (1-u) ln(1-u), in nats, for 0 <= u <= 1; h(0) = h(1) = 0.

    >>> entropy(Fraction(1, 6)).str(6, radius=False)
    '0.450561'
    """
    if u in (0, 1):
        return flint.arb(0)
    with precision(PRECISION):
        return inner_entropy(ball(u))


def inner_entropy(u: flint.arb) -> flint.arb:
    """h(u) for every u in a ball inside (0, 1)."""
    with precision(PRECISION):
        return -u * u.log() - (1 - u) * (1 - u).log()


def softplus(t: flint.arb) -> flint.arb:
    """sp(t) = ln(1 + e^t), in nats: the loss of a decision whose log-odds are t for what does not happen."""
    with precision(PRECISION):
        return t + (-t).exp().log1p() if t > 0 else t.exp().log1p()


def sigmoid(t: flint.arb) -> flint.arb:
    """1/(1 + e^-t), the derivative of softplus."""
    with precision(PRECISION):
        return 1 / (1 + (-t).exp())


def log_odds(u: Fraction) -> flint.arb:
    """ln(u/(1-u)) for 0 < u < 1."""
    with precision(PRECISION):
        return ball(u / (1 - u)).log()
