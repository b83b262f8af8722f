"""Heads whose kinds are all positions, or all of one parity, with the same values: a geometric sum.

The m visible positions of a kind are a whole arithmetic progression, so with scores level + slope j

    Z = sum of e^(-x t) over t = 0 .. m - 1 = (1 - e^(-x m)) / (1 - e^(-x)),    x = |slope| times the stride

relative to the better end. Nothing is left out, and nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, expm1
from typing import final

from attemper.running.streaming.forms import linear_function
from attemper.running.streaming.heads import KeepingNothing, averaged
from attemper.running.streaming.keys import HeadScores


@final
class Geometric(KeepingNothing):
    """A head that keeps nothing; `values` are those of even and of odd positions."""

    def __init__(self, scores: HeadScores, values: tuple[tuple[float, ...], tuple[float, ...]]) -> None:
        self.scores = scores
        self.width = len(values[0])
        firsts = (1, 2) if scores.has_parity else (1,)
        keys = [(first % 2,) if scores.has_parity else () for first in firsts]
        self._kinds = [
            (first, linear_function(scores.level(key)), linear_function(scores.slope(key)), values[first % 2])
            for first, key in zip(firsts, keys, strict=True)
        ]

    def read(self, i: int, q: Sequence[float], limit: float) -> Sequence[float]:
        """What it reads at position i, where the queries are q."""
        last, stride = i - self.scores.is_strict, self.scores.stride
        kinds = [kind for kind in self._kinds if kind[0] <= last]
        if not kinds:
            return [0.0] * self.width
        found = []
        for first, level, slope_of, values in kinds:
            steps, slope = (last - first) // stride, slope_of(q)
            peak = level(q) + slope * (first + stride * steps if slope > 0.0 else first)
            found.append((peak, _geometric(stride * abs(slope), steps + 1), values))
        top = max(peak for peak, _, _ in found)
        weight, sums = 0.0, [0.0] * self.width
        for peak, total, values in found:
            own = exp(peak - top) * total
            weight += own
            for m, value in enumerate(values):
                sums[m] += own * value
        return averaged(self.scores.name, i, sums, weight)


def _geometric(x: float, terms: int) -> float:
    """The sum of e^(-x t) over t = 0 .. terms - 1."""
    return expm1(-x * terms) / expm1(-x) if x else float(terms)
