"""One of our networks, read as a hard-attention transformer: exact numbers, the leftmost of the best scores.

Softmax heads are read in the limit of temperature 0. A head that averages over ties (uniform and sign
heads, which count) is no hard attention in Hahn's sense, and refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import evaluate
from attemper.hard_models.protocol import Array, Integers
from attemper.networks.layers import Head, Lookup, Masking, Neighbour, Network, Select
from attemper.networks.meaning_hard import value_of

Vector = tuple[Fraction, ...]

NOTHING = -1
"""What a head adds that sees no position."""

SAFE = 2**61
"""Scores below this fit into 64 bits with room for the mask."""


class NetworkModel:
    """The network on words of n symbols; there is no end marker, and the label is the output bit at n.

    Activations are pairs of a position and the number of a vector of the residual stream, which is kept
    here. Raises `UnsupportedError` for heads that average, and networks read at the first position.
    """

    def __init__(self, network: Network, length: int, digest: str) -> None:
        for number, layer in enumerate(network.layers):
            for head in layer.heads:
                if not isinstance(head.construction, Select | Neighbour | Lookup):
                    raise UnsupportedError(
                        f"layer {number} has a head that averages over many positions, so it is not unique "
                        "hard attention; give a formula without counts, or an automaton without counters"
                    )
        if network.reads_first:
            raise UnsupportedError("the network is read at the first position; compile it with '--at last'")
        self.network = network
        self.length = length
        self.digest = digest
        self.symbols = network.alphabet.symbols
        self.ending: str | None = None
        self.semantics = "rational numbers, exactly"
        self.heads = tuple(len(layer.heads) for layer in network.layers)
        self._vectors: list[Vector] = []
        self._numbers: dict[Vector, int] = {}
        self._after: dict[tuple[int, ...], int] = {}
        self._value_number: dict[tuple[int, int], dict[Vector, int]] = defaultdict(dict)
        self._keys: dict[tuple[int, int], tuple[bytes, Array]] = {}
        self._read: dict[tuple[int, int, int], tuple[Vector, Vector, Vector]] = {}

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """Word embedding plus position embedding."""
        rows = [self._embedding(int(i), int(s)) for i, s in zip(positions, symbols, strict=True)]
        return np.array([[i, row] for i, row in zip(positions, rows, strict=True)], dtype=np.int64)

    def _embedding(self, position: int, symbol: int) -> int:
        vector = [Fraction(0)] * len(self.network.coordinates)
        for coordinate, value in self.network.embedding[symbol]:
            vector[coordinate] += value
        for coordinate, form in self.network.positions:
            vector[coordinate] += evaluate(form, position, self.length)
        return self._number(tuple(vector))

    def _number(self, vector: Vector) -> int:
        if vector not in self._numbers:
            self._vectors.append(vector)
            self._numbers[vector] = len(self._vectors) - 1
        return self._numbers[vector]

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Query times key, times a positive number for each query; less than all of these where masked."""
        which = self.network.layers[layer].heads[head]
        left = _integers([self._reading(layer, head, int(v))[0] for v in queries[:, 1]], one_scale=False)
        right = self._key_matrix(layer, head, keys[:, 1])
        bound = sum(
            int(abs(left[:, k]).max(initial=0)) * int(abs(right[:, k]).max(initial=0))
            for k in range(left.shape[1])
        )
        if bound < SAFE:
            left, right = left.astype(np.int64), right.astype(np.int64)
        found = np.zeros((len(left), len(right)), dtype=left.dtype)
        for k in range(left.shape[1]):
            found = found + left[:, k, None] * right[None, :, k]
        seen = _visible(which.masking, queries[:, 0][:, None], keys[:, 0][None, :])
        return np.where(seen, found, -bound - 1)

    def _key_matrix(self, layer: int, head: int, vectors: Integers) -> Array:
        """The keys as integers; the last ones are remembered, as searches ask for them again and again."""
        name = vectors.tobytes()
        known = self._keys.get((layer, head))
        if known is None or known[0] != name:
            rows = [self._reading(layer, head, vector)[1] for vector in vectors.tolist()]
            known = name, _integers(rows, one_scale=True)
            self._keys[layer, head] = known
        return known[1]

    def _reading(self, layer: int, head: int, vector: int) -> tuple[Vector, Vector, Vector]:
        """Query, key and values of a vector."""
        key = layer, head, vector
        if key not in self._read:
            which: Head = self.network.layers[layer].heads[head]
            stream = list(self._vectors[vector])
            self._read[key] = (
                tuple(value_of(form, stream) for form in which.query),
                tuple(value_of(form, stream) for form in which.key),
                tuple(value_of(form, stream) for form in which.values),
            )
        return self._read[key]

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """The residual stream after the layer; a head that sees nothing adds 0."""
        columns = [own[:, 1]]
        for head, there in enumerate(attended):
            masking = self.network.layers[layer].heads[head].masking
            seen = _visible(masking, own[:, 0], there[:, 0])
            columns.append(np.where(seen, self._value_numbers(layer, head, there[:, 1]), NOTHING))
        table, back = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        after = np.array([self._after_layer(layer, row) for row in table.tolist()], dtype=np.int64)
        return np.stack([own[:, 0], after[back.reshape(-1)]], axis=1)

    def _value_numbers(self, layer: int, head: int, vectors: Integers) -> Integers:
        """For each vector the number of what the head reads there."""
        numbers = self._value_number[layer, head]
        distinct, back = np.unique(vectors, return_inverse=True)
        found = [self._reading(layer, head, vector)[2] for vector in distinct.tolist()]
        return np.array([numbers.setdefault(values, len(numbers)) for values in found])[back.reshape(-1)]

    def _after_layer(self, layer: int, row: list[int]) -> int:
        """The number of a vector after the layer; the row has its number before, and what each head adds."""
        key = layer, *row
        if key not in self._after:
            added = [
                () if number == NOTHING else list(self._value_number[layer, head])[number]
                for head, number in enumerate(row[1:])
            ]
            self._after[key] = self._number(self._applied(layer, self._vectors[row[0]], added))
        return self._after[key]

    def _applied(self, number: int, vector: Vector, added: Sequence[Vector]) -> Vector:
        layer = self.network.layers[number]
        middle = list(vector)
        for head, values in zip(layer.heads, added, strict=True):
            for target, value in zip(head.targets, values, strict=bool(values)):
                middle[target] += value
        after = list(middle)
        for unit in layer.hidden:
            activation = value_of(unit.form, middle) + unit.bias
            if activation > 0:
                for coordinate, factor in unit.outputs:
                    after[coordinate] += factor * activation
        return tuple(after)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """The output bit."""
        return np.array(
            [self._vectors[v][self.network.output] == 1 for v in activations[:, 1]], dtype=np.bool_
        )


def _visible(masking: Masking, i: Array, j: Array) -> NDArray[np.bool_]:
    """Which positions j the positions i see."""
    found = {
        Masking.FUTURE: j <= i,
        Masking.STRICT_FUTURE: j < i,
        Masking.PAST: j >= i,
        Masking.STRICT_PAST: j > i,
        Masking.NONE: (j == j) & (i == i),
    }[masking]
    return np.asarray(found, dtype=np.bool_)


def _integers(rows: Sequence[Vector], *, one_scale: bool) -> Array:
    """The rows times a positive number: the same for all rows, or one for each."""
    scales = [lcm(*(value.denominator for value in row)) for row in rows]
    if one_scale:
        scales = [lcm(*scales)] * len(rows)
    scaled = [[int(value * scale) for value in row] for row, scale in zip(rows, scales, strict=True)]
    return np.array(scaled, dtype=object).reshape(len(rows), -1)
