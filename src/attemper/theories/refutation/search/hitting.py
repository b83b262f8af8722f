"""Greedy hitting: fixes symbols until each head of the first layer depends on few free ones.

A row is a head together with a value z of its position i. Its candidates are the free positions that could be
attended to while y_i = z. A row is satisfied when at most K positions are. One with more is satisfied
by fixing any of the K + 1 best to a value that ranks among the K + 1 best: the *elements* of the row. The
symbol that is an element of the most rows is fixed first. (Ranks are by score, then by position, as attention
breaks ties.)

What can never be attended to, as something better is sure to be there, is left out from the beginning: of
random scores a row keeps about 2 sqrt(n) entries, so that all but the scores themselves costs little.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import final

import numpy as np

from attemper.models.arrays import Booleans, Integers
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.search.states import Activations, Choices, choices_of, lowest, within

TAKEN = -(1 << 40)
"""The gain of a symbol at a position that is fixed already: none, whatever is subtracted from it."""

WORTH = 2
"""A round ends when a symbol satisfies less than 1 / WORTH of the rows that the round's first one did."""


@final
@dataclass(frozen=True)
class Ranking:
    """The embeddings of all words, and what each head of the first layer may attend to from some of them."""

    state: Activations
    queries: Integers
    heads: tuple[RankedChoices, ...]
    is_complete: bool
    """Whether all values of several layers' first are there, so that `choices_under` may be asked."""


@final
@dataclass(frozen=True)
class RankedChoices:
    """The choices of all rows, the best of each row first, and their groups: those of one row and position.

    `grouped` lists the entries group by group.
    """

    row: Integers
    column: Integers
    grouped: Integers
    group_start: Integers
    group_row: Integers
    group_position: Integers
    row_start: Integers
    """The first group of each row."""

    @staticmethod
    def of(choices: Choices, state: Activations) -> RankedChoices:
        """The entries of some choices, sorted into groups."""
        row, position = choices.rows, state.owner[choices.columns]
        grouped = np.lexsort((position, row))
        key = row[grouped] * (int(state.owner[-1]) + 1) + position[grouped]
        start = np.flatnonzero(np.diff(key, prepend=-1))
        group_row = row[grouped[start]]
        return RankedChoices(
            row,
            choices.columns,
            grouped,
            start,
            group_row,
            position[grouped[start]],
            np.searchsorted(group_row, np.arange(len(choices.starts) - 1)),
        )


def ranking(model: HardModel, restriction: Restriction, most: float = math.inf) -> Ranking:
    """What the first layer may attend to under a restriction.

    Raises `TooManyError` if these are more than `most` entries.
    """
    state = lowest(model, restriction)
    last = np.flatnonzero(state.owner == model.length - 1)
    queries = last if len(model.heads) == 1 else np.arange(len(state.owner))
    heads: list[RankedChoices] = []
    for head in range(model.heads[0]):
        choices = choices_of(model, 0, head, state, queries, most)
        most -= len(choices.columns)
        heads.append(RankedChoices.of(choices, state))
    is_complete = len(queries) == len(state.owner) == sum(map(len, restriction.allowed))
    return Ranking(state, queries, tuple(heads), is_complete)


def hit(restriction: Restriction, known: Ranking, most: int, deadline: float = math.inf) -> Restriction:
    """A restriction with more fixed, under which each head depends on at most `most` free symbols.

    `known` is the ranking under the restriction itself. After the deadline it ends with what it has.
    """
    while known.heads and time.monotonic() < deadline:
        chosen = _round(restriction, known, most)
        if not chosen:
            break
        restriction = fixed(restriction, chosen)
    return restriction


def _round(restriction: Restriction, known: Ranking, most: int) -> dict[int, int]:
    """The symbols that one round fixes; none if all rows are satisfied."""
    state, alive = known.state, _alive(restriction, known)
    rows, columns, before = [], [], 0
    for entries in known.heads:
        own_rows, own_columns = _elements(entries, known, alive, most)
        rows.append(before + own_rows)
        columns.append(own_columns)
        before += len(entries.row_start)
    row, column = np.concatenate(rows), np.concatenate(columns)
    row_start = np.searchsorted(row, np.arange(before + 1))
    by_column = np.argsort(column, kind="stable")
    column_start = np.searchsorted(column[by_column], np.arange(len(alive) + 1))
    covered = np.zeros(before, dtype=np.bool_)
    gains = np.bincount(column, minlength=len(alive))
    chosen: dict[int, int] = {}
    first = int(gains.max(initial=0))
    while first and WORTH * gains[best := int(np.argmax(gains))] >= first:
        position = int(state.owner[best])
        chosen[position + 1] = int(state.parents[best, 0])
        satisfied = row[by_column[column_start[best] : column_start[best + 1]]]
        satisfied = satisfied[~covered[satisfied]]
        covered[satisfied] = True
        gone = _ranges(row_start[satisfied], row_start[satisfied + 1])
        gains -= np.bincount(column[gone], minlength=len(alive))
        gains[state.starts[position] : state.starts[position + 1]] = TAKEN
    return chosen


