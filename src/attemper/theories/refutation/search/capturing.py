"""Witness search: symbols that force an activation to have one value.

A value is forced by forcing where it comes from: the value below at its own position, and for each head,
that it attends to the right value: that one is forced, and whatever could beat it is forced to a value that
does not. What is found is a guess (values may be possible for other reasons too); the checker has the last
word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import final

import numpy as np

from attemper.models.arrays import Array, Integers
from attemper.models.hard.protocol import HardModel, scored
from attemper.theories.refutation.search.states import Activations, descending

TRIED = 8
"""How many of a position's harmless values are tried: those that come about most easily."""

MOST_CHOICES = 384
"""How many of the best-scoring values a head of the last layer is aimed at, at most."""

Symbols = dict[int, int]
"""The number of the symbol at some positions (from 1)."""


@final
@dataclass
class Capturer:
    """Forces values of the states of the layers 0..k with at most `most` symbols."""

    model: HardModel
    states: Sequence[Activations]
    most: int
    _threats: dict[tuple[int, int, int, int], tuple[tuple[int, tuple[int, ...]], ...]] = field(
        default_factory=dict, repr=False
    )
    _best: dict[tuple[int, int], Integers] = field(default_factory=dict, repr=False)

    def force(self, level: int, value: int, known: Symbols) -> bool:
        """Adds symbols that force the value; False if they contradict those that are known already."""
        state = self.states[level]
        if state.is_constant(value):
            return True
        parents = state.parents[value]
        if level == 0:
            position = int(state.owner[value]) + 1
            symbol = int(parents[0])
            return known.setdefault(position, symbol) == symbol and len(known) <= self.most
        if not self.force(level - 1, int(parents[0]), known):
            return False
        heads = self.model.heads[level - 1]
        return all(
            self.capture(level - 1, head, int(parents[0]), int(parents[1 + head]), known)
            for head in range(heads)
        )

    def capture(self, layer: int, head: int, query: int, target: int, known: Symbols) -> bool:
        """Adds symbols that force a head to attend to the target while its position has the value `query`."""
        if target != query and not self.force(layer, target, known):
            return False
        for position, harmless in self._beating(layer, head, query, target):
            if position == -1 or not self._disarm(layer, harmless, known):
                return False
        return True

    def _disarm(self, layer: int, harmless: Sequence[int], known: Symbols) -> bool:
        """Forces one of some values of a position, the one that takes the fewest new symbols."""
        best: Symbols | None = None
        for value in harmless:
            attempt = dict(known)
            if self.force(layer, value, attempt) and (best is None or len(attempt) < len(best)):
                best = attempt
                if len(best) == len(known):
                    break
        if best is None:
            return False
        known.update(best)
        return True

    def _beating(
        self, layer: int, head: int, query: int, target: int
    ) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The positions that may beat the target, with the values that do not, the worst first.

        A position -1 stands for one that beats it with every value.
        """
        key = layer, head, query, target
        if key not in self._threats:
            self._threats[key] = tuple(self._find(*key))
        return self._threats[key]

    def _find(self, layer: int, head: int, query: int, target: int) -> list[tuple[int, tuple[int, ...]]]:
        state, choices = self.states[layer], self.choices(layer, head, query)
        places = np.flatnonzero(choices == target)
        beating = choices[: places[0]] if len(places) else choices
        if not len(places) or query in beating:
            return [(-1, ())]
        harmful = {int(value) for value in beating}
        found = []
        for position in dict.fromkeys(state.owner[beating].tolist()):
            if position == state.owner[target]:
                continue
            harmless = tuple(islice((v for v in state.of(position) if v not in harmful), TRIED))
            if not harmless:
                return [(-1, ())]
            found.append((position, harmless))
        return found

    def choices(self, layer: int, head: int, query: int) -> Integers:
        """What may be attended to from a value, the best first: in the last layer some of the best only."""
        if layer + 1 < len(self.states):
            return self.states[layer + 1].choices[head].of(query)
        if (head, query) not in self._best:
            state = self.states[layer]
            scores = scored(self.model, layer, head, state.rows[[query]], state.rows)[0]
            best = _greatest(scores, MOST_CHOICES)
            self._best[head, query] = best[(state.owner[best] != state.owner[query]) | (best == query)]
        return self._best[head, query]


def _greatest(scores: Array, count: int) -> Integers:
    """Where the greatest scores are, the greatest first, the leftmost of equal ones first."""
    some = np.arange(len(scores))
    if len(scores) > 4 * count:
        some = np.flatnonzero(scores >= np.partition(scores, -count)[-count])
    return some[np.argsort(descending(scores[some]), kind="stable")][:count]
