"""Greedy hitting: fixes symbols until each head of the first layer depends on few free ones.

A row is a head together with a value z of its position i. Its candidates are the free positions that could be
attended to while y_i = z. A row is satisfied when at most K positions are. One with more is satisfied
by fixing any of the K + 1 best to a value that ranks among the K + 1 best: the *elements* of the row. The
symbol that is an element of the most rows is fixed first. (Ranks are by score, then by position, as attention
breaks ties.)
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.certificates.restrictions import Restriction, fixed
from attemper.hard_models.protocol import HardModel, Integers, scored
from attemper.refutation.states import State, lowest

Ranks = NDArray[np.int32]

TAKEN = -(1 << 40)
"""The gain of a symbol at a position that is fixed already: none, whatever is subtracted from it."""

WORTH = 2
"""A round ends when a symbol satisfies less than 1 / WORTH of the rows that the round's first one did."""


@final
@dataclass(frozen=True)
class Ranking:
    """The embeddings of all words, and for each head the rank of each (column) for each query (row)."""

    state: State
    heads: tuple[Ranks, ...]


def ranking(model: HardModel, restriction: Restriction) -> Ranking:
    """Ranks all embeddings by the scores of the first layer: the best is 0."""
    state = lowest(model, restriction)
    last = np.flatnonzero(state.owner == model.length - 1)
    rows = last if len(model.heads) == 1 else np.arange(len(state.owner))
    heads = []
    for head in range(model.heads[0]):
        ranks = np.zeros((len(state.owner), len(state.owner)), dtype=np.int32)
        for begin in range(0, len(rows), 1_000):
            block = rows[begin : begin + 1_000]
            scores = scored(model, 0, head, state.rows[block], state.rows)
            order = np.argsort(scores[:, ::-1], axis=1, kind="stable")[:, ::-1]
            order = len(state.owner) - 1 - order
            np.put_along_axis(
                ranks_of := np.empty_like(order), order, np.arange(order.shape[1])[None, :], axis=1
            )
            ranks[block] = ranks_of
        heads.append(ranks)
    return Ranking(state, tuple(heads))


def ranking_size(model: HardModel, restriction: Restriction) -> int:
    """How many ranks there are."""
    return model.heads[0] * sum(map(len, restriction.allowed)) ** 2


def hit(
    model: HardModel, restriction: Restriction, known: Ranking, most: int, deadline: float = math.inf
) -> Restriction:
    """A restriction with more fixed, under which each head depends on at most `most` free symbols.

    `known` is the ranking under the restriction itself. After the deadline it ends with what it has.
    """
    while known.heads and time.monotonic() < deadline:
        chosen = _round(model, restriction, known, most)
        if not chosen:
            break
        restriction = fixed(restriction, chosen)
    return restriction


def _round(model: HardModel, restriction: Restriction, known: Ranking, most: int) -> dict[int, int]:
    """The symbols that one round fixes; none if all rows are satisfied."""
    state = known.state
    alive = np.array(
        [s in restriction.allowed[i] for i, s in zip(state.owner, state.parents[:, 0], strict=True)]
    )
    columns = np.flatnonzero(alive)
    owner = state.owner[columns]
    starts = np.searchsorted(owner, np.arange(model.length))
    is_free = np.diff([*starts, len(columns)]) > 1
    rows = columns if len(model.heads) > 1 else columns[owner == model.length - 1]
    tables = [_elements(ranks, columns, owner, starts, is_free, rows, state, most) for ranks in known.heads]
    table = np.concatenate(tables)
    chosen: dict[int, int] = {}
    gains = table.sum(axis=0, dtype=np.int64)
    first = int(gains.max(initial=0))
    while first and WORTH * gains[best := int(np.argmax(gains))] >= first:
        position = int(owner[best])
        chosen[position + 1] = int(state.parents[columns[best], 0])
        covered = table[:, best]
        gains -= table[covered].sum(axis=0, dtype=np.int64)
        table = table[~covered]
        gains[owner == position] = TAKEN
    return chosen


def _elements(
    ranks: Ranks,
    columns: Integers,
    owner: Integers,
    starts: Integers,
    is_free: NDArray[np.bool_],
    rows: Integers,
    state: State,
    most: int,
) -> NDArray[np.bool_]:
    """For each unsatisfied row of a head, which columns are its elements."""
    parts = []
    for begin in range(0, len(rows), 1_000):
        block = rows[begin : begin + 1_000]
        part = ranks[np.ix_(block, columns)]
        own = state.owner[block]
        best, worst = _extremes(part, starts)
        here = np.arange(len(block))
        itself = ranks[block, block]
        best[here, own] = worst[here, own] = itself
        bound = worst.min(axis=1)
        candidate = (best <= bound[:, None]) & is_free[None, :]
        candidate[here, own] = False
        unsatisfied = np.flatnonzero(candidate.sum(axis=1) > most)
        if not len(unsatisfied):
            continue
        shown = np.where(candidate[unsatisfied], best[unsatisfied], ranks.shape[1])
        limit = np.partition(shown, most, axis=1)[:, most]
        elements = part[unsatisfied] <= limit[:, None]
        elements &= is_free[owner][None, :] & (owner[None, :] != own[unsatisfied, None])
        parts.append(elements)
    return np.concatenate(parts) if parts else np.zeros((0, len(columns)), dtype=np.bool_)


def _extremes(ranks: Ranks, starts: Integers) -> tuple[Ranks, Ranks]:
    """The least and the greatest rank of each position, whose columns begin at `starts`."""
    ends = np.append(starts[1:], ranks.shape[1])
    if (ends - starts).max() > 2:
        return np.minimum.reduceat(ranks, starts, axis=1), np.maximum.reduceat(ranks, starts, axis=1)
    first, last = ranks[:, starts], ranks[:, ends - 1]
    return np.minimum(first, last), np.maximum(first, last)
