"""Query, key and temperature of every construction in every regime (constructions.md, section 1).

Each gives the hard head's choice a lead of at least B logits per step away from it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from attemper.compiling.assembling.heads import CENTRE, MIRRORED_SIGN
from attemper.compiling.assembling.weights import Stream, scaled
from attemper.compiling.regimes import Regime
from attemper.errors import InternalError
from attemper.exact.closed_forms import (
    ONE,
    SIGN,
    ClosedForm,
    I,
    N,
    Power,
    Test,
    over,
    times,
)
from attemper.exact.predicates import Remainder
from attemper.networks.layers import (
    Construction,
    LinearForm,
    LocalSign,
    Lookup,
    Masking,
    Neighbour,
    Select,
    Sign,
    Uniform,
)

Rows = tuple[tuple[LinearForm, ...], tuple[LinearForm, ...], ClosedForm]
"""Query rows, key rows, and 1 / temperature."""

_ODD = Test(Remainder(2, 1), 1, 0, 0)
_EVEN = Test(Remainder(2, 0), 1, 0, 0)
_SQUARE = Power(I, 2)


def soft_rows(
    construction: Construction, masking: Masking, regime: Regime, margin: int, stream: Stream
) -> Rows:
    """The rows of a softened head. Raises `InternalError` where the regime has no construction."""
    if regime is Regime.DECODER and masking.weak is not Masking.FUTURE:
        raise InternalError(f"a {masking} head in the decoder regime (please report)")
    match construction:
        case Uniform():
            return (), (), ONE
        case Select():
            return _select(construction, masking, regime, margin, stream)
        case Neighbour():
            return _neighbour(construction, regime, margin, stream)
        case Sign():
            return _sign(construction, regime, margin, stream)
        case LocalSign():
            return _local_sign(construction, regime, margin, stream)
        case Lookup():
            return _lookup(construction, regime, margin, stream)
        case _:
            assert_never(construction)


def _select(head: Select, masking: Masking, regime: Regime, margin: int, stream: Stream) -> Rows:
    """Lemma 8: a blocked position loses more than the whole tie-break is worth."""
    towards = -1 if head.leftmost else 1
    match regime:
        case Regime.UNBOUNDED:
            reach = stream.at(I if masking.weak is Masking.FUTURE else N)
            key = (scaled(head.blocked, -2 * margin), scaled(stream.at(I), towards * margin))
            return (reach, stream.at(ONE)), key, ONE
        case Regime.TEMPERATURE:
            tie_break = scaled(stream.at(times(I, over(N))), Fraction(towards, 2))
            key = (scaled(head.blocked, -1), tie_break)
            return (stream.at(ONE), stream.at(ONE)), key, times(2 * margin, N)
        case Regime.DECODER:
            # In the form -2 blocked (not + 2 allowed) the competing scores are only -1/j, which
            # float32 tells apart far longer: 1/j - 1/(j+1) would drown next to 2.
            key = (scaled(head.blocked, -2), scaled(stream.at(over(I)), -towards))
            return (stream.at(ONE), stream.at(ONE)), key, times(margin, _SQUARE)
        case _:
            assert_never(regime)


def _neighbour(head: Neighbour, regime: Regime, margin: int, stream: Stream) -> Rows:
    """The other parity first, then the nearest."""
    towards = -1 if head.next else 1
    other_parity = scaled(stream.at(SIGN), -1)
    match regime:
        case Regime.UNBOUNDED:
            key = (scaled(stream.at(SIGN), margin), scaled(stream.at(I), towards * margin))
            return (other_parity, stream.at(ONE)), key, ONE
        case Regime.TEMPERATURE:
            key = (stream.at(SIGN), scaled(stream.at(times(I, over(N))), towards))
            return (other_parity, stream.at(ONE)), key, times(margin, N)
        case Regime.DECODER:
            same_parity = (scaled(stream.at(_ODD), -2), scaled(stream.at(_EVEN), -2))
            query = (stream.at(_ODD), stream.at(_EVEN), stream.at(ONE))
            return query, (*same_parity, scaled(stream.at(over(I)), -1)), times(margin, _SQUARE)
        case _:
            assert_never(regime)


def _sign(head: Sign, regime: Regime, margin: int, stream: Stream) -> Rows:
    """|difference| >= 1/i, so logits of B i * difference * (-1)^j part the two parities by 2B."""
    query = (head.difference,)
    match regime:
        case Regime.UNBOUNDED:
            return query, (scaled(stream.at(times(I, SIGN)), margin),), ONE
        case Regime.TEMPERATURE:
            return query, (stream.at(SIGN),), times(margin, N)
        case Regime.DECODER:
            return query, (stream.at(SIGN),), times(margin, I)
        case _:
            assert_never(regime)


def _local_sign(head: LocalSign, regime: Regime, margin: int, stream: Stream) -> Rows:
    """The pair of positions next to i differs by 2 B T in logits, all others fall off as C t^2."""
    tightness = margin * (head.slope + 1)
    rest = (head.left, head.right, head.gate)
    match regime:
        case Regime.UNBOUNDED:
            key = (
                scaled(stream.at(I), 2 * tightness),
                scaled(stream.at(_SQUARE), -tightness),
                scaled(stream.at(times(I, SIGN)), margin),
                scaled(stream.at(MIRRORED_SIGN), margin),
                scaled(stream.at(SIGN), margin),
            )
            return (stream.at(CENTRE), stream.at(ONE), *rest), key, ONE
        case Regime.TEMPERATURE:
            per_square = over(N, 2)
            key = (
                scaled(stream.at(times(I, over(N))), 2 * tightness),
                scaled(stream.at(times(_SQUARE, per_square)), -tightness),
                scaled(stream.at(times(I, SIGN, per_square)), margin),
                scaled(stream.at(times(MIRRORED_SIGN, per_square)), margin),
                scaled(stream.at(times(SIGN, per_square)), margin),
            )
            query = (stream.at(times(CENTRE, over(N))), stream.at(ONE), *rest)
            return query, key, Power(N, 2)
        case Regime.DECODER:
            raise InternalError("left and right counts mix in the decoder regime (please report)")
        case _:
            assert_never(regime)


def _lookup(head: Lookup, regime: Regime, margin: int, stream: Stream) -> Rows:
    """Scores -(j - c)^2 with a lead of at least B at j = c (Theorems 20, 21 and constructions.md)."""
    query = (head.ratio, head.unit)
    match regime:
        case Regime.UNBOUNDED:
            key = (
                scaled(stream.at(times(N, I)), 2 * margin),
                scaled(stream.at(times(N, _SQUARE)), -margin),
            )
            return query, key, ONE
        case Regime.TEMPERATURE:
            per_square = over(N, 2)
            key = (
                scaled(stream.at(times(I, per_square)), 2),
                scaled(stream.at(times(_SQUARE, per_square)), -1),
            )
            return query, key, times(margin, Power(N, 3))
        case Regime.DECODER:
            key = (scaled(stream.at(over(I, 2)), -1), scaled(stream.at(over(I)), 2))
            return query, key, times(margin, Power(I, 4))
        case _:
            assert_never(regime)
