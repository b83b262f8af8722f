"""Heads whose score in a kind is level + slope g: the first or last few positions of each kind are enough.

In a kind the score falls from one end to the other. With W positions kept from the better end, whatever was
dropped scores no better than the last that is kept. At every step the kept ones are gone through from the
better end until one is `limit` below the best score of all: all that follow, kept or dropped, weigh at most
2^-60 of what was summed (`heads.limit_at`). Where the kept ones end before that, the head refuses.

Where the slope is known to be c i^e, with e >= 0 for g = j and e >= 2 for g = 1/j, W is chosen so that it
never refuses up to position 2^53: positions p < p' <= i are at least 1 apart, and

    |c| i^e (p' - p) >= |c|    and    |c| i^e (1/p - 1/p') = |c| i^e (p' - p) / (p p') >= |c|

so that each kept position scores at least |c| below the one before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp
from typing import final

from attemper.errors import UnsupportedError
from attemper.running.engines.scan.shapes import Combination
from attemper.running.streaming.forms import LinearFunction, linear_function
from attemper.running.streaming.heads import Keeping, Row, averaged, require_row, whole
from attemper.running.streaming.keys import HeadScores, Key

Member = tuple[int, tuple[float, ...]]
"""A position and its values."""

MOST_KEPT = 64
"""So many positions of one kind are kept where nothing is known of the slope, and never more."""

FARTHEST = Fraction(80)
"""No limit is higher up to position 2^53: (53 + 61) ln 2 < 80."""

_INFINITE = float("inf")


def kept_for(slope: Fraction) -> int:
    """How many positions are enough where each scores at least |slope| below the one before.

    >>> kept_for(Fraction(4)), kept_for(Fraction(64))
    (21, 3)
    """
    return min(MOST_KEPT, 1 + ceil(FARTHEST / abs(slope))) if slope else MOST_KEPT


@final
class KindWindow:
    """The positions of one kind: how many there were, and those that are kept from each end."""

    __slots__ = ("count", "first", "last", "level", "slope")

    def __init__(self, level: LinearFunction, slope: LinearFunction) -> None:
        self.level, self.slope = level, slope
        self.count = 0
        self.first: list[Member] = []
        self.last: deque[Member] = deque()


@final
class Window(Keeping):
    """A head that keeps `kept` positions of each kind: the first ones, the last ones, or both."""

    def __init__(
        self,
        scores: HeadScores,
        values: tuple[Combination, ...],
        most_kinds: int,
        kept: int,
        *,
        first: bool,
        last: bool,
    ) -> None:
        self.scores, self.values = scores, values
        self._values = tuple(map(linear_function, values))
        self._key_of = scores.key_function()
        self.kept_first, self.kept_last = kept * first, kept * last
        self.kinds: dict[Key, KindWindow] = {}
        self._key_length = scores.has_parity + len(scores.contents)
        members = self.kept_first + self.kept_last
        self.most = most_kinds * (self._key_length + 1 + members * (1 + len(values)))

    def _see(self, j: int, x: Sequence[float]) -> None:
        key = self._key_of(j, x)
        kind = self.kinds.get(key)
        if kind is None:
            kind = self._new(key, j)
        member = j, tuple([value(x) for value in self._values])
        if kind.count < self.kept_first:
            kind.first.append(member)
        kind.count += 1
        if self.kept_last:
            # The last position stands first: kept ones are gone through from the better end.
            kind.last.appendleft(member)
            if len(kind.last) > self.kept_last:
                kind.last.pop()

    def _new(self, key: Key, i: int) -> KindWindow:
        scores = self.scores
        scores.require_room(len(self.kinds), key, i)
        kind = self.kinds[key] = KindWindow(
            linear_function(scores.level(key)), linear_function(scores.slope(key))
        )
        return kind

    def _read(self, i: int, x: Sequence[float], limit: float) -> list[float]:
        if not self.kinds:
            return [0.0] * len(self.values)
        is_inverse = self.scores.is_inverse
        q = self.scores.queries_at(i, x)
        top, found = -_INFINITE, []
        for kind in self.kinds.values():
            slope = kind.slope(q)
            members = self._from_the_better_end(kind, late=(slope > 0.0) is not is_inverse, i=i)
            p = members[0][0]
            peak = kind.level(q) + (slope / p if is_inverse else slope * p)
            found.append((peak, slope, p, members, kind.count))
            if peak > top:
                top = peak
        return self._summed(i, found, top, limit)

    def _summed(
        self,
        i: int,
        found: list[tuple[float, float, int, Sequence[Member], int]],
        top: float,
        limit: float,
    ) -> list[float]:
        is_inverse = self.scores.is_inverse
        weight, sums = 0.0, [0.0] * len(self.values)
        for peak, slope, p, members, count in found:
            lead = peak - top
            for j, values in members:
                # The difference to the best of the kind, without the two scores, which may be large.
                score = lead + slope * ((p - j) / (j * p) if is_inverse else j - p)
                if score < -limit:
                    break
                factor = exp(score)
                weight += factor
                for m, value in enumerate(values):
                    sums[m] += factor * value
            else:
                if count > len(members):
                    raise self._refusal(i)
        return averaged(self.scores.name, i, sums, weight)

    def _from_the_better_end(self, kind: KindWindow, *, late: bool, i: int) -> Sequence[Member]:
        if late and kind.last:
            return kind.last
        if not late and kind.first:
            return kind.first
        if kind.count > max(len(kind.last), len(kind.first)):
            raise self._refusal(i)
        return list(reversed(kind.first if late else kind.last))

    def _refusal(self, i: int) -> UnsupportedError:
        return UnsupportedError(
            f"{self.scores.name} cannot be streamed at position {i:,}: more positions count there than the "
            f"{max(self.kept_first, self.kept_last)} that are kept of a kind; run the whole word instead"
        )

    def rows(self) -> list[Row]:
        """Of each kind: the key, how many there were, and the kept positions, in order, with their values."""
        return [
            [*key, float(kind.count), *_flat(kind.first), *_flat(reversed(kind.last))]
            for key, kind in self.kinds.items()
        ]

    def restore(self, rows: Sequence[Row], position: int) -> None:
        """See `StreamingHead.restore`."""
        self.kinds.clear()
        for row in rows:
            require_row(row, max(len(row), self._key_length + 1))
            kind = self._new(tuple(row[: self._key_length]), position)
            kind.count = whole(row[self._key_length], position)
            self._restore_members(kind, row[self._key_length + 1 :], position)
        if sum(kind.count for kind in self.kinds.values()) != position or len(self.kinds) != len(rows):
            raise ValueError("the counts of its kinds of keys do not add up to the position")

    def _restore_members(self, kind: KindWindow, numbers: Row, position: int) -> None:
        first, last = min(kind.count, self.kept_first), min(kind.count, self.kept_last)
        length = 1 + len(self.values)
        require_row(numbers, (first + last) * length)
        starts = range(0, len(numbers), length)
        found = [(whole(numbers[s], position), tuple(numbers[s + 1 : s + length])) for s in starts]
        for own in (found[:first], found[first:]):
            if any(left[0] >= right[0] for left, right in pairwise(own)):
                raise ValueError("the positions of a kind are not in their order")
        kind.first, kind.last = found[:first], deque(reversed(found[first:]))


def _flat(members: Iterable[Member]) -> Row:
    return [number for j, values in members for number in (float(j), *values)]
