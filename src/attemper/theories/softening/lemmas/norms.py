"""The recursion of norms: how far softmax is from hard attention, layer by layer, as it is bounded on paper.

Sizes are the greatest of a vector's, and the greatest row sum of a matrix's. A layer reads numbers of at most
X in the hard network, which are off by at most e in the soft one; n positions; a head with a gap of g at the
temperature tau. (Yang, Strobl, Chiang, Angluin, Lemmas 25 and 28 to 34; A = W_Q^T W_K, |A|_1 the sum of the
sizes of its entries.)

* 28: |W x| <= |W| |x|.
* 32: scores are off by at most delta = |A|_1 (2 X e + e^2).
* 33: if 2 delta < g, weights are off by at most 2 (n - 1) e^(-(g - 2 delta) / tau), summed over positions.
  Where several positions with one value share the greatest score, that is twice the weight of all others.
* 34: what a head adds is off by at most |W_V| (e + X times that); 31: by |W_V| e, if it is uniform.
* 30: a feed-forward layer multiplies errors by at most 1 + |W_2| |W_1|; 25 is all of this together.

On paper all sizes are bounded by the width d of the matrices and the greatest parameter p (`Published`). The
constants are lost in our copy of the paper: those here are ours, as they follow from its proofs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, final

import flint

from attemper.exact.balls import ball, precision
from attemper.networks.layers import HEAD_WIDTHS, Head, Layer, LinearForm, Network, hidden_width
from attemper.theories.softening.search.temperatures import least_coldness

PRECISION = 256
"""Bits of the balls."""

COLDEST = Fraction(2**200)


@final
@dataclass(frozen=True)
class HeadSizes:
    """|A|_1 and |W_V| of one head, or bounds on them."""

    scores: flint.arb
    values: flint.arb


@final
@dataclass(frozen=True)
class LayerSizes:
    """Its heads, and 1 + |W_2| |W_1| of its feed-forward layer."""

    heads: tuple[HeadSizes, ...]
    growth: flint.arb


@final
@dataclass(frozen=True)
class Lead:
    """A head's gap and its 1/tau, at one length."""

    gap: Fraction
    coldness: flint.arb


Leads = Sequence[Lead | None]
"""Of the heads of a layer; None: no visible position ever loses, as in uniform heads."""


@final
@dataclass(frozen=True)
class HeadErrors:
    """How large values are, and by how much scores, weights and what is added are off.

    The last two are None where errors of the scores may outweigh the gap.
    """

    sizes: flint.arb
    scores: flint.arb
    weights: flint.arb | None
    values: flint.arb | None


@final
@dataclass(frozen=True)
class LayerErrors:
    """X and e before a layer, the errors of its heads, and e behind these and behind it; None as in heads."""

    read: flint.arb
    before: flint.arb
    heads: tuple[HeadErrors, ...]
    behind_heads: flint.arb | None
    after: flint.arb | None


def layer_errors(
    sizes: LayerSizes, leads: Leads, read: flint.arb, before: flint.arb, length: int
) -> LayerErrors:
    """Lemma 25, by 28 and 30 to 34: the errors of one layer, from those before it."""
    heads = tuple(
        _head_errors(own, lead, read, before, length) for own, lead in zip(sizes.heads, leads, strict=True)
    )
    behind: flint.arb | None = before
    for head in heads:
        behind = None if behind is None or head.values is None else behind + head.values
    return LayerErrors(read, before, heads, behind, None if behind is None else sizes.growth * behind)


def _head_errors(
    sizes: HeadSizes, lead: Lead | None, read: flint.arb, before: flint.arb, length: int
) -> HeadErrors:
    largest, scores = sizes.values * read, sizes.scores * (2 * read * before + before * before)
    if lead is None:
        return HeadErrors(largest, scores, flint.arb(0), sizes.values * before)
    room = ball(lead.gap) - 2 * scores
    if not room > 0:
        return HeadErrors(largest, scores, None, None)
    weights = 2 * (length - 1) * (-room * lead.coldness).exp()
    return HeadErrors(largest, scores, weights, sizes.values * (before + read * weights))


def edelman(lead: Lead, visible: int, tied: int = 1) -> flint.arb:
    """The bound of Edelman et al. in these terms: where scores are exact, so many positions are visible and
    some tie, weights are off by at most 2 ((visible - tied) / tied) e^(-g / tau), summed over positions.
    """
    return ball(Fraction(2 * (visible - tied), tied)) * (-ball(lead.gap) * lead.coldness).exp()


def recursion(
    sizes: Sequence[LayerSizes], leads: Sequence[Leads], reads: Sequence[flint.arb], length: int
) -> Iterator[LayerErrors]:
    """The errors of each layer, from 0 on; of no layer behind one that has none."""
    before = flint.arb(0)
    for own, of_heads, read in zip(sizes, leads, reads, strict=True):
        found = layer_errors(own, of_heads, read, before, length)
        yield found
        if found.after is None:
            return
        before = found.after


def coldness_by_norms(
    hard: Network,
    uniform: Sequence[Sequence[bool]],
    magnitudes: Sequence[Fraction],
    gap: Fraction,
    length: int,
    epsilon: Fraction,
) -> Fraction | None:
    """About the least 1/tau for which the recursion of norms stays within epsilon at one length.

    It has the sizes that the network's own weights have, `magnitudes` for X, and the least gap of all heads.
    None: no temperature is seen to be enough.
    """
    with precision(PRECISION):
        sizes, reads = own_sizes(hard), [ball(size) for size in magnitudes]

        def is_enough(cold: Fraction) -> bool:
            lead = Lead(gap, ball(cold))
            leads = [[None if alone else lead for alone in layer] for layer in uniform]
            *_, last = recursion(sizes, leads, reads, length)
            return last.after is not None and len(leads) > 0 and bool(last.after <= ball(epsilon))

        return least_coldness(is_enough, Fraction(1), COLDEST)


