"""Counts as Yang et al. compute them (Theorems 20 and 21): averaged, retrieved twice, combined.

    uniform head      r = c / V, and (c + 1) / V, over the V positions that the count's mask shows
    retrieval         the position j = c, and j = c + 1, by Lemma 7: scores -(j - c)^2, value j
    feed-forward      [c = 0] is [the second is near 1]; sum of factor * (first - [c = 0]) >= threshold

There is no position 0, so the first retrieval falls on 1 where c = 0, and the second tells. That falls on 1
as well where there is no position c + 1, which matters where i sees a single position: there g = ReLU(r + [i
sees one] - 1) is c, and the second is read as 3 (ours; the paper's text does not speak of this corner). A
predicate of a count is read at position c, as a value that stands there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, final

from attemper.attention_program.ops import Compare, Count, CountTest, Linear, Mask, Program, Ref
from attemper.compiling.building.bits import read
from attemper.compiling.building.counts import Average, Need
from attemper.compiling.building.plan import Rename, Rows
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, form, scaled
from attemper.compiling.constructions.lookup import LookupPlan
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import FIRST, LAST, I, Test, times
from attemper.exact.predicates import holds
from attemper.networks.layers import IntegerValue, LinearForm, Lookup, Masking, Softmax
from attemper.networks.regime import Regime


@final
@dataclass(frozen=True)
class RetrievedPlan:
    """Score 2 ratio j - unit j^2, highest at j = c, where ratio = c * unit; read is j, or what stands
    there.
    """

    construction: IntegerValue | Lookup
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Coordinates) -> Rows:
        return self._lookup().hard(stream)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """The scores of a lookup, but in a decoder those of the hard head, at inverse temperature B i."""
        if regime is Regime.DECODER:
            return replace(self.hard(stream), weighting=Softmax(times(margin, I)))
        return self._lookup().soft(regime, margin, stream)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """2.3 r: so far is j off in the mean, in positions (Lemma 7)."""
        return self._lookup().stray_mass(regime, margin)

    def renamed(self, rename: Rename) -> IntegerValue | Lookup:
        own = self.construction
        return replace(own, ratio=rename(own.ratio), unit=rename(own.unit))

    def _lookup(self) -> LookupPlan:
        return LookupPlan(Lookup(self.construction.ratio, self.construction.unit), self.masking)


def needs(program: Program, step: Compare | CountTest) -> Iterator[Need]:
    """The averages that are retrieved."""
    for _, count in _counts(program, step):
        yield from (_average(count, 0), _average(count, 1), Average(count.mask, (), 1))
        yield from read(program, count.bit)


def compared(site: Site, ref: Ref, step: Compare) -> LinearForm:
    """sum - threshold + 1, which is at least 1 where the comparison holds, and at most 0 where it does
    not.
    """
    parts = [site.stream.constant(1 - step.threshold)]
    for factor, count in _counts(site.program, step):
        parts.append(scaled(_retrieved(site, site.ready[ref], count), factor))
    return added(*parts)


def tested(site: Site, ref: Ref, step: CountTest) -> LinearForm:
    """The approximate bit of a predicate: what stands at position c, and at c = 0 what it says of 0."""
    ((_, count),) = _counts(site.program, step)
    layer, target = site.ready[ref], site.attended(ref)
    ratio, unit = site.average(_average(count, 0)), site.average(Average(count.mask, (), 1))
    value = site.stream.at(Test(step.predicate, step.scale, 0, step.shift))
    masking = Masking.FUTURE if count.mask is Mask.UP_TO else Masking.NONE
    site.share_head(layer, LookupPlan(Lookup(ratio, unit), masking), value, target)
    at_zero, at_one = (holds(step.predicate, step.scale * c + step.shift) for c in (0, 1))
    if at_zero == at_one:
        return form((target, 1))
    return added(form((target, 1)), scaled(_is_none(site, layer - 1, count), at_zero - at_one))


def _counts(program: Program, step: Compare | CountTest) -> list[tuple[int, Count]]:
    """The counts of a step, each with its factor."""
    counted = program.steps[step.count]
    parts = counted.parts if isinstance(counted, Linear) else ((1, step.count),)
    counts = [(factor, program.steps[ref]) for factor, ref in parts]
    if isinstance(step, CountTest) and len(counts) != 1:
        raise UnsupportedError("a numerical predicate of several counts at once is not compiled")
    return [(factor, count) for factor, count in counts if isinstance(count, Count)]


def _average(count: Count, more: int) -> Average:
    """(count + more) / (number visible)."""
    return Average(count.mask, ((1, count.bit),), more)


def _name(site: Site, count: Count) -> str:
    return f"{count.mask} of {site.name(count.bit)}"


def _retrieved(site: Site, layer: int, count: Count) -> LinearForm:
    """The count, with what the layer's head reads for it: approximate."""
    own = _head(site, layer, count, 0)
    if site.is_constant(_average(count, 0)):
        return own  # the number of positions is not 0
    return added(own, scaled(_is_none(site, layer - 1, count), -1))


def _head(site: Site, layer: int, count: Count, more: int) -> LinearForm:
    """What a head reads for the count, or for one more."""
    key = layer, count, more
    if key not in site.retrieved:
        target = site.stream.new(f"retrieved {_name(site, count)}{' + 1' if more else ''}")
        ratio, unit = site.average(_average(count, more)), site.average(Average(count.mask, (), 1))
        masking = Masking.FUTURE if count.mask is Mask.UP_TO else Masking.NONE
        plan = RetrievedPlan(IntegerValue(ratio, unit, False), masking)
        site.add_head(layer, plan, ((site.stream.at(I), target),))
        site.retrieved[key] = form((target, 1))
    return site.retrieved[key]


def _is_none(site: Site, layer: int, count: Count) -> LinearForm:
    """[count = 0], exactly, as the feed-forward of a layer writes it."""
    key = layer, count, None
    if key not in site.retrieved:
        name = _name(site, count)
        alone, none = site.stream.new(f"all of {name}"), site.stream.new(f"none of {name}")
        edges = {Mask.UP_TO: (FIRST,), Mask.FROM: (LAST,), Mask.ALL: (FIRST, LAST)}[count.mask]
        single = added(*map(site.stream.at, edges))
        ratio = site.average(_average(count, 0))
        averaged = site.layers[layer - 2]
        averaged.add_hidden(added(ratio, single), Fraction(-len(edges)), alone, Fraction(1))
        second = _head(site, layer, count, 1)
        near_one = added(site.stream.constant(2), scaled(second, -1), form((alone, -2)))
        site.layers[layer - 1].add_clamp(near_one, Fraction(1, 4), none, 1)
        site.retrieved[key] = form((none, 1))
    return site.retrieved[key]
