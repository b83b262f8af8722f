"""What the heads of a stream have in common, whatever they keep of the past."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import isfinite, log
from typing import TYPE_CHECKING, Protocol

from attemper.errors import UndecidedError

if TYPE_CHECKING:
    from attemper.running.engines.scan.shapes import Combination
    from attemper.running.streaming.keys import HeadScores

Row = list[float]
"""What a head keeps of one kind of keys, as numbers: this is what is saved."""

NEGLIGIBLE = 61
"""What is left out is at most 2^-60 of what counts; one power of two more pays for roundings."""


class StreamingHead(Protocol):
    """A head that reads one position at a time."""

    @property
    def most(self) -> int:
        """The most numbers that it can keep."""
        ...

    def step(self, i: int, x: Sequence[float], limit: float) -> Sequence[float]:
        """What it reads at position i, where the residual stream is x; i is then kept, as far as need be.

        `limit` is `limit_at(i)`. Raises `UnsupportedError` where it would have to keep more, and
        `UndecidedError` where a number is not finite.
        """
        ...

    def rows(self) -> list[Row]:
        """All that it keeps, in the order in which kinds of keys were met."""
        ...

    def restore(self, rows: Sequence[Row], position: int) -> None:
        """Take what `rows` gave after so many positions; raises ValueError for anything else."""
        ...


class Keeping(ABC):
    """A head that keeps some of what it sees: under a strict mask it reads before it sees a position."""

    scores: HeadScores
    values: tuple[Combination, ...]

    def step(self, i: int, x: Sequence[float], limit: float) -> Sequence[float]:
        """See `StreamingHead.step`."""
        if self.scores.is_strict:
            found = self._read(i, x, limit)
            self._see(i, x)
            return found
        self._see(i, x)
        return self._read(i, x, limit)

    @abstractmethod
    def _see(self, j: int, x: Sequence[float]) -> None:
        """Keep what is needed of position j."""

    @abstractmethod
    def _read(self, i: int, x: Sequence[float], limit: float) -> Sequence[float]:
        """What is read at position i of all that was seen."""


class KeepingNothing(ABC):
    """A head that keeps nothing: what it reads follows from the queries alone."""

    scores: HeadScores
    most = 0

    def step(self, i: int, x: Sequence[float], limit: float) -> Sequence[float]:
        """See `StreamingHead.step`."""
        return self.read(i, self.scores.queries_at(i, x), limit)

    @abstractmethod
    def read(self, i: int, q: Sequence[float], limit: float) -> Sequence[float]:
        """What it reads at position i, where the queries are q."""

    def rows(self) -> list[Row]:
        """Nothing."""
        return []

    def restore(self, rows: Sequence[Row], position: int) -> None:
        """See `StreamingHead.restore`."""
        if rows:
            raise ValueError("it keeps nothing, but something stands there")


def limit_at(i: int) -> float:
    """How far below the best score a key must be to be left out at position i: ln i + 61 ln 2.

    There are at most i keys, so all that are left out weigh at most i e^-limit = 2^-61 together, where the
    best key weighs 1.
    """
    return log(i) + NEGLIGIBLE * log(2)


def averaged(name: str, i: int, sums: list[float], weight: float) -> list[float]:
    """The sums, divided by the whole weight; raises `UndecidedError` where that is no positive number."""
    if not 0.0 < weight < float("inf"):
        raise UndecidedError(f"{name} computes scores at position {i:,} that are not finite")
    return [total / weight for total in sums]


def require_row(row: Sequence[float], length: int) -> None:
    """Raises ValueError if what was kept has another length, or a number that is not finite."""
    if len(row) != length or not all(map(isfinite, row)):
        raise ValueError("a kind of keys has another number of numbers, or one that is not finite")


def whole(number: float, most: int) -> int:
    """A count or position from 1 on; raises ValueError for anything else."""
    if not number.is_integer() or not 1 <= number <= most:
        raise ValueError(f"{number!r} is no count or position from 1 to {most}")
    return int(number)
