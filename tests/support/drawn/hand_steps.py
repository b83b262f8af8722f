"""Networks whose hidden units read whole numbers, and means of (-1)^j, written by hand.

No compiler made them, and no language is said: sums, marks, masks, temperatures, thresholds and factors are
drawn, most often as the rules ask, sometimes not. What such a network computes is for others to find out.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.exact.closed_forms import FIRST, LAST, ONE, SIGN, I, N, Power, number, over, times
from attemper.networks import layers
from tests.support.drawn.hand_built import EVEN, Bit, Draft, Part, clamped, linear

SQUARE = Power(I, 2)
WEAK = (layers.Masking.FUTURE, layers.Masking.PAST, layers.Masking.NONE)
HALVES = tuple(Fraction(k, 4) for k in range(-6, 15))
"""Where corners stand: mostly between whole numbers."""


def steps_network(draft: Draft) -> layers.Network:
    """One to three integers, units that step where a sum of them does, and a clamp of what they say."""
    rng, bits = draft.rng, [draft.letter(symbol) for symbol in draft.symbols]
    made = [_average(draft, bits) for _ in range(rng.choice((1, 1, 2, 3)))]
    sign = _mean_of_sign(draft) if rng.random() < 0.4 else None
    draft.close()
    wholes = [_integer(draft, *own) for own in made]
    if sign is not None:
        _edge(draft, sign)
    parts: list[Part] = [(whole, rng.choice((1, 1, 1, -1, 2, -3, Fraction(1, 2)))) for whole in wholes]
    if rng.random() < 0.5:
        parts.append((rng.choice(bits).coordinate, rng.choice((1, -1, 2, Fraction(1, 2)))))
    if rng.random() < 0.3:
        parts.append((draft.place(rng.choice((FIRST, LAST, EVEN))), rng.choice((1, -2))))
    out = draft.fresh()
    _steps(draft, parts, out)
    draft.close()
    return draft.network(clamped(draft, out, "").coordinate if rng.random() < 0.5 else out)


def _average(draft: Draft, bits: list[Bit]) -> tuple[layers.Masking, layers.Coordinate, layers.Coordinate]:
    """The averages of a count, or of another integer, and of the mark, under one weak mask."""
    rng, masking = draft.rng, draft.rng.choice((layers.Masking.FUTURE, *WEAK))
    mark = draft.place(LAST if masking is layers.Masking.PAST else FIRST)
    own = rng.choice(bits).coordinate
    form = rng.choice(
        (
            linear((own, 1)),
            linear((own, 1)),
            linear((own, 1), (mark, 1)),
            linear((own, 1), (mark, 1)),
            linear(
                *((bit.coordinate, rng.choice((0, 1, -1, 2))) for bit in bits), (mark, rng.choice((0, 1)))
            ),
        )
    )
    ratio, unit = draft.fresh(), draft.fresh()
    values = [(form, ratio), (linear((mark, 1)), unit)]
    draft.head(layers.Uniform(), ONE, [], values, masking)
    return masking, ratio, unit


def _integer(
    draft: Draft, side: layers.Masking, ratio: layers.Coordinate, unit: layers.Coordinate
) -> layers.Coordinate:
    """The integer itself, with a temperature that suffices at every i, or only nearly."""
    rng, target = draft.rng, draft.fresh()
    is_masked = side is layers.Masking.FUTURE and rng.random() < 0.6
    masking = layers.Masking.FUTURE if is_masked else layers.Masking.NONE
    margin = rng.choice((4, 4, 8, 20, 2, Fraction(1, 2)))
    coldness = rng.choice((N, N, I, times(N, N), number(6)))
    construction = rng.choice((layers.IntegerValue((), (), False), layers.Foreign()))
    rows = [
        (linear((ratio, 1)), linear((draft.place(I), 2))),
        (linear((unit, 1)), linear((draft.place(SQUARE), -1))),
    ]
    draft.head(construction, times(margin, coldness), rows, [(linear((draft.place(I), 1)), target)], masking)
    return target


def _mean_of_sign(draft: Draft) -> layers.Coordinate:
    rng, target = draft.rng, draft.fresh()
    value = linear((draft.place(SIGN), rng.choice((1, 1, 1, -1, 2))))
    draft.head(layers.Uniform(), ONE, [], [(value, target)], rng.choice(WEAK))
    return target


def _edge(draft: Draft, mean: layers.Coordinate) -> None:
    """Whether the mean is at least so large, or so small, as it is where one position is visible, or
    nearly.
    """
    rng, target = draft.rng, draft.fresh()
    low = rng.choice((Fraction(1, 2), Fraction(1, 3), Fraction(3, 8), Fraction(1, 4)))
    for side in (1, -1):
        draft.unit([(mean, side)], -low, target, 4)
        draft.unit([(mean, side)], -low - Fraction(1, 4), target, -4)
    if rng.random() < 0.3:
        draft.unit([(mean, 1), (draft.place(over(I)), 1)], 0, draft.fresh(), 1)


def _steps(draft: Draft, parts: list[Part], target: layers.Coordinate) -> None:
    """Units of one form whose factors sum to 0, or nearly, and whose corners lie between whole numbers,
    mostly.
    """
    rng = draft.rng
    corners = sorted(rng.sample(HALVES, rng.choice((2, 2, 2, 3, 4))))
    if rng.random() < 0.6:
        start = Fraction(rng.randint(-1, 3)) + Fraction(1, 4)
        corners = [start, start + Fraction(1, 2)]
    factors = [Fraction(rng.choice((2, 2, 4, -1, 1))) for _ in corners[:-1]]
    factors.append(-sum(factors, Fraction(0)))
    if rng.random() < 0.05:
        factors[-1] += rng.choice((1, Fraction(1, 2**20)))
    for corner, factor in zip(corners, factors, strict=True):
        draft.unit(parts, -corner, target, factor)
