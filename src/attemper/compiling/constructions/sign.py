"""Sign: (-1)^j, read where it is the sign of D = (2 (sum - threshold) + 1) / (number visible) (ours).

Comparisons of counts begin here: where their counts have different masks a local sign head is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, assert_never, final

import flint

from attemper.attention_program.ops import Compare, Equals, Mask, Program, Ref
from attemper.compiling.building.bits import read
from attemper.compiling.building.counts import Average, Mixture, Need, comparisons_of, difference_of, sides_of
from attemper.compiling.building.gadgets import add_sign_head, edge_bit, sign_literal
from attemper.compiling.building.plan import MASKINGS, Rename, Rows, exponential
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, scaled
from attemper.compiling.constructions import local_sign
from attemper.exact.balls import precision, upper_bound
from attemper.exact.closed_forms import FIRST, LAST, ONE, ONLY, SIGN, I, N, Test, times
from attemper.exact.predicates import Remainder
from attemper.networks.layers import HardWeighting, LinearForm, Masking, Sign, Softmax
from attemper.networks.regime import Regime

_EDGES = {Mask.UP_TO: FIRST, Mask.FROM: LAST, Mask.ALL: ONLY}
"""Where only one position is visible (for `all`: in words of length 1)."""

_LAST_AND_EVEN = times(LAST, Test(Remainder(2, 0), 1, 0, 0))


@final
@dataclass(frozen=True)
class SignPlan:
    """Score D (-1)^j."""

    construction: Sign
    masking: Masking
    value_range: ClassVar[int] = 2

    def hard(self, stream: Coordinates) -> Rows:
        return Rows((self.construction.difference,), (stream.at(SIGN),), HardWeighting.AVERAGE)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """|D| >= 1/i, so logits of B i D (-1)^j part the two parities by 2 B."""
        query = (self.construction.difference,)
        match regime:
            case Regime.UNBOUNDED:
                return Rows(query, (scaled(stream.at(times(I, SIGN)), margin),), Softmax(ONE))
            case Regime.TEMPERATURE:
                return Rows(query, (stream.at(SIGN),), Softmax(times(margin, N)))
            case Regime.DECODER:
                return Rows(query, (stream.at(SIGN),), Softmax(times(margin, I)))
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """2 r^2; unbounded 1/(e^B - e^(B/3)), worst at i = 3."""
        if regime is Regime.UNBOUNDED:
            return _wrong_sign_mass(margin)
        return 2 * exponential(-2 * margin)

    def renamed(self, rename: Rename) -> Sign:
        return Sign(rename(self.construction.difference))


@cache
def _wrong_sign_mass(margin: int) -> Fraction:
    with precision(64):
        ball = flint.arb(margin)
        return upper_bound(1 / (ball.exp() - (ball / 3).exp()))


def needs(program: Program, mixtures: Iterable[Mixture]) -> Iterator[Need]:
    """What comparisons read: their averages, and the bits that total counts have twice."""
    for mixture in mixtures:
        difference = difference_of(mixture)
        yield from (difference,) if difference is not None else sides_of(mixture)
        for _, bit in mixture.total:
            yield from read(program, bit)


def compared(site: Site, ref: Ref, step: Compare | Equals) -> LinearForm:
    """The approximate bit of a comparison; that of an equality is the difference of two."""
    reached, *exceeded = (at_least(site, ref, mixture) for mixture in comparisons_of(site.program, step))
    return added(reached, *(scaled(more, -1) for more in exceeded))


def at_least(site: Site, ref: Ref, mixture: Mixture) -> LinearForm:
    """The approximate bit [sum >= threshold], in the layer of step `ref`; equal ones share a head."""
    place = (site.ready[ref], mixture)
    if place not in site.comparisons:
        difference = difference_of(mixture)
        if difference is None:
            site.comparisons[place] = local_sign.at_least(site, ref, mixture)
        else:
            site.comparisons[place] = _one_sided(site, ref, difference)
    return site.comparisons[place]


def _one_sided(site: Site, ref: Ref, average: Average) -> LinearForm:
    """[sum >= threshold] from the sign of the average D."""
    name, layer = site.name(ref), site.ready[ref]
    side, difference = average.mask, site.average(average)
    bound = sum(abs(factor) for factor, _ in average.parts) + abs(average.mark)
    sign = site.stream.new(f"sign {name}")
    edge = edge_bit(site, name, layer - 1, difference, bound, _EDGES[side])
    plan = SignPlan(Sign(difference), MASKINGS[side])
    add_sign_head(site, layer, plan, sign)
    literal = sign_literal(site, sign, edge)
    if side is Mask.FROM:
        # At i = n the head reads (-1)^n itself: take [n even] away again.
        return added(literal, scaled(site.stream.at(_LAST_AND_EVEN), -1))
    return literal
