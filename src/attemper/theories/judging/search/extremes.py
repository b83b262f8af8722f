"""The greatest of what a head reads along a direction, over the words of each cell: nothing is trusted.

A longest path at l is a word; what it reads is a better l, and so on (Dinkelbach, *On nonlinear fractional
programming*, 1967). Each l is attained by a word, so it is not too high, and soon the highest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attemper.models.arrays import Floats
from attemper.models.enclosures.paths import PathStep, steps_of
from attemper.theories.judging.check.cells import WordCell
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder

ROUNDS = 40
"""So often a number is made better at most; three or four times are enough, as a rule."""

SLACK = 2.0**-34
"""How much higher than what was found, in comparison to the head's values, a number is claimed."""


TINY = 2.0**-800
"""Claimed beside that, where all values are 0: sums are raised by less than this for what underflows."""


def highest(read: ReadEncoder, head: JudgedHead, cells: Sequence[WordCell]) -> Floats:
    """About the greatest u o and -u o over the words of each cell, and a little more, (C, 2 D)."""
    found = attained(read, head, cells)
    return np.asarray(found + SLACK * (np.abs(head.seen).max(axis=(1, 2)) + np.abs(found)) + TINY)


def attained(read: ReadEncoder, head: JudgedHead, cells: Sequence[WordCell]) -> Floats:
    """About the greatest u o and -u o, (C, 2 D); each is attained by a word."""
    found = np.broadcast_to(-np.abs(head.seen).max(axis=(1, 2)), (len(cells), len(head.seen))).copy()
    for _ in range(ROUNDS):
        better = np.maximum(_on_best_words(read, head, cells, found), found)
        is_settled = not bool((better > found + 2.0**-46 * np.abs(found)).any())
        found = better
        if is_settled:
            break
    return found


def _on_best_words(read: ReadEncoder, head: JudgedHead, cells: Sequence[WordCell], level: Floats) -> Floats:
    """What is read along each axis on a word with the greatest sum of e_j (b v_j - l)."""
    at, last = read.places_of(cells)
    lengths = np.array([own.length for own in cells])
    always = read.always
    weight = (head.low + head.high) / 2
    shape = (3, *level.shape, len(read.task.moves))
    found = np.zeros(shape)
    found[0] = -np.inf
    begin = found[..., read.task.automaton.start]
    begin[:] = 0
    for symbol, there in read.fixed_in(cells):
        own, along = weight[last, at, there, symbol][:, None], head.seen[:, there, symbol].T
        begin += np.stack([own * (along - level), own * along, np.broadcast_to(own, level.shape)])
    steps = steps_of(read.task.moves)
    for position in range(1, int(lengths[-1]) + 1):
        row = int(np.searchsorted(lengths, position))
        there = read.residues_at(position, cells[row:])
        power = weight[last[row:], at[row:], there][:, None, :always]
        value = np.moveaxis(head.seen[:, there, :always], 1, 0)
        gain = power * (value - level[row:, :, None])
        for number in range(row, int(np.searchsorted(lengths, position, side="right"))):
            if cells[number].last is not None:
                gain[number - row, :, np.arange(always) != cells[number].last] = -np.inf
        step = np.stack([gain, power * value, np.broadcast_to(power, gain.shape)])
        found[:, row:] = _one_further(found[:, row:], step, steps)
    rows, states = np.arange(len(cells)), np.array([own.state for own in cells])
    return np.asarray(found[1, rows, :, states] / found[2, rows, :, states])


def _one_further(found: Floats, step: Floats, steps: Sequence[PathStep]) -> Floats:
    """The sums of the better of all words that come to a state: the first of the three decides."""
    after = np.zeros_like(found)
    after[0] = -np.inf
    for symbol, sources, targets in steps:
        other = found[..., sources] + step[..., symbol, None]
        before = after[..., targets]
        after[..., targets] = np.where(other[0] > before[0], other, before)
    return after


def axes_of(head: JudgedHead) -> Floats:
    """Rows (r, c) that span the differences of values, and one more for their mean, as far as that is aside.

    `head` may have any axes.
    """
    values = head.value.centre.reshape(len(head.value.rest), -1)
    mean = values.mean(axis=1, keepdims=True)
    if not np.isfinite(values).all():
        return np.eye(len(values))  # nothing is proved of it
    left, sizes, _ = np.linalg.svd(values - mean, full_matrices=False)
    kept = left[:, sizes > 1e-9 * max(sizes.max(), np.abs(mean).max())]
    aside = mean[:, 0] - kept @ (kept.T @ mean[:, 0])
    size = float(np.linalg.norm(aside))
    if size > 1e-9 * np.abs(values).max():
        kept = np.column_stack([kept, aside / size])
    return np.asarray(kept.T) if kept.size else np.eye(len(values))[:1]
