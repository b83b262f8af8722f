"""One of our networks, read as a hard-attention transformer: exact numbers, the leftmost of the best scores.

Softmax heads are read in the limit of temperature 0. A head that averages over ties (uniform and sign
heads, which count) is no hard attention in Hahn's sense, and refused.

At one length n every number of a network is a fraction with a denominator that its place decides. So vectors
of the residual stream are rows of integers, each coordinate over a common denominator, and linear maps are
products of integers: exact, in 64 bits where they fit and in Python's integers elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import evaluate
from attemper.models.arrays import Array, Integers
from attemper.networks import layers

NOTHING = -1
"""What a head adds that sees no position."""

UNKNOWN = -1
"""In place of the number of a vector that has not been asked for."""

SAFE = 2**61
"""Sums of integers below this fit into 64 bits, with room for the mask of scores."""

SMALL = 2**30
"""The same for 32 bits, which take less memory."""

EXACT_FLOATS = 2**52
"""The same for float64, in which every integer up to 2^53 is exact: it multiplies matrices much faster."""


class NetworkModel:
    """The network on words of n symbols; there is no end marker, and the label is the output bit at n.

    Activations are pairs of a position and the number of a vector of the residual stream before or behind the
    layer at hand, which is kept here. Raises `UnsupportedError` for heads that average, and networks read at
    the first position.
    """

    def __init__(self, network: layers.Network, length: int, digest: str) -> None:
        if network.normalisation is not None:
            raise UnsupportedError(
                "the network normalises what its sublayers read, so that its numbers are no rationals: "
                "compile it without LayerNorm"
            )
        for number, layer in enumerate(network.layers):
            for head in layer.heads:
                if not isinstance(
                    head.construction,
                    layers.Select | layers.Neighbour | layers.Lookup | layers.NearestInteger,
                ):
                    raise UnsupportedError(
                        f"layer {number} has a head that averages over many positions, so it is not unique "
                        "hard attention; give a formula without counts, or an automaton without counters"
                    )
        if network.symbols or network.measure is not None:
            what = "a symbol" if network.measure is None else "numbers"
            raise UnsupportedError(f"the network puts out {what} at every position, and no verdict")
        if network.reads_first:
            raise UnsupportedError(
                "the network is read at the first position; compile it to be read at the last one"
            )
        self.network = network
        self.length = length
        self.digest = digest
        self.symbols = network.alphabet.symbols
        self.ending: str | None = None
        self.semantics = "rational numbers, exactly"
        self.heads = tuple(len(layer.heads) for layer in network.layers)
        scales, self._of_symbols, self._of_positions = _embeddings(network, length)
        self._embedded = np.full((length, len(network.embedding)), UNKNOWN, dtype=np.int64)
        self._streams = [_Vectors(scales)]
        self._layers: list[_IntegerLayer] = []
        for layer in network.layers:
            self._layers.append(_IntegerLayer(layer, self._streams[-1].scales))
            self._streams.append(_Vectors(self._layers[-1].scales))
        self._after: list[dict[tuple[int, ...], int]] = [{} for _ in network.layers]
        self._keys: dict[tuple[int, int], tuple[bytes, Array]] = {}

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """Word embedding plus position embedding."""
        new = np.flatnonzero(self._embedded[positions - 1, symbols] == UNKNOWN)
        if len(new):
            own = self._of_symbols[symbols[new]]
            rows = _wide(self._of_positions[positions[new] - 1], own) + own
            self._embedded[positions[new] - 1, symbols[new]] = self._streams[0].numbered(_narrow(rows))
        return np.stack([positions, self._embedded[positions - 1, symbols]], axis=1)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Query times key, times a positive number for each query; less than all of these where masked."""
        maps = self._layers[layer].heads[head]
        left = _reduced(_product(self._streams[layer].rows(queries[:, 1]), maps.query), each_row=True)
        right = self._key_matrix(layer, head, keys[:, 1])
        found, bound = _unrounded(left, right.T)
        if found.dtype != object:
            found = found.astype(np.int32 if bound < SMALL else np.int64)
        masking = self.network.layers[layer].heads[head].masking
        seen = masking.sees(queries[:, :1], keys[None, :, 0])
        found[~seen] = -bound - 1
        return found

    def _key_matrix(self, layer: int, head: int, vectors: Integers) -> Array:
        """The keys as integers; the last ones are remembered, as searches ask for them again and again."""
        name = vectors.tobytes()
        known = self._keys.get((layer, head))
        if known is None or known[0] != name:
            rows = _product(self._streams[layer].rows(vectors), self._layers[layer].heads[head].key)
            known = name, _reduced(rows, each_row=False)
            self._keys[layer, head] = known
        return known[1]

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """The residual stream after the layer; a head that sees nothing adds 0."""
        columns = [own[:, 1]]
        for head, there in enumerate(attended):
            masking = self.network.layers[layer].heads[head].masking
            seen = masking.sees(own[:, 0], there[:, 0])
            numbers = self._layers[layer].heads[head].numbers_of_values(self._streams[layer], there[:, 1])
            columns.append(np.where(seen, numbers, NOTHING))
        table, back = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return np.stack([own[:, 0], self._numbers_after(layer, table)[back.reshape(-1)]], axis=1)

    def _numbers_after(self, layer: int, table: Integers) -> Integers:
        """The numbers of vectors after the layer; a row has the number before, and what each head adds."""
        known, rows = self._after[layer], list(map(tuple, table.tolist()))
        new = [k for k, row in enumerate(rows) if row not in known]
        if new:
            own = self._streams[layer].rows(table[new, 0])
            numbers = self._streams[layer + 1].numbered(self._layers[layer].applied(own, table[new, 1:]))
            known.update(zip((rows[k] for k in new), numbers.tolist(), strict=True))
        return np.array([known[row] for row in rows], dtype=np.int64)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """The output bit."""
        bits = self._streams[-1].rows(activations[:, 1])[:, self.network.output]
        return np.asarray(bits == self._streams[-1].scales[self.network.output], dtype=np.bool_)


