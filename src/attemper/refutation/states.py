"""A transformer under a restriction: which activations its positions can have, and where they come from.

What is left when the lower layers are collapsed, Hahn's c-transformer: every activation is a function of
the free symbols. Only the search uses this; the checker has its own pass.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.certificates.restrictions import Restriction
from attemper.hard_models.protocol import Array, HardModel, Integers, normal, scored

BLOCK = 4_000_000
"""The most scores that are computed at a time."""


class TooManyError(Exception):
    """More activations, or more time for them, than allowed."""


@final
@dataclass(frozen=True)
class State:
    """Distinct activations, grouped by position (from 0).

    `parents[v]` has the value below of the same position, and what each head attends to, for one way in
    which v comes about: the one whose heads have the fewest better candidates, `cost[v]` in all. On the
    lowest level it has the number of the symbol.
    """

    rows: Array
    owner: Integers
    parents: Integers
    cost: Integers

    @cached_property
    def starts(self) -> Integers:
        """Where the values of each position begin, and where the last ones end."""
        return np.searchsorted(self.owner, np.arange(self.owner[-1] + 2))

    def of(self, position: int) -> range:
        """The values of a position."""
        return range(int(self.starts[position]), int(self.starts[position + 1]))

    def is_constant(self, value: int) -> bool:
        """Whether its position has no other value."""
        return len(self.of(int(self.owner[value]))) == 1


def lowest(model: HardModel, restriction: Restriction) -> State:
    """The embeddings."""
    pairs = [(i, s) for i, allowed in enumerate(restriction.allowed) for s in allowed]
    positions, symbols = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return _state(model.embed(positions + 1, symbols), positions, symbols[:, None], np.zeros_like(positions))


def following(model: HardModel, layer: int, state: State, most: int, deadline: float = math.inf) -> State:
    """The state after a layer.

    Raises `TooManyError` if more than `most` combinations must be looked at, or after the deadline.
    """
    parts = []
    spent = 0
    size = max(1, BLOCK // len(state.owner))
    for begin in range(0, len(state.owner), size):
        block = np.arange(begin, min(begin + size, len(state.owner)))
        found = [_ranked(model, layer, head, state, block) for head in range(model.heads[layer])]
        counts = np.ones(len(block))
        for number, _, _ in found:
            counts = counts * number
        spent += int(counts.sum())
        if spent > most or time.monotonic() > deadline:
            raise TooManyError
        parents, cost = [np.arange(len(block))], np.zeros(len(block), dtype=np.int64)
        for number, columns, ranks in found:
            start = np.cumsum(number) - number
            times = number[parents[0]]
            again = np.repeat(np.arange(len(times)), times)
            within = np.arange(len(again)) - np.repeat(np.cumsum(times) - times, times)
            parents = [known[again] for known in parents]
            entries = start[parents[0]] + within
            parents.append(columns[entries])
            cost = cost[again] + ranks[entries]
        parents[0] = block[parents[0]]
        after = model.combine(layer, state.rows[parents[0]], [state.rows[v] for v in parents[1:]])
        parts.append(_state(after, state.owner[parents[0]], np.stack(parents, axis=1), cost))
    return _state(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.owner for part in parts]),
        np.concatenate([part.parents for part in parts]),
        np.concatenate([part.cost for part in parts]),
    )


def _ranked(
    model: HardModel, layer: int, head: int, state: State, block: Integers
) -> tuple[Integers, Integers, Integers]:
    """How many candidates each value of the block has, then the candidates and their ranks, row by row."""
    scores = scored(model, layer, head, state.rows[block], state.rows)
    rows, columns = np.nonzero(_candidates(scores, state, block))
    order = np.lexsort((columns, _descending(scores[rows, columns]), rows))
    number = np.bincount(rows, minlength=len(block))
    start = np.cumsum(number) - number
    return number, columns[order], np.arange(len(rows)) - start[rows]


def _descending(scores: Array) -> Integers:
    """Numbers in the opposite order of the scores."""
    distinct, back = np.unique(scores, return_inverse=True)
    return np.asarray(len(distinct) - back, dtype=np.int64)


def attended(model: HardModel, layer: int, head: int, state: State) -> list[set[int]]:
    """For each position the positions (from 0) that the head may attend to."""
    found: list[set[int]] = [set() for _ in range(int(state.owner[-1]) + 1)]
    size = max(1, BLOCK // len(state.owner))
    for begin in range(0, len(state.owner), size):
        block = np.arange(begin, min(begin + size, len(state.owner)))
        scores = scored(model, layer, head, state.rows[block], state.rows)
        rows, columns = np.nonzero(_candidates(scores, state, block))
        for query, key in zip(state.owner[block[rows]], state.owner[columns], strict=True):
            found[int(query)].add(int(key))
    return found


def _candidates(scores: Array, state: State, block: Integers) -> NDArray[np.bool_]:
    """Which values (columns) may be attended to from each value of the block (rows), given the scores."""
    here = np.arange(len(block))
    mine = state.owner[block][:, None] == state.owner[None, :]
    itself = scores[here, block][:, None]
    scores = np.where(mine, itself, scores)
    least = np.minimum.reduceat(scores, state.starts[:-1], axis=1)
    best = np.argmax(least, axis=1)
    bound = least[here, best][:, None]
    found = (scores > bound) | ((scores == bound) & (state.owner[None, :] <= best[:, None]))
    known = np.asarray(found & ~mine, dtype=np.bool_)
    known[here, block] = np.asarray(found, dtype=np.bool_)[here, block]
    return known


def _state(rows: Array, owner: Integers, parents: Integers, cost: Integers) -> State:
    """Each value of a position once, with the cheapest of its origins."""
    order = np.argsort(cost, kind="stable")
    rows, owner, parents, cost = rows[order], owner[order], parents[order], cost[order]
    rows = np.ascontiguousarray(normal(rows))
    raw = rows.reshape(len(rows), -1).view(np.uint8)
    tagged = np.ascontiguousarray(np.concatenate([owner[:, None].view(np.uint8), raw], axis=1))
    _, first = np.unique(tagged.view(f"V{tagged.shape[1]}")[:, 0], return_index=True)
    first = first[np.lexsort((first, owner[first]))]
    return State(rows[first], owner[first], parents[first], cost[first])
