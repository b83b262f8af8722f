"""What an encoder with soft attention means: balls around its real outputs, straight from the definition.

Slow on purpose; everything else that is said of encoders is tested against this file.
"""

from __future__ import annotations

from collections.abc import Sequence

import flint

from attemper.exact.balls import precision
from attemper.models.arrays import Floats
from attemper.models.soft.activations import in_balls
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm, Mask, position_rows

BallVector = list[flint.arb]


def outputs_in_balls(encoder: Encoder, word: Sequence[int], bits: int = 128) -> BallVector:
    """The K outputs at position n on a word of n numbered symbols, the end marker among them.

    >>> import numpy as np
    >>> from attemper.models.soft.weights import NoPositions
    >>> one = np.ones((1, 1))
    >>> tiny = Encoder(("a",), None, one, NoPositions(), Mask.UNMASKED, (), one / 4, one[0], ("o",))
    >>> outputs_in_balls(tiny, [0])
    [1.25000000000000]
    """
    with precision(bits):
        positions = position_rows(encoder, len(word))
        stream = [
            _sum_of_rows(_exact(encoder.embedding[symbol]), _exact(positions[place]))
            for place, symbol in enumerate(word)
        ]
        for layer in encoder.layers:
            stream = _layer(layer, stream, encoder.mask)
        last = _normed(encoder.last_norm, stream[-1])
        return _sum_of_rows(_times(encoder.readout, last), _exact(encoder.bias))


def _layer(layer: EncoderLayer, stream: list[BallVector], mask: Mask) -> list[BallVector]:
    (before, between), (after, last) = layer.before, layer.after
    entering = [_normed(before, row) for row in stream]
    read = _attended(layer, entering, mask)
    middle = [_normed(after, _sum_of_rows(row, more)) for row, more in zip(stream, read, strict=True)]
    return [_normed(last, _sum_of_rows(row, _feed_forward(layer, _normed(between, row)))) for row in middle]


def _attended(layer: EncoderLayer, stream: list[BallVector], mask: Mask) -> list[BallVector]:
    """What the heads write at every position: the softmax average of the values of all keys that are seen."""
    width = len(stream[0])
    size = width // layer.heads
    mixed = [_sum_of_rows(_times(layer.in_weight, row), _exact(layer.in_bias)) for row in stream]
    scale = 1 / flint.arb(size).sqrt()
    written = []
    for place in range(len(stream)):
        seen = [j - 1 for j in mask.visible(place + 1, len(stream))]
        read: BallVector = []
        for first in range(0, width, size):
            query = mixed[place][first : first + size]
            powers = [
                (_dot(query, mixed[j][width + first : width + first + size]) * scale).exp() for j in seen
            ]
            total = sum(powers, flint.arb(0))
            read += [
                _dot(powers, [mixed[j][2 * width + k] for j in seen]) / total
                for k in range(first, first + size)
            ]
        written.append(_sum_of_rows(_times(layer.out_weight, read), _exact(layer.out_bias)))
    return written


def _feed_forward(layer: EncoderLayer, row: BallVector) -> BallVector:
    entering = _sum_of_rows(_times(layer.hidden_weight, row), _exact(layer.hidden_bias))
    hidden = [in_balls(layer.activation, value) for value in entering]
    return _sum_of_rows(_times(layer.back_weight, hidden), _exact(layer.back_bias))


def _normed(norm: EncoderNorm | None, row: BallVector) -> BallVector:
    if norm is None:
        return row
    mean = sum(row, flint.arb(0)) / len(row)
    centred = [value - mean for value in row]
    deviation = (_dot(centred, centred) / len(row) + flint.arb(norm.epsilon)).sqrt()
    gain, bias = _exact(norm.gain), _exact(norm.bias)
    return [value / deviation * g + b for value, g, b in zip(centred, gain, bias, strict=True)]


def _exact(row: Floats) -> BallVector:
    """The float64 numbers of a row, exactly."""
    return [flint.arb(float(value)) for value in row]


def _times(matrix: Floats, row: BallVector) -> BallVector:
    return [_dot(_exact(weights), row) for weights in matrix]


def _dot(left: BallVector, right: BallVector) -> flint.arb:
    return sum((a * b for a, b in zip(left, right, strict=True)), flint.arb(0))


def _sum_of_rows(left: BallVector, right: BallVector) -> BallVector:
    return [a + b for a, b in zip(left, right, strict=True)]
