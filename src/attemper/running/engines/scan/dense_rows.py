"""A head whose scores have no linear way: row by row of the attention matrix, some queries at a time."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attemper.running.engines.scan.grid import Grid
from attemper.running.engines.scan.head import FormReader
from attemper.running.engines.scan.shapes import HeadShape

SCORES = 1 << 22
"""How many scores are computed together (32 MiB)."""


def attend_densely(shape: HeadShape, read: FormReader, grid: Grid) -> Tensor:
    """The means of the head's values over what each query sees, [value, column], in float64."""
    cold = grid.values(shape.inverse_temperature) / shape.root
    queries = _table([read(row.query) * cold for row in shape.rows], grid)
    keys = _table([read.key(row.key) for row in shape.rows], grid)
    values = _table([read(form) for _, form, _ in shape.values], grid)
    low, high = (places.reshape(grid.words, grid.width, 1) for places in grid.visible(shape.masking))
    places = torch.arange(grid.width, device=grid.lengths.device)
    found = torch.empty_like(values)
    step = max(1, SCORES // grid.columns)
    for begin in range(0, grid.width, step):
        part = slice(begin, begin + step)
        hidden = (places < low[:, part]) | (places >= high[:, part])
        scores = (queries[:, part] @ keys.transpose(1, 2)).masked_fill(hidden, -torch.inf)
        blind = hidden.all(dim=2, keepdim=True)
        top = scores.amax(dim=2, keepdim=True).masked_fill(blind, 0.0)
        weights = (scores - top).exp()
        total = weights.sum(dim=2, keepdim=True)
        found[:, part] = weights @ values / total.masked_fill(blind, 1.0)
    return found.permute(2, 0, 1).reshape(len(shape.values), grid.columns)


def _table(rows: Sequence[Tensor], grid: Grid) -> Tensor:
    """Rows [column] as [word, position, row]."""
    if not rows:
        return torch.zeros(grid.words, grid.width, 0, dtype=torch.float64, device=grid.lengths.device)
    return torch.stack(list(rows)).reshape(len(rows), grid.words, grid.width).permute(1, 2, 0)
