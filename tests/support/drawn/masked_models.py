"""Networks of `plain_masked` as models that attemper asks: the same numbers, in arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedHead
from tests.support.oracles.plain_masked import Matrix, PlainMasked


@dataclass(frozen=True)
class ArrayModel:
    """A plain network, evaluated on many rows at once; every sum is taken in the order of the coordinates."""

    plain: PlainMasked

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(ascii_lowercase[: self.plain.letters])

    @property
    def places(self) -> tuple[int, int]:
        return self.plain.prefix, self.plain.period

    @property
    def layers(self) -> tuple[tuple[MaskedHead, ...], ...]:
        return tuple(
            tuple(
                MaskedHead("<" if head.strict else "<=", "leftmost" if head.leftmost else "rightmost")
                for head in layer.heads
            )
            for layer in self.plain.layers
        )

    @property
    def semantics(self) -> str:
        return "float64, every sum in order" if self.plain.floats else "integers, exactly"

    def _array(self, matrix: Matrix) -> Array:
        return np.array(matrix, dtype=np.float64 if self.plain.floats else np.int64)

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        prefix, period = self.places
        place = np.where(positions <= prefix, positions - 1, prefix + (positions - 1 - prefix) % period)
        return self._array(self.plain.embedding)[symbols] + self._array(self.plain.positions)[place]

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        matrix = self._array(self.plain.layers[layer].heads[head].score)
        return _times(_times(queries, matrix), keys.T)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        weights = self.plain.layers[layer]
        middle = own
        for head, rows in zip(weights.heads, attended, strict=True):
            middle = middle + _times(rows, self._array(head.value).T)
        hidden = _times(middle, self._array(weights.hidden).T) + self._array((weights.bias,))
        after = middle + _times(np.maximum(hidden, 0), self._array(weights.back).T)
        scaled = after if self.plain.floats else after // 4
        return np.clip(scaled, -weights.cap, weights.cap)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        return np.asarray(_times(activations, self._array((self.plain.label,)).T)[:, 0] > 0)


def _times(left: Array, right: Array) -> Array:
    """The product, added up in the order of the coordinates from 0 on."""
    total = np.zeros((len(left), right.shape[1]), dtype=left.dtype)
    for k in range(left.shape[1]):
        total = total + left[:, k, None] * right[None, k]
    return total