# Sizes ---------------------------------------------------------------------------------------------


def own_sizes(network: Network) -> tuple[LayerSizes, ...]:
    """The sizes that the weights themselves have."""
    return tuple(
        LayerSizes(
            tuple(HeadSizes(ball(_entries(head)), ball(_row_sum(_written(head)))) for head in layer.heads),
            ball(_growth(layer)),
        )
        for layer in network.layers
    )


def _growth(layer: Layer) -> Fraction:
    written: dict[int, Fraction] = {}
    for unit in layer.hidden:
        for target, factor in unit.outputs:
            written[target] = written.get(target, Fraction(0)) + abs(factor)
    return 1 + _row_sum([unit.form for unit in layer.hidden]) * max(written.values(), default=Fraction(0))


def _entries(head: Head) -> Fraction:
    """The sum of the sizes of all entries of W_Q^T W_K."""
    total: dict[tuple[int, int], Fraction] = {}
    for query, key in zip(head.query, head.key, strict=True):
        for a, x in query:
            for b, y in key:
                total[a, b] = total.get((a, b), Fraction(0)) + x * y
    return sum(map(abs, total.values()), Fraction(0))


def _written(head: Head) -> list[LinearForm]:
    """The rows of W_V: what the head adds to each of its targets."""
    rows: dict[int, dict[int, Fraction]] = {}
    for value, target in zip(head.values, head.targets, strict=True):
        row = rows.setdefault(target, {})
        for coordinate, factor in value:
            row[coordinate] = row.get(coordinate, Fraction(0)) + factor
    return [tuple(row.items()) for row in rows.values()]


def _row_sum(rows: Sequence[LinearForm]) -> Fraction:
    return max((sum((abs(factor) for _, factor in row), Fraction(0)) for row in rows), default=Fraction(0))


@final
@dataclass(frozen=True)
class Published:
    """All that the paper's bounds know of a network: its matrices are at most d wide, with parameters of at
    most p, and there are at most H heads in a layer, which on paper is 1.
    """

    d: int
    p: Fraction
    heads: int

    @classmethod
    def of(cls, network: Network) -> Self:
        """d, p and H of a network; W_Q is as it is on disk, so that q . k / sqrt(d_k) is the score.

        >>> from attemper.workbench.compiling import compile
        >>> Published.of(compile("O a", "ab", regime="temperature").network)
        Published(d=5, p=Fraction(2, 1), heads=1)
        """
        root = HEAD_WIDTHS[network.head_width]
        rows = (len(head.query) for layer in network.layers for head in layer.heads)
        return cls(
            max(len(network.coordinates), hidden_width(network), *rows),
            max(
                (abs(value) for layer in network.layers for value in _parameters(layer, root)),
                default=Fraction(0),
            ),
            max((len(layer.heads) for layer in network.layers), default=0),
        )

    @property
    def map(self) -> flint.arb:
        """Lemma 28: |W| <= d p."""
        return ball(self.d * self.p)

    @property
    def growth(self) -> flint.arb:
        """Lemma 30: 1 + d^2 p^2."""
        return 1 + self.map**2

    @property
    def scores(self) -> flint.arb:
        """Lemma 32: |A|_1 <= d^(5/2) p^2."""
        return self.map**2 * flint.arb(self.d).sqrt()

    @property
    def kappa(self) -> flint.arb:
        """Lemma 29: (1 + H d p) (1 + d^2 p^2) + d p^2 + p."""
        return (1 + self.heads * self.map) * self.growth + self.map * ball(self.p) + ball(self.p)

    def read(self, layer: int, embedded: flint.arb) -> flint.arb:
        """Lemma 29: what a layer reads (from 0) is at most kappa^layer x, x >= 1 that of the embeddings."""
        return self.kappa**layer * embedded.max(flint.arb(1))

    def sizes(self, network: Network) -> tuple[LayerSizes, ...]:
        """The same for every head and layer."""
        own = HeadSizes(self.scores, self.map)
        return tuple(LayerSizes((own,) * len(layer.heads), self.growth) for layer in network.layers)

    def coldness(
        self, layers: int, length: int, embedded: flint.arb, gap: Fraction, epsilon: Fraction
    ) -> flint.arb:
        """Theorem 26: 1/tau = (2 / g) ln(K2 n X G / min(epsilon, X, g / (12 |A|_1 X))) is cold enough.

        K1 = (1 + d^2 p^2) (1 + H d p), K2 = 2 (1 + d^2 p^2) H d p, X = kappa^L x,
        and G = 1 + K1 + ... + K1^(L-1), for L layers.
        """
        first = self.growth * (1 + self.heads * self.map)
        second = 2 * self.growth * self.heads * self.map
        total: flint.arb = sum((first**power for power in range(layers)), flint.arb(0))
        size = self.read(layers, embedded)
        least = ball(epsilon).min(size).min(ball(gap) / (12 * self.scores * size))
        return (2 / ball(gap) * (second * length * size * total / least).log()).max(flint.arb(0))


def _parameters(layer: Layer, root: int) -> Iterator[Fraction]:
    for head in layer.heads:
        yield from (root * factor for row in head.query for _, factor in row)
        yield from (factor for row in (*head.key, *_written(head)) for _, factor in row)
    for unit in layer.hidden:
        yield unit.bias
        yield from (factor for _, factor in (*unit.form, *unit.outputs))
