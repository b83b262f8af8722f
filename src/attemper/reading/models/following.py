"""One layer of a masked network, followed on top of the machine of the layers below."""

from __future__ import annotations

from typing import final

import numpy as np

from attemper.models.arrays import Array, Integers
from attemper.reading.models.asked import Asked
from attemper.reading.models.attention import AttentionTables
from attemper.reading.models.bimachines import Bimachine
from attemper.reading.models.budget import BLOCK, Budget
from attemper.reading.models.values import Values

TABLES = "tables of the heads"


@final
class PickTables:
    """All tables of positions before (behind) that are met, by number; number 0 is empty."""

    def __init__(self, attention: AttentionTables, budget: Budget, *, before: bool) -> None:
        self._attention, self._budget, self._before = attention, budget, before
        self._values = Values()
        self._values.numbered(np.full((1, len(attention.order)), attention.empty, dtype=np.int64))
        self._after: dict[int, int] = {}
        self.are_filled = bool(attention.sees(before=before).any())

    def __len__(self) -> int:
        return len(self._values)

    def rows(self, numbers: Integers) -> Integers:
        """The tables, a row each."""
        return self._values.rows(numbers.tolist())

    def after(self, tables: Integers, new: Integers) -> Integers:
        """The numbers of tables after a new value for each of them."""
        count = self._attention.empty
        names, back = np.unique(tables * count + new, return_inverse=True)
        unknown = np.array([name for name in names.tolist() if name not in self._after], dtype=np.int64)
        if len(unknown):
            rows = self._attention.updated(self.rows(unknown // count), unknown % count, before=self._before)
            self._after.update(zip(unknown.tolist(), self._values.numbered(rows).tolist(), strict=True))
            self._budget.hold(self._values.size, TABLES)
        found = np.array([self._after[name] for name in names.tolist()], dtype=np.int64)
        return found[back].reshape(tables.shape)


@final
class LayerFollower:
    """Follows a layer on both sides: on the left, a state of the machine below and tables of what is before.

    What the machine below puts out at a position depends on its state r on the right; so there is a table for
    each r that what follows may lead to. r after position i says what r was at all positions before. The
    right side has a table for each state on the left. `rows` are the activations that are put out below.
    """

    def __init__(
        self,
        asked: Asked,
        layer: int,
        below: Bimachine,
        rows: Array,
        attention: AttentionTables,
        budget: Budget,
    ) -> None:
        self._asked, self._layer, self._below = asked, layer, below
        self._attention, self._budget = attention, budget
        # The row behind all activations is what a strict head reads where it sees nothing.
        self._rows = np.concatenate([rows, np.zeros_like(rows[:1])])
        self._before = PickTables(attention, budget, before=True)
        self._behind = PickTables(attention, budget, before=False)
        self._values = Values()
        self._combined: dict[bytes, int] = {}

    def follow(self, *, only_last: bool) -> tuple[Bimachine, Values]:
        """The machine of this layer, and the activations that it puts out by number.

        With `only_last` it puts them out at the last position, and at an end marker. Raises `UnprovedError`
        where the budget is spent.
        """
        below, outputs = self._below, self._below.outputs
        nothing, start = np.zeros(len(below.right), dtype=np.int64), np.zeros(len(below.left), dtype=np.int64)
        if below.ends is not None:
            start = self._behind.after(start, below.ends)
        left, lefts = self._followed(below.left, below.right, outputs, self._before, nothing)
        if only_last:
            right, rights = np.zeros_like(below.right[:1]), np.append([0], start)[None]
        else:
            mirrored = outputs.transpose(2, 1, 0)
            right, rights = self._followed(below.right, below.left, mirrored, self._behind, start)
        ends = None
        if below.ends is not None:
            ends = self._put_out(below.ends[lefts[:, 0]], lefts[:, 1], np.zeros_like(lefts[:, 0]))
        return Bimachine(left, right, self._outputs(lefts, rights), ends), self._values

    def _followed(
        self, moves: Integers, others: Integers, outputs: Integers, tables: PickTables, start: Integers
    ) -> tuple[Integers, Integers]:
        """The moves of one side, and a row for each of its states: the state below, and the tables."""
        if not tables.are_filled and not start.any():
            states = np.arange(len(moves))
            return moves, np.column_stack([states, np.zeros((len(states), len(others)), dtype=np.int64)])
        met = Values()
        met.numbered(np.append([0], start)[None])
        self._budget.meet(1)
        found: list[Integers] = []
        done, size = 0, self._block(len(others))
        while done < len(met):
            some = met.rows(range(done, min(done + size, len(met))))
            done += len(some)
            targets = np.empty((len(some), moves.shape[1]), dtype=np.int64)
            for letter in range(moves.shape[1]):
                self._budget.look()
                before = len(met)
                after = tables.after(some[:, 1:][:, others[:, letter]], outputs[some[:, 0], letter])
                targets[:, letter] = met.numbered(np.column_stack([moves[some[:, 0], letter], after]))
                self._budget.meet(len(met) - before)
                self._budget.hold(met.size, TABLES)
            found.append(targets)
        return np.concatenate(found), met.rows()

    def _outputs(self, lefts: Integers, rights: Integers) -> Integers:
        """What is put out for each state on the left, each letter and each state on the right."""
        below = self._below
        letters = below.left.shape[1]
        self._budget.hold(8 * len(lefts) * letters * len(rights), f"pairs of states of layer {self._layer}")
        found = np.empty((len(lefts), letters, len(rights)), dtype=np.int64)
        size = self._block(len(rights) * letters)
        for top in range(0, len(lefts), size):
            self._budget.look()
            some = lefts[top : top + size]
            own = below.outputs[some[:, 0]][:, :, rights[:, 0]]
            before = some[:, 1:][:, below.right[rights[:, 0]].T]
            behind = rights[:, 1:][:, below.left[some[:, 0]]].transpose(1, 2, 0)
            found[top : top + size] = self._put_out(own, before, behind)
        return found

    def _block(self, width: int) -> int:
        """So many states are followed together where each has so many tables."""
        return max(1, min(BLOCK, 64 * BLOCK // width))

    def _put_out(self, own: Integers, before: Integers, behind: Integers) -> Integers:
        """The numbers of activations, from the own value and the tables of both sides without it."""
        here, there = len(self._before), len(self._behind)
        different, back = np.unique((own * here + before) * there + behind, return_inverse=True)
        own, before, behind = different // (here * there), different // there % here, different % there
        sides = [
            (tables.rows(numbers), tables.rows(tables.after(numbers, own)))
            for tables, numbers in ((self._before, before), (self._behind, behind))
        ]
        read = self._attention.read(own, sides[0], sides[1])
        return self._combine(np.column_stack([own, read]))[back].reshape(back.shape)

    def _combine(self, read: Integers) -> Integers:
        """The numbers of the activations behind the layer, from the own value and what each head reads."""
        rows, back = np.unique(read, axis=0, return_inverse=True)
        names = [row.tobytes() for row in rows]
        new = [k for k, name in enumerate(names) if name not in self._combined]
        if new:
            parts = [self._rows[rows[new, column]] for column in range(rows.shape[1])]
            numbers = self._values.numbered(self._asked.combine(self._layer, parts[0], parts[1:]))
            self._combined.update(zip((names[k] for k in new), numbers.tolist(), strict=True))
            self._budget.hold(self._values.size, f"activations behind layer {self._layer}")
        found = np.array([self._combined[name] for name in names], dtype=np.int64)
        return found[back.reshape(-1)]
