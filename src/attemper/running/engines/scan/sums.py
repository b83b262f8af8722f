"""What one class adds to a head's numerator and denominator, relative to the class's best score.

Each way returns (Z, U): Z = sum e^(s - s_p) and U = sum e^(s - s_p) v over the members that a query sees, p
the best of them. What is left out on a side is below 2^-61 of what is kept (docs/scan.md, Lemma 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log2
from typing import final

import torch
from torch import Tensor

from attemper.running.engines.scan.classes import Class, ListedMembers
from attemper.running.engines.scan.past import NeedsPastError, UnfitError
from attemper.running.engines.scan.polynomials import Polynomial

TAIL = 61 * log(2)
"""A class or a side of a class is left out where its first member is so far below, and the log of n more."""

ROUNDED = 2.0**-50
"""More than what a difference of parabolas can lose to rounding, relative to the sizes of its terms."""

LONGEST_WINDOW = 512
"""Heads whose windows would grow beyond it run dense."""

MOST_STEPS = 4
"""So often a better neighbour is looked for: one step is what rounding can ask for."""


@final
@dataclass(frozen=True)
class Sights:
    """What some queries see of one class: ranks from `low` to below `high`, of which `peak` is the best.

    `start` is the first column of each query's word.
    """

    low: Tensor
    high: Tensor
    peak: Tensor
    start: Tensor | int

    def of(self, some: Tensor) -> Sights:
        """The same for some of the queries."""
        start = self.start if isinstance(self.start, int) else self.start.take(some)
        return Sights(self.low.take(some), self.high.take(some), self.peak.take(some), start)


def best(
    group: Class, scores: Polynomial, low: Tensor, high: Tensor, start: Tensor | int, width: int
) -> Tensor:
    """The rank of the best member that each query sees; anything where none is seen.

    The members beside a parabola's top are compared by their scores' difference, and a neighbour that scores
    more than they is the next to be tried: where the top lies is rounded, which of two is better hardly is.
    """
    last = torch.maximum(high - 1, low)
    if scores.a is None:
        return torch.where((scores.b > 0) != scores.is_inverse, last, low)
    top = scores.vertex().nan_to_num(nan=0.0).clamp(0, width).round().long()
    peak = torch.minimum(torch.maximum(group.rank_after(top, start) - 1, low), last)
    seen = high > low
    for _ in range(MOST_STEPS):
        moved = peak
        for step in (-1, 1):
            other = torch.minimum(torch.maximum(moved + step, low), last)
            gain, _ = scores.difference(_at(group, other, seen), _at(group, moved, seen))
            moved = torch.where(gain > 0, other, moved)
        if bool((moved == peak).all()):
            return peak
        peak = moved
    raise UnfitError("the tops of its scores are not found")


def _at(group: Class, ranks: Tensor, seen: Tensor) -> Tensor:
    """The members' positions, or 1 where none is seen: its rank might not exist."""
    return torch.where(seen, group.positions(torch.where(seen, ranks, 0)), 1.0)


def window(
    group: Class, scores: Polynomial, sights: Sights, values: int, need: float
) -> tuple[Tensor, list[Tensor]]:
    """The members around the best one, on each side until the next is `need` below."""
    at_peak = group.positions(sights.peak)
    total = torch.ones_like(at_peak)
    sums = [group.value(number, sights.peak, sights.start) for number in range(values)]
    for side in (-1, 1):
        _add_side(group, scores, sights, at_peak, side, need, total, sums)
    return total, sums


def _add_side(
    group: Class,
    scores: Polynomial,
    sights: Sights,
    at_peak: Tensor,
    side: int,
    need: float,
    total: Tensor,
    sums: list[Tensor],
) -> None:
    """Add the members on one side of the best one to the sums, in place."""
    before: Tensor | None = None
    for step in range(1, LONGEST_WINDOW):
        ranks = sights.peak + side * step
        inside = (ranks >= sights.low) if side < 0 else (ranks < sights.high)
        if group.hole is not None:
            inside = _before_hole(group.hole, sights.peak, ranks, inside, before)
        if not inside.any():
            return
        ranks = torch.where(inside, ranks, sights.peak)
        positions = group.positions(ranks)
        change, sizes = scores.difference(positions, at_peak)
        weights = torch.where(inside, change, -torch.inf).exp()
        total += weights
        for number, own in enumerate(sums):
            own += weights * group.value(number, ranks, sights.start)
        before = change + need + (sizes * ROUNDED if scores.a is not None else 0)
        if not (inside & (before > 0)).any():
            return
    raise UnfitError("its weights fall off too slowly")


def _before_hole(hole: int, peak: Tensor, ranks: Tensor, inside: Tensor, before: Tensor | None) -> Tensor:
    """Which members are on the peak's side of those that were not kept; raises if one is missed there.

    `before` says whether the member before, on the way from the peak, was near enough to count.
    """
    crossed = (ranks >= hole) != (peak >= hole)
    missed = inside & crossed
    if before is not None:
        missed = missed & (before > 0)
    if missed.any():
        raise NeedsPastError
    return inside & ~crossed


def geometric(
    scores: Polynomial, sights: Sights, stride: int, constants: Tensor
) -> tuple[Tensor, list[Tensor]]:
    """All members at once, where they have one value each and stand `stride` apart: a geometric series."""
    ratio = -scores.b.abs() * stride
    members = (sights.high - sights.low).double()
    total = torch.where(ratio == 0, members, (ratio * members).expm1() / ratio.expm1())
    return total, [total * float(constant) for constant in constants]


def running(group: ListedMembers, rate: Tensor, need: float) -> tuple[Tensor, Tensor]:
    """(Z [member], U [value, member]) of each member with those before it; after it where rates are negative.

    `rate` is by how much scores grow from position to position, for each member or for all. As many members
    are added up as can count, by doubling.
    """
    backwards = bool((rate < 0).any())
    at, values, word = group.at, group.values, group.word
    rate = rate.abs().expand_as(at)
    if backwards:
        at, values, rate = -at.flip(0), values.flip(1), rate.flip(0)
        word = None if word is None else word.flip(0)
    # No more members than there are, however slowly scores grow.
    width = 1 << ceil(log2(max(1.0, min(need / float(rate.min()), len(at)))))
    if group.hole is not None and width > group.hole:
        raise NeedsPastError
    total, sums, reach = torch.ones_like(at), values.clone(), 1
    while reach < min(width, len(at)):
        fall = (at[:-reach] - at[reach:]) * rate[reach:]
        if word is not None:
            fall = fall.masked_fill(word[:-reach] != word[reach:], -torch.inf)
        weights = fall.exp()
        wider, more = total.clone(), sums.clone()
        wider[reach:] += weights * total[:-reach]
        more[:, reach:] += weights * sums[:, :-reach]
        total, sums, reach = wider, more, 2 * reach
    return (total.flip(0), sums.flip(1)) if backwards else (total, sums)
