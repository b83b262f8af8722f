"""The heads of one layer over finitely many activations: how each query orders all keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedHead, TieRule
from attemper.reading.models.asked import Asked
from attemper.reading.models.budget import Budget

NOTHING = -1
"""The rank of an empty entry, below those of all values."""


@final
@dataclass(frozen=True, eq=False)
class AttentionTables:
    """Entries of all heads' tables, side by side; queries of one head that order all keys alike share one.

    `order[c, v]` is the rank of value v in entry c; in the last column stands `NOTHING`, for an entry that is
    empty. `rightmost[c]`: ties go to the new value. `entry[h, q]` is where head h finds query q.
    """

    order: NDArray[np.int32]
    rightmost: NDArray[np.bool_]
    entry: Integers
    strict: tuple[bool, ...]

    @property
    def empty(self) -> int:
        """The number that stands for no value."""
        return int(self.order.shape[1]) - 1

    def updated(self, tables: NDArray[np.int32], new: Integers) -> NDArray[np.int32]:
        """Tables, a row each, after a new value for each of them."""
        there = self.order[np.arange(len(self.order)), tables]
        here = self.order[:, new].T
        taken = (here > there) | ((here == there) & self.rightmost)
        return np.where(taken, new[:, None].astype(np.int32), tables)

    def read(self, before: NDArray[np.int32], after: NDArray[np.int32], own: Integers) -> Integers:
        """What each head reads, a column each, where the tables were `before` and are `after`."""
        rows = np.arange(len(own))
        read = np.empty((len(own), len(self.strict)), dtype=np.int64)
        for head, (strict, entry) in enumerate(zip(self.strict, self.entry, strict=True)):
            read[:, head] = (before if strict else after)[rows, entry[own]]
        return read


def attention_of(
    asked: Asked, layer: int, heads: Sequence[MaskedHead], rows: Array, budget: Budget
) -> AttentionTables:
    """The layer's heads over all activations that ever reach it."""
    orders: list[Integers] = []
    rightmost: list[bool] = []
    entry = np.zeros((len(heads), len(rows)), dtype=np.int64)
    for number, head in enumerate(heads):
        known: dict[bytes, int] = {}
        for query, ranks in enumerate(asked.ranks(layer, number, rows)):
            budget.look()
            name = ranks.tobytes()
            if name not in known:
                known[name] = len(orders)
                budget.hold(len(orders) * ranks.nbytes, f"orders of the keys of layer {layer}")
                orders.append(ranks)
                rightmost.append(head.choice == TieRule.RIGHTMOST)
            entry[number, query] = known[name]
    order = np.full((len(orders), len(rows) + 1), NOTHING, dtype=np.int32)
    for number, ranks in enumerate(orders):
        order[number, :-1] = ranks
    return AttentionTables(
        order, np.array(rightmost, dtype=np.bool_), entry, tuple(head.strict for head in heads)
    )
