"""A network's files in real arithmetic: balls of hundreds of bits, from the raw numbers.

Nothing here imports attemper. A ball that is too wide to judge is computed again with twice as many bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import partial

import flint
import numpy as np

from tests.support.oracles.raw_files import Floats, RawHead, RawNetwork, exact_form

BITS = 300
"""Precision of the first try."""

MOST_BITS = 5000
"""Scores of 2^40 times themselves need far fewer."""

NARROW = 2.0**-200
"""A ball with a larger radius is computed again: an integer's share may be off by nothing."""

Row = list[flint.arb]


class UndecidedError(Exception):
    """The ball stays wide at every precision that is tried."""


def outputs(network: RawNetwork, word: Sequence[int]) -> Row:
    """The only output coordinate at every position, in balls that are narrow."""
    (row,) = every_output(network, word)
    return row


def every_output(network: RawNetwork, word: Sequence[int]) -> list[Row]:
    """Each output coordinate at every position, in balls that are narrow."""
    weights = _Weights(network)
    return _narrow(lambda: _outputs(weights, tuple(word)), word)


def every_stream(network: RawNetwork, words: Iterable[Sequence[int]]) -> Iterator[list[list[Row]]]:
    """Of each word the stream at every position, in balls that are narrow.

    After the embedding, and of each layer after its heads and after its hidden units.
    """
    weights = _Weights(network)
    for word in map(tuple, words):
        rows = _narrow(partial(_rows, weights, word), word)
        yield [rows[start : start + len(word)] for start in range(0, len(rows), len(word))]


def _narrow(rows: Callable[[], list[Row]], word: Sequence[int]) -> list[Row]:
    """The rows, computed with as many bits as it takes for all balls to be narrow."""
    bits = BITS
    while bits <= MOST_BITS:
        with _precision(bits):
            found = rows()
            if all(value.is_finite() and value.rad() < NARROW for row in found for value in row):
                return found
        bits *= 2
    raise UndecidedError(f"no narrow ball for {word}")


@contextmanager
def _precision(bits: int) -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, bits
    try:
        yield
    finally:
        flint.ctx.prec = before


class _Weights:
    """A network with its tensors as matrices, each made once."""

    def __init__(self, network: RawNetwork) -> None:
        self.network = network
        self._made: dict[tuple[int, str, int | None], flint.arb_mat] = {}

    def matrix(self, layer: int, name: str, number: int | None = None) -> flint.arb_mat:
        """A tensor of a layer, or that of one head."""
        if (layer, name, number) not in self._made:
            tensor = self.network.weight(layer, name)
            self._made[layer, name, number] = _matrix(tensor if number is None else tensor[number])
        return self._made[layer, name, number]


def _outputs(weights: _Weights, word: tuple[int, ...]) -> list[Row]:
    *_, stream = _streams(weights, word)
    return [[stream[i, coordinate] for i in range(len(word))] for coordinate in weights.network.coordinates]


def _rows(weights: _Weights, word: tuple[int, ...]) -> list[Row]:
    return [row for stream in _streams(weights, word) for row in stream.tolist()]


def _streams(weights: _Weights, word: tuple[int, ...]) -> Iterator[flint.arb_mat]:
    network, n = weights.network, len(word)
    stream = _matrix(network.tensors["embed.W_E"][list(word)])
    for coordinate, tree in network.positions:
        for i in range(n):
            stream[i, coordinate] += _ball(exact_form(tree, i + 1, n))
    yield stream
    for layer, heads in enumerate(network.heads):
        added = flint.arb_mat(n, stream.ncols())
        for number, head in enumerate(heads):
            added += _head(weights, layer, number, head, stream)
        stream = stream + added
        yield stream
        bias = network.weight(layer, "mlp.b_in")
        if bias.size:
            before = stream * weights.matrix(layer, "mlp.W_in")
            entries = [
                [_positive(before[i, u] + flint.arb(float(own))) for u, own in enumerate(bias)]
                for i in range(n)
            ]
            stream = stream + flint.arb_mat(entries) * weights.matrix(layer, "mlp.W_out")
        yield stream


def _head(weights: _Weights, layer: int, number: int, head: RawHead, stream: flint.arb_mat) -> flint.arb_mat:
    """What a head adds to the stream."""
    query, key, value = (
        stream * weights.matrix(layer, f"attn.{name}", number) for name in ("W_Q", "W_K", "W_V")
    )
    n, width = stream.nrows(), query.ncols()
    shared = query * key.transpose()
    shares = flint.arb_mat(n, n)
    for i in range(n):
        seen = [j for j in range(n) if sees(head.masking, i, j)]
        if not seen:
            continue
        cold = _ball(exact_form(head.coldness, i + 1, n)) / flint.arb(width).sqrt()
        scores = [cold * shared[i, j] for j in seen]
        most = max(scores, key=lambda score: float(score.mid()))
        grown = [(score - most).exp() for score in scores]
        total = sum(grown, flint.arb(0))
        for j, weight in zip(seen, grown, strict=True):
            shares[i, j] = weight / total
    return shares * value * weights.matrix(layer, "attn.W_O", number)


def sees(masking: str, i: int, j: int) -> bool:
    """Whether position i sees position j."""
    return {
        "future-masked": j <= i,
        "strictly future-masked": j < i,
        "past-masked": j >= i,
        "strictly past-masked": j > i,
        "unmasked": True,
    }[masking]


def _positive(number: flint.arb) -> flint.arb:
    return number.max(flint.arb(0))


def _ball(number: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(number.numerator, number.denominator))


def _matrix(numbers: Floats) -> flint.arb_mat:
    return flint.arb_mat([[flint.arb(float(own)) for own in row] for row in np.atleast_2d(numbers)])
