"""What a feed-forward does with its hidden units: ReLU, and GELU in its two forms."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from math import erf, pi, sqrt
from typing import assert_never

import flint
import numpy as np

from attemper.exact.balls import positive_part
from attemper.models.arrays import Floats


class Activation(StrEnum):
    """The function of each hidden unit.

        relu        max(x, 0)
        gelu        x (1 + erf(x / sqrt 2)) / 2
        gelu-tanh   x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2

    The second is GELU (Hendrycks and Gimpel), the third what they give to be computed in its place, which
    GPT-2 has: there 0.044715 is the decimal number.
    """

    RELU = "relu"
    GELU = "gelu"
    GELU_TANH = "gelu-tanh"


def in_balls(activation: Activation, value: flint.arb) -> flint.arb:
    """The function of a ball, in the precision of the context.

    >>> [in_balls(activation, flint.arb(2)).str(6, radius=False) for activation in Activation]
    ['2.00000', '1.95450', '1.95460']
    """
    match activation:
        case Activation.RELU:
            return positive_part(value)
        case Activation.GELU:
            return value * (1 + (value / flint.arb(2).sqrt()).erf()) / 2
        case Activation.GELU_TANH:
            bent = value + value**3 * 44715 / 10**6
            return value * (1 + ((2 / flint.arb.pi()).sqrt() * bent).tanh()) / 2
        case _:
            assert_never(activation)


def series_of(activation: Activation, middle: flint.arb, count: int) -> list[flint.arb]:
    """Balls with the first Taylor coefficients f^(j)(x) / j! of a smooth activation, for all x in the ball.

    Raises ValueError for ReLU, which has none at 0.

    >>> [ball.str(3, radius=False) for ball in series_of(Activation.GELU, flint.arb(0), 3)]
    ['0', '0.500', '0.399']
    """
    with _terms(count):
        x = flint.arb_series([middle, 1], count)
        match activation:
            case Activation.RELU:
                raise ValueError("ReLU has no Taylor coefficients")
            case Activation.GELU:
                found = x * (1 + (x / flint.arb(2).sqrt()).erf()) / 2
            case Activation.GELU_TANH:
                bent = x + x * x * x * 44715 / 10**6
                found = x / (
                    1 + (-2 * (2 / flint.arb.pi()).sqrt() * bent).exp()
                )  # 1 + tanh y = 2 / (1 + e^-2y)
            case _:
                assert_never(activation)
        if found.prec < count:
            raise ValueError(f"{found.prec} terms of {count} are known")
        return [found[j] for j in range(count)]


@contextmanager
def _terms(count: int) -> Iterator[None]:
    """Work with power series of so many terms inside the block."""
    before = flint.ctx.cap
    flint.ctx.cap = count
    try:
        yield
    finally:
        flint.ctx.cap = before


def in_floats(activation: Activation, values: Floats) -> Floats:
    """The function of float64 numbers, about: this is measured, not proved.

    >>> in_floats(Activation.RELU, np.array([-1.0, 1.0])).tolist()
    [0.0, 1.0]
    """
    match activation:
        case Activation.RELU:
            return np.maximum(values, 0)
        case Activation.GELU:
            share = np.asarray(np.frompyfunc(erf, 1, 1)(values / sqrt(2)), dtype=np.float64)
            return np.asarray(values * (1 + share) / 2)
        case Activation.GELU_TANH:
            return np.asarray(values * (1 + np.tanh(sqrt(2 / pi) * (values + 0.044715 * values**3))) / 2)
        case _:
            assert_never(activation)
