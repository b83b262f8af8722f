"""A network's files in real arithmetic: balls of hundreds of bits, from the raw numbers.

Nothing here imports attemper. A ball that is too wide to judge is computed again with twice as many bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

import flint
import numpy as np

from tests.support.raw_files import Floats, RawHead, RawNetwork, exact_form

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
    bits = BITS
    while bits <= MOST_BITS:
        with _precision(bits):
            found = _outputs(network, tuple(word))
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


def _outputs(network: RawNetwork, word: tuple[int, ...]) -> list[Row]:
    n = len(word)
    stream = _matrix(network.tensors["embed.W_E"][list(word)])
    for coordinate, tree in network.positions:
        for i in range(n):
            stream[i, coordinate] += _ball(exact_form(tree, i + 1, n))
    for layer, heads in enumerate(network.heads):
        added = flint.arb_mat(n, stream.ncols())
        for number, head in enumerate(heads):
            added += _head(network, layer, number, head, stream)
        stream += added
        inner, bias, outer = (network.weight(layer, f"mlp.{name}") for name in ("W_in", "b_in", "W_out"))
        if bias.size:
            before = stream * _matrix(inner)
            entries = [
                [_positive(before[i, u] + flint.arb(float(own))) for u, own in enumerate(bias)]
                for i in range(n)
            ]
            stream += flint.arb_mat(entries) * _matrix(outer)
    return [[stream[i, coordinate] for i in range(n)] for coordinate in network.coordinates]


def _head(
    network: RawNetwork, layer: int, number: int, head: RawHead, stream: flint.arb_mat
) -> flint.arb_mat:
    """What a head adds to the stream."""
    query, key, value = (
        stream * _matrix(network.weight(layer, f"attn.{name}")[number]) for name in ("W_Q", "W_K", "W_V")
    )
    n, width = stream.nrows(), query.ncols()
    shared = query * key.transpose()
    shares = flint.arb_mat(n, n)
    for i in range(n):
        seen = [j for j in range(n) if _sees(head.masking, i, j)]
        if not seen:
            continue
        cold = _ball(exact_form(head.coldness, i + 1, n)) / flint.arb(width).sqrt()
        scores = [cold * shared[i, j] for j in seen]
        most = max(scores, key=lambda score: float(score.mid()))
        weights = [(score - most).exp() for score in scores]
        total = sum(weights, flint.arb(0))
        for j, weight in zip(seen, weights, strict=True):
            shares[i, j] = weight / total
    return shares * value * _matrix(network.weight(layer, "attn.W_O")[number])


def _sees(masking: str, i: int, j: int) -> bool:
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
