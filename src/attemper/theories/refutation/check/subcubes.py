"""Which answers a hard-attention transformer can give on the words that a restriction allows.

One abstract forward pass (docs/refutation.md, rule Subcube): for each position a list of activations that
includes all that occur. While y_i = z, a position j has at least the score lo_j = min score(z, v) over its
listed v (but position i exactly score(z, z)). Let b be the position with the greatest lo, the leftmost one
of several. Whatever i attends to, then, scores more than lo_b, or as much at a position up to b. All
combinations of such activations are listed as y_i's on the next layer. So the lists include everything that
occurs, whatever the functions of the model are; they may include more, as positions are treated as
independent.

This file is the only one of the checker that needs numpy: the models are functions of its arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import final

import numpy as np

from attemper.models.arrays import Array, Integers
from attemper.models.hard.protocol import HardModel, normal, scored
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed

MAX_VALUES = 2_000_000
"""The most combinations of activations that are tried on a layer."""

BLOCK = 1_000_000
"""The most scores that are computed at a time."""

MIXER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number with bits all over: products with it spread what differs in a few bits."""

MAX_CASES = 4_096
"""The most choices of symbols at some positions that are told apart, case by case."""


class ListsTooLongError(Exception):
    """Nothing is known, since the lists grow too long."""


@final
@dataclass(frozen=True)
class _Lists:
    """The listed activations, grouped by their positions (from 0), which ascend."""

    rows: Array
    owner: Integers

    @property
    def starts(self) -> Integers:
        """Where the rows of each position begin."""
        return np.searchsorted(self.owner, np.arange(self.owner[-1] + 1))


def possible_answers(model: HardModel, restriction: Restriction, most: int = MAX_VALUES) -> frozenset[bool]:
    """A set that includes the model's answer on every word that the restriction allows.

    Raises `ListsTooLongError` if more than `most` combinations had to be tried on a layer.
    """
    lists = _first(model, restriction)
    for layer in range(len(model.heads)):
        is_last = layer == len(model.heads) - 1
        queries = np.flatnonzero(lists.owner == model.length - 1) if is_last else np.arange(len(lists.owner))
        lists = _next(model, layer, lists, queries, most)
    ends = lists.rows[lists.owner == model.length - 1]
    return frozenset(bool(label) for label in model.labels(ends))


def answers_by_cases(
    model: HardModel, restriction: Restriction, positions: Sequence[int], most: int = MAX_VALUES
) -> dict[tuple[int, ...], frozenset[bool]]:
    """Possible answers for all symbols at some positions: with one each, it depends on nothing else.

    Raises `ListsTooLongError` as `possible_answers` does, and for more than `MAX_CASES` cases.
    """
    choices = [restriction.allowed[position - 1] for position in positions]
    cases = prod(map(len, choices))
    if cases > MAX_CASES:
        raise ListsTooLongError(f"{cases} cases would be told apart, beyond the cap of {MAX_CASES}")
    return {
        symbols: possible_answers(model, fixed(restriction, dict(zip(positions, symbols, strict=True))), most)
        for symbols in product(*choices)
    }


def _first(model: HardModel, restriction: Restriction) -> _Lists:
    pairs = [(i, s) for i, allowed in enumerate(restriction.allowed) for s in allowed]
    positions, symbols = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    return _distinct(model.embed(positions + 1, symbols), positions)


