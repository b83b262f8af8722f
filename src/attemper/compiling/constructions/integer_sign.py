"""Integer sign: (-1)^j, read where it is the sign of 2 (key - query) + 1, or - 1 (ours).

The key is that of the position nearest to the query. The difference of both signs says where they are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, assert_never, final

import flint

from attemper.attention_program.ops import Matched, Program, Ref
from attemper.compiling.building.counts import NUMBERS, Integer, Need, Share, integers_of, is_position
from attemper.compiling.building.gadgets import add_sign_head
from attemper.compiling.building.plan import Rename, Rows
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, form, scaled
from attemper.compiling.constructions.nearest_integer import needs_to_look, plan_for
from attemper.errors import InternalError
from attemper.exact.balls import precision, upper_bound
from attemper.exact.closed_forms import ONE, ONLY, SIGN, N, over, times
from attemper.networks.layers import HardWeighting, IntegerSign, LinearForm, Masking, Softmax
from attemper.networks.regime import Regime


@final
@dataclass(frozen=True)
class IntegerSignPlan:
    """Score D (-1)^j, where D is the difference divided by n."""

    construction: IntegerSign
    masking: Masking
    value_range: ClassVar[int] = 2

    def hard(self, stream: Coordinates) -> Rows:
        return Rows((self.construction.difference,), (stream.at(SIGN),), HardWeighting.AVERAGE)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """|D| >= 1/n, so logits of B n D (-1)^j part the two parities by 2 B."""
        query = (self.construction.difference,)
        match regime:
            case Regime.UNBOUNDED:
                return Rows(query, (scaled(stream.at(times(N, SIGN)), margin),), Softmax(ONE))
            case Regime.TEMPERATURE:
                return Rows(query, (stream.at(SIGN),), Softmax(times(margin, N)))
            case Regime.DECODER:
                raise InternalError("integers are compared in the decoder regime (please report)")
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """2 r^2, where errors of integers take away less than a tenth of the margin."""
        return _stray(margin)

    def renamed(self, rename: Rename) -> IntegerSign:
        return IntegerSign(rename(self.construction.difference))


def needs_to_match(program: Program, step: Matched) -> Iterator[Need]:
    """What is needed to look for the position, and both integers as they are compared."""
    yield from needs_to_look(program, step)
    for integer in integers_of(program, step):
        if not is_position(program, integer):
            yield Share(integer)


def matched(site: Site, ref: Ref, step: Matched) -> LinearForm:
    """The approximate bit [key >= query] - [key >= query + 1]; in words of length 1 both are 1."""
    layer, name = site.ready[ref], site.name(ref)
    query, key = (_share(site, integer) for integer in integers_of(site.program, step))
    found = site.stream.new(f"nearest {name}")
    site.share_head(layer - 1, plan_for(site, step), key, found)
    twice = added(form((found, 2)), scaled(query, -2))
    signs = []
    for constant in (1, -1):
        difference = added(twice, scaled(site.stream.at(over(N)), constant))
        sign = site.stream.new(f"sign {name}")
        add_sign_head(site, layer, IntegerSignPlan(IntegerSign(difference), Masking.NONE), sign)
        signs.append((sign, Fraction(constant, 2)))
    return added(form(*signs), site.stream.at(ONLY))


def _share(site: Site, integer: Integer) -> LinearForm:
    if is_position(site.program, integer):
        return site.stream.at(times(NUMBERS[integer.average.mask], over(N)))
    return form((site.shares[integer], 1))


@cache
def _stray(margin: int) -> Fraction:
    with precision(64):
        return upper_bound(2 * (-flint.arb(2 * margin) * 9 / 10).exp())
