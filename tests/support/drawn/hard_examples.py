"""Hard-attention transformers to try the search and the checker on: random weights, and clever attempts.

All but `LastIs` read two symbols and an end marker; the label is read at the end marker, at position n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Booleans, Integers
from attemper.models.hard.examples import BITS, Described
from attemper.models.hard.masked import MaskedHead
from attemper.models.hard.masked_examples import INTEGERS
from attemper.models.hard.protocol import dot

FIXED_ORDER = "float64, every sum in the order of the coordinates"


@dataclass(frozen=True)
class _PositionAndBit(Described):
    """Activations are a position and a bit, 1 for the second symbol; accepted if the bit at n is 0."""

    length: int
    layers: int
    symbols: tuple[str, ...] = BITS
    ending: str | None = "$"

    @property
    def heads(self) -> tuple[int, ...]:
        return (1,) * self.layers

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return np.stack([positions, (symbols == 1).astype(np.int64)], axis=1)

    def labels(self, activations: Array) -> Booleans:
        return np.asarray(activations[:, 1] == 0, dtype=np.bool_)


@final
@dataclass(frozen=True)
class RandomWeights(Described):
    """Residual layers with random weights, ReLU and dot-product scores.

    `grid`: activations are rounded to multiples of it.
    """

    length: int
    heads: tuple[int, ...]
    seed: int = 0
    width: int = 8
    grid: float | None = None
    symbols: tuple[str, ...] = BITS
    ending: str | None = "$"

    @property
    def semantics(self) -> str:
        return FIXED_ORDER

    @cached_property
    def _weights(self) -> dict[str, NDArray[np.float64]]:
        draw = np.random.default_rng(self.seed)
        d = self.width
        weights = {
            "positions": draw.standard_normal((self.length, d)),
            "symbols": draw.standard_normal((len(self.symbols), d)),
            "label": draw.standard_normal((d, 1)),
        }
        for layer, heads in enumerate(self.heads):
            for head in range(heads):
                weights[f"query {layer} {head}"] = draw.standard_normal((d, d)) / d**0.5
                weights[f"key {layer} {head}"] = draw.standard_normal((d, d)) / d**0.5
            weights[f"in {layer}"] = draw.standard_normal(((heads + 1) * d, 2 * d)) / (2 * d) ** 0.5
            weights[f"out {layer}"] = draw.standard_normal((2 * d, d)) / d**0.5
        return weights

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        found = self._weights["positions"][positions - 1] + self._weights["symbols"][symbols]
        return self._rounded(found)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        left = dot(queries, self._weights[f"query {layer} {head}"])
        right = dot(keys, self._weights[f"key {layer} {head}"])
        return dot(left, right.T)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        read = np.concatenate([own, *attended], axis=1)
        hidden = np.maximum(dot(read, self._weights[f"in {layer}"]), 0)
        return self._rounded(own + dot(hidden, self._weights[f"out {layer}"]))

    def _rounded(self, rows: Array) -> Array:
        return rows if self.grid is None else np.asarray(np.round(rows / self.grid) * self.grid)

    def labels(self, activations: Array) -> Booleans:
        return np.asarray(dot(activations, self._weights["label"])[:, 0] > 0, dtype=np.bool_)


@final
@dataclass(frozen=True)
class PrefixXor(_PositionAndBit):
    """An attempt at parity: in layer k position i adds (modulo 2) what it finds at i - 2^k.

    After L layers a position knows the parity of the last 2^L symbols.
    """

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        return np.asarray(queries[:, None, 0] - keys[None, :, 0] == 2**layer, dtype=np.int64)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        read = attended[0]
        bit = np.where(own[:, 0] > 2**layer, own[:, 1] ^ read[:, 1], own[:, 1])
        return np.stack([own[:, 0], bit], axis=1)


@final
@dataclass(frozen=True)
class NearestOneChain(_PositionAndBit):
    """In each layer a position reads the nearest 1 before it, and adds up (modulo 2) what is found there.

    In the second layer it reads the nearest position before it whose sum so far is 1, and so on.
    """

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        before = keys[None, :, 0] < queries[:, None, 0]
        return np.where(before & (keys[None, :, 1] == 1), keys[None, :, 0], 0)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        read = attended[0]
        found = np.where((read[:, 1] == 1) & (read[:, 0] < own[:, 0]), own[:, 0] - read[:, 0], 0)
        return np.stack([own[:, 0], (own[:, 1] + found) % 2], axis=1)


@final
@dataclass(frozen=True)
class ScatteredPositions(_PositionAndBit):
    """Two heads in each layer with scores that jump about with the positions: (a i + b j + bits) mod p."""

    prime: int = 10_007

    @property
    def heads(self) -> tuple[int, ...]:
        return (2,) * self.layers

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        query = (3_001 + 2 * layer) * queries[:, 0] + 1_009 * queries[:, 1] * (head + 1)
        key = (4_999 - 6 * layer) * keys[:, 0] + 2_003 * keys[:, 1]
        return np.asarray((query[:, None] + key[None, :]) % self.prime)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        first, second = attended
        bit = np.where(own[:, 1] + first[:, 1] + second[:, 1] >= 2, 1 - first[:, 1], own[:, 1])
        return np.stack([own[:, 0], bit], axis=1)


@final
@dataclass(frozen=True)
class FirstMismatch(Described):
    """Compares each symbol with the one expected at its position, and looks for the first mismatch.

    One layer, one head: it recognises a language with at most one word of each length, such as 1* or a^n b^n
    (`expected` has the numbers of the symbols 1..n-1; empty: no word of this length is accepted).
    """

    length: int
    expected: tuple[int, ...]
    symbols: tuple[str, ...] = BITS
    ending: str | None = "$"
    heads: tuple[int, ...] = field(default=(1,), init=False)

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        wanted = np.array([*self.expected, *[-1] * (self.length - len(self.expected))])[positions - 1]
        ends = positions == self.length
        wrong = np.where(ends, not self.expected and self.length > 1, symbols != wanted)
        return np.stack([positions, wrong.astype(np.int64)], axis=1)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        return np.broadcast_to(keys[None, :, 1], (len(queries), len(keys)))

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        return np.stack([own[:, 0], attended[0][:, 1]], axis=1)

    def labels(self, activations: Array) -> Booleans:
        return np.asarray(activations[:, 1] == 0, dtype=np.bool_)


def ones(length: int) -> FirstMismatch:
    """A recogniser of 1*, for words of length - 1 symbols."""
    return FirstMismatch(length, (1,) * (length - 1))


def equally_many(length: int, symbols: tuple[str, ...] = ("a", "b", "$")) -> FirstMismatch:
    """A recogniser of a^m b^m, for words of length - 1 symbols."""
    half, odd = divmod(length - 1, 2)
    return FirstMismatch(length, () if odd else (0,) * half + (1,) * half, symbols)


@final
@dataclass(frozen=True)
class LastIs:
    """No layer at all: a word is accepted if its last symbol is the one that is said.

    >>> LastIs("b").layers
    ()
    """

    symbol: str
    symbols: tuple[str, ...] = ("a", "b")
    places: tuple[int, int] = (0, 1)
    layers: tuple[tuple[MaskedHead, ...], ...] = ()
    semantics: str = INTEGERS

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """1 at the symbol, else 0."""
        return np.asarray(symbols == self.symbols.index(self.symbol), dtype=np.int64)[:, None]

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Nothing is scored, as there are no heads."""
        return np.zeros((len(queries), len(keys)), dtype=np.int64)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """The rows themselves."""
        return own

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """Whether the symbol is the one."""
        return np.asarray(activations[:, 0] == 1)
