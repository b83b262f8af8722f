"""Prefixes of 2DYCK drawn forwards, many at a time: how often each symbol stands there, and what comes.

The law is that of the definition, given that the word is so long: an opening bracket comes with p times the
probability that the word goes on so far behind it, by backward induction over heights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

SYMBOLS = ("(", "[", ")", "]", "END")
"""The numbers of symbols here: a closing bracket is two more than what it closes."""


@dataclass(frozen=True)
class Prefixes:
    """Of B prefixes: the counts (B, 4) of their symbols, the last one, and which is forced to come."""

    counts: NDArray[np.int64]
    last: NDArray[np.int64]
    forced: NDArray[np.int64]


def going_on(p: float, n: int) -> NDArray[np.float64]:
    """The probability, at each time and height, that a word goes on up to n symbols."""
    found = np.ones((n + 1, n + 2))
    for time in range(n - 1, -1, -1):
        found[time, :-1] = p * found[time + 1, 1:]
        found[time, 1:-1] += (1 - p) * found[time + 1, :-2]
        found[time, -1] = 1.0
    return found


def drawn(p: float, n: int, count: int, seed: int) -> Prefixes:
    """So many prefixes of n symbols."""
    rng, on = np.random.default_rng(seed), going_on(p, n)
    parts = [_drawn(p, n, min(10_000, count - first), rng, on) for first in range(0, count, 10_000)]
    columns = zip(*((part.counts, part.last, part.forced) for part in parts), strict=True)
    return Prefixes(*(np.concatenate(column) for column in columns))


def _drawn(p: float, n: int, count: int, rng: np.random.Generator, on: NDArray[np.float64]) -> Prefixes:
    rows = np.arange(count)
    kinds, height = np.zeros((count, n + 1), dtype=np.int64), np.zeros(count, dtype=np.int64)
    counts, last = np.zeros((count, 4), dtype=np.int64), np.zeros(count, dtype=np.int64)
    for time in range(n):
        opens = rng.random(count) * on[time, height] < p * on[time + 1, height + 1]
        top = np.where(opens, rng.integers(0, 2, count), kinds[rows, height - 1])
        kinds[rows[opens], height[opens]] = top[opens]
        last = top + 2 * ~opens
        counts[rows, last] += 1
        height = height + np.where(opens, 1, -1)
    forced = np.where(height > 0, kinds[rows, height - 1] + 2, 4)
    return Prefixes(counts, last, forced)


def losses(p: float, forced: NDArray[np.int64], logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """The expected loss (B,) after each prefix, of logits (B, 5) in the order of `SYMBOLS`."""
    greatest = logits.max(axis=1, keepdims=True)
    whole = np.log(np.exp(logits - greatest).sum(axis=1, keepdims=True)) + greatest
    lost = whole - logits
    found: NDArray[np.float64] = (
        p / 2 * lost[:, :2].sum(axis=1) + (1 - p) * lost[np.arange(len(lost)), forced]
    )
    return found
