"""Heads whose scores do not depend on positions: a count and sums of values for each kind of keys.

Nothing is left out. A sum of integers below 2^53 is exact; of other numbers the sum is kept with what its
roundings lost, so that after any number of positions it is as near as if it had been rounded twice.
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
class KindSums:
    """The positions of one kind: how many there were, and the sum of each value with what it lost."""

    __slots__ = ("count", "level", "lost", "sums")

    def __init__(self, level: LinearFunction, values: int) -> None:
        self.level = level
        self.count = 0
        self.sums = [0.0] * values
        self.lost = [0.0] * values

    def add(self, values: Sequence[float]) -> None:
        """Count one more position (Knuth's two-sum: what a sum loses is a float itself)."""
        self.count += 1
        sums, lost = self.sums, self.lost
        for m, value in enumerate(values):
            old = sums[m]
            sums[m] = new = old + value
            part = new - old
            lost[m] += (old - (new - part)) + (value - part)


@final
class Averages(Keeping):
    """A head that averages, or weighs whole kinds of keys against each other."""

    def __init__(self, scores: HeadScores, values: tuple[Combination, ...], most_kinds: int) -> None:
        self.scores, self.values = scores, values
        self._values = tuple(map(linear_function, values))
        self._key_of = scores.key_function()
        self.kinds: dict[Key, KindSums] = {}
        self.most = most_kinds * self._row_length

    @property
    def _row_length(self) -> int:
        return self._key_length + 1 + 2 * len(self.values)

    @property
    def _key_length(self) -> int:
        return self.scores.has_parity + len(self.scores.contents)

    def _see(self, j: int, x: Sequence[float]) -> None:
        key = self._key_of(j, x)
        kind = self.kinds.get(key)
        if kind is None:
            kind = self._new(key, j)
        kind.add([value(x) for value in self._values])

    def _new(self, key: Key, i: int) -> KindSums:
        self.scores.require_room(len(self.kinds), key, i)
        kind = self.kinds[key] = KindSums(linear_function(self.scores.level(key)), len(self.values))
        return kind

    def _read(self, i: int, x: Sequence[float], limit: float) -> list[float]:
        kinds = list(self.kinds.values())
        if len(kinds) <= 1:
            return self._mean(kinds)
        q = self.scores.queries_at(i, x)
        levels = [kind.level(q) for kind in kinds]
        top = max(levels)
        weight, sums = 0.0, [0.0] * len(self.values)
        for kind, level in zip(kinds, levels, strict=True):
            factor = exp(level - top)
            weight += factor * kind.count
            for m, total in enumerate(kind.sums):
                sums[m] += factor * (total + kind.lost[m])
        return averaged(self.scores.name, i, sums, weight)

    def _mean(self, kinds: Sequence[KindSums]) -> list[float]:
        """The average over one kind; 0 where nothing is seen."""
        if not kinds:
            return [0.0] * len(self.values)
        kind = kinds[0]
        return [(total + lost) / kind.count for total, lost in zip(kind.sums, kind.lost, strict=True)]

    def rows(self) -> list[Row]:
        """Of each kind: the key, the count, the sums, and what they lost."""
        return [[*key, float(kind.count), *kind.sums, *kind.lost] for key, kind in self.kinds.items()]

    def restore(self, rows: Sequence[Row], position: int) -> None:
        """See `StreamingHead.restore`."""
        self.kinds.clear()
        keys, values = self._key_length, len(self.values)
        for row in rows:
            require_row(row, self._row_length)
            kind = self._new(tuple(row[:keys]), position)
            kind.count = whole(row[keys], position)
            kind.sums, kind.lost = row[keys + 1 : keys + 1 + values], row[keys + 1 + values :]
        if sum(kind.count for kind in self.kinds.values()) != position or len(self.kinds) != len(rows):
            raise ValueError("the counts of its kinds of keys do not add up to the position")
