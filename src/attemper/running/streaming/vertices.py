"""Heads whose scores are a parabola of the position, and whose values are position embeddings: lookups.

The vertex is computed from the queries, and the values at the positions around it from their closed forms:
nothing is kept. From the best position outwards scores only fall (a parabola that opens downwards, in j or in
1/j, has one peak), so that positions are gone through until one is `limit` below the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp, isfinite
from typing import final

from attemper.errors import UndecidedError, UnsupportedError
from attemper.running.streaming.forms import OfPosition, linear_function
from attemper.running.streaming.heads import KeepingNothing, averaged
from attemper.running.streaming.keys import HeadScores

MOST_STEPS = 64
"""So many positions on one side of the best are gone through before the head refuses."""

ROUNDOFFS = 8 / 2**53
"""Eight roundings of float64: more than a difference of two scores has."""


@final
class _Parabola:
    """bend g^2 + slope g, where g is j or 1/j, as differences between two positions."""

    __slots__ = ("bend", "is_inverse", "slope")

    def __init__(self, slope: float, bend: float, *, is_inverse: bool) -> None:
        self.slope, self.bend, self.is_inverse = slope, bend, is_inverse

    def between(self, j: int, p: int) -> tuple[float, float]:
        """The score at j minus that at p, in factored form, and how far roundings can have moved that."""
        if self.is_inverse:
            step, both = (p - j) / (j * p), (p + j) / (j * p)
        else:
            step, both = float(j - p), float(j + p)
        error = ROUNDOFFS * abs(step) * (abs(self.bend) * both + abs(self.slope))
        return step * (self.bend * both + self.slope), error

    def at(self, p: int) -> float:
        """Its value at p."""
        g = 1.0 / p if self.is_inverse else float(p)
        return (self.bend * g + self.slope) * g

    def peak(self, first: int, last: int, stride: int) -> int:
        """The best of the positions first, first + stride, ..., last."""
        p = self._beside_the_vertex(first, last, stride)
        for side in (-stride, stride):
            while first <= p + side <= last and self.between(p + side, p)[0] > 0.0:
                p += side
        return p

    def _beside_the_vertex(self, first: int, last: int, stride: int) -> int:
        if not self.bend:
            return last if (self.slope > 0.0) is not self.is_inverse else first
        if self.is_inverse:
            # 1/j is -slope / (2 bend): beyond the last position if that is not positive.
            vertex = -2.0 * self.bend / self.slope if self.slope > 0.0 else float(last)
        else:
            vertex = -self.slope / (2.0 * self.bend)
        return first + stride * round((min(max(vertex, float(first)), float(last)) - first) / stride)


@final
class Vertex(KeepingNothing):
    """A lookup; `values` are closed forms of the position."""

    def __init__(self, scores: HeadScores, values: tuple[OfPosition, ...]) -> None:
        self.scores, self.values = scores, values
        self.width = len(values)
        firsts = (1, 2) if scores.has_parity else (1,)
        keys = [(first % 2,) if scores.has_parity else () for first in firsts]
        self._kinds = [
            (
                first,
                linear_function(scores.level(key)),
                linear_function(scores.slope(key)),
                linear_function(scores.bend(key)),
            )
            for first, key in zip(firsts, keys, strict=True)
        ]

    def read(self, i: int, q: Sequence[float], limit: float) -> Sequence[float]:
        """What it reads at position i, where the queries are q."""
        end, stride = i - self.scores.is_strict, self.scores.stride
        kinds = [kind for kind in self._kinds if kind[0] <= end]
        if not kinds:
            return [0.0] * len(self.values)
        found = []
        for first, level, slope, bend in kinds:
            parabola = _Parabola(slope(q), bend(q), is_inverse=self.scores.is_inverse)
            self._require_one_peak(parabola, i)
            last = end - (end - first) % stride
            p = parabola.peak(first, last, stride)
            found.append((level(q) + parabola.at(p), parabola, p, first, last))
        top = max(peak for peak, *_ in found)
        weight, sums = 0.0, [0.0] * len(self.values)
        for peak, parabola, p, first, last in found:
            for j, score in self._around(i, parabola, p, (first, last), limit + (peak - top)):
                factor = exp(score + (peak - top))
                weight += factor
                for m, value in enumerate(self.values):
                    sums[m] += factor * value(j)
        return averaged(self.scores.name, i, sums, weight)

    def _around(
        self, i: int, parabola: _Parabola, p: int, ends: tuple[int, int], limit: float
    ) -> Iterator[tuple[int, float]]:
        """The positions around the best one p with their scores relative to it, down to the limit."""
        if limit >= 0.0:
            yield p, 0.0
        stride = self.scores.stride
        for side in (-stride, stride):
            for j in range(p + side, p + side * (MOST_STEPS + 1), side):
                if not ends[0] <= j <= ends[1]:
                    break
                score, error = parabola.between(j, p)
                if score + error < -limit:
                    break
                yield j, score
            else:
                raise self._refusal(i, f"more than {MOST_STEPS} positions beside the best one count there")

    def _require_one_peak(self, parabola: _Parabola, i: int) -> None:
        if not (isfinite(parabola.slope) and isfinite(parabola.bend)):
            raise UndecidedError(f"{self.scores.name} computes scores at position {i:,} that are not finite")
        if parabola.bend > 0.0:
            raise self._refusal(i, "its scores are best at both ends there")

    def _refusal(self, i: int, why: str) -> UnsupportedError:
        return UnsupportedError(
            f"{self.scores.name} cannot be streamed at position {i:,}: {why}; run the whole word instead"
        )
