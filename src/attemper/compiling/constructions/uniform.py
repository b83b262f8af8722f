"""Uniform: the average of the values over all visible positions. Counts are made of averages."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from attemper.attention_program.ops import Mask
from attemper.compiling.building.counts import Average
from attemper.compiling.building.plan import MASKINGS, Rename, Rows, with_rows
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, scaled
from attemper.exact.closed_forms import FIRST, LAST, ONE
from attemper.networks.layers import Coordinate, HardWeighting, Head, LinearForm, Masking, Softmax, Uniform
from attemper.networks.regime import Regime

_MARKS = {Mask.UP_TO: FIRST, Mask.FROM: LAST, Mask.ALL: FIRST}
"""A bit that holds at exactly one visible position: its average is 1 / their number."""


@final
@dataclass(frozen=True)
class UniformPlan:
    """All scores are 0, hard and soft: nothing goes astray."""

    construction: Uniform
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Coordinates) -> Rows:
        return Rows((), (), HardWeighting.AVERAGE)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        return Rows((), (), Softmax(ONE))

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        return Fraction(0)

    def renamed(self, rename: Rename) -> Uniform:
        return self.construction


def mean_head(stream: Coordinates, masking: Masking, value: LinearForm, target: Coordinate) -> Head:
    """A head that writes the mean of a value."""
    plan = UniformPlan(Uniform(), masking)
    return with_rows(plan, plan.hard(stream), ((value, target),))


def make_average(site: Site, average: Average, target: Coordinate) -> None:
    """Have an average written to the target, in the first layer where it can be."""
    # A mark stands in the embedding, so a layer may have to wait for the bits only.
    layer = 1 + max((site.ready[bit] for _, bit in average.parts), default=0)
    mark = scaled(site.stream.at(_MARKS[average.mask]), average.mark)
    value = added(mark, *(scaled(site.bit(bit), factor) for factor, bit in average.parts))
    site.share_head(layer, UniformPlan(Uniform(), MASKINGS[average.mask]), value, target)


def name_of(site: Site, average: Average) -> str:
    """What an average's coordinate is called."""
    parts = [f"{factor} ({site.name(bit)})" for factor, bit in average.parts]
    if average.mark:
        parts.append(f"{average.mark} edge")
    return f"average {average.mask} of {' + '.join(parts)}"