def _next(model: HardModel, layer: int, lists: _Lists, queries: Integers, most: int) -> _Lists:
    """The lists after a layer, for the positions of the rows `queries`."""
    size = max(1, BLOCK // len(lists.owner))
    parts, spent = [], 0
    for begin in range(0, len(queries), size):
        block = queries[begin : begin + size]
        found = [_candidates(model, layer, head, lists, block) for head in range(model.heads[layer])]
        combinations = np.ones(len(block), dtype=np.int64)
        for candidates in found:
            # Cut off at the cap after each head, so that no product overflows.
            combinations = np.minimum(combinations * candidates.counts, most + 1)
        spent += int(combinations.sum())
        if spent > most:
            raise ListsTooLongError(f"layer {layer} has more than {most} combinations of activations")
        own, attended = _combined(found, len(block))
        after = model.combine(layer, lists.rows[block[own]], [lists.rows[columns] for columns in attended])
        parts.append(_distinct(after, lists.owner[block[own]]))
    # Two blocks may list the same activation of a position: that is once too often, but not wrong.
    return _Lists(
        np.concatenate([part.rows for part in parts]), np.concatenate([part.owner for part in parts])
    )


@final
@dataclass(frozen=True)
class _Candidates:
    """What may be attended to: `counts[q]` of the columns belong to query number q, in this order."""

    counts: Integers
    columns: Integers


def _candidates(model: HardModel, layer: int, head: int, lists: _Lists, block: Integers) -> _Candidates:
    """The listed activations that each query of the block may attend to."""
    scores = np.array(scored(model, layer, head, lists.rows[block], lists.rows))
    query, column = _own(lists, block)
    scores[query, column] = scores[query, block[query]]
    least = _least(scores, lists.starts)
    blocker = np.argmax(least, axis=1)
    bound = np.take_along_axis(least, blocker[:, None], axis=1)
    possible = scores >= bound
    possible[query, column] &= column == block[query]
    queries, columns = np.nonzero(possible)
    is_better = scores[queries, columns] > bound[queries, 0]
    kept = is_better | (lists.owner[columns] <= blocker[queries])
    return _Candidates(np.bincount(queries[kept], minlength=len(block)), columns[kept])


def _least(scores: Array, starts: Integers) -> Array:
    """For each query the least score of each position; its columns begin at `starts`.

    The first columns of all positions, then the second ones, and so on: `np.minimum.reduceat` is ten times
    slower on many groups of two.
    """
    counts = np.diff(starts, append=scores.shape[1])
    least = scores[:, starts]
    for k in range(1, int(counts.max())):
        longer = np.flatnonzero(counts > k)
        least[:, longer] = np.minimum(least[:, longer], scores[:, starts[longer] + k])
    return least


def _own(lists: _Lists, block: Integers) -> tuple[Integers, Integers]:
    """The queries, by their numbers in the block, with each listed activation of their own position."""
    ends = np.append(lists.starts[1:], len(lists.owner))
    first, last = lists.starts[lists.owner[block]], ends[lists.owner[block]]
    query = np.repeat(np.arange(len(block)), last - first)
    return query, _within(last - first) + first[query]


def _within(counts: Integers) -> Integers:
    """The numbers 0, 1, ... up to before each count, one after the other."""
    return np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)


def _combined(found: Sequence[_Candidates], count: int) -> tuple[Integers, list[Integers]]:
    """All ways to choose a candidate for each head: the rows, and for each head the columns."""
    own: Integers = np.arange(count)
    attended: list[Integers] = []
    for candidates in found:
        starts = np.cumsum(candidates.counts) - candidates.counts
        times = candidates.counts[own]
        repeated = np.repeat(np.arange(len(own)), times)
        attended = [earlier[repeated] for earlier in attended]
        own = own[repeated]
        attended.append(candidates.columns[starts[own] + _within(times)])
    return own, attended


def _distinct(rows: Array, owner: Integers) -> _Lists:
    """Each activation of a position once: two are the same if all their bytes are.

    They are sorted by position and a hash; one that is equal to the one before it is left out. If hashes
    collide some may be listed more than once, which is not wrong.
    """
    rows = np.ascontiguousarray(normal(rows))
    raw = rows.reshape(len(rows), -1).view(np.uint8)
    words = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 8))).view(np.uint64)
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for word in words.T:
        mixed = (mixed ^ word) * MIXER
        mixed ^= mixed >> np.uint64(32)
    order = np.argsort((owner.astype(np.uint64) << np.uint64(40)) | (mixed >> np.uint64(24)))
    is_repeated = (words[order[1:]] == words[order[:-1]]).all(axis=1) & (
        owner[order[1:]] == owner[order[:-1]]
    )
    kept = order[~np.concatenate([[False], is_repeated])]
    kept = kept[np.argsort(owner[kept], kind="stable")]
    return _Lists(rows[kept], owner[kept])
