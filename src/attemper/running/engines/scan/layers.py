"""The scan's layers: the residual stream [d_model, column] through heads and hidden units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

import torch
from torch import Tensor

from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Softmax
from attemper.running.engines.scan.dense_rows import attend_densely
from attemper.running.engines.scan.grid import Grid
from attemper.running.engines.scan.head import Tables
from attemper.running.engines.scan.heads import HeadOutput, attend
from attemper.running.engines.scan.past import NeedsPastError, Past, UnfitError
from attemper.running.engines.scan.shapes import Combination, HeadShape, head_shape
from attemper.running.hooks import HookPoint

if TYPE_CHECKING:
    from attemper.running.attention import Attention
    from attemper.running.blocks import Block

UNITS = 1 << 17
"""How many hidden units' numbers are computed together: they stay in the processor's cache."""

HiddenHook = Callable[[Tensor, slice], None]
"""Called with what the hidden units see at some columns, [column, d_mlp]."""


@final
@dataclass(frozen=True)
class Errand:
    """What a run is for: whether margins are wanted, whether hooks watch, and whether heads may run dense."""

    margins: bool
    watched: bool
    dense: bool


@final
@dataclass
class Ways:
    """By which ways each head (layer, head) was computed, and why some ran dense."""

    of: dict[tuple[int, int], set[str]] = field(default_factory=dict)
    reasons: dict[tuple[int, int], str] = field(default_factory=dict)


@final
class ScanLayer:
    """One layer, its weights read once: heads as shapes, and hidden units."""

    def __init__(self, number: int, block: Block) -> None:
        self.number, self.block = number, block
        self.all_shapes = _shapes(block.attn)
        self.shapes = [shape.without_unread() for shape in self.all_shapes]
        self.tables = [Tables() for _ in self.shapes]
        units = block.mlp
        self.reads = (units.W_in != 0).any(dim=1).nonzero()[:, 0]
        self.writes = (units.W_out != 0).any(dim=0).nonzero()[:, 0]
        self.inner = units.W_in[self.reads].T.contiguous()
        self.outer = units.W_out[:, self.writes].T.contiguous()
        self.bias = units.b_in[:, None]

    def heads(
        self,
        x: Tensor,
        grid: Grid,
        pure: Mapping[int, ClosedForm],
        pasts: list[Past] | None,
        ways: Ways,
        *,
        errand: Errand,
    ) -> Tensor:
        """Add what the heads attend to, in place or in a new tensor.

        Raises `UnfitError` for a head that would have to run dense, unless the errand allows that.
        """
        block = self.block
        shapes = self.all_shapes if block.attn.hook_z.is_watched else self.shapes
        found = [
            self._attended(
                number, shape, x, grid, pure, None if pasts is None else pasts[number], ways, errand=errand
            )
            for number, shape in enumerate(shapes)
        ]
        if block.attn.hook_z.is_watched or block.hook_attn_out.is_watched:
            x = x + shown(block.hook_attn_out, self._attention_out(found, x, grid), grid)
        else:
            self._add(found, x)
        return shown(block.hook_resid_mid, x, grid)

    def units(self, x: Tensor, grid: Grid, look: HiddenHook | None) -> Tensor:
        """Add what the hidden units write, in place or in a new tensor."""
        block, mlp = self.block, self.block.mlp
        watched = any(point.is_watched for point in (mlp.hook_pre, mlp.hook_post, block.hook_mlp_out))
        step = grid.columns if watched else max(256, UNITS // (len(self.bias) + len(self.reads) + 1))
        if watched:
            x = x.clone()
        for begin in range(0, grid.columns if watched or len(self.bias) else 0, step):
            part = slice(begin, begin + step)
            pre = self.inner @ x[self.reads, part]
            pre += self.bias
            pre = shown(mlp.hook_pre, pre, grid)
            if look is not None:
                look(pre.T, part)
            post = shown(mlp.hook_post, pre.relu_() if not watched else pre.relu(), grid)
            out = self.outer @ post
            if block.hook_mlp_out.is_watched:
                x += shown(block.hook_mlp_out, torch.zeros_like(x).index_copy_(0, self.writes, out), grid)
            else:
                x[self.writes, part] += out
        return shown(block.hook_resid_post, x, grid)

    def _attended(
        self,
        number: int,
        shape: HeadShape,
        x: Tensor,
        grid: Grid,
        pure: Mapping[int, ClosedForm],
        past: Past | None,
        ways: Ways,
        *,
        errand: Errand,
    ) -> Tensor:
        """What a head attends to [value, column], rounded to the stream's format."""
        read = _StreamReader(x, grid, pure)
        name = self.number, number
        try:
            found = attend(shape, pure, read, grid, past, Tables() if errand.watched else self.tables[number])
        except UnfitError as error:
            if past is not None:
                raise NeedsPastError from None
            parts = grid.parts(single_words=not error.of_all_words)
            if parts:
                # What other words and padding hold is no reason to compute a word in another way.
                joined = x.new_zeros(len(shape.values), grid.columns)
                for columns, own in parts:
                    joined[:, columns] = self._attended(
                        number, shape, x[:, columns], own, pure, None, ways, errand=errand
                    )
                return joined
            if not errand.dense:
                raise
            ways.reasons[name] = str(error)
            found = HeadOutput(attend_densely(shape, read, grid), frozenset({"dense"}))
        ways.of.setdefault(name, set()).update(found.ways)
        return found.values.to(x.dtype)

    def _add(self, found: list[Tensor], x: Tensor) -> None:
        for shape, rows in zip(self.shapes, found, strict=True):
            for (_, _, targets), row in zip(shape.values, rows, strict=True):
                for coordinate, factor in targets:
                    x[coordinate] += row if factor == 1 else row * factor

    def _attention_out(self, found: list[Tensor], x: Tensor, grid: Grid) -> Tensor:
        """As hook_attn_out sees it, after hook_z."""
        heads, d_head = self.block.attn.W_V.shape[0], self.block.attn.W_V.shape[2]
        z = x.new_zeros(heads, d_head, grid.columns)
        watched = self.block.attn.hook_z.is_watched
        for own, shape, rows in zip(z, self.all_shapes if watched else self.shapes, found, strict=True):
            for (place, _, _), row in zip(shape.values, rows, strict=True):
                own[place] = row
        # hook_z sees [batch, position, head, d_head].
        table = z.permute(2, 0, 1).reshape(grid.words, grid.width, heads, d_head)
        table = self.block.attn.hook_z(table).reshape(grid.columns, heads * d_head)
        out: Tensor = (table @ self.block.attn.W_O.flatten(0, 1)).T
        return out


