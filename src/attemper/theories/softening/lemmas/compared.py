"""The theorem's lemmas beside what is proved here and what is measured: layer by layer, at one length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, zip_longest
from typing import final

import flint

from attemper.errors import UnsupportedError
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.closed_forms import evaluate
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Layer, Network, Softmax
from attemper.theories.softening.certificate import ClosedFormErrors, LayerError
from attemper.theories.softening.check.enumeration import Examined, examine, reach
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.measured import MeasuredLayer, measured
from attemper.theories.softening.lemmas.norms import (
    PRECISION,
    LayerErrors,
    Lead,
    Leads,
    Published,
    edelman,
    own_sizes,
    recursion,
)
from attemper.theories.softening.search.soften import Softening, constant
from attemper.theories.softening.search.temperatures import softened

MOST_RUN = 256
"""How many words of all lengths may be so many that those of the greatest are run in balls."""


@final
@dataclass(frozen=True)
class LemmaRow:
    """One number of a layer or head, "0" or "0.1": by the paper's lemma, by ours, and as measured.

    `published` has the sizes d and p for all weights, `own` those that they have; `proved` is what the
    certificate says for all lengths, at this one. All have three digits; None where nothing is said.
    """

    place: str
    what: str
    lemma: str
    published: str | None
    own: str | None
    proved: str | None
    measured: str


@final
@dataclass(frozen=True)
class LemmaTable:
    """All words of n symbols at some temperatures; `tau` is the greatest, None if every head is uniform."""

    temperatures: str
    n: int
    tau: str | None
    rows: tuple[LemmaRow, ...]


def lemma_tables(found: Softening) -> tuple[LemmaTable, ...]:
    """The softened network at its own temperatures, and at the one that Theorem 26 asks for as published.

    All words of one length that is claimed are run, in balls. The second table is left out where every head
    is uniform, and where outputs are rounded: there is no epsilon. Raises `UnsupportedError` where these are
    too many, and where one of them ties, against what was given.
    """
    if not found.hard.layers:
        return ()
    length = min(reach(len(found.hard.alphabet.symbols), MOST_RUN), found.last or MOST_RUN)
    if length < found.first:
        raise UnsupportedError(
            f"words of {found.first} symbols are too many to be run in balls, so that nothing stands beside "
            "the lemmas: claim shorter words, too"
        )
    seen = examine(found.hard, length)
    if seen.tie is not None:
        raise UnsupportedError(
            f"a word of {length} symbols ties, which Theorem 26 excludes", word=seen.tie.word
        )
    with precision(PRECISION):
        proved = found.evidence.layers if isinstance(found.evidence, ClosedFormErrors) else ()
        tables = [_table("as softened", found.hard, found.soft, seen, proved, None)]
        gaps = [gap for layer in seen.gaps for gap in layer if gap is not None]
        if gaps and found.epsilon:
            paper, layers = Published.of(found.hard), len(found.hard.layers)
            cold = paper.coldness(layers, length, ball(seen.magnitudes[0]), min(gaps), found.epsilon)
            soft = softened(found.hard, constant(uniform_heads(found.hard), upper_bound(cold)))
            tables.append(_table("of Theorem 26, as published", found.hard, soft, seen, (), found.epsilon))
        return tuple(tables)


def _table(
    temperatures: str,
    hard: Network,
    soft: Network,
    seen: Examined,
    proved: Sequence[LayerError],
    epsilon: Fraction | None,
) -> LemmaTable:
    """`epsilon` is what the paper says that the error is at most at these temperatures."""
    length, paper = seen.length, Published.of(hard)
    leads = [_leads(layer, gaps, length) for layer, gaps in zip(soft.layers, seen.gaps, strict=True)]
    reads = [paper.read(number, ball(seen.magnitudes[0])) for number in range(len(leads))]
    known = measured(hard, soft, product(hard.alphabet.symbols, repeat=length))
    bounds = zip_longest(
        recursion(paper.sizes(hard), leads, reads, length),
        recursion(own_sizes(hard), leads, [ball(size) for size in seen.magnitudes], length),
        proved,
        leads,
    )
    rows = [
        row
        for number, (published, own, claimed, of_heads) in enumerate(bounds)
        for row in _LayerRow(
            number, number == len(known) - 1, length, of_heads, known[number], published, own, claimed
        ).rows(reads[number])
    ]
    # Behind the last layer the certificate speaks of what is put out alone.
    said = _monomial(proved[-1].error, length) if proved else None
    end = _row(
        "", "what is put out", "26", known[-1].outputs, None if epsilon is None else ball(epsilon), None, said
    )
    colds = [lead.coldness for layer in leads for lead in layer if lead is not None]
    tau = shown_bound(max((1 / cold for cold in colds), key=lambda t: float(t.upper()))) if colds else None
    return LemmaTable(temperatures, length, tau, (*rows, end))


def _leads(layer: Layer, gaps: Sequence[Fraction | None], length: int) -> list[Lead | None]:
    return [
        Lead(gap, ball(evaluate(head.weighting.inverse_temperature, length, length)))
        if gap is not None and isinstance(head.weighting, Softmax)
        else None
        for head, gap in zip(layer.heads, gaps, strict=True)
    ]


@final
@dataclass(frozen=True)
class _LayerRow:
    """One layer: what is measured of it, and what bounds that; None where a bound says nothing any more."""

    number: int
    is_last: bool
    length: int
    leads: Leads
    known: MeasuredLayer
    published: LayerErrors | None
    own: LayerErrors | None
    proved: LayerError | None

    def rows(self, published_read: flint.arb) -> Iterator[LemmaRow]:
        place, known, proved = str(self.number), self.known, self.proved
        size = proved and _monomial(proved.magnitude, self.length)
        yield _row(place, "X", "29", known.read, published_read, known.read, size)
        for head, lead in enumerate(self.leads):
            yield from self._of_head(f"{place}.{head}", head, lead)
        yield self._bounded(place, "behind heads", "31, 34", known.behind_heads, lambda by: by.behind_heads)
        published, own = (None if by is None else by.after for by in (self.published, self.own))
        error = None if proved is None or self.is_last else _monomial(proved.error, self.length)
        yield _row(place, "behind units", "25, 30", known.after, published, own, error)

    def _of_head(self, place: str, head: int, lead: Lead | None) -> Iterator[LemmaRow]:
        seen, gap = self.known.heads[head], self.proved and self.proved.gaps[head]
        yield self._bounded(place, "values", "28", seen.sizes, lambda by: by.heads[head].sizes)
        if lead is None:
            yield self._bounded(place, "value error", "31", seen.values, lambda by: by.heads[head].values)
            return
        least = gap and _monomial(gap.gap, self.length)
        yield _row(place, "gap", "24", ball(lead.gap), None, None, least)
        yield self._bounded(place, "score error", "32", seen.scores, lambda by: by.heads[head].scores)
        yield self._bounded(place, "weight error", "33", seen.weights, lambda by: by.heads[head].weights)
        exact = edelman(lead, self.length)
        yield _row(place, "at exact scores", "Edelman et al.", seen.exact_weights, exact, exact)
        yield self._bounded(place, "value error", "34", seen.values, lambda by: by.heads[head].values)

    def _bounded(
        self,
        place: str,
        what: str,
        lemma: str,
        real: flint.arb,
        bound: Callable[[LayerErrors], flint.arb | None],
    ) -> LemmaRow:
        published, own = (None if by is None else bound(by) for by in (self.published, self.own))
        return _row(place, what, lemma, real, published, own)


def _row(
    place: str,
    what: str,
    lemma: str,
    real: flint.arb,
    published: flint.arb | None,
    own: flint.arb | None,
    proved: flint.arb | None = None,
) -> LemmaRow:
    by = [None if bound is None else shown_bound(bound) for bound in (published, own, proved)]
    return LemmaRow(place, what, lemma, by[0], by[1], by[2], shown_bound(real))


def _monomial(own: Monomial, length: int) -> flint.arb:
    return ball(own.factor) * flint.arb(length) ** ball(Fraction(own.power))


def shown_bound(bound: flint.arb) -> str:
    """Its upper end with three digits, and "<" before it where balls do not tell it from 0.

    >>> from attemper.exact.balls import ball
    >>> shown_bound(ball(Fraction(1, 3))), shown_bound(flint.arb(0)), shown_bound(flint.arb("0 +/- 1e-70"))
    ('0.333', '0', '<1.00e-70')
    """
    if bound == 0:
        return "0"
    least = "<" if bound.contains(0) else ""
    return least + bound.upper().str(3, radius=False)
