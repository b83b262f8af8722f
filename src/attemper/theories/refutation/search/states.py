"""A transformer under a restriction: which activations its positions can have, and where they come from.

What is left when the lower layers are collapsed, Hahn's c-transformer: every activation is a function of
the free symbols. Only the search uses this; the checker has its own pass.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from attemper.models.arrays import Array, Integers
from attemper.models.hard.protocol import HardModel, normal, scored
from attemper.theories.refutation.certificate.restrictions import Restriction

BLOCK = 1_000_000
"""The most scores that are computed at a time."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with bits all over, for hashes."""


class TooManyError(Exception):
    """More choices or activations, or more time for them, than allowed."""


@final
@dataclass(frozen=True)
class Choices:
    """The values that a head may attend to from each of some queries, the best first.

    Those of query number q are `columns[starts[q] : starts[q + 1]]`. They go up to the one that is sure to be
    there. Of the query's own position there is the query itself at most.
    """

    starts: Integers
    columns: Integers

    def of(self, query: int) -> Integers:
        """What the query may attend to."""
        return self.columns[self.starts[query] : self.starts[query + 1]]

    @property
    def counts(self) -> Integers:
        """How many there are for each query."""
        return np.diff(self.starts)

    @property
    def rows(self) -> Integers:
        """The query of each column."""
        return np.repeat(np.arange(len(self.starts) - 1), self.counts)


@final
@dataclass(frozen=True)
class Activations:
    """Distinct activations, grouped by position (from 0).

    `parents[v]` has the value below of the same position, and what each head attends to, for one way in
    which v comes about: the one whose heads have the fewest better candidates, `cost[v]` in all. On the
    lowest level it has the number of the symbol. `choices` are those of each head from the values below.
    """

    rows: Array
    owner: Integers
    parents: Integers
    cost: Integers
    choices: tuple[Choices, ...] = ()

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


def lowest(model: HardModel, restriction: Restriction) -> Activations:
    """The embeddings."""
    pairs = [(i, s) for i, allowed in enumerate(restriction.allowed) for s in allowed]
    positions, symbols = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return _state(model.embed(positions + 1, symbols), positions, symbols[:, None], np.zeros_like(positions))


def following(
    model: HardModel,
    layer: int,
    state: Activations,
    most: int,
    deadline: float = math.inf,
    known: tuple[Choices, ...] | None = None,
) -> Activations:
    """The state after a layer; `known` are the choices of its heads, if they are known.

    Raises `TooManyError` if more than `most` combinations must be looked at, or after the deadline.
    """
    parts, choices = [], []
    everything = np.arange(len(state.owner))
    for block in [everything] if known else _blocks(state, everything):
        if time.monotonic() > deadline:
            raise TooManyError
        found = known or _found(model, layer, state, block, most)
        most -= _combinations(found, most)
        choices.append(found)
        parents, cost = _combined(found, len(block))
        parents[0] = block[parents[0]]
        after = model.combine(layer, state.rows[parents[0]], [state.rows[v] for v in parents[1:]])
        parts.append(_state(after, state.owner[parents[0]], np.stack(parents, axis=1), cost))
    if len(parts) == 1:
        return replace(parts[0], choices=choices[0])
    whole = _state(
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.owner for part in parts]),
        np.concatenate([part.parents for part in parts]),
        np.concatenate([part.cost for part in parts]),
    )
    return replace(whole, choices=tuple(_joined(of_head) for of_head in zip(*choices, strict=True)))


def answers(
    model: HardModel, state: Activations, most: int, known: tuple[Choices, ...] | None = None
) -> set[bool]:
    """The answers that can be seen, from the embeddings; without what each activation comes from.

    `known` are the choices of the first layer's heads, if they are known. Raises `TooManyError` if more than
    `most` combinations of a layer must be looked at.
    """
    after = state.rows[state.of(model.length - 1)]
    for layer in range(len(model.heads)):
        is_last = layer == len(model.heads) - 1
        queries = np.array(state.of(model.length - 1)) if is_last else np.arange(len(state.owner))
        found = known or _found(model, layer, state, queries, most)
        _combinations(found, most)
        parents, _ = _combined(found, len(queries))
        own = queries[parents[0]]
        attended = [state.rows[values] for values in parents[1:]]
        after = normal(model.combine(layer, state.rows[own], attended))
        kept = _distinct(after, state.owner[own])
        none = np.zeros(len(kept), dtype=np.int64)
        known, after = None, after[kept]
        state = Activations(after, state.owner[own][kept], none[:, None], none)
    return {bool(label) for label in model.labels(after)}


def _found(
    model: HardModel, layer: int, state: Activations, queries: Integers, most: float
) -> tuple[Choices, ...]:
    """The choices of all heads of a layer."""
    return tuple(choices_of(model, layer, head, state, queries, most) for head in range(model.heads[layer]))


def _combinations(found: Sequence[Choices], most: int) -> int:
    """How many ways there are to choose for each head. Raises `TooManyError` if they are more than `most`."""
    counts = np.ones(max((len(choices.counts) for choices in found), default=0))
    for choices in found:
        counts = counts * choices.counts
    if counts.sum() > most:
        raise TooManyError
    return int(counts.sum())


