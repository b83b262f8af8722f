"""Pairs of words that no margin parts, one for each length: found in float64, for the checker to judge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

HistogramOutputs = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The output of words, (B,), from how often they have the first symbol, the second and the marker, (B, 3)."""

TRIED = 16
"""How many counts of the second symbol are tried at each length, evenly spread."""

AT_ONCE = 4096
"""How many lengths are looked at together."""


def close_pairs(outputs: HistogramOutputs, margin: Fraction, least: int, below: int) -> tuple[int, ...]:
    """Counts k of the second symbol, for the lengths from some n on up to `below` - 1, in this order.

    Words with k and with k + 1 of the second symbol, the first elsewhere and the marker at n, have outputs
    less than twice the margin apart. The lengths end where none of the tried counts is such a pair, or at
    `least`, which is 2 or more.
    """
    found: list[int] = []
    for stop in range(below, least, -AT_ONCE):
        lengths = np.arange(stop - 1, max(least, stop - AT_ONCE) - 1, -1)
        counts = (lengths[:, None] - 2) * np.arange(TRIED) // (TRIED - 1)
        changes = _changes(outputs, lengths, counts)
        best = changes.argmin(axis=1)
        rows = np.arange(len(lengths))
        is_close = changes[rows, best] < 2 * float(margin)
        many = len(lengths) if is_close.all() else int(is_close.argmin())
        found += counts[rows, best][:many].tolist()
        if many < len(lengths):
            break
    return tuple(reversed(found))


def _changes(
    outputs: HistogramOutputs, lengths: NDArray[np.int64], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """What one more of the second symbol changes, for each length and count."""
    histograms = np.ones((2, *counts.shape, 3))
    for more in (0, 1):
        histograms[more, ..., 1] = counts + more
        histograms[more, ..., 0] = lengths[:, None] - 1 - counts - more
    found = outputs(histograms.reshape(-1, 3)).reshape(2, *counts.shape)
    return np.asarray(np.abs(found[1] - found[0]))
