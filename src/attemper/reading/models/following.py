"""One layer of a future-masked network, followed on top of the machine of the layers below."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.reading.models.asked import Asked
from attemper.reading.models.attention import AttentionTables
from attemper.reading.models.budget import BLOCK, Budget
from attemper.reading.models.mealy import Machine
from attemper.reading.models.values import Values


@final
class TableFollower:
    """Follows all configurations of a layer: a state of the machine below, and the tables of the heads.

    `rows` are the activations that the machine below puts out by number. Behind the letter number `last`, an
    end marker, no letter follows; None: there is no such letter.
    """

    def __init__(
        self,
        asked: Asked,
        layer: int,
        below: Machine,
        rows: Array,
        attention: AttentionTables,
        budget: Budget,
        last: int | None,
    ) -> None:
        self._asked, self._layer, self._below = asked, layer, below
        self._attention, self._budget, self._last = attention, budget, last
        # The row behind all activations is what a strict head reads where it sees nothing.
        self._rows = np.concatenate([rows, np.zeros_like(rows[:1])])
        self._values = Values()
        self._combined: dict[bytes, int] = {}
        self._numbers: dict[bytes, int] = {}
        self._names: list[bytes] = []

    def follow(self) -> tuple[Machine, Values]:
        """The machine of this layer, and the activations that it puts out by number.

        Raises `UnprovedError` where the budget is spent.
        """
        width = len(self._attention.order)
        self._number(np.full((1, 1 + width), [0, *[self._attention.empty] * width], dtype=np.int32))
        moves: list[Integers] = []
        outputs: list[Integers] = []
        done = 0
        while done < len(self._names):
            some = self._names[done : done + BLOCK]
            met = np.frombuffer(b"".join(some), dtype=np.int32).reshape(len(some), -1)
            targets, found = self._step(met)
            moves.append(targets)
            outputs.append(found)
            done += len(some)
        return Machine(np.concatenate(moves), np.concatenate(outputs)), self._values

    def _step(self, met: NDArray[np.int32]) -> tuple[Integers, Integers]:
        """Where each letter leads from some configurations, and what is put out."""
        letters = self._below.moves.shape[1]
        targets = np.zeros((len(met), letters), dtype=np.int64)
        read = []
        for letter in range(letters):
            self._budget.look()
            own = self._below.outputs[met[:, 0], letter]
            after = self._attention.updated(met[:, 1:], own)
            read.append(np.column_stack([own, self._attention.read(met[:, 1:], after, own)]))
            if letter != self._last:
                state = self._below.moves[met[:, 0], letter]
                targets[:, letter] = self._number(np.column_stack([state, after]).astype(np.int32))
        outputs = self._combine(np.concatenate(read)).reshape(letters, len(met)).T
        return targets, outputs

    def _number(self, configurations: NDArray[np.int32]) -> Integers:
        """The numbers of configurations, a row each; new ones are still to be followed."""
        found = np.empty(len(configurations), dtype=np.int64)
        before = len(self._names)
        for k, row in enumerate(configurations):
            name = row.tobytes()
            number = found[k] = self._numbers.setdefault(name, len(self._names))
            if number == len(self._names):
                self._names.append(name)
        self._budget.meet(len(self._names) - before)
        self._budget.hold(len(self._names) * configurations.shape[1] * 4, "tables of the heads")
        return found

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
