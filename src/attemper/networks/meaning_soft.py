"""What a softmax network computes, in balls: proven enclosures of the real numbers of the definition."""

from __future__ import annotations

from fractions import Fraction

import flint

from attemper.exact.balls import ball, positive_part, precision
from attemper.exact.closed_forms import evaluate
from attemper.languages.words import Word
from attemper.networks.layers import Head, Layer, LinearForm, Network, Softmax
from attemper.networks.meaning_hard import embed, visible

PRECISION = 256
"""Bits; the balls of a few layers stay far smaller than any margin."""

Stream = list[list[flint.arb]]


def residual_streams(network: Network, word: Word) -> list[Stream]:
    """Enclosures of the residual stream before the first layer and after each layer.

    Raises `ValueError` if a head is not a softmax head.
    """
    with precision(PRECISION):
        streams = [[[ball(value) for value in vector] for vector in embed(network, word)]]
        for layer in network.layers:
            streams.append(_apply(layer, streams[-1]))
        return streams


def output_bits(network: Network, word: Word) -> tuple[flint.arb, ...]:
    """Enclosures of the output coordinate at every position."""
    return output_rows(network, word)[0]


def output_rows(network: Network, word: Word) -> tuple[tuple[flint.arb, ...], ...]:
    """Enclosures of each coordinate that is put out, at every position."""
    end = residual_streams(network, word)[-1]
    return tuple(tuple(vector[output] for vector in end) for output in network.outputs)


def _value(form: LinearForm, vector: list[flint.arb]) -> flint.arb:
    total = flint.arb(0)
    for coordinate, factor in form:
        total += ball(factor) * vector[coordinate]
    return total


def _attend(layer: Layer, stream: Stream) -> Stream:
    after = [list(vector) for vector in stream]
    for head in layer.heads:
        for i, weights in enumerate(attention(head, stream)):
            for form, target in zip(head.values, head.targets, strict=True):
                for j, weight in weights.items():
                    after[i][target] += weight * _value(form, stream[j - 1])
    return after


def attention(head: Head, stream: Stream) -> list[dict[int, flint.arb]]:
    """For each position i the enclosed softmax weights of the positions j that the head sees."""
    if not isinstance(head.weighting, Softmax):
        raise ValueError("a head of this network is not a softmax head")
    n = len(stream)
    queries = [[_value(row, vector) for row in head.query] for vector in stream]
    keys = [[_value(row, vector) for row in head.key] for vector in stream]
    rows: list[dict[int, flint.arb]] = []
    for i in range(1, n + 1):
        coldness: Fraction = evaluate(head.weighting.inverse_temperature, i, n)
        scores = {j: flint.arb(0) for j in visible(head.masking, i, n)}
        for j in scores:
            for q, k in zip(queries[i - 1], keys[j - 1], strict=True):
                scores[j] += q * k
            scores[j] *= ball(coldness)
        # Shifting every score by the same number leaves the softmax as it is and keeps exp in range.
        top = max((score.mid() for score in scores.values()), key=float, default=flint.arb(0))
        powers = {j: (score - top).exp() for j, score in scores.items()}
        total = sum(powers.values(), flint.arb(0))
        rows.append({j: power / total for j, power in powers.items()})
    return rows


def _apply(layer: Layer, stream: Stream) -> Stream:
    middle = _attend(layer, stream)
    after = [list(vector) for vector in middle]
    for i, vector in enumerate(middle):
        for unit in layer.hidden:
            activation = positive_part(_value(unit.form, vector) + ball(unit.bias))
            for coordinate, factor in unit.outputs:
                after[i][coordinate] += ball(factor) * activation
    return after
