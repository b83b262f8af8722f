"""The greatest sum of gains over all words of an automaton, with every rounding counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from attemper.models.arrays import Floats, Integers
from attemper.models.enclosures.forms import GAMMA, upward

PathStep = tuple[int, Integers, Integers]
"""A symbol, and states that it leads from and to."""

LEAST = -(2.0**980)
"""So small at least are gains: 2^40 of them make a number."""

Gains = Callable[[int, int], Floats]
"""Of position j, for the rows from a number on: the gains (rows, K, S) of each symbol there."""


def greatest_sums(
    start: Floats, gains: Gains, lengths: Integers, moves: Sequence[Sequence[int]], first: int
) -> Floats:
    """At least start + sum_j gain_j(x_j), for all words x of each row's length that end in each state.

    `start` has the shape (C, K), the result (C, K, Q). Row c is about words of lengths[c] symbols, which do
    not fall. `moves[q][s]` is the state after q has read symbol s, -1 where no word goes on so, and `first`
    the one before all. A word is one path, so this is the length of a longest one, which one pass over the
    positions finds; -infinity where no word of the row's length leads.

    A sum of n + 1 terms, one after the other, is off by at most n GAMMA times the sum of their absolute
    values. So each is raised by more than its share before: then what is computed along a path is not below
    its exact sum, and as a rounded sum does not fall where a term rises, no more is what is kept as the
    greatest. That a sum along some path is large harms no other one. What is no number stays so. A gain of
    -infinity is that of a symbol that is not to be taken; any other is raised to `LEAST`, so that no sum is
    too small to be a number.

    >>> two = np.array([[[5.0, 1.0]]])  # one row, one sum, two symbols
    >>> parity = ((1, 0), (0, 1))  # the first symbol changes the state
    >>> np.rint(greatest_sums(np.zeros((1, 1)), lambda j, row: two, np.array([3]), parity, 0)).tolist()
    [[[11.0, 15.0]]]
    """
    longest = int(lengths[-1]) if len(lengths) else 0
    found = np.full((*start.shape, len(moves)), -np.inf)
    found[..., first] = _raised(start, longest)
    steps = steps_of(moves)
    for position in range(1, longest + 1):
        row = int(np.searchsorted(lengths, position))
        found[row:] = _one_further(found[row:], _raised(gains(position, row), longest), steps)
    return found


def _raised(gain: Floats, longest: int) -> Floats:
    """A term with its share of what a sum can be off by; its own two roundings are among the sixteen."""
    gain = np.where(np.isneginf(gain), gain, np.maximum(gain, LEAST))
    share = np.where(np.isneginf(gain), 0.0, np.abs(gain))
    return np.asarray(gain + upward((longest + 16) * GAMMA * share, 2))


def _one_further(found: Floats, gain: Floats, steps: Sequence[PathStep]) -> Floats:
    after = np.full_like(found, -np.inf)
    for symbol, sources, targets in steps:
        # No target is twice among them.
        there = found[..., sources] + gain[..., symbol, None]
        after[..., targets] = np.maximum(after[..., targets], there)
    return after


def steps_of(moves: Sequence[Sequence[int]]) -> list[PathStep]:
    """All moves, as symbols with sources and targets; in each of these no target is there twice.

    >>> [(symbol, sources.tolist(), targets.tolist()) for symbol, sources, targets in steps_of([[1], [1]])]
    [(0, [0], [1]), (0, [1], [1])]
    """
    found = []
    for symbol in range(len(moves[0])):
        left = [(state, row[symbol]) for state, row in enumerate(moves) if row[symbol] >= 0]
        while left:
            taken = {target: state for state, target in reversed(left)}
            found.append((symbol, np.array(list(taken.values())), np.array(list(taken))))
            left = [(state, target) for state, target in left if taken[target] != state]
    return found