def choices_of(
    model: HardModel, layer: int, head: int, state: Activations, queries: Integers, most: float = math.inf
) -> Choices:
    """The choices of a head from some values. Raises `TooManyError` if there are more than `most`."""
    parts: list[Choices] = []
    for block in _blocks(state, queries):
        scores = np.array(scored(model, layer, head, state.rows[block], state.rows))
        rows, columns = _candidates(scores, state, block)
        order = np.lexsort((descending(scores[rows, columns]), rows))
        starts = np.searchsorted(rows, np.arange(len(block) + 1))
        parts.append(Choices(starts, columns[order]))
        most -= len(columns)
        if most < 0:
            raise TooManyError
    return _joined(parts)


def _blocks(state: Activations, queries: Integers) -> Iterator[Integers]:
    """The queries, so many at a time that their scores fit."""
    size = max(1, BLOCK // len(state.owner))
    for begin in range(0, len(queries), size):
        yield queries[begin : begin + size]


def _joined(parts: Sequence[Choices]) -> Choices:
    """The choices of several blocks of queries."""
    counts = np.concatenate([part.counts for part in parts])
    columns = np.concatenate([part.columns for part in parts])
    return Choices(np.concatenate([[0], np.cumsum(counts)]), columns)


def _combined(found: Sequence[Choices], count: int) -> tuple[list[Integers], Integers]:
    """All ways to choose for each head: the rows, then the columns for each head; and the sums of ranks."""
    parents, cost = [np.arange(count)], np.zeros(count, dtype=np.int64)
    for choices in found:
        times = choices.counts[parents[0]]
        again = np.repeat(np.arange(len(times)), times)
        ranks = within(times)
        parents = [known[again] for known in parents]
        parents.append(choices.columns[choices.starts[parents[0]] + ranks])
        cost = cost[again] + ranks
    return parents, cost


def within(counts: Integers) -> Integers:
    """The numbers 0, 1, ... up to before each count, one after the other."""
    starts: Integers = np.repeat(np.cumsum(counts) - counts, counts)
    return np.arange(len(starts)) - starts


def descending(scores: Array) -> Integers:
    """Numbers in the opposite order of the scores."""
    distinct, back = np.unique(scores, return_inverse=True)
    return np.asarray(len(distinct) - back, dtype=np.int64)


def attended(model: HardModel, layer: int, head: int, state: Activations) -> list[set[int]]:
    """For each position the positions (from 0) that the head may attend to."""
    found: list[set[int]] = [set() for _ in range(int(state.owner[-1]) + 1)]
    choices = choices_of(model, layer, head, state, np.arange(len(state.owner)))
    for query, key in zip(state.owner[choices.rows], state.owner[choices.columns], strict=True):
        found[int(query)].add(int(key))
    return found


def _candidates(scores: Array, state: Activations, block: Integers) -> tuple[Integers, Integers]:
    """Which values (columns) may be attended to from each value of the block (rows), given the scores."""
    own_row, own_column = _own(state, block)
    scores[own_row, own_column] = scores[own_row, block[own_row]]
    least = np.minimum.reduceat(scores, state.starts[:-1], axis=1)
    sure = np.argmax(least, axis=1)
    bound = least[np.arange(len(block)), sure]
    possible = scores >= bound[:, None]
    possible[own_row, own_column] &= own_column == block[own_row]
    rows, columns = np.nonzero(possible)
    # As good as what is sure to be there is good enough only to the left of it.
    kept = (scores[rows, columns] > bound[rows]) | (state.owner[columns] <= sure[rows])
    return rows[kept], columns[kept]


def _own(state: Activations, block: Integers) -> tuple[Integers, Integers]:
    """Each value of the block (its row) with all values of its position."""
    first, end = state.starts[state.owner[block]], state.starts[state.owner[block] + 1]
    rows = np.repeat(np.arange(len(block)), end - first)
    return rows, first[rows] + within(end - first)


def _state(rows: Array, owner: Integers, parents: Integers, cost: Integers) -> Activations:
    """Each value of a position once, with the cheapest of its origins; the cheapest values first."""
    rows = normal(rows)
    kept = _distinct(rows, owner, cost)
    kept = kept[np.lexsort((kept, cost[kept], owner[kept]))]
    return Activations(rows[kept], owner[kept], parents[kept], cost[kept])


def _distinct(rows: Array, owner: Integers, cost: Integers | None = None) -> Integers:
    """One of the equal rows of each position, the cheapest, position by position.

    Equal ones are next to each other when sorted by a hash; where that collides one may be there twice.
    """
    raw = np.ascontiguousarray(rows).reshape(len(rows), -1).view(np.uint8)
    words = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 8))).view(np.uint64)
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for word in words.T:
        mixed = (mixed ^ word) * MIXER
        mixed ^= mixed >> np.uint64(32)
    key = (owner.astype(np.uint64) << np.uint64(40)) | (mixed >> np.uint64(24))
    order = np.argsort(key) if cost is None else np.lexsort((cost, key))
    is_new = np.ones(len(order), dtype=np.bool_)
    is_new[1:] = (words[order[1:]] != words[order[:-1]]).any(axis=1) | (owner[order[1:]] != owner[order[:-1]])
    return np.asarray(order[is_new], dtype=np.int64)
