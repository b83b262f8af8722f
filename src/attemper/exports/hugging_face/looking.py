"""A network's outputs on a batch, and on request its residual streams and attention patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor
from torch.nn.functional import pad

from attemper.errors import WordError
from attemper.running.tokens import checked_tokens
from attemper.running.traceable.attention import Seats
from attemper.running.traceable.labels import ACCEPTED, UNDECIDED, labels_of
from attemper.running.traceable.module import TraceableBlock, TraceableTransformer


@final
@dataclass(frozen=True)
class LookResult:
    """What a network puts out [batch, position] or [batch, position, name], and each word's margin [batch].

    `streams` are the residual streams before each layer and after the last, each [batch, position, d_model];
    `patterns` the attention weights of each layer [batch, head, query, key]. Both are None if nobody asked.
    """

    outputs: Tensor
    margins: Tensor
    streams: tuple[Tensor, ...] | None
    patterns: tuple[Tensor, ...] | None


def look(
    module: TraceableTransformer, tokens: Tensor, mask: Tensor, *, streams: bool, patterns: bool
) -> LookResult:
    """Run words, tokens and mask [batch, position], and keep what is asked for.

    A batch without positions, which are empty words alone, runs with one place of padding, which is cut off
    again.
    """
    width = tokens.shape[1]
    if width == 0:
        tokens, mask = pad(tokens, (0, 1)), pad(mask, (0, 1))
    if not streams and not patterns:
        outputs, margins = module(tokens, mask)
        return LookResult(outputs[:, :width], margins, None, None)
    seats = Seats.of(mask)
    kept, seen = [module.embedded(tokens, seats)], []
    margins = torch.full(tokens.shape[:1], float("inf"), dtype=torch.float64, device=tokens.device)
    for block in module.blocks:
        assert isinstance(block, TraceableBlock)
        if patterns:
            seen.append(_pattern(block, kept[-1], seats)[..., :width, :width])
        x, margins = block(kept[-1], seats, margins)
        kept.append(x)
    return LookResult(
        module.read(kept[-1])[:, :width],
        margins,
        tuple(x[:, :width] for x in kept) if streams else None,
        tuple(seen) if patterns else None,
    )


def _pattern(block: TraceableBlock, x: Tensor, seats: Seats) -> Tensor:
    """The attention weights of a layer; of one without heads a tensor with no head in it."""
    if not block.attn.heads:
        return x.new_zeros(x.shape[0], 0, x.shape[1], x.shape[1])
    return block.attn.pattern(block.read_by_heads(x), seats)


def tokens_and_mask(given: Tensor, mask: Tensor | None, symbols: int) -> tuple[Tensor, Tensor]:
    """Token numbers [batch, position] and where they are symbols; without a mask all but padding tokens are.

    Padding gets the token 0, which nothing reads. Raises `WordError` for a mask of another shape, and for
    other tokens than those of the alphabet where there is no padding.
    """
    if mask is None:
        mask = given != symbols
    if mask.shape != given.shape:
        raise WordError(
            f"attention_mask has the shape {list(mask.shape)}, and input_ids {list(given.shape)}: "
            "give 1 for each symbol and 0 for each place of padding"
        )
    mask = mask.bool()
    if given.ndim == 2 and given.shape[1] == 0:
        return given.long(), mask
    tokens, _ = checked_tokens(given.masked_fill(~mask, 0), None, symbols, given.device)
    return tokens, mask


def names_of(outputs: Tensor, margins: Tensor) -> Tensor:
    """Which name's bit alone is 1, as int64 [batch, position]; the number of names where none is, or several.

    Also where one of the bits is undecided: outputs are [batch, position, name], margins [batch].

    >>> bits = torch.tensor([[[0.0, 1.0], [1.0, 1.0], [1.0, 0.5]]])
    >>> names_of(bits, torch.tensor([0.25])).tolist()
    [[1, 2, 2]]
    """
    labels = labels_of(outputs, margins)
    held = labels == ACCEPTED
    is_one = (labels != UNDECIDED).all(dim=-1) & (held.sum(dim=-1) == 1)
    return torch.where(is_one, held.long().argmax(dim=-1), outputs.shape[-1])
