"""Different rows of numbers, by number: two are the same if their bytes are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

import numpy as np

from attemper.models.arrays import Array, Integers


@final
class Values:
    """The activations that a layer has, numbered from 0 in the order in which they are met.

    >>> values = Values()
    >>> values.numbered(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])).tolist(), len(values)
    ([0, 1, 0], 2)
    """

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._rows: list[Array] = []

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def size(self) -> int:
        """How many bytes they take."""
        return sum(row.nbytes for row in self._rows[:1]) * len(self)

    def numbered(self, rows: Array) -> Integers:
        """The numbers of the rows, which are kept. Rows have one width and type, and no -0.0."""
        found = np.empty(len(rows), dtype=np.int64)
        for k, row in enumerate(rows):
            number = found[k] = self._numbers.setdefault(row.tobytes(), len(self._rows))
            if number == len(self._rows):
                self._rows.append(row.copy())
        return found

    def rows(self, numbers: Iterable[int] | None = None) -> Array:
        """Those of the numbers, at least one, in an array of its own; else all."""
        return np.stack(self._rows if numbers is None else [self._rows[number] for number in numbers])
