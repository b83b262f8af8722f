"""Nearest: the position whose integer is nearest to the one at i, then the rightmost or leftmost (ours)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, assert_never, final

import flint

from attemper.compiling.building.plan import Rename, Rows, one_sided
from attemper.compiling.building.weights import Stream, scaled
from attemper.compiling.regimes import Regime
from attemper.errors import InternalError
from attemper.exact.balls import precision, upper_bound
from attemper.exact.closed_forms import ONE, I, N, Power, over, times
from attemper.networks.layers import Masking, Nearest, Softmax


@final
@dataclass(frozen=True)
class NearestPlan:
    """Score -(query - key)^2 - blocked, but for query^2; of the best the rightmost (leftmost)."""

    construction: Nearest
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Stream) -> Rows:
        own = self.construction
        query = (own.query, stream.at(ONE), stream.at(ONE))
        key = (scaled(own.key, 2), scaled(own.square, -1), scaled(own.blocked, -1))
        return Rows(query, key, one_sided(own.leftmost))

    def soft(self, regime: Regime, margin: int, stream: Stream) -> Rows:
        """Scores of 2 n B for each unit, so that B for each step of the tie-break never outweighs one."""
        own, towards = self.construction, -1 if self.construction.leftmost else 1
        one = stream.at(ONE)
        match regime:
            case Regime.UNBOUNDED:
                query = (own.query, one, stream.at(N), one)
                key = (
                    scaled(own.key, 4 * margin),
                    scaled(own.square, -2 * margin),
                    scaled(own.blocked, -2 * margin),
                    scaled(stream.at(I), towards * margin),
                )
                return Rows(query, key, Softmax(ONE))
            case Regime.TEMPERATURE:
                query = (own.query, one, stream.at(over(N, 2)), one)
                key = (
                    scaled(own.key, 2),
                    scaled(own.square, -1),
                    scaled(own.blocked, -1),
                    scaled(stream.at(times(I, over(N, 3))), Fraction(towards, 2)),
                )
                return Rows(query, key, Softmax(times(2 * margin, Power(N, 3))))
            case Regime.DECODER:
                raise InternalError("integers are compared in the decoder regime (please report)")
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """e^noise (r / (1 - r) + r^3), where integers are off by so little that noise < B / 250."""
        return _stray(margin)

    def renamed(self, rename: Rename) -> Nearest:
        own = self.construction
        forms = (rename(form) for form in (own.blocked, own.query, own.key, own.square))
        return Nearest(own.leftmost, *forms)


@cache
def _stray(margin: int) -> Fraction:
    with precision(64):
        ball = flint.arb(margin)
        near = (-ball).exp()
        return upper_bound((ball / 250).exp() * (near / (1 - near) + near**3))