@final
class _Vectors:
    """Distinct vectors with numbers, from 0: rows of integers, each coordinate over its own denominator."""

    def __init__(self, scales: Sequence[int]) -> None:
        self.scales = tuple(scales)
        self._numbers: dict[tuple[int, ...], int] = {}
        self._rows: Array = np.zeros((0, len(self.scales)), dtype=np.int64)

    def numbered(self, rows: Array) -> Integers:
        """The numbers of the rows, which are remembered."""
        numbers, before = self._numbers, len(self._numbers)
        found = [numbers.setdefault(row, len(numbers)) for row in map(tuple, rows.tolist())]
        if len(numbers) > before:
            new = np.unique(found, return_index=True)
            fresh = rows[new[1][new[0] >= before]]
            self._rows = np.concatenate([self._rows, fresh])
        return np.array(found, dtype=np.int64)

    def rows(self, numbers: Integers) -> Array:
        """The vectors of these numbers."""
        return self._rows[numbers]


@final
class _IntegerHead:
    """What a head reads, as integer matrices: queries and keys up to a positive factor, values exactly."""

    def __init__(self, head: layers.Head, before: Sequence[int], after: Sequence[int]) -> None:
        self.query = _scaled(head.query, before)
        self.key = _scaled(head.key, before)
        self.values = _over(head.values, before, [after[target] for target in head.targets])
        self._places = np.zeros((len(head.targets), len(before)), dtype=np.int64)
        for number, target in enumerate(head.targets):
            self._places[number, target] = 1
        self._values = _Vectors([after[target] for target in head.targets])
        self._numbers: dict[int, int] = {}

    def numbers_of_values(self, stream: _Vectors, vectors: Integers) -> Integers:
        """For each vector the number of what the head reads there."""
        distinct, back = np.unique(vectors, return_inverse=True)
        new = [vector for vector in distinct.tolist() if vector not in self._numbers]
        if new:
            read = self._values.numbered(_product(stream.rows(np.array(new)), self.values))
            self._numbers.update(zip(new, read.tolist(), strict=True))
        return np.array([self._numbers[v] for v in distinct.tolist()], dtype=np.int64)[back.reshape(-1)]

    def added_to(self, rows: Array, numbers: Integers) -> Array:
        """The rows with what the head adds, by number, at its targets."""
        seen = numbers != NOTHING
        written = _product(self._values.rows(numbers[seen]), self._places)
        rows = _wide(rows, written)
        rows[seen] += written
        return rows


