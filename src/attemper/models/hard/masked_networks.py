"""One of our networks, with hard weights, read as a masked model at all lengths: in exact fractions.

Its heads must read one position each, and its position embedding must be periodic in i from some position on,
without n.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from attemper.attention_program.ops import Mask
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import evaluate
from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedHead, TieRule, placed
from attemper.models.hard.periods import joined, places_of
from attemper.networks.layers import HardWeighting, Head, Hidden, LinearForm, Masking, Network
from attemper.networks.meaning_hard import value_of

MASKS = {
    Masking.FUTURE: Mask.UP_TO,
    Masking.STRICT_FUTURE: Mask.BEFORE,
    Masking.PAST: Mask.FROM,
    Masking.STRICT_PAST: Mask.AFTER,
    Masking.NONE: Mask.ALL,
}

CHOICES = {HardWeighting.LEFTMOST: TieRule.LEFTMOST, HardWeighting.RIGHTMOST: TieRule.RIGHTMOST}

NOTHING = 0
"""In place of a vector's number: what a strict head reads that sees nothing."""

ANY_LENGTH = 1
"""In place of n, which occurs in no form that is evaluated here."""

Vector = tuple[Fraction, ...]


class MaskedNetwork:
    """The network on words of any length; activations are numbers of vectors that are kept here, from 1 on.

    Raises `UnsupportedError` for a network that normalises or puts out no bit; for heads that average; and
    for position embeddings that are not periodic.

    >>> from attemper.networks.typed import hard_network
    >>> network = hard_network("ab", embedding={"a": {"a": 1}}, positions={}, layers=[], output="a")
    >>> MaskedNetwork(network).places
    (0, 1)
    """

    semantics = "rational numbers, exactly"

    def __init__(self, network: Network) -> None:
        for complaint in _complaints(network):
            raise UnsupportedError(complaint)
        self.network = network
        self.symbols = network.alphabet.symbols
        self.accepts_empty = network.accepts_empty
        self.at = "first" if network.reads_first else "last"
        self.places = joined([places_of(form) for _, form in network.positions])
        self.layers = tuple(
            tuple(MaskedHead(MASKS[head.masking].value, CHOICES[_hard(head)].value) for head in layer.heads)
            for layer in network.layers
        )
        self._vectors: list[Vector] = [()]
        self._numbers: dict[Vector, int] = {}
        self._of_places: dict[tuple[int, int], Vector] = {}
        self._known: dict[tuple[LinearForm, ...], dict[int, Vector]] = {}

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """Word embedding plus position embedding."""
        places = placed(self.places, positions).tolist()
        return self._rows([self._embedded(i, s) for i, s in zip(places, symbols.tolist(), strict=True)])

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """Query times key, as fractions."""
        which = self.network.layers[layer].heads[head]
        lefts, rows = self._images(which.query, queries)
        rights, columns = self._images(which.key, keys)
        found = np.empty((len(lefts), len(rights)), dtype=object)
        for row, query in enumerate(lefts):
            for column, key in enumerate(rights):
                products = (a * b for a, b in zip(query, key, strict=True))
                found[row, column] = sum(products, Fraction(0))
        return np.asarray(found[np.ix_(rows, columns)])

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """The residual stream behind heads and hidden units; a head that sees nothing adds 0."""
        which = self.network.layers[layer]
        found = []
        for row, number in enumerate(own[:, 0].tolist()):
            middle = list(self._vectors[number])
            for head, there in zip(which.heads, attended, strict=True):
                if there[row, 0] == NOTHING:
                    continue
                vector = list(self._vectors[there[row, 0]])
                for form, target in zip(head.values, head.targets, strict=True):
                    middle[target] += value_of(form, vector)
            found.append(_behind(which.hidden, middle))
        return self._rows(found)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """The output bit."""
        bits = [self._vectors[number][self.network.output] == 1 for number in activations[:, 0].tolist()]
        return np.array(bits, dtype=np.bool_)

    def _embedded(self, position: int, symbol: int) -> Vector:
        if (position, symbol) not in self._of_places:
            self._of_places[position, symbol] = self._newly_embedded(position, symbol)
        return self._of_places[position, symbol]

    def _newly_embedded(self, position: int, symbol: int) -> Vector:
        vector = [Fraction(0)] * len(self.network.coordinates)
        for coordinate, value in self.network.embedding[symbol]:
            vector[coordinate] += value
        for coordinate, form in self.network.positions:
            vector[coordinate] += evaluate(form, position, ANY_LENGTH)
        return tuple(vector)

    def _rows(self, vectors: Sequence[Vector]) -> Array:
        """A row with the number of each vector; new ones are kept."""
        for vector in vectors:
            if vector not in self._numbers:
                self._numbers[vector] = len(self._vectors)
                self._vectors.append(vector)
        return np.array([[self._numbers[vector]] for vector in vectors], dtype=np.int64)

    def _images(self, forms: tuple[LinearForm, ...], rows: Array) -> tuple[list[Vector], list[int]]:
        """The different vectors of the forms' values at the rows, and the number of each row's."""
        found: dict[Vector, int] = {}
        numbers = [found.setdefault(self._image(forms, number), len(found)) for number in rows[:, 0].tolist()]
        return list(found), numbers

    def _image(self, forms: tuple[LinearForm, ...], number: int) -> Vector:
        known = self._known.setdefault(forms, {})
        if number not in known:
            vector = list(self._vectors[number])
            known[number] = tuple(value_of(form, vector) for form in forms)
        return known[number]


def _behind(units: Sequence[Hidden], middle: list[Fraction]) -> Vector:
    """The residual stream behind the hidden units."""
    after = list(middle)
    for unit in units:
        active = value_of(unit.form, middle) + unit.bias
        if active > 0:
            for target, factor in unit.outputs:
                after[target] += factor * active
    return tuple(after)


# What is not read -----------------------------------------------------------------------------------


def _complaints(network: Network) -> Sequence[str]:
    """Why a network is no masked model of unique hard attention; at best nothing."""
    found = []
    if network.normalisation is not None:
        found.append(
            "the network normalises what its sublayers read, so that its numbers are no rationals: compile "
            "it without LayerNorm"
        )
    if network.symbols or network.measure is not None:
        what = "a symbol" if network.measure is None else "numbers"
        found.append(f"the network puts out {what} at every position, and no verdict")
    found += [
        f"layer {number}, head {k}, averages over all positions with the greatest score, which may have "
        "different values: it counts, and is no unique hard attention"
        for number, layer in enumerate(network.layers)
        for k, head in enumerate(layer.heads)
        if head.weighting not in CHOICES
    ]
    for _, form in network.positions:
        try:
            places_of(form)
        except UnsupportedError as error:
            found.append(str(error))
    return found


def _hard(head: Head) -> HardWeighting:
    assert isinstance(head.weighting, HardWeighting)
    return head.weighting
