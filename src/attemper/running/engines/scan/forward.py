"""Words through the scan: batches of words of about one length, and long words block by block."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import final

import torch
from torch import Tensor

from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Masking
from attemper.running.blocks import BlockStack, clamp_room
from attemper.running.engines.scan.grid import Grid
from attemper.running.engines.scan.layers import Errand, HiddenHook, ScanLayer, Ways, shown
from attemper.running.engines.scan.past import NeedsPastError, Past
from attemper.running.engines.scan.shapes import pure_forms

COLUMNS = 1 << 16
"""How many columns of short words are laid side by side."""

BLOCK = 1 << 15
"""How many positions of a long word are read together, where heads look only to the past."""

EVEN = 2
"""Words of one grid differ in length by at most this factor."""

FEW = 1 << 12
"""Grids with no more columns than this may hold words of any lengths."""


@final
class ModuleScan:
    """A module's weights as the scan reads them. `ways` says how its heads were computed so far."""

    def __init__(self, model: BlockStack) -> None:
        network = model.network
        written = [model.embed.W_E]
        for layer in model.blocks:
            written += [layer.attn.W_O, layer.mlp.W_out]
        pure = pure_forms(network.positions, written)
        self.model, self.pure = model, pure
        self.dtype, self.device = model.dtype, model.device
        self.layers = [ScanLayer(number, block) for number, block in enumerate(model.blocks)]
        letters = model.embed.W_E
        self.letters = [
            (int(c), letters[:, c].contiguous()) for c in (letters != 0).any(dim=0).nonzero()[:, 0]
        ]
        maskings = {shape.masking.weak for layer in self.layers for shape in layer.shapes}
        self.looks_back = maskings <= {Masking.FUTURE}
        self.ways = Ways()

    def run(
        self,
        tokens: Tensor,
        lengths: Tensor,
        rooms: Tensor | None,
        *,
        whole: bool = False,
        dense: bool = True,
    ) -> Tensor:
        """The outputs [batch, position, output]; `rooms` [batch], if any, takes each word's least margin.

        `whole`: all words in one grid, as somebody watches them. What stands past a word's end means nothing.
        Heads that have no linear way run dense; or raise `UnfitError`, without `dense`.
        """
        errand = Errand(rooms is not None, whole, dense)
        outputs = torch.zeros(
            *tokens.shape, len(self.model.network.outputs), dtype=self.model.dtype, device=tokens.device
        )
        for rows in [torch.arange(len(tokens), device=tokens.device)] if whole else _alike(lengths):
            width = tokens.shape[1] if whole else int(lengths[rows].max())
            part = tokens[rows, :width]
            if not whole and len(rows) == 1 and width > BLOCK and self.looks_back:
                found, room = self._long(part[0], errand)
            else:
                grid = Grid(lengths[rows], width)
                found, room = self._grid(part.flatten(), grid, None, errand)
            outputs[rows, :width] = found.T.reshape(len(rows), width, -1)
            if rooms is not None and room is not None:
                rooms[rows] = room
        return outputs

    def _long(self, tokens: Tensor, errand: Errand) -> tuple[Tensor, Tensor | None]:
        """One long word, block by block if what heads keep of the past is enough."""
        n = torch.full((1,), len(tokens), device=tokens.device)
        pasts = [[Past() for _ in layer.shapes] for layer in self.layers]
        found, rooms = [], []
        try:
            for begin in range(0, len(tokens), BLOCK):
                part = tokens[begin : begin + BLOCK]
                own, room = self._grid(part, Grid(n, len(part), begin + 1), pasts, errand)
                found.append(own)
                rooms.append(room)
        except NeedsPastError:
            return self._grid(tokens, Grid(n, len(tokens)), None, errand)
        least = (
            torch.stack([room for room in rooms if room is not None]).amin(dim=0)
            if rooms[0] is not None
            else None
        )
        return torch.cat(found, dim=1), least

    def _grid(
        self,
        tokens: Tensor,
        grid: Grid,
        pasts: list[list[Past]] | None,
        errand: Errand,
    ) -> tuple[Tensor, Tensor | None]:
        """The outputs of a grid [output, column], and the least margin of each word."""
        room = (
            torch.full((grid.columns,), torch.inf, dtype=torch.float64, device=tokens.device)
            if errand.margins
            else None
        )
        x = self._embedded(tokens, grid)
        pure = self.pure
        for number, layer in enumerate(self.layers):
            if errand.watched:
                # Hooks may change the stream: what should be pure is looked at.
                x = shown(layer.block.hook_resid_pre, x, grid)
                pure = _still_pure(pure, x, grid)
            own_pasts = None if pasts is None else pasts[number]
            x = layer.heads(x, grid, pure, own_pasts, self.ways, errand=errand)
            x = layer.units(x, grid, self._look(number, room))
        outputs = x[list(self.model.network.outputs)]
        if room is None:
            return outputs, None
        if grid.has_padding:
            room = room.masked_fill(grid.padding, torch.inf)
        return outputs, room.reshape(grid.words, grid.width).amin(dim=1)

    def _look(self, number: int, room: Tensor | None) -> HiddenHook | None:
        layer = self.model.network.layers[number]
        if room is None or not layer.clamps:
            return None

        def look(pre: Tensor, part: slice) -> None:
            own = clamp_room(layer, pre).amin(dim=-1).double()
            room[part] = torch.minimum(room[part], own)

        return look

    def _embedded(self, tokens: Tensor, grid: Grid) -> Tensor:
        """The word and position embeddings [d_model, column]."""
        model = self.model
        x = torch.zeros(len(model.network.coordinates), grid.columns, dtype=model.dtype, device=tokens.device)
        for coordinate, letters in self.letters:
            x[coordinate] = letters.take(tokens)
        x = shown(model.hook_embed, x, grid)
        places = torch.zeros_like(x) if model.hook_pos_embed.is_watched else x
        for coordinate, form in model.network.positions:
            places[coordinate] += grid.values(form).to(x.dtype)
        return x if places is x else x + shown(model.hook_pos_embed, places, grid)


def _still_pure(pure: Mapping[int, ClosedForm], x: Tensor, grid: Grid) -> dict[int, ClosedForm]:
    """The coordinates that hold their closed forms, and not what a hook has made of them."""
    return {c: form for c, form in pure.items() if torch.equal(x[c], grid.values(form).to(x.dtype))}


def _alike(lengths: Tensor) -> Iterator[Tensor]:
    """Words by their lengths, in lots that fill one grid without much padding."""
    if bool((lengths == lengths[:1]).all()):
        step = max(1, COLUMNS // int(lengths.amax(dim=0))) if len(lengths) else 1
        every = torch.arange(len(lengths), device=lengths.device)
        yield from (every[begin : begin + step] for begin in range(0, len(lengths), step))
        return
    order = lengths.argsort(stable=True, descending=True)
    ordered = lengths[order].tolist()
    begin = 0
    while begin < len(ordered):
        width = ordered[begin]
        end = begin + 1
        while end < len(ordered) and _fits(width, end + 1 - begin, ordered[end]):
            end += 1
        yield order[begin:end]
        begin = end


def _fits(width: int, words: int, shortest: int) -> bool:
    columns = width * words
    return columns <= FEW or (columns <= COLUMNS and width <= EVEN * shortest)
