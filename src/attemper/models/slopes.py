"""How fast something falls with the length: the slope of a line through measured points, on log-log axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np


def slope(points: Sequence[tuple[int, float]]) -> float | None:
    """The slope of log(influence) in log(n) over the tail: the longer half of the lengths, at least two.

    -1 is the rate 1/n. None with fewer than two positive values there.

    >>> round(slope([(8, 1.0), (16, 0.25), (32, 0.125), (64, 0.0625)]), 6)
    -1.0
    """
    longer = max(2, (len(points) + 1) // 2)
    tail = [(log(n), log(value)) for n, value in sorted(points)[-longer:] if value > 0]
    if len(tail) < 2:
        return None
    x, y = np.array(tail).T
    x = x - x.mean()
    return float((x * y).sum() / (x * x).sum())
