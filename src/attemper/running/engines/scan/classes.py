"""Classes of keys: positions of one parity, where that matters, whose keys have the same content.

In a class all keys are one polynomial of the position. Its members have ranks, from 0 on in the order of
positions, and those that a query sees are an interval of ranks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import final

import torch
from torch import Tensor

from attemper.running.engines.scan.grid import Grid
from attemper.running.engines.scan.past import ClassName, Kept, Past, UnfitError

MOST_CLASSES = 64
"""Heads whose keys have more contents run dense."""


@final
@dataclass(frozen=True)
class Progression:
    """The positions `first`, `first` + `stride`, ... of every word; `values` [value, column].

    The stride is 1 or 2, and the first position no greater.
    """

    first: int
    stride: int
    values: Tensor
    hole: int | None = None

    def rank_after(self, places: Tensor, start: Tensor | int) -> Tensor:
        """How many members stand at positions up to these."""
        del start
        steps = places + (self.stride - self.first)
        return steps >> 1 if self.stride == 2 else steps

    def positions(self, ranks: Tensor) -> Tensor:
        """The members' positions, in float64."""
        return (self.first + self.stride * ranks).double()

    def value(self, number: int, ranks: Tensor, start: Tensor | int) -> Tensor:
        """One of the members' values."""
        return self.values[number].take(start + (self.first - 1) + self.stride * ranks)


@final
@dataclass(frozen=True)
class ListedMembers:
    """Members one by one: `at` [member] and `values` [value, member], words one after the other.

    `before` [column + 1] is how many members stand before each column. Ranks go on from word to word.
    """

    at: Tensor
    values: Tensor
    before: Tensor
    first: int
    hole: int | None
    word: Tensor | None
    """The word of each member, where there are several."""

    def rank_after(self, places: Tensor, start: Tensor | int) -> Tensor:
        """How many members stand at positions up to these, or in words before."""
        if self.first == 1:
            return self.before.take(start + places)
        # What stands before the block is visible as a whole, or not at all.
        found = self.before.take((places - (self.first - 1)).clamp(min=0))
        return torch.where(places == 0, 0, found)

    def positions(self, ranks: Tensor) -> Tensor:
        """The members' positions, in float64."""
        return self.at.take(ranks)

    def value(self, number: int, ranks: Tensor, start: Tensor | int) -> Tensor:
        """One of the members' values."""
        del start
        return self.values[number].take(ranks)


Class = Progression | ListedMembers


def contents(rows: Sequence[Tensor], grid: Grid) -> tuple[Tensor | None, list[tuple[float, ...]]]:
    """Which content each column has [column], and the contents; None where there is but one.

    Raises `UnfitError` if there are too many.
    """
    label: Tensor | None = None
    found: list[tuple[float, ...]] = [()]
    for row in rows:
        own, distinct = _labelled(_without_padding(row, grid))
        if len(distinct) == 1:
            found = [(*name, distinct[0]) for name in found]
            continue
        label = own if label is None else label * len(distinct) + own
        found = [(*name, value) for name in found for value in distinct]
        if len(found) > MOST_CLASSES:
            raise UnfitError(f"its keys have more than {MOST_CLASSES} contents")
    return label, found


def _without_padding(row: Tensor, grid: Grid) -> Tensor:
    """Padding has the content of the first column: nobody sees it, and it makes no class of its own."""
    return row.masked_fill(grid.padding, float(row[0])) if grid.has_padding else row


def _labelled(row: Tensor) -> tuple[Tensor, list[float]]:
    """Each column's number among the distinct values of a row; raises `UnfitError` for too many."""
    label = torch.full(row.shape, -1, dtype=torch.int64, device=row.device)
    distinct: list[float] = []
    left = row
    while len(left):
        value = float(left[0])
        if not isfinite(value):
            raise UnfitError("what its keys read is no finite number")
        if len(distinct) == MOST_CLASSES:
            raise UnfitError(f"its keys have more than {MOST_CLASSES} contents")
        label.masked_fill_(row == value, len(distinct))
        distinct.append(value)
        left = left[left != value]
    return label, distinct


def masks(
    label: Tensor | None, names: Sequence[tuple[float, ...]], by_parity: bool, grid: Grid
) -> Iterator[tuple[ClassName, Tensor]]:
    """Each class that has members in the grid, and which columns they are; padding is in none."""
    odd = grid.positions % 2 == 1 if by_parity else None
    real = ~grid.padding if grid.has_padding else None
    for number, content in enumerate(names):
        own = None if label is None else label == number
        for parity in (False, True) if by_parity else (None,):
            mask = own
            if odd is not None:
                side = odd if parity else ~odd
                mask = side if own is None else own & side
            if mask is None:
                mask = torch.ones(grid.columns, dtype=torch.bool, device=grid.lengths.device)
            if real is not None:
                mask = mask & real
            if mask.any():
                yield (parity, content), mask


def listed(
    name: ClassName, mask: Tensor | None, values: Tensor, grid: Grid, past: Past | None
) -> ListedMembers:
    """A class's members, those that are kept of the past first. `mask`: its columns; None: it has none."""
    if mask is None:
        columns = torch.zeros(0, dtype=torch.int64, device=values.device)
        before = torch.zeros(grid.columns + 1, dtype=torch.int64, device=values.device)
    else:
        columns = mask.nonzero()[:, 0]
        before = torch.nn.functional.pad(mask.cumsum(dim=0), (1, 0))
    at, own = grid.positions.take(columns).double(), values[:, columns]
    if past is None:
        return ListedMembers(at, own, before, 1, None, grid.word.take(columns) if grid.words > 1 else None)
    kept = past.members.get(name)
    hole = None
    if kept is not None:
        at, own = torch.cat([kept.positions, at]), torch.cat([kept.values, own], dim=1)
        before, hole = before + len(kept.positions), kept.hole
    past.members[name] = Kept(at, own, hole).shortened()
    return ListedMembers(at, own, before, grid.first, hole, None)
