"""What a network computes under hard attention: exact rationals, straight from the definition."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import evaluate
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Head, Layer, LinearForm, Network, Softmax

Residual = list[list[Fraction]]
"""The residual stream: a vector for each position 1..n."""


def residual_streams(network: Network, word: Word, override: HardWeighting | None = None) -> list[Residual]:
    """The residual stream before the first layer and after each layer.

    A head attends as its own weighting says, or as `override` says. A softmax head without
    override is read as average-hard: the limit of temperature 0.

    Raises `UnsupportedError` for a normalised network, whose numbers are roots.
    """
    if network.normalisation is not None:
        raise UnsupportedError(
            "what a normalised network computes are no rationals: there is no exact hard reading of them. "
            "Compile the language without LayerNorm, or run the network in floats, with hard weights"
        )
    streams = [embed(network, word)]
    for layer in network.layers:
        streams.append(_apply(layer, streams[-1], override))
    return streams


def output_bits(network: Network, word: Word, override: HardWeighting | None = None) -> tuple[Fraction, ...]:
    """The output coordinate at every position; exactly 0 or 1 for a compiled network."""
    return output_rows(network, word, override)[0]


def output_rows(
    network: Network, word: Word, override: HardWeighting | None = None
) -> tuple[tuple[Fraction, ...], ...]:
    """Each coordinate that is put out, at every position."""
    end = residual_streams(network, word, override)[-1]
    return tuple(tuple(vector[output] for vector in end) for output in network.outputs)


def embed(network: Network, word: Word) -> Residual:
    """Word embedding plus position embedding."""
    symbol_number = {symbol: number for number, symbol in enumerate(network.alphabet.symbols)}
    stream: Residual = []
    for i, symbol in enumerate(word, start=1):
        vector = [Fraction(0)] * len(network.coordinates)
        for coordinate, value in network.embedding[symbol_number[symbol]]:
            vector[coordinate] += value
        for coordinate, form in network.positions:
            vector[coordinate] += evaluate(form, i, len(word))
        stream.append(vector)
    return stream


def value_of(form: LinearForm, vector: list[Fraction]) -> Fraction:
    """The linear form at one position."""
    return sum((factor * vector[coordinate] for coordinate, factor in form), Fraction(0))


def attention(
    head: Head, stream: Residual, override: HardWeighting | None = None
) -> list[dict[int, Fraction]]:
    """For each position i the weights of the positions j that the head attends to."""
    queries = [[value_of(row, vector) for row in head.query] for vector in stream]
    keys = [[value_of(row, vector) for row in head.key] for vector in stream]
    weighting = override or (HardWeighting.AVERAGE if isinstance(head.weighting, Softmax) else head.weighting)
    rows: list[dict[int, Fraction]] = []
    for i in range(1, len(stream) + 1):
        scores = {
            j: sum((q * k for q, k in zip(queries[i - 1], keys[j - 1], strict=True)), Fraction(0))
            for j in head.masking.visible(i, len(stream))
        }
        rows.append(_weights(scores, weighting))
    return rows


def _weights(scores: dict[int, Fraction], weighting: HardWeighting) -> dict[int, Fraction]:
    if not scores:
        return {}
    best = max(scores.values())
    maxima = [j for j, score in scores.items() if score == best]
    match weighting:
        case HardWeighting.LEFTMOST:
            return {maxima[0]: Fraction(1)}
        case HardWeighting.RIGHTMOST:
            return {maxima[-1]: Fraction(1)}
        case HardWeighting.AVERAGE:
            return {j: Fraction(1, len(maxima)) for j in maxima}
        case _:
            assert_never(weighting)


def _apply(layer: Layer, stream: Residual, override: HardWeighting | None) -> Residual:
    middle = [list(vector) for vector in stream]
    for head in layer.heads:
        for i, weights in enumerate(attention(head, stream, override)):
            for form, target in zip(head.values, head.targets, strict=True):
                for j, weight in weights.items():
                    middle[i][target] += weight * value_of(form, stream[j - 1])
    after = [list(vector) for vector in middle]
    for i, vector in enumerate(middle):
        for unit in layer.hidden:
            activation = value_of(unit.form, vector) + unit.bias
            if activation > 0:
                for coordinate, factor in unit.outputs:
                    after[i][coordinate] += factor * activation
    return after
