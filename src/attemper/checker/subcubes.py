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
from numpy.typing import NDArray

from attemper.certificates.restrictions import Restriction, fixed
from attemper.hard_models.protocol import Array, HardModel, Integers, normal, scored

MAX_VALUES = 2_000_000
"""The most combinations of activations that are tried on a layer."""

BLOCK = 4_000_000
"""The most scores that are computed at a time."""

MAX_CASES = 4_096
"""The most choices of symbols at some positions that are told apart, case by case."""


@final
@dataclass(frozen=True)
class CapReachedError(Exception):
    """Nothing is known, since the lists grow too long."""

    text: str

    def __str__(self) -> str:
        return self.text


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

    Raises `CapReachedError` if more than `most` combinations had to be tried on a layer.
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

    Raises `CapReachedError` as `possible_answers` does, and for more than `MAX_CASES` cases.
    """
    choices = [restriction.allowed[position - 1] for position in positions]
    cases = prod(map(len, choices))
    if cases > MAX_CASES:
        raise CapReachedError(f"{cases} cases would be told apart, beyond the cap of {MAX_CASES}")
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
    rows, owners, spent = [], [], 0
    for begin in range(0, len(queries), size):
        block = queries[begin : begin + size]
        found = [_candidates(model, layer, head, lists, block) for head in range(model.heads[layer])]
        combinations = np.ones(len(block), dtype=np.int64)
        for candidates in found:
            # Cut off at the cap after each head, so that no product overflows.
            combinations = np.minimum(combinations * candidates.sum(axis=1), most + 1)
        spent += int(combinations.sum())
        if spent > most:
            raise CapReachedError(f"layer {layer + 1} has more than {most} combinations of activations")
        own, attended = _combined(found, len(block))
        after = model.combine(layer, lists.rows[block[own]], [lists.rows[columns] for columns in attended])
        part = _distinct(after, lists.owner[block[own]])
        rows.append(part.rows)
        owners.append(part.owner)
    return _distinct(np.concatenate(rows), np.concatenate(owners))


def _candidates(model: HardModel, layer: int, head: int, lists: _Lists, block: Integers) -> NDArray[np.bool_]:
    """For each query (row) the listed activations (columns) that it may attend to."""
    scores = scored(model, layer, head, lists.rows[block], lists.rows)
    own = lists.owner[block][:, None] == lists.owner[None, :]
    itself = np.take_along_axis(scores, block[:, None], axis=1)
    scores = np.where(own, itself, scores)
    least = np.minimum.reduceat(scores, lists.starts, axis=1)
    blocker = np.argmax(least, axis=1)[:, None]
    bound = np.take_along_axis(least, blocker, axis=1)
    better = (scores > bound) | ((scores == bound) & (lists.owner[None, :] <= blocker))
    elsewhere = own & (np.arange(len(lists.owner))[None, :] != block[:, None])
    return np.asarray(better & ~elsewhere, dtype=np.bool_)


def _combined(found: Sequence[NDArray[np.bool_]], count: int) -> tuple[Integers, list[Integers]]:
    """All ways to choose a candidate for each head: the rows, and for each head the columns."""
    own: Integers = np.arange(count)
    attended: list[Integers] = []
    for candidates in found:
        rows, columns = np.nonzero(candidates)
        counts = np.bincount(rows, minlength=count)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        repeated = np.repeat(np.arange(len(own)), counts[own])
        within = np.arange(len(repeated)) - np.repeat(np.cumsum(counts[own]) - counts[own], counts[own])
        attended = [earlier[repeated] for earlier in attended]
        attended.append(columns[starts[own[repeated]] + within])
        own = own[repeated]
    return own, attended


def _distinct(rows: Array, owner: Integers) -> _Lists:
    """Each activation of a position once: two are the same if all their bytes are."""
    rows = np.ascontiguousarray(normal(rows))
    raw = rows.reshape(len(rows), -1).view(np.uint8)
    tagged = np.ascontiguousarray(np.concatenate([owner[:, None].view(np.uint8), raw], axis=1))
    kept = np.unique(tagged.view(f"V{tagged.shape[1]}")[:, 0], return_index=True)[1]
    kept = kept[np.argsort(owner[kept], kind="stable")]
    return _Lists(rows[kept], owner[kept])
