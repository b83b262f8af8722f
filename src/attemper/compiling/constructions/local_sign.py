"""Local sign: the sign of T = i left + (n-i+1) right + constant, by two neighbouring positions (ours)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never, final

from attemper.attention_program.ops import Ref
from attemper.compiling.building.counts import Mixture, sides_of
from attemper.compiling.building.gadgets import add_sign_head, edge_bit, product_with_bit, sign_literal
from attemper.compiling.building.plan import Rename, Rows, exponential
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, form, scaled
from attemper.errors import InternalError
from attemper.exact.closed_forms import FIRST, ONE, ONLY, SIGN, I, N, Power, over, plus, times
from attemper.networks.layers import HardWeighting, LinearForm, LocalSign, Masking, Softmax
from attemper.networks.regime import Regime

_CENTRE = plus(I, Fraction(-1, 2), FIRST)
"""i - 1/2, but 3/2 at i = 1: the middle of the two positions that the head compares."""

_MIRRORED_SIGN = times(plus(N, 1, times(-1, I)), SIGN)
"""(n + 1 - j) (-1)^j."""

_SQUARE = Power(I, 2)
_HALF = Fraction(1, 2)


@final
@dataclass(frozen=True)
class LocalSignPlan:
    """Score (-1)^j [left j + right (n+1-j) + gate] - C (j - centre)^2 + const, C = slope + 1."""

    construction: LocalSign
    masking: Masking
    value_range: ClassVar[int] = 2

    def hard(self, stream: Coordinates) -> Rows:
        tightness = self.construction.slope + 1
        query = (stream.at(_CENTRE), stream.at(ONE), *self._rest())
        key = (
            scaled(stream.at(I), 2 * tightness),
            scaled(stream.at(_SQUARE), -tightness),
            stream.at(times(I, SIGN)),
            stream.at(_MIRRORED_SIGN),
            stream.at(SIGN),
        )
        return Rows(query, key, HardWeighting.AVERAGE)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """The pair of positions next to i differs by 2 B T in logits, all others fall off as C t^2."""
        tightness = margin * (self.construction.slope + 1)
        match regime:
            case Regime.UNBOUNDED:
                key = (
                    scaled(stream.at(I), 2 * tightness),
                    scaled(stream.at(_SQUARE), -tightness),
                    scaled(stream.at(times(I, SIGN)), margin),
                    scaled(stream.at(_MIRRORED_SIGN), margin),
                    scaled(stream.at(SIGN), margin),
                )
                return Rows((stream.at(_CENTRE), stream.at(ONE), *self._rest()), key, Softmax(ONE))
            case Regime.TEMPERATURE:
                per_square = over(N, 2)
                key = (
                    scaled(stream.at(times(I, over(N))), 2 * tightness),
                    scaled(stream.at(times(_SQUARE, per_square)), -tightness),
                    scaled(stream.at(times(I, SIGN, per_square)), margin),
                    scaled(stream.at(times(_MIRRORED_SIGN, per_square)), margin),
                    scaled(stream.at(times(SIGN, per_square)), margin),
                )
                query = (stream.at(times(_CENTRE, over(N))), stream.at(ONE), *self._rest())
                return Rows(query, key, Softmax(Power(N, 2)))
            case Regime.DECODER:
                raise InternalError("left and right counts mix in the decoder regime (please report)")
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """4 r^2: see docs/theory.md."""
        return 4 * exponential(-2 * margin)

    def renamed(self, rename: Rename) -> LocalSign:
        left, right, gate = (rename(form) for form in self._rest())
        return LocalSign(left, right, gate, self.construction.slope)

    def _rest(self) -> tuple[LinearForm, ...]:
        return self.construction.left, self.construction.right, self.construction.gate


def at_least(site: Site, ref: Ref, mixture: Mixture) -> LinearForm:
    """The approximate bit [left + right + total >= threshold], in the layer of step `ref`."""
    name, layer = site.name(ref), site.ready[ref]
    left, right = (site.average(average) for average in sides_of(mixture))
    own = (scaled(site.bit(bit), -2 * factor) for factor, bit in mixture.total)
    offset = 1 - 2 * mixture.threshold
    constant = added(site.stream.constant(offset), *own)
    slope = sum(abs(factor) for average in sides_of(mixture) for factor, _ in average.parts)
    bound = slope + abs(offset) + sum(2 * abs(factor) for factor, _ in mixture.total)
    # gate = (left - right)/2, sign flipped at i = 1: take first * (left - right) away.
    half = added(scaled(left, _HALF), scaled(right, -_HALF))
    flip = product_with_bit(site, name, layer - 1, half, slope, FIRST)
    gate = added(half, form((flip, -2)), constant)
    sign = site.stream.new(f"sign {name}")
    edge = edge_bit(site, name, layer - 1, added(left, right, constant), bound, ONLY)
    plan = LocalSignPlan(LocalSign(left, right, gate, slope), Masking.NONE)
    add_sign_head(site, layer, plan, sign)
    return sign_literal(site, sign, edge)
