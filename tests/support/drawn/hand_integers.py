"""Networks of whole numbers, written by hand: IntegerValue, NearestInteger and IntegerSign heads.

No compiler made them, and no language is said: margins, units, masks and temperatures are drawn, most often
as the rules ask, sometimes not. What such a network computes is for others to find out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    ONE,
    SIGN,
    ClosedForm,
    Digits,
    I,
    N,
    Power,
    number,
    over,
    plus,
    times,
)
from attemper.networks import layers
from tests.support.drawn.hand_built import EVEN, Bit, Draft, Row, clamped, linear

SQUARE = Power(I, 2)
WEAK = (layers.Masking.FUTURE, layers.Masking.PAST, layers.Masking.NONE)


@dataclass(frozen=True)
class Unit:
    """Which power of n a query's K, a key's K' and its square are multiples of; shares are of n^-1."""

    query: int
    key: int
    square: int


UNITS = (Unit(0, 1, 1), Unit(-1, -1, -2), Unit(0, 0, 0), Unit(-1, 0, -1))
"""Those of the two regimes of the compiler, and others."""


def power(exponent: int) -> ClosedForm:
    """n^exponent."""
    return Power(N, exponent) if exponent else ONE


@dataclass(frozen=True)
class Whole:
    """An integer: coordinates with it as a query, as a key, with its square, and with its share of n."""

    query: layers.Coordinate
    key: layers.Coordinate
    square: layers.Coordinate
    share: layers.Coordinate


def nearest_network(draft: Draft) -> layers.Network:
    """Two integers, the position whose integer is nearest, and on which side of the query that is."""
    rng, bits = draft.rng, [draft.letter(symbol) for symbol in draft.symbols]
    unit = rng.choice((*UNITS[:2] * 4, *UNITS))
    made = [_average(draft, bits) if rng.random() < 0.75 else None for _ in range(2)]
    draft.close()
    query, key = (_placed(draft, unit) if own is None else _integer(draft, unit, *own) for own in made)
    draft.close()
    found = _nearest(draft, unit, bits, query, key)
    out = Bit(found[0], "")
    if rng.random() < 0.6:
        out = clamped(draft, found[0], "")
    draft.close()
    if rng.random() < 0.7:
        sign = _sign(draft, unit, found[1], query)
        out = clamped(draft, sign, "", Fraction(2), Fraction(-1)) if rng.random() < 0.5 else Bit(sign, "")
    return draft.network(out.coordinate)


def _average(draft: Draft, bits: Sequence[Bit]) -> tuple[layers.Coordinate, layers.Coordinate]:
    """The averages of an integer, which the letters say, and of the mark, under one weak mask."""
    rng, masking = draft.rng, draft.rng.choice((layers.Masking.FUTURE, *WEAK))
    mark = draft.place(LAST if masking is layers.Masking.PAST else FIRST)
    parts = [(bit.coordinate, rng.choice((0, 1, 1, 1, -1, -2, 3))) for bit in bits]
    forms = linear(*parts, (mark, rng.choice((0, 0, 1, 2, -1)))), linear((mark, 1))
    targets = draft.fresh(), draft.fresh()
    draft.head(layers.Uniform(), ONE, [], list(zip(forms, targets, strict=True)), masking)
    return targets


def _integer(draft: Draft, unit: Unit, ratio: layers.Coordinate, mark: layers.Coordinate) -> Whole:
    """The integer itself, read at its position: score lead n (2 c j - j^2) / V in one of several units."""
    rng = draft.rng
    digits = rng.choice((2, 2, 2, 2, 2, 3, 3, 1, 0))
    score_gap = plus(rng.choice((8, 8, 8, 12, 20, 4)), times(digits, Digits(N)))
    scale = Fraction(2) ** rng.choice((0, 0, 0, 5, -3))
    coldness, by = rng.choice(
        (
            (ONE, times(score_gap, N)),
            (times(score_gap, Power(N, 3)), over(N, 2)),
            (times(score_gap, N), ONE),
            (score_gap, N),
            (N, score_gap),
        )
    )
    linear_key, square_key = draft.place(times(by, I)), draft.place(times(by, SQUARE))
    twice = 2 if rng.random() < 0.97 else rng.choice((1, 4, Fraction(17, 8)))
    rows = [
        (linear((ratio, scale)), linear((linear_key, twice / scale))),
        (linear((mark, 1)), linear((square_key, -1))),
    ]
    whole = Whole(*(draft.fresh() for _ in range(4)))
    targets = (whole.query, whole.key, whole.square, whole.share)
    pairs = zip(_forms(unit), targets, strict=True)
    values = [(linear((draft.place(own), 1)), target) for own, target in pairs]
    draft.head(layers.IntegerValue((), (), True), coldness, rows, values, layers.Masking.NONE)
    return whole


