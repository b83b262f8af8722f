"""Sums and products in about twice float64's precision, as pairs (high, low) of tensors.

A pair stands for high + low, and high is that sum rounded. (Knuth's two-sum, Dekker's two-product.)
"""

from __future__ import annotations

from torch import Tensor

FloatPair = tuple[Tensor, Tensor]

SPLITTER = 2.0**27 + 1
"""Splits a float64 into two halves of at most 26 digits each."""


def two_sum(a: Tensor, b: Tensor) -> FloatPair:
    """a + b exactly."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def two_product(a: Tensor, b: Tensor | float) -> FloatPair:
    """a b exactly, unless that leaves float64's range."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b) if isinstance(b, Tensor) else _halves_of_number(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def added(a: FloatPair, b: FloatPair) -> FloatPair:
    """The sum of two pairs."""
    high, low = two_sum(a[0], b[0])
    return _joined(high, low + (a[1] + b[1]))


def multiplied(a: FloatPair, b: Tensor | float) -> FloatPair:
    """A pair times a number."""
    high, low = two_product(a[0], b)
    return _joined(high, low + a[1] * b)


def _joined(high: Tensor, low: Tensor) -> FloatPair:
    total = high + low
    return total, low - (total - high)


def _halves(a: Tensor) -> FloatPair:
    wide = a * SPLITTER
    high = wide - (wide - a)
    return high, a - high


def _halves_of_number(b: float) -> tuple[float, float]:
    wide = b * SPLITTER
    high = wide - (wide - b)
    return high, b - high
