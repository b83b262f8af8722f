"""The lemma of heads that choose: the winner's score leads over others, the more the further they are off.

The winner stands at w and another position at j, both visible from i in a word of n symbols. The difference
of their scores is a Laurent polynomial in i, n, j and w, and "low is left of high" is an order of these, or
three where the mask lets i stand anywhere. If in each of them, in the distances of the order, no coefficient
of the difference less start + step (high - low - gap) is negative, then whoever is gap + t off is behind by
start + step t at least, and all of them together weigh e^-start / (1 - e^-step) of the winner at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import final

import flint

from attemper.checker.names import UnprovenError
from attemper.exact import laurent
from attemper.exact.balls import ball
from attemper.exact.laurent import I, J, Laurent, N, Next, W
from attemper.networks.layers import Masking

MAX_DEGREE = 16
"""Of the difference of two scores, its denominators cleared: no construction has a half of it."""

UNIT = laurent.constant(1)
ONE: Laurent = {(0, 0, 0, 0): Fraction(1)}
"""The number 1, as a form in i and n, and as one in all four."""

PowerTerm = tuple[laurent.VariablePowers, Fraction]
"""A power with its factor: a set of these is a form."""


@final
@dataclass(frozen=True)
class Trail:
    """Positions that are behind the winner: the first by `start`, each further one by `step` more.

    Without a step there is one position.
    """

    start: Fraction
    step: Fraction | None = None

    def weight(self, loss: flint.arb) -> flint.arb:
        """What all weigh together, relative to the winner, if each lead is less by the relative `loss`."""
        kept = 1 - loss
        first = (-ball(self.start) * kept).exp()
        return first if self.step is None else first / (1 - (-ball(self.step) * kept).exp())


def least_of(trails: Sequence[Trail]) -> Trail:
    """What holds of each: the least start with the least step."""
    return Trail(min(own.start for own in trails), min(own.step for own in trails if own.step is not None))


def scored(form: Laurent, variable: int, power: int) -> Laurent:
    """form(i, n) * variable^power, where the variable is one of four."""
    other = tuple(power * (own == variable) for own in range(4))
    return laurent.times({other: Fraction(1)}, {(a, b, 0, 0): factor for (a, b), factor in form.items()})


def apart(form: Laurent, power: int) -> Laurent:
    """form(i, n) * (w^power - j^power)."""
    return laurent.plus(scored(form, W, power), scored(laurent.times(form, -1), J, power))


def trail(difference: Laurent, masking: Masking, low: int, gap: int = 1, every: int = 1) -> Trail:
    """Those that are gap off, or `every` more, or twice that, where `low` (J or W) is left of the other one.

    Raises `UnprovenError` if they are not shown to fall behind.
    """
    return _trail(frozenset(difference.items()), masking, low, gap, every)


@lru_cache(maxsize=1 << 10)
def _trail(terms: frozenset[PowerTerm], masking: Masking, low: int, gap: int, every: int) -> Trail:
    high, difference = W if low == J else J, dict(terms)
    orders = _orders(masking, low, high, gap)
    start = least(difference, orders)
    further = apart(laurent.times(UNIT, 1 if low == J else -1), 1)
    rest, beyond = (
        laurent.plus(own, laurent.times(ONE, -x)) for own, x in ((difference, start), (further, gap))
    )
    step = laurent.most(rest, beyond, orders)
    if step is None or step <= 0:
        raise UnprovenError("not proved for all lengths: the tie-break fades")
    return Trail(start, step * every)


def least(difference: Laurent, orders: laurent.Domain) -> Fraction:
    """A number that a difference of scores is nowhere less than. Raises `UnprovenError` if none is found."""
    if sum(max(0, *own) - min(0, *own) for own in zip(*difference, strict=True)) > MAX_DEGREE:
        raise UnprovenError("its scores have powers that no construction has")
    found = laurent.most(difference, ONE, orders)
    if found is None:
        raise UnprovenError("not proved for all lengths: other positions can win")
    return found


def _orders(masking: Masking, low: int, high: int, gap: int) -> laurent.Domain:
    """Where two positions are visible from i, one or two apart at least."""
    last = Next(N, 0)
    left_of_i = (Next(low, 1), Next(high, gap), Next(I, 0), last)
    right_of_i = (Next(I, 1), Next(low, 0), Next(high, gap), last)
    if masking is Masking.FUTURE:
        return (left_of_i,)
    if masking is Masking.PAST:
        return (right_of_i,)
    # Else i can stand between the two, which then are two apart at least, and no gap asked for is larger.
    return (left_of_i, right_of_i, (Next(low, 1), Next(I, 1), Next(high, 1), last))