def _placed(draft: Draft, unit: Unit) -> Whole:
    """The position itself."""
    return Whole(*map(draft.place, _forms(unit)))


def _forms(unit: Unit) -> tuple[ClosedForm, ...]:
    """The position as a query, as a key, its square, and its share of n."""
    exponents = (unit.query, unit.key, unit.square, -1)
    return tuple(times(power(k), own) for k, own in zip(exponents, (I, I, SQUARE, I), strict=True))


def _nearest(
    draft: Draft, unit: Unit, bits: Sequence[Bit], query: Whole, key: Whole
) -> tuple[layers.Coordinate, layers.Coordinate]:
    """What is read at the nearest position: a value, and the key's share.

    Score 2 G (2 K K' - K'^2 - blocked) n + G j, in the units that stand there; the sign of G j is the side.
    """
    rng, masking, leftmost = draft.rng, draft.rng.choice(WEAK), draft.rng.random() < 0.4
    gap = Fraction(rng.choice((8, 8, 8, 4, 4, 16, 2, 1, 100)))
    stretch = rng.choice((1, 1, 1, 1, 1, Fraction(3, 4), 3))
    both = unit.query + unit.key
    coldness = times(2 * gap, power(1 - both))
    blocked = rng.choice(([], [bits[0].coordinate], [draft.place(EVEN)]))
    rows: list[Row] = [
        (linear((query.query, 1)), linear((key.key, 2))),
        (linear((draft.place(power(both - unit.square)), 1)), linear((key.square, -1))),
        (
            linear((draft.place(power(both - 1)), Fraction(stretch) / 2)),
            linear((draft.place(I), -1 if leftmost else 1)),
        ),
    ]
    if blocked:
        push = linear((draft.place(power(both)), 1))
        rows.append((push, linear(*((c, -1) for c in blocked))))
    rng.shuffle(rows)
    values: list[tuple[layers.LinearForm, layers.Coordinate]] = [
        (linear((rng.choice(bits).coordinate, rng.choice((1, 1, -3)))), draft.fresh()),
        (linear((key.share, 1)), draft.fresh()),
        (linear((draft.place(EVEN), 1), (bits[0].coordinate, 2)), draft.fresh()),
    ]
    draft.head(layers.NearestInteger(leftmost, (), (), (), ()), coldness, rows, values, masking)
    return values[0][1], values[1][1]


def _sign(draft: Draft, unit: Unit, found: layers.Coordinate, query: Whole) -> layers.Coordinate:
    """The parity whose sign is that of 2 (K' - K) + 1, or - 1: score margin n (...) / n (-1)^j."""
    rng, target = draft.rng, draft.fresh()
    odd = rng.choice((1, 1, -1, -1, -1, 3, 0))
    difference = linear((found, 2), (query.share, -2), (draft.place(over(N)), odd))
    margin = rng.choice((4, 8, 2, 1, Fraction(1, 4), -4))
    coldness, key = rng.choice(
        ((ONE, times(N, SIGN)), (N, SIGN), (times(N, N), times(over(N), SIGN)), (number(3), times(N, SIGN)))
    )
    rows = [(difference, linear((draft.place(key), margin)))]
    value = linear((draft.place(rng.choice((SIGN, SIGN, EVEN))), 1))
    draft.head(layers.IntegerSign(()), coldness, rows, [(value, target)], layers.Masking.NONE)
    return target
