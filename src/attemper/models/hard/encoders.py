"""A PyTorch encoder whose weights are read, and whose attention is made hard.

The arithmetic is this file's: float64, sums in the order of the coordinates, so that nothing depends on the
batch. PyTorch's own kernels may round otherwise; what is said about this model is not said about them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.models.arrays import Array, Floats, Integers
from attemper.models.hard.protocol import dot
from attemper.models.soft.reading import read_weights
from attemper.models.soft.weights import Encoder, EncoderNorm, Table, require_plain

if TYPE_CHECKING:
    import torch


@final
@dataclass(frozen=True, eq=False)
class EncoderModel:
    """Embeddings plus positions, encoder layers with leftmost-hard attention, and a linear readout at n.

    Raises `UnsupportedError` for GELU and for a last norm.
    """

    weights: Encoder

    def __post_init__(self) -> None:
        require_plain(self.weights)

    @property
    def positions(self) -> Floats:
        """The (n, d) matrix that is added to the embeddings."""
        assert isinstance(self.weights.positions, Table)
        return self.weights.positions.table

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.weights.symbols

    @property
    def ending(self) -> str | None:
        return self.weights.ending

    @property
    def length(self) -> int:
        return len(self.positions)

    @property
    def heads(self) -> tuple[int, ...]:
        return tuple(layer.heads for layer in self.weights.layers)

    @property
    def semantics(self) -> str:
        return "float64, every sum in the order of the coordinates"

    @property
    def digest(self) -> str:
        return self.weights.digest

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return np.asarray(self.weights.embedding[symbols] + self.positions[positions - 1])

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        which = self.weights.layers[layer]
        width = queries.shape[1]
        size = width // which.heads
        rows = slice(head * size, (head + 1) * size)
        below = slice(width + head * size, width + (head + 1) * size)
        left, right = (_normed(rows_, which.before[0]) for rows_ in (queries, keys))
        query = dot(left, which.in_weight[rows].T) + which.in_bias[rows]
        key = dot(right, which.in_weight[below].T) + which.in_bias[below]
        return dot(query, key.T)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        which = self.weights.layers[layer]
        width = own.shape[1]
        size = width // which.heads
        read = []
        for head, rows in enumerate(attended):
            part = slice(2 * width + head * size, 2 * width + (head + 1) * size)
            read.append(dot(_normed(rows, which.before[0]), which.in_weight[part].T) + which.in_bias[part])
        middle = own + (dot(np.concatenate(read, axis=1), which.out_weight.T) + which.out_bias)
        middle = _normed(middle, which.after[0])
        entering = _normed(middle, which.before[1])
        hidden = np.maximum(dot(entering, which.hidden_weight.T) + which.hidden_bias, 0)
        after = middle + (dot(hidden, which.back_weight.T) + which.back_bias)
        return _normed(after, which.after[1])

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        logits = dot(activations, self.weights.readout.T)[:, 0] + self.weights.bias[0]
        return np.asarray(logits > 0, dtype=np.bool_)


def _normed(rows: Array, norm: EncoderNorm | None) -> Array:
    if norm is None:
        return rows
    mean = _sum(rows) / rows.shape[1]
    centred = rows - mean
    variance = _sum(centred * centred) / rows.shape[1]
    return np.asarray(centred / np.sqrt(variance + norm.epsilon) * norm.gain + norm.bias)


def _sum(rows: Array) -> Floats:
    """The sums of the rows, in the order of the columns."""
    return dot(rows, np.ones((rows.shape[1], 1)))


def read_encoder(
    encoder: torch.nn.TransformerEncoder,
    embedding: torch.nn.Embedding,
    positions: torch.Tensor,
    readout: torch.nn.Linear,
    symbols: Sequence[str],
    ending: str | None,
) -> EncoderModel:
    """The hard-attention model with the weights of an encoder, for words of `len(positions)` symbols.

    `positions` is the (n, d) matrix that is added to the embeddings; `readout` has one output, accepted if
    positive, applied at position n. The encoder is read without mask and padding: one that was trained with a
    causal mask is another function. Raises `UnsupportedError` for what it does not read: other activations
    than ReLU, a final norm, attention without biases; and for modules that compute something else than their
    weights say: subclasses, methods replaced in an instance, hooks, parametrizations. Raises `TypeError` for
    arguments that are no such things at all, for example because their order is another.
    """
    import torch

    if not isinstance(positions, torch.Tensor):
        raise TypeError(
            f"'positions' must be of the class torch.Tensor, not {type(positions).__name__}; "
            "read_encoder takes encoder, embedding, positions, readout, symbols, ending"
        )
    table = Table(positions.detach().cpu().double().numpy())
    weights = read_weights(encoder, embedding, readout, symbols, ending, positions=table)
    if len(weights.readout) != 1:
        raise UnsupportedError("the readout of a hard-attention model must have one output")
    return EncoderModel(weights)
