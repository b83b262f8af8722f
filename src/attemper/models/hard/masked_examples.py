"""Masked transformers of unique hard attention to experiment with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedHead

INTEGERS = "integers, exactly"


@final
@dataclass(frozen=True)
class Alternating:
    """(ab)+ in two layers, without positions.

    Activations are (1, symbol, mistake). A strict head of layer 0 reads the position before; where there is
    none, the row of zeros has no 1 in front. A symbol is a mistake if it is the one before, or a b and the
    first. A head of layer 1 looks for the leftmost mistake. Accepted: b at the end, and no mistake.

    >>> [len(heads) for heads in Alternating().layers]
    [1, 1]
    """

    symbols: tuple[str, ...] = ("a", "b")
    places: tuple[int, int] = (0, 1)
    layers: tuple[tuple[MaskedHead, ...], ...] = (
        (MaskedHead("<", "rightmost"),),
        (MaskedHead("<=", "leftmost"),),
    )
    semantics: str = INTEGERS

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """(1, symbol, 0)."""
        return np.stack([np.ones_like(symbols), symbols, np.zeros_like(symbols)], axis=1)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Layer 0: all are equal, so that the rightmost is the one before. Layer 1: mistakes first."""
        return np.broadcast_to(keys[:, 2], (len(queries), len(keys)))

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """What is a mistake here; then whether there is one up to here."""
        read = attended[0]
        before = np.where(read[:, 0] == 1, read[:, 1], 1)
        mistake = before == own[:, 1] if layer == 0 else read[:, 2] == 1
        return np.stack([own[:, 0], own[:, 1], mistake.astype(np.int64)], axis=1)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """No mistake, and a b."""
        return np.asarray((activations[:, 2] == 0) & (activations[:, 1] == 1))


@final
@dataclass(frozen=True)
class Surrounded:
    """No b stands between two a, in two layers: heads look to the left, to the right and everywhere.

    Activations are (1, symbol, between). In layer 0 every position looks for an a before it and for one
    behind it, and a b that finds both is marked; in layer 1 the last position looks for a mark.

    >>> [[head.mask for head in heads] for heads in Surrounded().layers]
    [['<', '>'], ['all']]
    """

    symbols: tuple[str, ...] = ("a", "b")
    places: tuple[int, int] = (0, 1)
    layers: tuple[tuple[MaskedHead, ...], ...] = (
        (MaskedHead("<", "rightmost"), MaskedHead(">", "leftmost")),
        (MaskedHead("all", "leftmost"),),
    )
    semantics: str = INTEGERS

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """(1, symbol, 0)."""
        return np.stack([np.ones_like(symbols), symbols, np.zeros_like(symbols)], axis=1)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Layer 0: an a first. Layer 1: a mark first."""
        wanted = keys[:, 1] == 0 if layer == 0 else keys[:, 2]
        return np.broadcast_to(wanted.astype(np.int64), (len(queries), len(keys)))

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """Whether a b is between two a; then whether there is such a b."""
        if layer == 0:
            are_a = [(read[:, 0] == 1) & (read[:, 1] == 0) for read in attended]
            marked = (own[:, 1] == 1) & are_a[0] & are_a[1]
        else:
            marked = attended[0][:, 2] == 1
        return np.stack([own[:, 0], own[:, 1], marked.astype(np.int64)], axis=1)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """No mark."""
        return np.asarray(activations[:, 2] == 0)
