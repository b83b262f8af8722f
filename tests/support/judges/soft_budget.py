"""The elementwise error budget of a softened network, from FORMAT.md, section 10: word by word, in balls."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import flint

from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import evaluate
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Head, Layer, LinearForm, Network, Softmax
from attemper.networks.meaning_hard import attention, residual_streams, value_of

BITS = 200
Errors = list[list[flint.arb]]
"""For each position and coordinate."""
Stream = list[list[Fraction]]


def budget(soft: Network, length: int) -> list[flint.arb]:
    """The greatest error of each coordinate behind the last layer."""
    with precision(BITS):
        worst = [flint.arb(0)] * len(soft.coordinates)
        for word in product(soft.alphabet.symbols, repeat=length):
            for errors in _of_word(soft, word):
                worst = [known.max(error) for known, error in zip(worst, errors, strict=True)]
        return worst


def _of_word(soft: Network, word: Word) -> Errors:
    errors = [[flint.arb(0)] * len(soft.coordinates) for _ in word]
    for layer, stream in zip(soft.layers, residual_streams(soft, word, HardWeighting.AVERAGE), strict=False):
        added = [list(row) for row in errors]
        middle = [list(row) for row in stream]
        for head in layer.heads:
            for i, weights in enumerate(attention(head, stream, HardWeighting.AVERAGE)):
                for form, target in zip(head.values, head.targets, strict=True):
                    middle[i][target] += sum(
                        (weight * value_of(form, stream[j - 1]) for j, weight in weights.items()), Fraction(0)
                    )
                    added[i][target] += _of_head(head, form, i, stream, errors)
        errors = [_of_units(layer, row, own) for row, own in zip(middle, added, strict=True)]
    return errors


def _sized(form: LinearForm, errors: list[flint.arb]) -> flint.arb:
    return sum((ball(abs(factor)) * errors[c] for c, factor in form), flint.arb(0))


def _of_head(head: Head, form: LinearForm, i: int, stream: Stream, errors: Errors) -> flint.arb:
    """What one value of a head is off by at position i, from 0."""
    places = [j - 1 for j in head.masking.visible(i + 1, len(stream))]
    own = {j: _sized(form, errors[j]) for j in places}
    if not places or not head.query:
        return sum(own.values(), flint.arb(0)) / max(1, len(places))
    pairs = list(zip(head.query, head.key, strict=True))
    scores = {j: sum(value_of(q, stream[i]) * value_of(k, stream[j]) for q, k in pairs) for j in places}
    top = max(scores, key=lambda j: scores[j])
    best = flint.arb(0)
    for j in places:
        best = best.max(own[j]) if scores[j] == scores[top] else best
    assert isinstance(head.weighting, Softmax)
    cold = ball(evaluate(head.weighting.inverse_temperature, i + 1, len(stream)))
    total = best
    for j in places:
        if scores[j] != scores[top]:
            moved = _moved(head, (i, j, top), stream, errors)
            ratio = (cold * (ball(scores[j] - scores[top]) + moved)).exp()
            apart = ball(abs(value_of(form, stream[j]) - value_of(form, stream[top])))
            total += ratio / (1 + ratio) * (apart + own[j] - best).max(flint.arb(0))
    return total


def _moved(head: Head, places: tuple[int, int, int], stream: Stream, errors: Errors) -> flint.arb:
    """(|x_i^T A| + E_i |A|) (E_j + E_*) + E_i |A (x_j - x_*)|, over all pairs of coordinates."""
    i, j, top = places
    width = range(len(stream[i]))
    matrix = [[Fraction(0)] * len(width) for _ in width]
    for query, key in zip(head.query, head.key, strict=True):
        for a, left in query:
            for c, right in key:
                matrix[a][c] += left * right
    total = flint.arb(0)
    for c in width:
        slope = ball(abs(sum(stream[i][a] * matrix[a][c] for a in width)))
        slope += sum((errors[i][a] * ball(abs(matrix[a][c])) for a in width), flint.arb(0))
        total += slope * (errors[j][c] + errors[top][c])
    for a in width:
        pull = sum(matrix[a][c] * (stream[j][c] - stream[top][c]) for c in width)
        total += errors[i][a] * ball(abs(pull))
    return total


def _of_units(layer: Layer, row: list[Fraction], errors: list[flint.arb]) -> list[flint.arb]:
    """The errors of one position behind the hidden units."""
    width = range(len(row))
    linear = [[Fraction(int(a == c)) for c in width] for a in width]
    found = [flint.arb(0) for _ in width]
    for unit in layer.hidden:
        reach = _sized(unit.form, errors)
        value = value_of(unit.form, row) + unit.bias
        if ball(value) >= reach:
            for a, outer in unit.outputs:
                for c, inner in unit.form:
                    linear[a][c] += outer * inner
        elif not ball(value) <= -reach:
            for a, outer in unit.outputs:
                found[a] += ball(abs(outer)) * reach.min((reach + ball(value)).max(flint.arb(0)))
    for a in width:
        found[a] += sum((ball(abs(linear[a][c])) * errors[c] for c in width), flint.arb(0))
    return found
