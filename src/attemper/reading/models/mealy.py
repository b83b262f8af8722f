"""Machines that put out a number with every letter that they read (Mealy machines), over arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from attemper.models.arrays import Integers

ROUNDS = 500
"""So often states are parted at most; a machine that would need more rounds is left as it is."""


@final
@dataclass(frozen=True, eq=False)
class Machine:
    """From state q the letter a leads to state moves[q, a], and outputs[q, a] is put out; it starts in 0.

    >>> Machine(np.array([[0, 0]]), np.array([[5, 7]])).run((0, 1, 1))
    (5, 7, 7)
    """

    moves: Integers
    outputs: Integers

    def run(self, letters: tuple[int, ...]) -> tuple[int, ...]:
        """What is put out on a word."""
        state, found = 0, []
        for letter in letters:
            found.append(int(self.outputs[state, letter]))
            state = int(self.moves[state, letter])
        return tuple(found)


def merged(machine: Machine, look: Callable[[], None] = lambda: None, rounds: int = ROUNDS) -> Machine:
    """A machine that puts out the same on every word, with states that nothing tells apart as one.

    (Moore's partition refinement: states are in one block if they put out the same, and then if their moves
    also lead to the same blocks, until nothing changes.) The machine itself where that takes too many rounds;
    `look` is called before each, and may raise.

    >>> merged(Machine(np.array([[1], [2], [0]]), np.array([[5], [5], [5]]))).moves.tolist()
    [[0]]
    """
    blocks = _numbered(machine.outputs)
    for _ in range(rounds):
        look()
        finer = _numbered(np.concatenate([blocks[:, None], blocks[machine.moves]], axis=1))
        if finer.max() == blocks.max():
            first = np.unique(blocks, return_index=True)[1]
            return Machine(blocks[machine.moves[first]], machine.outputs[first])
        blocks = finer
    return machine


def _numbered(rows: Integers) -> Integers:
    """For each row the number of it among all different rows, in the order in which they first stand."""
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    found: Integers = rank[number.reshape(-1)]
    return found
