"""The heads of one layer over finitely many activations: how each query orders all keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.attention_program.ops import Mask
from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedHead, TieRule, mask_of
from attemper.reading.models.asked import Asked
from attemper.reading.models.budget import Budget

NOTHING = -1
"""The rank of an empty entry, below those of all values."""


@final
@dataclass(frozen=True, eq=False)
class AttentionTables:
    """Entries of all heads' tables, side by side; queries that order all keys alike may share one.

    `order[c, v]` is the rank of value v in entry c; in the last column stands `NOTHING`, for an entry that is
    empty. `rightmost[c]`: of equal ranks the one further to the right is picked. `entry[h, q]` is where head
    h, which sees what `masks[h]` shows, finds query q. Only entries of heads that see the positions before
    (behind) are filled with these.
    """

    order: NDArray[np.int32]
    rightmost: NDArray[np.bool_]
    entry: Integers
    masks: tuple[Mask, ...]

    def sees(self, *, before: bool) -> NDArray[np.bool_]:
        """Which entries are about positions before, or behind."""
        seen = np.zeros(len(self.order), dtype=np.bool_)
        for mask, entry in zip(self.masks, self.entry, strict=True):
            if mask.before if before else mask.after:
                seen[entry] = True
        return seen

    @property
    def empty(self) -> int:
        """The number that stands for no value."""
        return int(self.order.shape[1]) - 1

    def updated(self, tables: Integers, new: Integers, *, before: bool) -> Integers:
        """Tables of positions before (behind), a row each, after a new value for each of them.

        The new value stands to the right (to the left) of those so far.
        """
        entries = np.arange(len(self.order))
        better = self._better(entries, tables, new[:, None], new_right=before)
        return np.where(self.sees(before=before), better, tables)

    def read(self, own: Integers, before: StatesAround, behind: StatesAround) -> Integers:
        """What each head reads, a column each: of the tables on both sides, those that its mask shows."""
        read = np.full((len(own), len(self.masks)), self.empty, dtype=np.int64)
        rows = np.arange(len(own))
        for head, (mask, entry) in enumerate(zip(self.masks, self.entry, strict=True)):
            entries = entry[own]
            if mask.before:
                read[:, head] = before[mask.here][rows, entries]
            if mask.after:
                there = behind[mask.here][rows, entries]
                read[:, head] = self._better(entries, read[:, head], there, new_right=True)
        return read

    def _better(self, entries: Integers, old: Integers, new: Integers, *, new_right: bool) -> Integers:
        """The values that are picked of old and new ones; a new one stands to the right, or to the left."""
        there, here = self.order[entries, old], self.order[entries, new]
        taken = (here > there) | ((here == there) & (self.rightmost[entries] == new_right))
        return np.where(taken, new, old)


StatesAround = tuple[Integers, Integers]
"""Tables of one side, a row each: without and with the value at the position itself."""


def attention_of(
    asked: Asked, layer: int, heads: Sequence[MaskedHead], rows: Array, budget: Budget
) -> AttentionTables:
    """The layer's heads over all activations that ever reach it."""
    orders: list[Integers] = []
    known: dict[tuple[bytes, bool], int] = {}
    entry = np.zeros((len(heads), len(rows)), dtype=np.int64)
    for number, head in enumerate(heads):
        rightmost = head.choice == TieRule.RIGHTMOST
        for query, ranks in enumerate(asked.ranks(layer, number, rows)):
            budget.look()
            name = ranks.tobytes(), rightmost
            if name not in known:
                known[name] = len(orders)
                budget.hold(len(orders) * ranks.nbytes, f"orders of the keys of layer {layer}")
                orders.append(ranks)
            entry[number, query] = known[name]
    order = np.full((len(orders), len(rows) + 1), NOTHING, dtype=np.int32)
    for number, ranks in enumerate(orders):
        order[number, :-1] = ranks
    ties = np.array([rightmost for _, rightmost in known], dtype=np.bool_)
    return AttentionTables(order, ties, entry, tuple(map(mask_of, heads)))
