"""Branch and bound over boxes of frequencies: the least constant that a bound on boxes gives in a budget.

Nothing here is trusted: the checker computes the bounds of the leaves again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import inf
from time import monotonic
from typing import final

import numpy as np

from attemper.models.arrays import Floats

BoxBounds = Callable[[Floats, Floats], Floats]

LEAF = "."
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
"""The letters of axes in the text of a tree of splits; so there are at most 36 axes."""

LEAST_WIDTH = 2.0**-48
"""No axis of the unit cube is halved further: sides of boxes are exact float64 numbers."""


@final
@dataclass(frozen=True)
class SearchProgress:
    """How far a search is: the greatest bound of a leaf, how many boxes were looked at, how many leaves."""

    constant: float
    evaluations: int
    leaves: int


@final
@dataclass(frozen=True)
class SplitTree:
    """A tree of splits in preorder (the letter of an axis that is halved, "." for a leaf), and its bound."""

    constant: float
    splits: str
    evaluations: int
    leaves: int
    interrupted: bool


@dataclass
class _Tree:
    """Boxes of the unit cube: node i is a leaf (axis -1), or halved into the nodes first[i], first[i] + 1.

    `waiting` is a heap of the leaves, the greatest bound first.
    """

    scale: Floats
    low: list[Floats]
    high: list[Floats]
    axis: list[int]
    first: list[int]
    waiting: list[tuple[float, int]]

    def worst(self, most: int, target: float) -> list[tuple[float, int]]:
        """Takes up to so many leaves above the target that can be halved, the greatest bounds first."""
        taken: list[tuple[float, int]] = []
        while self.waiting and len(taken) < most and -self.waiting[0][0] > target:
            node = self.waiting[0][1]
            if (self.high[node] - self.low[node]).max() <= LEAST_WIDTH:
                break
            taken.append(heappop(self.waiting))
        return taken

    def halves(self, node: int) -> tuple[int, list[tuple[Floats, Floats]]]:
        """The axis across which a leaf is best halved, and the corners of both halves."""
        width = self.high[node] - self.low[node]
        axis = int(np.where(width > LEAST_WIDTH, width * self.scale, 0).argmax())
        below, above = self.high[node].copy(), self.low[node].copy()
        below[axis] = above[axis] = (self.low[node][axis] + self.high[node][axis]) * 0.5
        return axis, [(self.low[node], below), (above, self.high[node])]

    def split(
        self, node: int, axis: int, halves: list[tuple[Floats, Floats]], bounds: Sequence[float]
    ) -> None:
        """Makes two leaves of one."""
        self.axis[node], self.first[node] = axis, len(self.low)
        for (low, high), bound in zip(halves, bounds, strict=True):
            heappush(self.waiting, (-bound, len(self.low)))
            self.low.append(low)
            self.high.append(high)
            self.axis.append(-1)
            self.first.append(-1)

    def text(self) -> str:
        """The splits in preorder."""
        letters, nodes = [], [0]
        while nodes:
            node = nodes.pop()
            letters.append(DIGITS[self.axis[node]] if self.axis[node] >= 0 else LEAF)
            if self.axis[node] >= 0:
                nodes += [self.first[node] + 1, self.first[node]]
        return "".join(letters)


def search(
    bounds: BoxBounds,
    widths: Sequence[float],
    *,
    target: float = 0.0,
    evaluations: int | None = None,
    seconds: float | None = None,
    batch: int = 64,
    progress: Callable[[SearchProgress], None] | None = None,
) -> SplitTree:
    """The least constant found that bounds all leaves of a tree of boxes, best first.

    `bounds` takes the least and the greatest corners, (B, axes), of B boxes of the unit cube, and gives B
    upper bounds. A box is halved across the axis that is widest in the measure of `widths`. The search ends
    when no leaf is above `target`, when `evaluations` boxes were looked at, when `seconds` have passed, when
    the worst box cannot be halved further, or at an interrupt; the best so far is returned. With a budget of
    evaluations alone the answer is always the same.

    >>> def bounds(low, high):
    ...     return (high[:, 0] - 0.25) ** 2 + (high - low).sum(axis=1)
    >>> search(bounds, [1.0, 0.5], target=0.75, evaluations=1000).constant <= 0.75
    True
    """
    end = inf if seconds is None else monotonic() + seconds
    axes, looked_at, interrupted = len(widths), 0, False
    tree = _Tree(np.array(widths), [np.zeros(axes)], [np.ones(axes)], [-1], [-1], [(-inf, 0)])
    try:
        while monotonic() < end:
            room = batch if evaluations is None else min(batch, (evaluations - looked_at) // 2)
            looked = _step(tree, bounds, room, target)
            if not looked:
                break
            looked_at += looked
            if progress is not None:
                progress(SearchProgress(-tree.waiting[0][0], looked_at, len(tree.waiting)))
    except KeyboardInterrupt:
        interrupted = True
    return SplitTree(-tree.waiting[0][0], tree.text(), looked_at, len(tree.waiting), interrupted)


def _step(tree: _Tree, bounds: BoxBounds, most: int, target: float) -> int:
    """Halves up to so many leaves, and says how many boxes were looked at: 0 if there is nothing to halve."""
    taken = tree.worst(most, target)
    if not taken:
        return 0
    planned = [tree.halves(node) for _, node in taken]
    corners = [corner for _, halves in planned for corner in halves]
    try:
        found = bounds(np.array([low for low, _ in corners]), np.array([high for _, high in corners]))
    except BaseException:
        for leaf in taken:
            heappush(tree.waiting, leaf)
        raise
    for place, ((_, node), (axis, halves)) in enumerate(zip(taken, planned, strict=True)):
        tree.split(node, axis, halves, [float(bound) for bound in found[2 * place : 2 * place + 2]])
    return len(corners)
