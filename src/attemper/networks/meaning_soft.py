"""What a softmax network computes, in balls: proven enclosures of the real numbers of the definition."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import flint

from attemper.exact.balls import ball, positive_part, precision
from attemper.exact.closed_forms import evaluate
from attemper.languages.words import Word
from attemper.networks.layers import Head, Layer, LinearForm, Network, Norm, Normalisation, Softmax
from attemper.networks.meaning_hard import embed

PRECISION = 256
"""Bits; the balls of a few layers stay far smaller than any margin."""

ResidualBalls = list[list[flint.arb]]


def residual_streams(
    network: Network, word: Word, changed: Callable[[int, ResidualBalls], ResidualBalls] | None = None
) -> list[ResidualBalls]:
    """Enclosures of the residual stream before the first layer and after each layer.

    `changed` says what the stream after a layer, by its number, is set to. Raises `ValueError` if a head is
    not a softmax head.
    """
    how = network.normalisation
    with precision(PRECISION):
        streams = [[[ball(value) for value in vector] for vector in embed(network, word)]]
        for number, layer in enumerate(network.layers):
            before = streams[-1]
            read = before if how is None else _normalised(how, how.before_attention[number], before)
            middle = _added(before, _attended(layer, read))
            read = middle if how is None else _normalised(how, how.before_feed_forward[number], middle)
            after = _added(middle, _fed_forward(layer, read))
            streams.append(after if changed is None else changed(number, after))
        return streams


def output_bits(network: Network, word: Word) -> tuple[flint.arb, ...]:
    """Enclosures of the output at every position."""
    return output_rows(network, word)[0]


def output_rows(network: Network, word: Word) -> tuple[tuple[flint.arb, ...], ...]:
    """Enclosures of each coordinate that is put out, at every position, in the unit of the stream."""
    end = residual_streams(network, word)[-1]
    unit = ball(Fraction(1) if network.normalisation is None else network.normalisation.unit)
    return tuple(tuple(vector[output] / unit for vector in end) for output in network.outputs)


def _value(form: LinearForm, vector: list[flint.arb]) -> flint.arb:
    total = flint.arb(0)
    for coordinate, factor in form:
        total += ball(factor) * vector[coordinate]
    return total


def _normalised(how: Normalisation, norm: Norm, stream: ResidualBalls) -> ResidualBalls:
    """gain (x - mean) / sqrt(variance + eps) + bias at each position; without the mean if it is not centred.

    Where eps is 0 and all numbers are alike there is no such number: the balls then hold no finite one.
    """
    read: ResidualBalls = []
    for vector in stream:
        mean = sum(vector, flint.arb(0)) / len(vector) if how.is_centred else flint.arb(0)
        apart = [value - mean for value in vector]
        variance = sum((value * value for value in apart), flint.arb(0)) / len(vector)
        size = (variance + ball(how.eps)).sqrt()
        weights = zip(apart, norm.gain, norm.bias, strict=True)
        read.append([ball(gain) * value / size + ball(bias) for value, gain, bias in weights])
    return read


def _added(stream: ResidualBalls, other: ResidualBalls) -> ResidualBalls:
    rows = zip(stream, other, strict=True)
    return [[value + more for value, more in zip(*pair, strict=True)] for pair in rows]


def _nothing(stream: ResidualBalls) -> ResidualBalls:
    return [[flint.arb(0)] * len(vector) for vector in stream]


def _attended(layer: Layer, stream: ResidualBalls) -> ResidualBalls:
    """What the heads add, where they read the stream."""
    added = _nothing(stream)
    for head in layer.heads:
        for i, weights in enumerate(attention(head, stream)):
            for form, target in zip(head.values, head.targets, strict=True):
                for j, weight in weights.items():
                    added[i][target] += weight * _value(form, stream[j - 1])
    return added


def attention(head: Head, stream: ResidualBalls) -> list[dict[int, flint.arb]]:
    """For each position i the enclosed softmax weights of the positions j that the head sees."""
    if not isinstance(head.weighting, Softmax):
        raise ValueError("a head of this network is not a softmax head")
    n = len(stream)
    queries = [[_value(row, vector) for row in head.query] for vector in stream]
    keys = [[_value(row, vector) for row in head.key] for vector in stream]
    rows: list[dict[int, flint.arb]] = []
    for i in range(1, n + 1):
        coldness: Fraction = evaluate(head.weighting.inverse_temperature, i, n)
        scores = {j: flint.arb(0) for j in head.masking.visible(i, n)}
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


def _fed_forward(layer: Layer, stream: ResidualBalls) -> ResidualBalls:
    """What the hidden units add, where they read the stream."""
    added = _nothing(stream)
    for i, vector in enumerate(stream):
        for unit in layer.hidden:
            activation = positive_part(_value(unit.form, vector) + ball(unit.bias))
            for coordinate, factor in unit.outputs:
                added[i][coordinate] += ball(factor) * activation
    return added
