"""Attention by the n x n matrix of scores: for hooks on scores and patterns, and for hard attention."""

from __future__ import annotations

from typing import assert_never

import torch
from torch import Tensor

from attemper.networks.layers import HardWeighting, Masking, Softmax
from attemper.running.attention import Attention, HeadInputs
from attemper.running.places import Places


def attend(attention: Attention, read: HeadInputs, places: Places) -> Tensor:
    """What every head attends to, [batch, position, head, d_head]."""
    q, k = attention.queries_and_keys(read)
    v = attention.values(read)
    heads = range(len(attention.maskings))
    # A layer may have no heads at all, so the tensors are made before they are filled.
    batch, width = places.i.shape
    scores = q.new_empty(batch, len(heads), width, width)
    for head in heads:
        scores[:, head] = scores_of(attention, q, k, head, places)
    scores = attention.hook_attn_scores(scores)
    pattern = torch.empty_like(scores)
    for head in heads:
        weighting, masking = attention.weightings[head], attention.maskings[head]
        pattern[:, head] = weights(scores[:, head], weighting, masking, places)
    pattern = attention.hook_pattern(pattern)
    return torch.einsum("bhqk,bkhe->bqhe", pattern, v)


def scores_of(attention: Attention, q: Tensor, k: Tensor, head: int, places: Places) -> Tensor:
    """One head's scores [batch, query, key], -inf where the mask hides the key."""
    scale = attention.scales_of((attention.weightings[head],), q, places)[:, :, 0]
    scores = (q[:, :, head] * scale) @ k[:, :, head].transpose(1, 2)
    return scores.masked_fill(~_visible(attention.maskings[head], places), float("-inf"))


def _visible(masking: Masking, places: Places) -> Tensor:
    """Which keys each query sees, [batch or 1, query, key]; padding sees itself as the last position."""
    real = places.real[:, None, :]
    if masking is Masking.NONE:
        return real.expand(-1, places.width, -1)
    sees: Tensor = masking.sees(places.i[:, :, None], places.steps[:, None, :])
    return sees & real if masking.after else sees


def weights(scores: Tensor, weighting: HardWeighting | Softmax, masking: Masking, places: Places) -> Tensor:
    """One head's attention weights; 0 throughout where a strict mask shows nothing.

    Where keys are seen, and all their scores are less than any number, no weight is a number.
    """
    if not masking.is_strict:
        return _weights_of_some(scores, weighting)
    sees = _visible(masking, places).any(dim=-1, keepdim=True)
    return _weights_of_some(scores.where(sees, 0), weighting).where(sees, 0)


def _weights_of_some(scores: Tensor, weighting: HardWeighting | Softmax) -> Tensor:
    """One head's attention weights [batch, query, key] from its masked scores."""
    if isinstance(weighting, Softmax):
        return scores.softmax(dim=-1)
    greatest = scores.amax(dim=-1, keepdim=True)
    best = (scores == greatest) & greatest.isfinite()
    match weighting:
        case HardWeighting.AVERAGE:
            return best.to(scores.dtype) / best.sum(dim=-1, keepdim=True)
        case HardWeighting.LEFTMOST:
            return _one_hot(best.int().argmax(dim=-1), best, scores)
        case HardWeighting.RIGHTMOST:
            return _one_hot(scores.shape[-1] - 1 - best.flip(-1).int().argmax(dim=-1), best, scores)
        case _:
            assert_never(weighting)


def _one_hot(place: Tensor, best: Tensor, like: Tensor) -> Tensor:
    """1 at each query's place, where some key is best; no number where none is."""
    weights = torch.zeros_like(like).scatter_(-1, place[..., None], 1.0)
    return weights.masked_fill(~best.any(dim=-1, keepdim=True), float("nan"))
