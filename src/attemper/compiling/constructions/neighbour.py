"""Neighbour: position i - 1 (or i + 1), the nearest of the other parity (SHASA Theorems 12, 13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never, final

from attemper.attention_program.ops import Direction, Program, Ref, Shift
from attemper.compiling.building.bits import read
from attemper.compiling.building.counts import Need
from attemper.compiling.building.plan import Rename, Rows, exponential, one_sided
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, form, scaled
from attemper.exact.closed_forms import ONE, SIGN, I, N, Power, Test, over, times
from attemper.exact.predicates import Remainder
from attemper.networks.layers import LinearForm, Masking, Neighbour, Softmax
from attemper.networks.regime import Regime

_ODD = Test(Remainder(2, 1), 1, 0, 0)
_EVEN = Test(Remainder(2, 0), 1, 0, 0)


@final
@dataclass(frozen=True)
class NeighbourPlan:
    """Score -(-1)^i (-1)^j, and of the best positions the rightmost (leftmost)."""

    construction: Neighbour
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Coordinates) -> Rows:
        query, key = (scaled(stream.at(SIGN), -1),), (stream.at(SIGN),)
        return Rows(query, key, one_sided(self.construction.next))

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """The other parity first, then the nearest."""
        towards = -1 if self.construction.next else 1
        other_parity = scaled(stream.at(SIGN), -1)
        match regime:
            case Regime.UNBOUNDED:
                key = (scaled(stream.at(SIGN), margin), scaled(stream.at(I), towards * margin))
                return Rows((other_parity, stream.at(ONE)), key, Softmax(ONE))
            case Regime.TEMPERATURE:
                key = (stream.at(SIGN), scaled(stream.at(times(I, over(N))), towards))
                return Rows((other_parity, stream.at(ONE)), key, Softmax(times(margin, N)))
            case Regime.DECODER:
                same_parity = (scaled(stream.at(_ODD), -2), scaled(stream.at(_EVEN), -2))
                query = (stream.at(_ODD), stream.at(_EVEN), stream.at(ONE))
                nearest = scaled(stream.at(over(I)), -1)
                return Rows(query, (*same_parity, nearest), Softmax(times(margin, Power(I, 2))))
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """r."""
        return exponential(-margin)

    def renamed(self, rename: Rename) -> Neighbour:
        return self.construction


def needs(program: Program, step: Shift) -> Iterator[Need]:
    """The bit that is shifted."""
    yield from read(program, step.bit)


def shifted(site: Site, ref: Ref, step: Shift) -> LinearForm:
    """The raw output of the step's head; at the edge the bit of the edge itself."""
    following = step.direction is Direction.NEXT
    plan = NeighbourPlan(Neighbour(following), Masking.PAST if following else Masking.FUTURE)
    target = site.attended(ref)
    site.share_head(site.ready[ref], plan, site.bit(step.bit), target)
    return form((target, 1))