@final
class _IntegerLayer:
    """A layer that takes vectors over the denominators `before` to vectors over `scales`."""

    def __init__(self, layer: layers.Layer, before: Sequence[int]) -> None:
        middle = list(before)
        for head in layer.heads:
            for form, target in zip(head.values, head.targets, strict=True):
                middle[target] = lcm(middle[target], _denominator(form, before))
        units = [lcm(_denominator(unit.form, middle), unit.bias.denominator) for unit in layer.hidden]
        after = list(middle)
        for unit, scale in zip(layer.hidden, units, strict=True):
            for target, factor in unit.outputs:
                after[target] = lcm(after[target], (factor / scale).denominator)
        self.scales = after
        self.heads = [_IntegerHead(head, before, middle) for head in layer.heads]
        self._to_middle = _integers([new // old for new, old in zip(middle, before, strict=True)])
        self._to_after = _integers([new // old for new, old in zip(after, middle, strict=True)])
        self._forms = _over([unit.form for unit in layer.hidden], middle, units)
        self._biases = _integers([int(u.bias * scale) for u, scale in zip(layer.hidden, units, strict=True)])
        outputs = np.zeros((len(units), len(after)), dtype=object)
        for number, (unit, scale) in enumerate(zip(layer.hidden, units, strict=True)):
            for target, factor in unit.outputs:
                outputs[number, target] += int(factor / scale * after[target])
        self._outputs = _narrow(outputs)

    def applied(self, rows: Array, added: Integers) -> Array:
        """The vectors after the layer; `added` has for each head the numbers of what it adds."""
        middle = _times(rows, self._to_middle)
        for head, numbers in zip(self.heads, added.T, strict=True):
            middle = head.added_to(middle, numbers)
        hidden = _product(middle, self._forms)
        active = np.maximum(_wide(hidden, self._biases) + self._biases, 0)
        written = _product(active, self._outputs)
        after = _times(middle, self._to_after)
        return _narrow(_wide(after, written) + written)


def _embeddings(network: layers.Network, length: int) -> tuple[list[int], Array, Array]:
    """The denominators of embedded words, the rows of the symbols, and those of the positions 1..n."""
    placed = [
        (coordinate, [evaluate(form, i, length) for i in range(1, length + 1)])
        for coordinate, form in network.positions
    ]
    scales = [1] * len(network.coordinates)
    for coordinate, value in (pair for symbol in network.embedding for pair in symbol):
        scales[coordinate] = lcm(scales[coordinate], value.denominator)
    for coordinate, values in placed:
        scales[coordinate] = lcm(scales[coordinate], *(value.denominator for value in values))
    of_symbols = np.zeros((len(network.embedding), len(scales)), dtype=object)
    for number, symbol in enumerate(network.embedding):
        for coordinate, value in symbol:
            of_symbols[number, coordinate] += int(value * scales[coordinate])
    of_positions = np.zeros((length, len(scales)), dtype=object)
    for coordinate, values in placed:
        of_positions[:, coordinate] += [int(value * scales[coordinate]) for value in values]
    return scales, _narrow(of_symbols), _narrow(of_positions)


# Linear forms over common denominators --------------------------------------------------------------


def _denominator(form: layers.LinearForm, scales: Sequence[int]) -> int:
    """The least denominator of the form's values where coordinates are integers over the scales."""
    return lcm(*((factor / scales[coordinate]).denominator for coordinate, factor in form))


def _scaled(forms: Sequence[layers.LinearForm], before: Sequence[int]) -> Array:
    """The forms as columns of integers, all times the same positive number."""
    scale = lcm(*(_denominator(form, before) for form in forms))
    return _over(forms, before, [scale] * len(forms))


def _over(forms: Sequence[layers.LinearForm], before: Sequence[int], scales: Sequence[int]) -> Array:
    """The forms as columns: from integers over the scales `before` to integers over one scale each."""
    columns = np.zeros((len(before), len(forms)), dtype=object)
    for number, (form, scale) in enumerate(zip(forms, scales, strict=True)):
        for coordinate, factor in form:
            columns[coordinate, number] += int(factor / before[coordinate] * scale)
    return _narrow(columns)


# Exact arithmetic of integer arrays -----------------------------------------------------------------


def _integers(values: Sequence[int]) -> Array:
    return _narrow(np.array(values, dtype=object))


def _greatest(array: Array, axis: int) -> list[int]:
    """The greatest absolute values along an axis; 0 where there are none."""
    return [int(value) for value in np.abs(array).max(axis=axis, initial=0)]


def _product(left: Array, right: Array) -> Array:
    """The matrix product, exactly."""
    found, _ = _unrounded(left, right)
    return _narrow(found) if found.dtype == object else found.astype(np.int64)


def _unrounded(left: Array, right: Array) -> tuple[Array, int]:
    """The matrix product, exactly, in the fastest numbers that can hold all; and what no entry exceeds."""
    lefts, rights = _greatest(left, 0), _greatest(right, 1)
    bound = max([sum(a * b for a, b in zip(lefts, rights, strict=True)), *lefts, *rights])
    kind = np.float64 if bound < EXACT_FLOATS else np.int64 if bound < SAFE else object
    return np.asarray(left.astype(kind) @ right.astype(kind)), bound


def _times(rows: Array, factors: Array) -> Array:
    """Each coordinate times its factor, exactly; a new array."""
    bound = max((a * b for a, b in zip(_greatest(rows, 0), factors.tolist(), strict=True)), default=0)
    return np.asarray((rows if bound < SAFE else rows.astype(object)) * factors)


def _wide(rows: Array, added: Array) -> Array:
    """The rows in integers that are large enough for a sum with what is added."""
    fits = rows.dtype == added.dtype == np.int64
    if fits and int(np.abs(rows).max(initial=0)) + int(np.abs(added).max(initial=0)) < SAFE:
        return rows
    return rows.astype(object)


def _narrow(array: Array) -> Array:
    """The same integers, in 64 bits where they fit."""
    if array.dtype == object and all(abs(value) < SAFE for value in array.flat):
        return array.astype(np.int64)
    return array


def _reduced(rows: Array, *, each_row: bool) -> Array:
    """The rows divided by the greatest number that divides them: all of them, or each by its own."""
    if not rows.size:
        return rows
    divisors = np.gcd.reduce(rows, axis=1)
    if not each_row:
        divisors = np.array([gcd(*divisors.tolist())] * len(rows), dtype=divisors.dtype)
    return _narrow(rows // np.where(divisors == 0, 1, divisors)[:, None])
