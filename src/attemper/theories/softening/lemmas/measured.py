"""How far a soft network is from its hard one, layer by layer: on some words, in balls, by definition."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import flint

from attemper.exact.balls import ball, precision
from attemper.languages.words import Word
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Head, LinearForm, Network
from attemper.networks.meaning_hard import Residual
from attemper.networks.meaning_soft import ResidualBalls
from attemper.theories.softening.lemmas.norms import PRECISION


@final
@dataclass(frozen=True)
class MeasuredHead:
    """Of one head, over all words and positions, the greatest of its values and of what it is off by.

    `sizes` is of its values W_V x. `weights` is twice the weight of the positions without the greatest score,
    so where there is one such position the sum of |soft - hard| over all; `exact_weights` is that where the
    soft head reads the hard network's numbers. `values` is how far what it adds is off.
    """

    sizes: flint.arb
    scores: flint.arb
    weights: flint.arb
    exact_weights: flint.arb
    values: flint.arb


@final
@dataclass(frozen=True)
class MeasuredLayer:
    """X and e before a layer, the errors of its heads, those behind them, and e behind it.

    `outputs` is e behind it of the coordinates alone that are put out behind the last layer.
    """

    read: flint.arb
    before: flint.arb
    heads: tuple[MeasuredHead, ...]
    behind_heads: flint.arb
    after: flint.arb
    outputs: flint.arb


def measured(hard: Network, soft: Network, words: Iterable[Word]) -> tuple[MeasuredLayer, ...]:
    """The greatest errors of each layer over these words; both networks have the same weights.

    Raises `UnsupportedError` for a normalised network.
    """
    with precision(PRECISION):
        found: list[MeasuredLayer] = []
        for word in words:
            own = _on_word(hard, soft, word)
            found = own if not found else [_greater(*pair) for pair in zip(found, own, strict=True)]
        return tuple(found)


def _greater(one: MeasuredLayer, other: MeasuredLayer) -> MeasuredLayer:
    heads = tuple(
        MeasuredHead(
            a.sizes.max(b.sizes),
            a.scores.max(b.scores),
            a.weights.max(b.weights),
            a.exact_weights.max(b.exact_weights),
            a.values.max(b.values),
        )
        for a, b in zip(one.heads, other.heads, strict=True)
    )
    return MeasuredLayer(
        one.read.max(other.read),
        one.before.max(other.before),
        heads,
        one.behind_heads.max(other.behind_heads),
        one.after.max(other.after),
        one.outputs.max(other.outputs),
    )


def _on_word(hard: Network, soft: Network, word: Word) -> list[MeasuredLayer]:
    streams, enclosed = meaning_hard.residual_streams(hard, word), meaning_soft.residual_streams(soft, word)
    # Before the first layer nothing is off: 0, and not what balls do not tell from 0.
    off = [[flint.arb(0)] * len(vector) for vector in streams[0]]
    found = []
    for number, (layer, softened) in enumerate(zip(hard.layers, soft.layers, strict=True)):
        before, heads, middle = _greatest(off), [], [list(vector) for vector in off]
        for head, cold in zip(layer.heads, softened.heads, strict=True):
            run = _Measuring(head, cold, streams[number], enclosed[number], off)
            heads.append(run.measured())
            for vector, changes in zip(middle, run.changes, strict=True):
                for target, change in zip(head.targets, changes, strict=True):
                    vector[target] += change
        read = _greatest(_balls(streams[number]))
        off = [
            [value - ball(was) for value, was in zip(*pair, strict=True)]
            for pair in zip(enclosed[number + 1], streams[number + 1], strict=True)
        ]
        outputs = _greatest([vector[place] for place in hard.outputs] for vector in off)
        found.append(MeasuredLayer(read, before, tuple(heads), _greatest(middle), _greatest(off), outputs))
    return found


class _Measuring:
    """One head on one word: hard on exact numbers, soft on enclosed ones, which are so far off these."""

    def __init__(
        self, head: Head, cold: Head, exact: Residual, enclosed: ResidualBalls, off: ResidualBalls
    ) -> None:
        self.head, self.off, self.enclosed, self.exact = head, off, enclosed, _balls(exact)
        self.chosen = meaning_hard.attention(head, exact)
        self.weights = meaning_soft.attention(cold, enclosed)
        self.exact_weights = meaning_soft.attention(cold, self.exact)
        values, were = self._rows(head.values, enclosed), self._rows(head.values, self.exact)
        self.sizes = _greatest(were)
        self.changes = [
            [
                sum((weight * values[j - 1][row] for j, weight in soft.items()), flint.arb(0))
                - sum((ball(weight) * were[j - 1][row] for j, weight in hard.items()), flint.arb(0))
                for row in range(len(head.values))
            ]
            for soft, hard in zip(self.weights, self.chosen, strict=True)
        ]

    def measured(self) -> MeasuredHead:
        return MeasuredHead(
            self.sizes,
            self._scores(),
            self._stray(self.weights),
            self._stray(self.exact_weights),
            _greatest(self.changes),
        )

    def _scores(self) -> flint.arb:
        """q' k' - q k = (q' - q) k' + q (k' - k)."""
        query, key = self._rows(self.head.query, self.exact), self._rows(self.head.key, self.enclosed)
        turned, moved = self._rows(self.head.query, self.off), self._rows(self.head.key, self.off)
        return _greatest(
            [
                sum(
                    (
                        turned[i][row] * key[j - 1][row] + query[i][row] * moved[j - 1][row]
                        for row in range(len(self.head.query))
                    ),
                    flint.arb(0),
                )
                for j in visible
            ]
            for i, visible in enumerate(self.weights)
        )

    def _stray(self, weights: Sequence[dict[int, flint.arb]]) -> flint.arb:
        return _greatest(
            [2 * sum((weight for j, weight in soft.items() if j not in hard), flint.arb(0))]
            for soft, hard in zip(weights, self.chosen, strict=True)
        )

    def _rows(self, forms: Sequence[LinearForm], stream: ResidualBalls) -> ResidualBalls:
        return [[_value(form, vector) for form in forms] for vector in stream]


def _value(form: LinearForm, vector: Sequence[flint.arb]) -> flint.arb:
    return sum((ball(factor) * vector[coordinate] for coordinate, factor in form), flint.arb(0))


def _balls(stream: Residual) -> ResidualBalls:
    return [[ball(value) for value in vector] for vector in stream]


def _greatest(rows: Iterable[Sequence[flint.arb]]) -> flint.arb:
    """The greatest size of all numbers, 0 if there is none."""
    found = flint.arb(0)
    for row in rows:
        for value in row:
            found = found.max(abs(value))
    return found
