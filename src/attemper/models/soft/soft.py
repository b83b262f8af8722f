"""An encoder with soft attention, in float64: on words, and on histograms where order cannot matter.

These numbers are measured, not proved: `attemper.models.soft.meaning` has balls around the real ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats, Integers
from attemper.models.soft.activations import in_floats
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm, Mask, NoPositions, position_rows

Visible = NDArray[np.bool_] | None
"""The mask, of shape (n, n); None if all is seen."""

MOST_SCORES = 16_000_000
"""How many scores exist at a time."""

MOST_ACTIVATIONS = 4_000_000
"""How many activations of one kind exist at a time, of words that are seen as histograms."""


def outputs_of(encoder: Encoder, words: Integers) -> Floats:
    """The outputs at position n, of shape (B, K), for words of n symbols, numbered, of shape (B, n).

    The end marker is part of the words. Raises `UnsupportedError` for a length that the encoder lacks.
    """
    count, length = words.shape
    rows = position_rows(encoder, length)
    heads = max((layer.heads for layer in encoder.layers), default=1)
    size = max(1, MOST_SCORES // (heads * length * length))
    places = np.arange(length)
    shown = None if encoder.mask is Mask.UNMASKED else encoder.mask.sees(places[:, None], places)
    found = np.empty((count, len(encoder.readout)))
    for top in range(0, count, size):
        stream = encoder.embedding[words[top : top + size]] + rows
        for layer in encoder.layers:
            stream = _layer(layer, stream, None, shown)
        found[top : top + size] = _read_out(encoder, stream[:, -1])
    return found


def outputs_of_histograms(encoder: Encoder, counts: Floats, last: int) -> Floats:
    """The outputs, of shape (B, K), for words that have each symbol so often: counts of shape (B, S).

    All words with a histogram have the same output, that at a position with the symbol numbered `last`, as
    attention without mask and positions does not see order: a softmax over n positions is one over symbols,
    weighted by their counts. Counts are numbers from 0 on, not only integers; they include the end marker.

    Raises `UnsupportedError` for an encoder with a mask or position embeddings.
    """
    if encoder.mask is not Mask.UNMASKED or not isinstance(encoder.positions, NoPositions):
        raise UnsupportedError("only an unmasked encoder without position embeddings cannot see order")
    widest = max((layer.hidden_bias.size for layer in encoder.layers), default=0)
    size = max(
        1, MOST_ACTIVATIONS // (len(encoder.symbols) * max(widest, 3 * encoder.width, len(encoder.symbols)))
    )
    found = np.empty((len(counts), len(encoder.readout)))
    for top in range(0, len(counts), size):
        weights = counts[top : top + size]
        stream = np.broadcast_to(encoder.embedding, (len(weights), *encoder.embedding.shape))
        for layer in encoder.layers:
            stream = _layer(layer, stream, weights[:, None, :], None)
        found[top : top + size] = _read_out(encoder, stream[:, last])
    return found


def behind_heads(encoder: Encoder, read: Floats, residual: Floats) -> Floats:
    """The outputs (B, K) where the heads of the last layer read (B, d), beside the residual stream (B, d)."""
    layer = encoder.layers[-1]
    return _read_out(encoder, _behind(layer, residual + _mapped(read, layer.out_weight, layer.out_bias)))


def _read_out(encoder: Encoder, last: Floats) -> Floats:
    return np.asarray(_normed(encoder.last_norm, last) @ encoder.readout.T + encoder.bias)


def _layer(layer: EncoderLayer, stream: Floats, weights: Floats | None, shown: Visible) -> Floats:
    """One layer, of streams of shape (B, n, d); `weights` (B, 1, n) count keys, `shown` (n, n) masks them."""
    return _behind(layer, stream + _attended(layer, _normed(layer.before[0], stream), weights, shown))


def _behind(layer: EncoderLayer, total: Floats) -> Floats:
    """What a layer makes of the sum of its activations and of what its heads write."""
    (_, between), (after, last) = layer.before, layer.after
    middle = _normed(after, total)
    units = _mapped(_normed(between, middle), layer.hidden_weight, layer.hidden_bias)
    return _normed(
        last, middle + _mapped(in_floats(layer.activation, units), layer.back_weight, layer.back_bias)
    )


def _mapped(stream: Floats, matrix: Floats, bias: Floats) -> Floats:
    """The affine image of each activation, by one product: numpy takes far longer for one of each word."""
    *shape, width = stream.shape
    return np.asarray((stream.reshape(-1, width) @ matrix.T + bias).reshape(*shape, len(matrix)))


def _attended(layer: EncoderLayer, stream: Floats, weights: Floats | None, shown: Visible) -> Floats:
    """What the heads write, of shape (B, n, d)."""
    width = stream.shape[-1]
    size = width // layer.heads
    mixed = _mapped(stream, layer.in_weight, layer.in_bias)
    read = []
    for head in range(layer.heads):
        first = head * size
        query, key, value = (mixed[..., top : top + size] for top in range(first, 3 * width, width))
        scores = query @ np.swapaxes(key, -1, -2) / np.sqrt(size)
        if shown is not None:
            scores = np.where(shown, scores, -np.inf)
        if weights is not None:  # what does not occur must not be the greatest score
            scores = np.where(weights > 0, scores, -np.inf)
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        if weights is not None:
            powers = powers * weights
        read.append(powers @ value / powers.sum(axis=-1, keepdims=True))
    return _mapped(np.concatenate(read, axis=-1), layer.out_weight, layer.out_bias)


def _normed(norm: EncoderNorm | None, rows: Floats) -> Floats:
    if norm is None:
        return rows
    centred = rows - rows.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + norm.epsilon) * norm.gain + norm.bias)
