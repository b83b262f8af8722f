"""Machines that put out a number at every position, by what stands before it and by what stands behind it.

Of functions from words to words that look both ways this is the usual normal form (Schützenberger, 1961).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np

from attemper.models.arrays import Integers

ROUNDS = 500
"""So often states are parted at most; a side that would need more rounds is left as it is."""


@final
@dataclass(frozen=True, eq=False)
class Bimachine:
    """At position i of a word w the number outputs[q, w_i, r] is put out.

    q is where w_1, ..., w_(i-1) lead on the left, in this order, and r where w_n, ..., w_(i+1) lead on the
    right; both begin with state 0, and from state q the letter a leads to left[q, a]. At the end marker, of
    words that have one, ends[q] is put out.

    >>> before = Bimachine(np.array([[0, 1], [0, 1]]), np.array([[0, 0]]), np.array([[[5], [5]], [[7], [7]]]))
    >>> before.run((0, 1, 1, 0)), before.mirrored().run((0, 1, 1, 0))
    ((5, 5, 7, 7), (7, 7, 5, 5))
    """

    left: Integers
    right: Integers
    outputs: Integers
    ends: Integers | None = None

    def run(self, letters: tuple[int, ...]) -> tuple[int, ...]:
        """What is put out on a word, at an end marker, too."""
        behind = [0]
        for letter in letters[:0:-1]:
            behind.append(int(self.right[behind[-1], letter]))
        state, found = 0, []
        for letter, other in zip(letters, reversed(behind), strict=False):
            found.append(int(self.outputs[state, letter, other]))
            state = int(self.left[state, letter])
        return (*found, *(() if self.ends is None else (int(self.ends[state]),)))

    def mirrored(self) -> Bimachine:
        """The machine that reads words from the other end; there is no end marker."""
        assert self.ends is None, "an end marker stands at one end only"
        return Bimachine(self.right, self.left, self.outputs.transpose(2, 1, 0))


def merged(machine: Bimachine, look: Callable[[], None] = lambda: None, rounds: int = ROUNDS) -> Bimachine:
    """A machine that puts out the same on every word, with states that nothing tells apart as one.

    (Moore's partition refinement on each side: states are in one block if they put out the same whatever the
    letter and the other side's state are, and then if their moves also lead to the same blocks, until nothing
    changes.) A side that takes too many rounds stays as it is; `look` is called before each, and may raise.

    >>> one = np.zeros((1, 1), dtype=np.int64)
    >>> merged(Bimachine(np.array([[1], [2], [0]]), one, np.full((3, 1, 1), 5))).left.tolist()
    [[0]]
    """
    outputs, ends = machine.outputs, machine.ends
    rows = outputs.reshape(len(outputs), -1)
    marks = rows if ends is None else np.concatenate([rows, ends[:, None]], axis=1)
    left, kept = _side(machine.left, marks, look, rounds)
    outputs, ends = outputs[kept], None if ends is None else ends[kept]
    columns = outputs.transpose(2, 1, 0)
    right, kept = _side(machine.right, columns.reshape(len(columns), -1), look, rounds)
    return Bimachine(left, right, outputs[:, :, kept], ends)


def _side(
    moves: Integers, marks: Integers, look: Callable[[], None], rounds: int
) -> tuple[Integers, Integers]:
    """The moves of the blocks, and a state of each; states with other marks are told apart."""
    blocks = _numbered(marks)
    for _ in range(rounds):
        look()
        finer = _numbered(np.concatenate([blocks[:, None], blocks[moves]], axis=1))
        if finer.max() == blocks.max():
            first = np.unique(blocks, return_index=True)[1]
            return blocks[moves[first]], first
        blocks = finer
    return moves, np.arange(len(moves))


def _numbered(rows: Integers) -> Integers:
    """For each row the number of it among all different rows, in the order in which they first stand."""
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    found: Integers = rank[number.reshape(-1)]
    return found
