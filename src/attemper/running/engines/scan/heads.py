"""One head in time linear in the number of positions: which way its scores allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

from attemper.exact.closed_forms import ClosedForm
from attemper.running.engines.scan.classes import Class
from attemper.running.engines.scan.combining import ClassSums, finite, positive
from attemper.running.engines.scan.grid import Grid
from attemper.running.engines.scan.head import FormReader, ScannedHead, Tables
from attemper.running.engines.scan.past import ClassName, NeedsPastError, Past, UnfitError
from attemper.running.engines.scan.polynomials import constant
from attemper.running.engines.scan.shapes import HeadShape

SLICE = 1 << 15
"""How many queries of one word are looked at together: what they need stays in the processor's cache."""

EVERYTHING: ClassName = None, ()
"""The name of the only class of a head that has no scores."""


@final
@dataclass(frozen=True)
class HeadOutput:
    """What a head attends to, [value, column] in float64, and the ways by which that was summed."""

    values: Tensor
    ways: frozenset[str]


def attend(
    shape: HeadShape,
    pure: Mapping[int, ClosedForm],
    read: FormReader,
    grid: Grid,
    past: Past | None,
    tables: Tables,
) -> HeadOutput:
    """The means of the head's values over what each query sees.

    Raises `UnfitError` where the scores have no linear way, and `NeedsPastError` where what is kept of the
    past is not enough.
    """
    values = _stacked([read(form) for _, form, _ in shape.values], grid)
    if not shape.values:
        return HeadOutput(values, frozenset({"nothing"}))
    head = ScannedHead(shape, pure, read, grid, past, values, tables)
    if not shape.rows:
        sums = _sums(head, EVERYTHING, values)
        seen: Tensor = shape.masking.number_visible(grid.i, grid.n)
        return HeadOutput(sums / seen.clamp(min=1), frozenset({"average"}))
    if head.scale.degree == 0:
        return HeadOutput(_flat(head), frozenset({"flat"}))
    if head.scale.degree == 2:
        if head.has_content and past is not None:
            raise NeedsPastError
        return _combined(head, head.listed() if head.has_content else head.spaced())
    constants = head.constants()
    if constants is None:
        return _combined(head, head.listed())
    return _combined(
        head, {name: group for name, group in head.spaced().items() if name in constants}, constants
    )


def _stacked(rows: Sequence[Tensor], grid: Grid) -> Tensor:
    if rows:
        return torch.stack(list(rows))
    return torch.zeros(0, grid.columns, dtype=torch.float64, device=grid.lengths.device)


def _sums(head: ScannedHead, name: ClassName, rows: Tensor) -> Tensor:
    """The sums over what each query sees of a class, also of positions before the block."""
    masking, grid, past = head.shape.masking, head.grid, head.past
    if past is None:
        return grid.sums(rows, masking)
    before = past.sums.get(name)
    total = rows.sum(dim=1)
    past.sums[name] = total if before is None else before + total
    return grid.sums(rows, masking, before)


def _flat(head: ScannedHead) -> Tensor:
    """The means where no power of the position occurs: each class counts by its number of members."""
    groups = dict(head.masks())
    if head.past is not None:
        none = torch.zeros(head.grid.columns, dtype=torch.bool, device=head.values.device)
        groups = {**dict.fromkeys(head.past.sums, none), **groups}
    sums = {
        name: _sums(head, name, torch.cat([mask[None].double(), head.values * mask]))
        for name, mask in groups.items()
    }
    if len(sums) == 1:
        (only,) = sums.values()
        return only[1:] / only[0].clamp(min=1)
    everything = slice(None)
    queries = head.queries(everything)
    scores = {
        name: constant(queries, head.numbers(name, everything)).masked_fill(own[0] == 0, -torch.inf)
        for name, own in sums.items()
    }
    top = torch.stack(list(scores.values())).amax(dim=0)
    if not (top.isfinite() | (sum(own[0] for own in sums.values()) == 0)).all():
        raise UnfitError("its scores leave the range of float64")
    top = finite(top)
    weighted = torch.zeros_like(next(iter(sums.values())))
    for name, score in scores.items():
        weighted += sums[name] * (score - top).exp()
    return weighted[1:] / positive(weighted[0])


def _combined(
    head: ScannedHead, groups: Mapping[ClassName, Class], constants: Mapping[ClassName, Tensor] | None = None
) -> HeadOutput:
    """The means over classes whose scores change with the position."""
    grid, ways = head.grid, set[str]()
    found = torch.empty(len(head.values), grid.columns, dtype=torch.float64, device=grid.lengths.device)
    step = SLICE if grid.words == 1 else grid.columns
    sums = ClassSums(head, groups, constants)
    for begin in range(0, grid.columns, step):
        part = slice(begin, min(begin + step, grid.columns))
        found[:, part] = sums.means(part, ways)
    return HeadOutput(found, frozenset(ways))