def choices_under(restriction: Restriction, known: Ranking) -> tuple[Choices, ...]:
    """The choices of the first layer's heads under a restriction, without any scores.

    They are about the values of `lowest` under it. `known` is the ranking under a looser restriction; it must
    be complete.
    """
    alive = _alive(restriction, known)
    renamed = np.cumsum(alive) - 1
    found = []
    for entries in known.heads:
        groups = _groups(entries, known, alive)
        kept = groups.is_left & (np.arange(len(entries.row)) <= groups.bound[entries.row])
        counts = np.bincount(entries.row[kept], minlength=len(alive))[alive]
        found.append(Choices(np.concatenate([[0], np.cumsum(counts)]), renamed[entries.column[kept]]))
    return tuple(found)


def _alive(restriction: Restriction, known: Ranking) -> Booleans:
    """Which of the embeddings the restriction allows."""
    pairs = zip(known.state.owner, known.state.parents[:, 0], strict=True)
    return np.array([symbol in restriction.allowed[position] for position, symbol in pairs], dtype=np.bool_)


@final
@dataclass(frozen=True)
class _Groups:
    """What a restriction leaves of a head's entries.

    `best` is the best entry that is left of each group, if any is, and `bound` the last entry of each row
    that can be attended to.
    """

    is_left: Booleans
    has_any: Booleans
    best: Integers
    bound: Integers


def _groups(entries: RankedChoices, known: Ranking, alive: Booleans) -> _Groups:
    owner, never = known.state.owner, len(entries.row)
    symbols_left = np.bincount(owner[alive], minlength=int(owner[-1]) + 1)
    is_left = alive[entries.column] & alive[known.queries[entries.row]]
    in_groups = is_left[entries.grouped]
    number = np.add.reduceat(in_groups, entries.group_start, dtype=np.int64)
    best = np.minimum.reduceat(np.where(in_groups, entries.grouped, never), entries.group_start)
    worst = np.maximum.reduceat(np.where(in_groups, entries.grouped, -1), entries.group_start)
    # A position with all its symbols among the entries is sure to have one of them; so is the row's own.
    is_own = entries.group_position == owner[known.queries][entries.group_row]
    is_sure = (number > 0) & (is_own | (number == symbols_left[entries.group_position]))
    bound = np.minimum.reduceat(np.where(is_sure, worst, never), entries.row_start)
    return _Groups(is_left, number > 0, best, bound)


def _elements(
    entries: RankedChoices, known: Ranking, alive: Booleans, most: int
) -> tuple[Integers, Integers]:
    """The elements of the unsatisfied rows of a head: rows and columns, row by row."""
    owner = known.state.owner
    groups = _groups(entries, known, alive)
    is_free = np.bincount(owner[alive], minlength=int(owner[-1]) + 1) > 1
    own_position = owner[known.queries]
    is_candidate = groups.has_any & (groups.best <= groups.bound[entries.group_row])
    is_candidate &= is_free[entries.group_position]
    is_candidate &= entries.group_position != own_position[entries.group_row]
    candidates = np.bincount(entries.group_row[is_candidate], minlength=len(entries.row_start))
    unsatisfied = candidates > most
    # Entries ascend row by row, so the candidates of each row are together, the best first.
    ranked = np.sort(groups.best[is_candidate])
    limit = np.full(len(unsatisfied), -1)
    limit[unsatisfied] = ranked[(np.cumsum(candidates) - candidates)[unsatisfied] + most]
    position = owner[entries.column]
    is_element = groups.is_left & is_free[position] & (position != own_position[entries.row])
    is_element &= np.arange(len(entries.row)) <= limit[entries.row]
    return entries.row[is_element], entries.column[is_element]


def _ranges(starts: Integers, ends: Integers) -> Integers:
    """All numbers from each start up to before its end, one range after the other."""
    return np.repeat(starts, ends - starts) + within(ends - starts)