def _shapes(attention: Attention) -> list[HeadShape]:
    weights = zip(attention.W_Q, attention.W_K, attention.W_V, attention.W_O, strict=True)
    found = []
    for masking, weighting, own in zip(attention.maskings, attention.weightings, weights, strict=True):
        assert isinstance(weighting, Softmax)
        found.append(head_shape(masking, weighting.inverse_temperature, *own))
    return found


@final
class _StreamReader:
    """Linear forms of the residual stream in float64; what was read once is kept."""

    def __init__(self, x: Tensor, grid: Grid, pure: Mapping[int, ClosedForm]) -> None:
        self._x, self._grid, self._pure = x, grid, pure
        self._kept: dict[Combination, Tensor] = {}

    def __call__(self, form: Combination) -> Tensor:
        """The form of what stands in the stream, in its format."""
        if form not in self._kept:
            self._kept[form] = self._sum(form, lambda coordinate: self._x[coordinate].double())
        return self._kept[form]

    def key(self, form: Combination) -> Tensor:
        """The form with pure coordinates evaluated in float64, which the stream's format may have rounded."""
        return self._sum(form, self._as_key)

    def _as_key(self, coordinate: int) -> Tensor:
        form = self._pure.get(coordinate)
        return self._x[coordinate].double() if form is None else self._grid.values(form)

    def _sum(self, form: Combination, row_of: Callable[[int], Tensor]) -> Tensor:
        total: Tensor | None = None
        for coordinate, factor in form:
            row = row_of(coordinate)
            row = row if factor == 1 else row * factor
            total = row if total is None else total + row
        return self._x.new_zeros(self._x.shape[1], dtype=torch.float64) if total is None else total


def shown(point: HookPoint, rows: Tensor, grid: Grid) -> Tensor:
    """What a hook point makes of rows [row, column], which its hooks see as [batch, position, row]."""
    if not point.is_watched:
        return rows
    seen: Tensor = point(rows.T.reshape(grid.words, grid.width, len(rows)).clone())
    # A copy, as what comes after is added in place, and hooks may keep what they saw.
    return torch.empty_like(rows).copy_(seen.reshape(grid.columns, len(rows)).T)
