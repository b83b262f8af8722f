"""A hard-attention transformer to experiment with: random functions.

It reads two symbols and an end marker; the label is read at the end marker, at position n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Booleans, Integers

INTEGERS = "integers, exactly"

BITS = ("0", "1", "$")


class Described:
    """A model that its fields describe completely."""

    @cached_property
    def digest(self) -> str:
        return sha256(repr(self).encode()).hexdigest()

    @property
    def semantics(self) -> str:
        return INTEGERS


def _mix(*parts: Array | int) -> NDArray[np.uint64]:
    """A hash of numbers, elementwise (the finaliser of splitmix64 after each)."""
    result: NDArray[np.uint64] = np.zeros((), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for part in parts:
            result = (result ^ np.asarray(part).astype(np.uint64)) + np.uint64(0x9E3779B97F4A7C15)
            result = (result ^ (result >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            result = (result ^ (result >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            result = result ^ (result >> np.uint64(31))
    return result


@final
@dataclass(frozen=True)
class RandomTables(Described):
    """Every function is a random table, given by a hash.

    `levels`: how many scores there are (heavy ties if few); `values`: how many activations a position can
    have at most. None: all that are computed differ.
    """

    length: int
    heads: tuple[int, ...]
    seed: int = 0
    levels: int | None = None
    values: int | None = None
    symbols: tuple[str, ...] = BITS
    ending: str | None = "$"

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return np.stack([positions.astype(np.uint64), symbols.astype(np.uint64)], axis=1)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        left = _mix(self.seed, layer, head, queries[:, 0], queries[:, 1])
        right = _mix(self.seed, layer, head, keys[:, 0], keys[:, 1])
        found = _mix(left[:, None], right[None, :])
        return found if self.levels is None else (found >> np.uint64(32)) % np.uint64(self.levels)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        parts = [part for rows in attended for part in (rows[:, 0], rows[:, 1])]
        found = _mix(self.seed, layer, own[:, 0], own[:, 1], *parts)
        if self.values is not None:
            found = (found >> np.uint64(32)) % np.uint64(self.values)
        return np.stack([own[:, 0], found], axis=1)

    def labels(self, activations: Array) -> Booleans:
        return np.asarray(
            _mix(self.seed, activations[:, 0], activations[:, 1]) % np.uint64(2) == 1, dtype=np.bool_
        )
