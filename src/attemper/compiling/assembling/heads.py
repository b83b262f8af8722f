"""The hard-attention head of each construction: its query, key and weighting."""

from __future__ import annotations

from fractions import Fraction

from attemper.compiling.assembling.weights import Stream, scaled
from attemper.exact.closed_forms import FIRST, ONE, SIGN, I, N, Power, plus, times
from attemper.networks.layers import (
    Coordinate,
    HardWeighting,
    Head,
    LinearForm,
    LocalSign,
    Lookup,
    Masking,
    Neighbour,
    Select,
    Sign,
    Uniform,
)

CENTRE = plus(I, Fraction(-1, 2), FIRST)
"""i - 1/2, but 3/2 at i = 1: the middle of the two positions that a local sign head compares."""

MIRRORED_SIGN = times(plus(N, 1, times(-1, I)), SIGN)
"""(n + 1 - j) (-1)^j."""

Values = tuple[tuple[LinearForm, Coordinate], ...]
"""What a head carries: each value with the coordinate it is written to."""


def hard_uniform(masking: Masking, values: Values) -> Head:
    """The average of the values over all visible positions."""
    return _head(Uniform(), masking, HardWeighting.AVERAGE, (), (), values)


def hard_select(
    stream: Stream, masking: Masking, leftmost: bool, blocked: LinearForm, values: Values
) -> Head:
    """The rightmost (leftmost) visible position that is not blocked; score -[blocked]."""
    query, key = (stream.at(ONE),), (scaled(blocked, -1),)
    return _head(Select(leftmost, blocked), masking, _one_sided(leftmost), query, key, values)


def hard_neighbour(stream: Stream, following: bool, values: Values) -> Head:
    """Position i - 1 (or i + 1): the nearest of the other parity; score -(-1)^i (-1)^j."""
    masking = Masking.PAST if following else Masking.FUTURE
    query, key = (scaled(stream.at(SIGN), -1),), (stream.at(SIGN),)
    return _head(Neighbour(following), masking, _one_sided(following), query, key, values)


def hard_sign(stream: Stream, masking: Masking, difference: LinearForm, target: Coordinate) -> Head:
    """The sign of `difference`: score D (-1)^j, value (-1)^j."""
    values = ((stream.at(SIGN), target),)
    key = (stream.at(SIGN),)
    return _head(Sign(difference), masking, HardWeighting.AVERAGE, (difference,), key, values)


def hard_local_sign(stream: Stream, construction: LocalSign, target: Coordinate) -> Head:
    """The sign of T = i*left + (n-i+1)*right + constant, by two neighbouring positions.

    score = (-1)^j [left j + right (n+1-j) + gate] - C (j - centre)^2 + const, C = slope + 1
    """
    tightness = construction.slope + 1
    query = (
        stream.at(CENTRE),
        stream.at(ONE),
        construction.left,
        construction.right,
        construction.gate,
    )
    key = (
        scaled(stream.at(I), 2 * tightness),
        scaled(stream.at(Power(I, 2)), -tightness),
        stream.at(times(I, SIGN)),
        stream.at(MIRRORED_SIGN),
        stream.at(SIGN),
    )
    values = ((stream.at(SIGN), target),)
    return _head(construction, Masking.NONE, HardWeighting.AVERAGE, query, key, values)


def hard_lookup(
    stream: Stream, masking: Masking, ratio: LinearForm, unit: LinearForm, values: Values
) -> Head:
    """Position c, where ratio = c * unit: score 2 ratio j - unit j^2."""
    query = (ratio, unit)
    key = (scaled(stream.at(I), 2), scaled(stream.at(Power(I, 2)), -1))
    return _head(Lookup(ratio, unit), masking, HardWeighting.AVERAGE, query, key, values)


def _one_sided(leftmost: bool) -> HardWeighting:
    return HardWeighting.LEFTMOST if leftmost else HardWeighting.RIGHTMOST


def _head(
    construction: Uniform | Select | Neighbour | Sign | LocalSign | Lookup,
    masking: Masking,
    weighting: HardWeighting,
    query: tuple[LinearForm, ...],
    key: tuple[LinearForm, ...],
    values: Values,
) -> Head:
    forms = tuple(value for value, _ in values)
    targets = tuple(target for _, target in values)
    return Head(construction, masking, weighting, query, key, forms, targets)
