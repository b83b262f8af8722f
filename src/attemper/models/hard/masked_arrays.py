"""Models of one length, and PyTorch encoders, read as masked models at all lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attemper.attention_program.ops import Mask
from attemper.errors import UnsupportedError
from attemper.models.arrays import Array, Integers
from attemper.models.hard.encoders import EncoderModel
from attemper.models.hard.masked import MaskedHead, TieRule
from attemper.models.hard.protocol import HardModel, normal
from attemper.models.soft.weights import Encoder, NoPositions, Periodic


class MaskedHardModel:
    """A `HardModel` whose embedding is the same at all positions; its heads may have masks.

    The attribute `mask` is `"<="` (j <= i), `"<"`, `">="`, `">"` or `"all"` (which is meant without it) for
    all heads, or a tuple with a tuple of these for each layer. The functions of the model are asked as they
    are; the mask is ours, and so is the row of zeros that a strict head reads where it sees nothing. Of
    several positions with the greatest score the leftmost is read, as in every `HardModel`.

    Raises `UnsupportedError` for another mask, and for an embedding that differs between two positions: of a
    model for one length it is not known how it goes on.
    """

    def __init__(self, model: HardModel) -> None:
        self.layers = tuple(
            tuple(_head(mask, layer, number) for number, mask in enumerate(row))
            for layer, row in enumerate(_masks(model))
        )
        _require_constant(model)
        self.model = model
        self.symbols = model.symbols
        self.ending = model.ending
        self.places = (0, 1)
        self.semantics = model.semantics

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """The embedding at the first position, as it is at all."""
        return self.model.embed(np.ones_like(positions), symbols)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """The model's."""
        return self.model.scores(layer, head, queries, keys)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """The model's."""
        return self.model.combine(layer, own, attended)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """The model's."""
        return self.model.labels(activations)


def _masks(model: HardModel) -> list[list[Any]]:
    """Which mask each head has."""
    mask: Any = getattr(model, "mask", Mask.ALL.value)
    if isinstance(mask, str):
        return [[mask] * heads for heads in model.heads]
    found = [list(row) for row in mask] if isinstance(mask, tuple | list) else []
    if tuple(map(len, found)) != tuple(model.heads):
        raise UnsupportedError(
            f"the model's mask must be one text, or a tuple of texts for each layer with {model.heads} heads"
        )
    return found


def _head(mask: Any, layer: int, number: int) -> MaskedHead:
    if mask not in tuple(Mask):
        raise UnsupportedError(
            f"layer {layer}, head {number}: the mask {mask!r} is none of {', '.join(Mask)}"
        )
    return MaskedHead(mask, TieRule.LEFTMOST.value)


def _require_constant(model: HardModel) -> None:
    """Raises `UnsupportedError` with a symbol and two positions where the embedding differs."""
    positions = np.arange(1, model.length + 1)
    for number, symbol in enumerate(model.symbols):
        rows = normal(model.embed(positions, np.full(model.length, number, dtype=np.int64)))
        wrong = np.flatnonzero((rows != rows[:1]).any(axis=1))
        if len(wrong):
            raise UnsupportedError(
                f"the embedding of '{symbol}' at position {int(wrong[0]) + 1} is another than at 1, and of a "
                "model for one length it is not known how that goes on; a 'MaskedModel' says its period",
                function="embed",
            )


class MaskedEncoder:
    """A PyTorch encoder whose attention is made hard: the leftmost of the best j <= i, or of all.

    `encoder` is what `encoders.reading.read_weights` gives, with either mask, and either no positions or
    periodic ones. The arithmetic is float64 with every sum in the order of the coordinates, as `EncoderModel`
    says. Raises `UnsupportedError` for other positions, or not one output.
    """

    def __init__(self, encoder: Encoder) -> None:
        if not isinstance(encoder.positions, NoPositions | Periodic):
            raise UnsupportedError(
                f"the encoder's positions ({type(encoder.positions).__name__}) are not known to be periodic; "
                "read it with Periodic(table), or without positions"
            )
        if len(encoder.readout) != 1:
            raise UnsupportedError("the readout of a hard-attention model must have one output")
        self.encoder = encoder
        self.symbols = encoder.symbols
        self.ending = encoder.ending
        mask = Mask.ALL if encoder.mask.after else Mask.UP_TO
        self.layers = tuple(
            (MaskedHead(mask.value, TieRule.LEFTMOST.value),) * layer.heads for layer in encoder.layers
        )
        self._table = (
            encoder.positions.table
            if isinstance(encoder.positions, Periodic)
            else np.zeros((1, encoder.width))
        )
        self.places = (0, len(self._table))
        self._model = EncoderModel(encoder)
        self.semantics = self._model.semantics

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """The symbol's row, plus the position's."""
        return np.asarray(self.encoder.embedding[symbols] + self._table[(positions - 1) % len(self._table)])

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Query times key."""
        return self._model.scores(layer, head, queries, keys)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """The rows behind the layer."""
        return self._model.combine(layer, own, attended)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """Whether the readout is positive."""
        return self._model.labels(activations)
