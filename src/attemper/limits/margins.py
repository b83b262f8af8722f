"""Pairs of words that no margin parts, one for each length: found in float64, for the checker to judge."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Outputs = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""The output of words that have each symbol so often: of shape (B,), from counts of shape (B, S)."""

TRIED = 16
"""How many counts of the second symbol are tried at each length, evenly spread."""

AT_ONCE = 4096
"""How many lengths are looked at together."""


def close_pairs(
    outputs: Outputs, symbols: tuple[int, int, int], margin: Fraction, below: int
) -> tuple[int, ...]:
    """Counts k of the second symbol, for the lengths from some n on up to `below` - 1, in this order.

    Words with k and with k + 1 of the second symbol, the first elsewhere and the marker at n, have outputs
    less than twice the margin apart. `symbols` has the numbers of the first symbol, the second and the
    marker. The lengths end where none of the tried counts is such a pair, or at n = 2.
    """
    found: list[int] = []
    for stop in range(below, 2, -AT_ONCE):
        lengths = np.arange(stop - 1, max(2, stop - AT_ONCE) - 1, -1)
        counts = (lengths[:, None] - 2) * np.arange(TRIED) // (TRIED - 1)
        changes = _changes(outputs, symbols, lengths, counts)
        best = changes.argmin(axis=1)
        rows = np.arange(len(lengths))
        is_close = changes[rows, best] < 2 * float(margin)
        many = len(lengths) if is_close.all() else int(is_close.argmin())
        found += counts[rows, best][:many].tolist()
        if many < len(lengths):
            break
    return tuple(reversed(found))


def _changes(
    outputs: Outputs,
    symbols: tuple[int, int, int],
    lengths: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.float64]:
    """What one more of the second symbol changes, for each length and count."""
    first, second, marker = symbols
    histograms = np.zeros((2, *counts.shape, len(symbols)))
    histograms[..., marker] = 1
    for more in (0, 1):
        histograms[more, ..., second] = counts + more
        histograms[more, ..., first] = lengths[:, None] - 1 - counts - more
    found = outputs(histograms.reshape(-1, len(symbols))).reshape(2, *counts.shape)
    return np.asarray(np.abs(found[1] - found[0]))
