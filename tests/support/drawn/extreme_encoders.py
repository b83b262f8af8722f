"""Encoders of two words with weights near the ends of float64, built by hand, and what they really do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import flint
import numpy as np

from attemper.exact.balls import precision
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm, Mask, NoPositions
from tests.support.drawn.encoders import BITS

PRECISION = 3000
"""Bits enough for sums of numbers from 2^-1000 to 2^1000."""

SHAPES = ((9, 3), (9,), (3, 3), (3,), (1, 3), (1,), (3, 1), (3,))


def averaging(
    rows: Sequence[Sequence[float]],
    norms: tuple[EncoderNorm, EncoderNorm] | None,
    *,
    written: float = 1.0,
    readout: float = 1.0,
    layers: int = 1,
) -> Encoder:
    """Width 3: the first layer adds the average embedding, times `written`; other layers add nothing.

    `rows` are the embeddings of 0, 1 and the marker; the output is `readout` times y_1 + y_2 - 2 y_3.
    """
    blank = EncoderLayer(*(np.zeros(shape) for shape in SHAPES), norms=None, heads=1, norm_first=False)
    first = replace(blank, in_weight=np.eye(9, 3, -6), out_weight=np.eye(3) * written, norms=norms)
    stack = (first, *[blank] * (layers - 1))
    row = np.array([[1.0, 1.0, -2.0]]) * readout
    return Encoder(
        BITS, "$", np.array(rows), NoPositions(), Mask.UNMASKED, stack, row, np.zeros(1), ("output",)
    )


def norm_of(gain: float, epsilon: float) -> EncoderNorm:
    return EncoderNorm(np.full(3, gain), np.zeros(3), epsilon)


def real_change(encoder: Encoder) -> flint.arb:
    """How far the outputs of the words 0$ and 1$ are apart, by the definition, in a ball."""
    first, second = (outputs_in_balls(encoder, word, PRECISION)[0] for word in ((0, 2), (1, 2)))
    with precision(PRECISION):
        return abs(first - second)
