"""Attention without a matrix: uniform heads are running means, softmax heads torch's fused attention.

Numerators come first: sums of values are formed before they are divided, so averages of bits have their exact
sign, also in narrow formats (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

import torch
from torch import Tensor, nn

from attemper.networks.layers import HardWeighting, Masking, Softmax
from attemper.running.attention import Attention, HeadInputs
from attemper.running.engines.matrix import scores_of, weights
from attemper.running.places import Places


def attend(attention: Attention, read: HeadInputs, places: Places) -> Tensor:
    """What every head attends to, [batch, position, head, d_head]."""
    v = attention.values(read)
    z = torch.zeros_like(v)
    for heads, own in _parts(attention, read, v, places):
        if len(heads) == v.shape[2]:
            return own
        z[:, :, heads] = own
    return z


def _parts(
    attention: Attention, read: HeadInputs, v: Tensor, places: Places
) -> Iterator[tuple[list[int], Tensor]]:
    """What the heads attend to [batch, position, head, d_head], some heads of one mask at a time."""
    watched = attention.hook_q.is_watched or attention.hook_k.is_watched
    zero = attention.zero_queries()
    heads = range(v.shape[2])
    means = [head for head in heads if not watched and zero[head] and _averages(attention, head)]
    for masking, some in _by_masking(attention, means):
        yield some, _running_means(_of_heads(v, some), masking, places)
    others = [head for head in heads if head not in means]
    if not (others or watched):
        return
    q, k = attention.queries_and_keys(read)
    softs = [head for head in others if isinstance(attention.weightings[head], Softmax)]
    for masking, some in _by_masking(attention, softs):
        yield some, _fused(attention, q, k, v, some, masking, places)
    # Hard heads one by one: each makes its n x n matrix and drops it again.
    for head in others:
        if head not in softs:
            scores = scores_of(attention, q, k, head, places)
            pattern = weights(scores, attention.weightings[head], attention.maskings[head], places)
            yield [head], (pattern @ v[:, :, head])[:, :, None]


def _by_masking(attention: Attention, heads: list[int]) -> Iterator[tuple[Masking, list[int]]]:
    for masking in dict.fromkeys(attention.maskings[head] for head in heads):
        yield masking, [head for head in heads if attention.maskings[head] is masking]


def _averages(attention: Attention, head: int) -> bool:
    """Whether equal scores make this head average over all that it sees."""
    weighting = attention.weightings[head]
    return isinstance(weighting, Softmax) or weighting is HardWeighting.AVERAGE


def _fused(
    attention: Attention,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    heads: list[int],
    masking: Masking,
    places: Places,
) -> Tensor:
    """Softmax heads of one mask by torch's fused attention, in memory linear in n."""
    if masking.is_strict and places.width == 1:
        return torch.zeros_like(_of_heads(v, heads))
    scale = attention.scales_of(tuple(attention.weightings[head] for head in heads), q, places)
    rows = [_of_heads(q, heads) * scale, _of_heads(k, heads), _of_heads(v, heads)]
    if masking.weak is Masking.PAST:
        rows = [places.reverse(row) for row in rows]
    if masking.is_strict:
        # Position i sees what a weak mask would show to the query before it.
        rows = [rows[0][:, 1:], *(row[:, :-1] for row in rows[1:])]
    hidden_keys = None
    if masking is Masking.NONE and places.is_ragged:
        zero = torch.zeros((), dtype=q.dtype, device=q.device)
        padding = zero.masked_fill(~places.real, float("-inf"))
        # An expanded mask is one row in memory, whatever n is.
        width = padding.shape[1]
        hidden_keys = padding[:, None, None, :].expand(-1, 1, width, width)
    query, key, value = (row.transpose(1, 2) for row in rows)
    attended = nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=hidden_keys, is_causal=masking is not Masking.NONE, scale=1.0
    )
    # Fused attention gives 0, as if nothing were seen, where every score seen is too small for the format.
    attended = attended.masked_fill(_can_be_infinite(query, key), float("nan")).transpose(1, 2)
    if masking.is_strict:
        attended = torch.cat([torch.zeros_like(_of_heads(v, heads)[:, :1]), attended], dim=1)
    return places.reverse(attended) if masking.weak is Masking.PAST else attended


def _can_be_infinite(query: Tensor, key: Tensor) -> Tensor:
    """Of each word and head [batch, head, 1, 1], whether a score can be greater than the format's numbers.

    A score is at most the sum of products of greatest absolute values; twice that is more than rounding adds.
    What is no number is left out: no weights are then numbers anyway.
    """
    greatest_query, greatest_key = (
        rows.abs().nan_to_num(nan=0, posinf=float("inf")).amax(dim=-2, keepdim=True) for rows in (query, key)
    )
    return (2 * (greatest_query * greatest_key).sum(dim=-1, keepdim=True)).isinf()


def _of_heads(rows: Tensor, heads: list[int]) -> Tensor:
    """The rows [batch, position, head, d_head] of some heads."""
    return rows if len(heads) == rows.shape[2] else rows[:, :, heads]


def _running_means(v: Tensor, masking: Masking, places: Places) -> Tensor:
    """The mean of the visible values; numerators first, in at least float32."""
    exact = torch.promote_types(v.dtype, torch.float32)
    values = v.to(exact)
    match masking:
        case Masking.FUTURE:
            sums = values.cumsum(dim=1)
        case Masking.STRICT_FUTURE:
            sums = _shifted(values.cumsum(dim=1))
        case Masking.PAST:
            sums = places.reverse(places.reverse(values).cumsum(dim=1))
        case Masking.STRICT_PAST:
            sums = places.reverse(_shifted(places.reverse(values).cumsum(dim=1)))
        case Masking.NONE:
            sums = (values * places.real[:, :, None, None].to(exact)).sum(dim=1, keepdim=True)
        case _:
            assert_never(masking)
    seen: Tensor = masking.number_visible(places.i, places.n)
    if masking.is_strict:
        seen = seen.clamp(min=1)
    return (sums / seen.to(exact)[:, :, None, None]).to(v.dtype)


def _shifted(rows: Tensor) -> Tensor:
    """Each position's row moved to the next one, 0 at the first."""
    return torch.cat([torch.zeros_like(rows[:, :1]), rows[:, :-1]], dim=1)
