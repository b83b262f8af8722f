"""The greatest change by one exchange that is found among words of one length, where order cannot matter.

Every number here is the change of two words that there are, as floats compute it: so it is at most the
maximum, which nobody knows where histograms are too many to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import comb

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Integers
from attemper.theories.influence.search.enumeration import compositions

CountOutputs = Callable[[Integers], NDArray[np.float64]]
"""What words put out, (B, F), that have each symbol so often: counts (B, S)."""

MOST_STARTS = 1000
"""How many histograms are looked at before the search goes on from the best of them."""

MOST_ROUNDS = 200
"""How often the search goes on to a better one, or halves its step."""


def greatest_found(outputs: CountOutputs, symbols: int, size: int) -> float:
    """The greatest change that is found by exchanging one of `size` >= 1 symbols, of so many kinds.

    First a coarse grid of histograms is looked at; then, from the best of them, others are that have so many
    of one symbol less and of another one more, a step that is halved where none of these is better.

    >>> def peak(counts):
    ...     return 1 / (1 + (counts[:, :1] - 70) ** 2)  # changes most beside 70
    >>> greatest_found(peak, 3, 100)
    0.5
    """
    parts = max(k for k in range(1, max(size, 2)) if k == 1 or comb(k + symbols - 1, k) <= MOST_STARTS)
    step = (size - 1) // parts
    starts = np.concatenate(list(compositions(parts, symbols))) * step
    starts[:, 0] += size - 1 - starts.sum(axis=1)
    here, best = _best(outputs, starts)
    ways = np.array([_way(symbols, *pair) for pair in permutations(range(symbols), 2)])
    for _ in range(MOST_ROUNDS):
        if not step:
            break
        tried = here + step * ways
        tried = tried[(tried >= 0).all(axis=1)]
        there, found = _best(outputs, tried) if len(tried) else (here, best)
        if found > best:
            here, best = there, found
        else:
            step //= 2
    return best


def _best(outputs: CountOutputs, rest: Integers) -> tuple[Integers, float]:
    """Which of histograms (B, S) without the exchanged symbol has the greatest change, and how great."""
    count, symbols = rest.shape
    filled = rest[:, None] + np.eye(symbols, dtype=np.int64)
    values = outputs(filled.reshape(-1, symbols)).reshape(count, symbols, -1)
    changes = (values.max(axis=1) - values.min(axis=1)).max(axis=1)
    row = int(changes.argmax())
    return rest[row], float(changes[row])


def _way(symbols: int, less: int, more: int) -> Integers:
    """One of a symbol less, one of another more."""
    found = np.zeros(symbols, dtype=np.int64)
    found[less], found[more] = -1, 1
    return found
