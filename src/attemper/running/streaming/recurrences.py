"""Heads whose score in a kind is level + slope j, with one slope for all queries: a recurrence.

Where the slope b is at least 0 the last position p of the kind has the best score, and the weights relative
to it follow from those relative to the position before:

    Z_p = 1 + e^(-b (p - p')) Z_p',    U_p = v_p + e^(-b (p - p')) U_p'

Where b is negative the first position has the best score, and Z and U grow by e^(b (p - first)). Nothing is
left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp
from typing import final

from attemper.running.engines.scan.shapes import Combination
from attemper.running.streaming.forms import LinearFunction, linear_function
from attemper.running.streaming.heads import Keeping, Row, averaged, require_row, whole
from attemper.running.streaming.keys import HeadScores, Key


@final
class KindRecurrence:
    """The positions of one kind: the best of them, and the sums of weights and of weighted values."""

    __slots__ = ("best", "level", "slope", "sums", "weight")

    def __init__(self, level: LinearFunction, slope: float, values: int) -> None:
        self.level, self.slope = level, slope
        self.best = 0
        self.weight = 0.0
        self.sums = [0.0] * values

    def add(self, j: int, values: Sequence[float]) -> None:
        """Weigh one more position."""
        if self.slope < 0.0 < self.weight:
            factor = exp(self.slope * (j - self.best))
            self.weight += factor
            self.sums = [total + factor * value for total, value in zip(self.sums, values, strict=True)]
            return
        decay = exp(-self.slope * (j - self.best)) if self.weight else 0.0
        self.best = j
        self.weight = 1.0 + decay * self.weight
        self.sums = [value + decay * total for total, value in zip(self.sums, values, strict=True)]


@final
class Recurrence(Keeping):
    """A head with two sums for each kind of keys: `slopes` are those of even and of odd positions."""

    def __init__(
        self,
        scores: HeadScores,
        values: tuple[Combination, ...],
        most_kinds: int,
        slopes: tuple[float, float],
    ) -> None:
        self.scores, self.values, self._slopes = scores, values, slopes
        self._values = tuple(map(linear_function, values))
        self._key_of = scores.key_function()
        self.kinds: dict[Key, KindRecurrence] = {}
        self._key_length = scores.has_parity + len(scores.contents)
        self._row_length = self._key_length + 2 + len(values)
        self.most = most_kinds * self._row_length

    def _see(self, j: int, x: Sequence[float]) -> None:
        key = self._key_of(j, x)
        kind = self.kinds.get(key)
        if kind is None:
            kind = self._new(key, j)
        kind.add(j, [value(x) for value in self._values])

    def _new(self, key: Key, i: int) -> KindRecurrence:
        scores = self.scores
        scores.require_room(len(self.kinds), key, i)
        slope = self._slopes[1 if scores.has_parity and key[0] else 0]
        kind = self.kinds[key] = KindRecurrence(linear_function(scores.level(key)), slope, len(self.values))
        return kind

    def _read(self, i: int, x: Sequence[float], limit: float) -> list[float]:
        if not self.kinds:
            return [0.0] * len(self.values)
        q = self.scores.queries_at(i, x)
        peaks = [(kind.level(q) + kind.slope * kind.best, kind) for kind in self.kinds.values()]
        top = max(peak for peak, _ in peaks)
        weight, sums = 0.0, [0.0] * len(self.values)
        for peak, kind in peaks:
            factor = exp(peak - top)
            weight += factor * kind.weight
            for m, total in enumerate(kind.sums):
                sums[m] += factor * total
        return averaged(self.scores.name, i, sums, weight)

    def rows(self) -> list[Row]:
        """Of each kind: the key, the position with the best score, and the sums."""
        return [[*key, float(kind.best), kind.weight, *kind.sums] for key, kind in self.kinds.items()]

    def restore(self, rows: Sequence[Row], position: int) -> None:
        """See `StreamingHead.restore`."""
        self.kinds.clear()
        for row in rows:
            require_row(row, self._row_length)
            kind = self._new(tuple(row[: self._key_length]), position)
            kind.best = whole(row[self._key_length], position)
            kind.weight, *kind.sums = row[self._key_length + 1 :]
            if kind.weight < 1.0:
                raise ValueError("a kind of keys weighs less than its best key")
        if len(self.kinds) != len(rows) or bool(rows) != bool(position):
            raise ValueError("a kind of keys stands there twice, or none")
