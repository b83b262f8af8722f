"""The greatest sum of gains over all words of an automaton, in integers: no sum is rounded."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attemper.models.arrays import Integers

NOWHERE = -(2**62)
"""What stands where no word leads; no sum of gains comes near."""

MOST_SUM = 2**60
"""Sums of gains, and what they start from, must stay below this in absolute value."""

Gains = Callable[[int, int], Integers]
"""Of position j, for the rows from a number on: the gains (rows, K, S) of each symbol there."""


def greatest_sums(
    start: Integers, gains: Gains, lengths: Integers, moves: Sequence[Sequence[int]], first: int
) -> Integers:
    """The greatest start + sum_j gain_j(x_j) over the words x of each row's length that end in each state.

    `start` has the shape (C, K), the result (C, K, Q). Row c is about words of lengths[c] symbols, which do
    not fall. `moves[q][s]` is the state after q has read symbol s, -1 where no word goes on so, and `first`
    the one before all. A word is one path, so this is the length of a longest one, which one pass over the
    positions finds. Where no word of the row's length leads there is at most `NOWHERE` + `MOST_SUM`.

    >>> two = np.array([[[5, 1]]])  # one row, one sum, two symbols
    >>> parity = ((1, 0), (0, 1))  # the first symbol changes the state
    >>> greatest_sums(np.array([[0]]), lambda j, row: two, np.array([3]), parity, 0).tolist()
    [[[11, 15]]]
    """
    found = np.full((*start.shape, len(moves)), NOWHERE, dtype=np.int64)
    found[..., first] = start
    for position in range(1, int(lengths[-1]) + 1 if len(lengths) else 1):
        row = int(np.searchsorted(lengths, position))
        found[row:] = _one_further(found[row:], gains(position, row), moves)
    return found


def _one_further(found: Integers, gain: Integers, moves: Sequence[Sequence[int]]) -> Integers:
    after = np.full_like(found, NOWHERE)
    for state, row in enumerate(moves):
        for symbol, target in enumerate(row):
            if target >= 0:
                there = after[..., target]
                np.maximum(there, found[..., state] + gain[..., symbol], out=there)
    return after
