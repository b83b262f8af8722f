"""The sums over all classes of a head whose scores change with the position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

import torch
from torch import Tensor

from attemper.networks.layers import Masking
from attemper.running.engines.scan.classes import Arithmetic, Class, Listed
from attemper.running.engines.scan.head import Head
from attemper.running.engines.scan.past import ClassName
from attemper.running.engines.scan.polynomials import Polynomial
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
class Sums:
    """The sums over all classes of a head."""

    def __init__(
        self, head: Head, groups: Mapping[ClassName, Class], constants: Mapping[ClassName, Tensor] | None
    ) -> None:
        self.head, self.groups, self.constants = head, groups, constants
        self.low, self.high = head.grid.visible(head.shape.masking)
        self._running: dict[tuple[ClassName, float], tuple[Tensor, Tensor]] = {}

    def means(self, part: slice, ways: set[str]) -> Tensor:
        """The means at some queries [value, query]."""
        head = self.head
        queries = head.queries(part)
        several = len(self.groups) > 1 and head.scale.degree == 2 and not head.scale.is_inverse
        origin = head.grid.i[part].double() if several else None
        visits = [self._visit(name, group, part, queries, origin) for name, group in self.groups.items()]
        top = finite(torch.stack([visit.at_best for visit in visits]).amax(dim=0))
        total = torch.zeros_like(top)
        sums = top.new_zeros(len(head.values), len(top))
        for visit in visits:
            near = visit.at_best > top - head.need
            if not near.any():
                continue
            everywhere = bool(near.all())
            some = slice(None) if everywhere else near.nonzero()[:, 0]
            rates = self._rates(visit)
            own, values = self._sums(visit if everywhere else _of(visit, near), rates, ways)
            weights = (visit.at_best[some] - top[some]).exp()
            total[some] += weights * own
            for number, value in enumerate(values):
                sums[number, some] += weights * value
        return sums / positive(total)

    def _visit(
        self, name: ClassName, group: Class, part: slice, queries: Sequence[Tensor], origin: Tensor | None
    ) -> _Visit:
        head = self.head
        scores = head.polynomial(name, queries, part, origin)
        start = head.grid.start[part] if head.grid.words > 1 else 0
        low, high = (group.rank_after(places[part], start) for places in (self.low, self.high))
        seen = high > low
        peak = torch.where(seen, best(group, scores, low, high, start, head.grid.longest), 0)
        at_best = scores.at(torch.where(seen, group.positions(peak), 1.0)).masked_fill(~seen, -torch.inf)
        return _Visit(name, group, scores, Sights(low, high, peak, start), at_best)

    def _sums(self, visit: _Visit, rates: Tensor | None, ways: set[str]) -> tuple[Tensor, Sequence[Tensor]]:
        """Z and U of one class, as these queries see it."""
        group, scores, sights = visit.group, visit.scores, visit.sights
        if self.constants is not None:
            ways.add("geometric")
            assert isinstance(group, Arithmetic)
            return geometric(scores, sights, group.stride, self.constants[visit.name])
        if rates is None:
            ways.add("window")
            return window(group, scores, sights, len(self.head.values), self.head.need)
        ways.add("running")
        total, sums = self._run(visit, rates)
        return total.take(sights.peak), [own.take(sights.peak) for own in sums]

    def _rates(self, visit: _Visit) -> Tensor | None:
        """By how much a class's scores grow from one position to the next, where all queries of a word agree.

        And where a word's queries see all members on the side on which scores are lower.
        """
        scores, head = visit.scores, self.head
        if (
            scores.is_inverse
            or scores.a is not None
            or scores.b is None
            or isinstance(visit.group, Arithmetic)
        ):
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
        assert isinstance(group, Listed)
        if self.head.grid.words > 1:
            assert group.word is not None
            return running(group, rates.take(group.word), self.head.need)
        name = visit.name, float(rates[0])
        if name not in self._running:
            self._running[name] = running(group, rates, self.head.need)
        return self._running[name]


def _of(visit: _Visit, near: Tensor) -> _Visit:
    """The same for some of the queries."""
    return replace(visit, scores=visit.scores.of(near), sights=visit.sights.of(near))


def finite(top: Tensor) -> Tensor:
    """0 where nothing is seen."""
    return top.masked_fill(top == -torch.inf, 0.0)


def positive(total: Tensor) -> Tensor:
    """1 where nothing is seen, and the sums are 0."""
    return total.masked_fill(total == 0, 1.0)
