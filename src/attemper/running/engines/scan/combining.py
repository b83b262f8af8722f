"""The sums over all classes of a head whose scores change with the position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from attemper.networks.layers import Masking
from attemper.running.engines.scan.classes import Class, ListedMembers, Progression
from attemper.running.engines.scan.head import ScannedHead
from attemper.running.engines.scan.past import ClassName, UnfitError
from attemper.running.engines.scan.polynomials import Polynomial, polynomial, score_at
from attemper.running.engines.scan.sums import Sights, best, geometric, running, window


@final
@dataclass(frozen=True)
class _Visit:
    """One class as some queries see it: the score of its best member, -inf where none is seen."""

    name: ClassName
    group: Class
    scores: Polynomial
    sights: Sights
    at_best: Tensor


@final
class ClassSums:
    """The sums over all classes of a head."""

    def __init__(
        self,
        head: ScannedHead,
        groups: Mapping[ClassName, Class],
        constants: Mapping[ClassName, Tensor] | None,
    ) -> None:
        self.head, self.groups, self.constants = head, groups, constants
        self.low, self.high = head.grid.visible(head.shape.masking)
        self._running: dict[tuple[ClassName, float], tuple[Tensor, Tensor]] = {}

    def means(self, part: slice, ways: set[str]) -> Tensor:
        """The means at some queries [value, query]."""
        head = self.head
        queries = head.queries(part)
        several = len(self.groups) > 1 and head.scale.degree == 2 and not head.scale.is_inverse
        last = head.grid.n[part].double() if several else None
        visits = [self._visit(name, group, part, queries, last) for name, group in self.groups.items()]
        top = torch.stack([visit.at_best for visit in visits]).amax(dim=0)
        if not (top.isfinite() | (self.high[part] <= self.low[part])).all():
            raise UnfitError("its scores leave the range of float64")
        top = finite(top)
        total = torch.zeros_like(top)
        sums = top.new_zeros(len(head.values), len(top))
        for visit in visits:
            # Of large scores `need` may be less than the last digit, so their difference is looked at.
            near = top - visit.at_best < head.need
            if near.any():
                self._add(visit, near, top, total, sums, ways)
        return sums / positive(total)

    def _visit(
        self, name: ClassName, group: Class, part: slice, queries: Sequence[Tensor], last: Tensor | None
    ) -> _Visit:
        head = self.head
        numbers = head.numbers(name, part)
        scores = polynomial(queries, numbers, head.scale, last)
        start = head.grid.start[part] if head.grid.words > 1 else 0
        low, high = (group.rank_after(places[part], start) for places in (self.low, self.high))
        seen = high > low
        peak = torch.where(seen, best(group, scores, low, high, start, head.grid.longest), 0)
        places = torch.where(seen, group.positions(peak), 1.0)
        at_best = score_at(queries, numbers, places, head.scale) if last is None else scores.at(places)
        sights = Sights(low, high, peak, start)
        return _Visit(name, group, scores, sights, at_best.masked_fill(~seen, -torch.inf))

    def _add(
        self, visit: _Visit, near: Tensor, top: Tensor, total: Tensor, sums: Tensor, ways: set[str]
    ) -> None:
        """Add what one class is worth to the sums over all classes."""
        group, scores, sights = visit.group, visit.scores, visit.sights
        weights = (visit.at_best - top).exp()
        rates = self._rates(visit)
        if self.constants is not None:
            ways.add("geometric")
            assert isinstance(group, Progression)
            own, values = geometric(scores, sights, group.stride, self.constants[visit.name])
        elif rates is not None:
            ways.add("running")
            all_own, all_values = self._run(visit, rates)
            own, values = all_own.take(sights.peak), [one.take(sights.peak) for one in all_values]
        else:
            ways.add("window")
            self._add_window(visit, near, weights, total, sums)
            return
        total += weights * own
        for row, value in zip(sums, values, strict=True):
            row += weights * value

    def _add_window(self, visit: _Visit, near: Tensor, weights: Tensor, total: Tensor, sums: Tensor) -> None:
        """Windows are looked at only where the class counts."""
        number, need = len(self.head.values), self.head.need
        if near.all():
            own, values = window(visit.group, visit.scores, visit.sights, number, need)
            total += weights * own
            for row, value in zip(sums, values, strict=True):
                row += weights * value
            return
        some = near.nonzero()[:, 0]
        weights = weights.take(some)
        own, values = window(visit.group, visit.scores.of(some), visit.sights.of(some), number, need)
        total.index_add_(0, some, weights * own)
        for row, value in zip(sums, values, strict=True):
            row.index_add_(0, some, weights * value)

    def _rates(self, visit: _Visit) -> Tensor | None:
        """By how much a class's scores grow from one position to the next, where all queries of a word agree.

        And where a word's queries see all members on the side on which scores are lower.
        """
        scores, head = visit.scores, self.head
        if scores.is_inverse or scores.a is not None or isinstance(visit.group, Progression):
            return None
        table = scores.b.reshape(head.grid.words, -1)
        rates = table[:, 0]
        if bool((table != rates[:, None]).any()) or bool((rates == 0).any()):
            return None
        rises = bool((rates > 0).all())
        if not rises and bool((rates > 0).any()):
            return None
        if head.shape.masking.weak is (Masking.PAST if rises else Masking.FUTURE):
            return None
        return rates

    def _run(self, visit: _Visit, rates: Tensor) -> tuple[Tensor, Tensor]:
        """The running sums of all members of a class."""
        group = visit.group
        assert isinstance(group, ListedMembers)
        if self.head.grid.words > 1:
            assert group.word is not None
            return running(group, rates.take(group.word), self.head.need)
        name = visit.name, float(rates[0])
        if name not in self._running:
            self._running[name] = running(group, rates, self.head.need)
        return self._running[name]


def finite(top: Tensor) -> Tensor:
    """0 where nothing is seen."""
    return top.masked_fill(top == -torch.inf, 0.0)


def positive(total: Tensor) -> Tensor:
    """1 where nothing is seen, and the sums are 0."""
    return total.masked_fill(total == 0, 1.0)
