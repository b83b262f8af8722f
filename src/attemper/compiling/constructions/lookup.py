"""Lookup: position c, where c is a count; the predicate of c stands there (SHASA Theorems 20, 21)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never, final

from attemper.attention_program.ops import Count, CountTest, Mask, Program, Ref
from attemper.compiling.building.bits import merged
from attemper.compiling.building.counts import Average, Need, comparisons_of
from attemper.compiling.building.plan import Rename, Rows, exponential
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, form, scaled
from attemper.compiling.constructions import sign
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, I, N, Power, Test, over, times
from attemper.exact.predicates import holds
from attemper.networks.layers import HardWeighting, LinearForm, Lookup, Masking, Softmax
from attemper.networks.regime import Regime

_SQUARE = Power(I, 2)


@final
@dataclass(frozen=True)
class LookupPlan:
    """Score 2 ratio j - unit j^2, highest at j = c, where ratio = c * unit."""

    construction: Lookup
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Coordinates) -> Rows:
        key = (scaled(stream.at(I), 2), scaled(stream.at(_SQUARE), -1))
        return Rows(self._query(), key, HardWeighting.AVERAGE)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """Scores -(j - c)^2 with a lead of at least B at j = c."""
        match regime:
            case Regime.UNBOUNDED:
                key = (
                    scaled(stream.at(times(N, I)), 2 * margin),
                    scaled(stream.at(times(N, _SQUARE)), -margin),
                )
                return Rows(self._query(), key, Softmax(ONE))
            case Regime.TEMPERATURE:
                per_square = over(N, 2)
                key = (
                    scaled(stream.at(times(I, per_square)), 2),
                    scaled(stream.at(times(_SQUARE, per_square)), -1),
                )
                return Rows(self._query(), key, Softmax(times(margin, Power(N, 3))))
            case Regime.DECODER:
                key = (scaled(stream.at(over(I, 2)), -1), scaled(stream.at(over(I)), 2))
                return Rows(self._query(), key, Softmax(times(margin, Power(I, 4))))
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """2.3 r (Lemma 7)."""
        return Fraction(23, 10) * exponential(-margin)

    def renamed(self, rename: Rename) -> Lookup:
        return Lookup(rename(self.construction.ratio), rename(self.construction.unit))

    def _query(self) -> tuple[LinearForm, ...]:
        return self.construction.ratio, self.construction.unit


def needs(program: Program, step: CountTest) -> Iterator[Need]:
    """The count, and what corrects the answer where the count is 0."""
    count = program.steps[step.count]
    if not isinstance(count, Count):
        raise UnsupportedError("a numerical predicate of several counts at once is not compiled")
    yield from _averages(program, count)
    yield from sign.needs(program, comparisons_of(program, step))


def looked_up(site: Site, ref: Ref, step: CountTest) -> LinearForm:
    """The approximate bit of the step, by a head for each count: its predicates share that."""
    count = site.program.steps[step.count]
    assert isinstance(count, Count)
    target = site.attended(ref)
    fresh = added(form((target, 1)), _correction_at_zero(site, ref, step))
    # The predicate of the position j that the head finds, j being the count.
    value = site.stream.at(Test(step.predicate, step.scale, 0, step.shift))
    ratio, unit = (site.average(average) for average in _averages(site.program, count))
    # A right or total count c may lie left of i, so those heads see every position.
    masking = Masking.FUTURE if count.mask is Mask.UP_TO else Masking.NONE
    site.share_head(site.ready[ref], LookupPlan(Lookup(ratio, unit), masking), value, target)
    return fresh


def _averages(program: Program, count: Count) -> tuple[Average, Average]:
    """The count, and 1, each per visible position."""
    parts = tuple(sorted((1, bit) for bit in merged(program, count.bit)))
    return Average(count.mask, parts, 0), Average(count.mask, (), 1)


def _correction_at_zero(site: Site, ref: Ref, step: CountTest) -> LinearForm:
    """What turns the answer for 1, read where the count is 0, into the answer for 0: ±[count = 0]."""
    for mixture in comparisons_of(site.program, step):
        none = site.negated(sign.at_least(site, ref, mixture))
        return none if holds(step.predicate, step.shift) else scaled(none, -1)
    return ()
