"""One attention layer in torch: soft or hard, future-masked, past-masked or unmasked, ragged batches.

In real arithmetic two ways lead to the same numbers. The *scores* way makes the n x n attention matrix,
for hooks and hard attention. The *streaming* way never does: uniform heads are running means, softmax
heads use torch's fused attention. Streaming is numerator-first: sums of values are formed before they
are divided, so averages of bits have their exact sign, also in narrow formats (docs/theory.md).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from math import sqrt
from typing import assert_never

import torch
from torch import Tensor, nn

from attemper.exact.closed_forms import ONE, ClosedForm
from attemper.networks.layers import HardWeighting, Layer, Masking, Softmax
from attemper.running.closed_form_tensors import form_values
from attemper.running.hooks import HookPoint
from attemper.running.kept import KeptTensors


class Places:
    """The positions of a ragged batch, right-padded: i, n and who is real, each [batch, position].

    Padding repeats the last position's i, so that everything computed there stays finite.
    """

    def __init__(self, lengths: Tensor, width: int) -> None:
        self.width = width
        self.steps = torch.arange(1, width + 1, device=lengths.device)[None, :]
        self.n = lengths[:, None].expand(-1, width)
        self.is_ragged = bool((lengths != width).any())
        self.i = torch.minimum(self.steps, self.n) if self.is_ragged else self.steps.expand_as(self.n)

    @cached_property
    def real(self) -> Tensor:
        """Which positions are none of padding's."""
        return self.steps <= self.n

    @cached_property
    def reversed(self) -> Tensor:
        """Where each position of a reversed word comes from; padding stays where it is."""
        return torch.where(self.real, self.n - self.steps, self.steps - 1)

    def reverse(self, rows: Tensor) -> Tensor:
        """Each word's rows [batch, position, ...] in reverse order."""
        index = self.reversed.reshape(*self.reversed.shape, *[1] * (rows.ndim - 2))
        return rows.gather(1, index.expand_as(rows))

    def tabulate(
        self, kept: KeptTensors, key: tuple[Hashable, ...], table: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """`table(i, n)`, a tensor [batch or 1, position, ...] that depends on i and n alone.

        Where all words have one length it is one row, which `kept` keeps under `key` and that length.
        """
        if self.is_ragged:
            return table(self.i, self.n)
        i, n = self.steps, torch.full_like(self.steps, self.width)
        return kept.get((*key, self.width, i.device), lambda: table(i, n))


class Attention(nn.Module):
    """softmax(q . k / (sqrt(d_head) tau)) v for every head of a layer, in TransformerLens' terms.

    Shapes: hook_q, hook_k, hook_v, hook_z [batch, position, head, d_head]; hook_attn_scores (already
    divided by tau) and hook_pattern [batch, head, query, key].
    """

    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor

    def __init__(
        self, layer: Layer, weights: dict[str, Tensor], override: HardWeighting | None, *, sealed: bool
    ) -> None:
        super().__init__()
        for name, weight in weights.items():
            self.register_parameter(name, nn.Parameter(weight, requires_grad=False))
        self.maskings = [head.masking for head in layer.heads]
        self.weightings = [override or head.weighting for head in layer.heads]
        self.hook_q = HookPoint()
        self.hook_k = HookPoint()
        self.hook_v = HookPoint()
        self.hook_attn_scores = HookPoint()
        self.hook_pattern = HookPoint()
        self.hook_z = HookPoint()
        self._scales = KeptTensors()
        self._zero_queries = self._find_zero_queries() if sealed else None

    def forward(self, x: Tensor, places: Places) -> Tensor:
        """The residual stream [batch, position, d_model] to what the heads add to it."""
        if self.hook_attn_scores.is_watched or self.hook_pattern.is_watched:
            z = self._by_scores(*self._queries_and_keys(x), self._values(x), places)
        else:
            z = self._streaming(x, places)
        added: Tensor = self.hook_z(z).flatten(2) @ self.W_O.flatten(0, 1)
        return added

    def _queries_and_keys(self, x: Tensor) -> tuple[Tensor, Tensor]:
        q: Tensor = self.hook_q(torch.einsum("bnd,hde->bnhe", x, self.W_Q))
        k: Tensor = self.hook_k(torch.einsum("bnd,hde->bnhe", x, self.W_K))
        return q, k

    def _values(self, x: Tensor) -> Tensor:
        v: Tensor = self.hook_v(torch.einsum("bnd,hde->bnhe", x, self.W_V))
        return v

    def _find_zero_queries(self) -> list[bool]:
        found: list[bool] = (self.W_Q == 0).flatten(1).all(dim=1).tolist()
        return found

    # The scores way ----------------------------------------------------------------------------

    def _by_scores(self, q: Tensor, k: Tensor, v: Tensor, places: Places) -> Tensor:
        heads = range(len(self.maskings))
        # A layer may have no heads at all, so the tensors are made before they are filled.
        batch, width = places.i.shape
        scores = q.new_empty(batch, len(heads), width, width)
        for head in heads:
            scores[:, head] = self._scores(q, k, head, places)
        scores = self.hook_attn_scores(scores)
        pattern = torch.empty_like(scores)
        for head in heads:
            pattern[:, head] = _weights(scores[:, head], self.weightings[head], self.maskings[head])
        pattern = self.hook_pattern(pattern)
        return torch.einsum("bhqk,bkhe->bqhe", pattern, v)

    def _scores(self, q: Tensor, k: Tensor, head: int, places: Places) -> Tensor:
        """One head's scores [batch, query, key], -inf where the mask hides the key."""
        scores = (q[:, :, head] * self._scale(head, q, places)) @ k[:, :, head].transpose(1, 2)
        return scores.masked_fill(~_visible(self.maskings[head], places), float("-inf"))

    def _scale(self, head: int, like: Tensor, places: Places) -> Tensor:
        """1 / (sqrt(d_head) tau) at every query [batch or 1, position, 1]; hard heads need no tau."""
        return self._scales_of((self.weightings[head],), like, places)[:, :, 0]

    def _scales_of(
        self, weightings: tuple[HardWeighting | Softmax, ...], like: Tensor, places: Places
    ) -> Tensor:
        """The scales of several heads [batch or 1, position, head, 1]."""
        root = sqrt(like.shape[-1])

        def table(i: Tensor, n: Tensor) -> Tensor:
            scales = [form_values(_coldness(weighting), i, n) / root for weighting in weightings]
            return torch.stack(scales, dim=2).to(like.dtype)[..., None]

        return places.tabulate(self._scales, (weightings, root, like.dtype), table)

    # The streaming way -------------------------------------------------------------------------

    def _streaming(self, x: Tensor, places: Places) -> Tensor:
        v = self._values(x)
        z = torch.zeros_like(v)
        for heads, own in self._parts(x, v, places):
            if len(heads) == v.shape[2]:
                return own
            z[:, :, heads] = own
        return z

    def _parts(self, x: Tensor, v: Tensor, places: Places) -> Iterator[tuple[list[int], Tensor]]:
        """What the heads attend to [batch, position, head, d_head], some heads of one mask at a time."""
        watched = self.hook_q.is_watched or self.hook_k.is_watched
        zero = self._find_zero_queries() if self._zero_queries is None else self._zero_queries
        heads = range(v.shape[2])
        means = [head for head in heads if not watched and zero[head] and self._averages(head)]
        for masking, some in self._by_masking(means):
            yield some, _running_means(_of_heads(v, some), masking, places)
        others = [head for head in heads if head not in means]
        if not (others or watched):
            return
        q, k = self._queries_and_keys(x)
        softs = [head for head in others if isinstance(self.weightings[head], Softmax)]
        for masking, some in self._by_masking(softs):
            yield some, self._fused(q, k, v, some, masking, places)
        # Hard heads one by one: each makes its n x n matrix and drops it again.
        for head in others:
            if head not in softs:
                scores = self._scores(q, k, head, places)
                pattern = _weights(scores, self.weightings[head], self.maskings[head])
                yield [head], (pattern @ v[:, :, head])[:, :, None]

    def _by_masking(self, heads: list[int]) -> Iterator[tuple[Masking, list[int]]]:
        for masking in dict.fromkeys(self.maskings[head] for head in heads):
            yield masking, [head for head in heads if self.maskings[head] is masking]

    def _averages(self, head: int) -> bool:
        """Whether equal scores make this head average over all that it sees."""
        weighting = self.weightings[head]
        return isinstance(weighting, Softmax) or weighting is HardWeighting.AVERAGE

    def _fused(
        self, q: Tensor, k: Tensor, v: Tensor, heads: list[int], masking: Masking, places: Places
    ) -> Tensor:
        """Softmax heads of one mask by torch's fused attention, in memory linear in n."""
        scale = self._scales_of(tuple(self.weightings[head] for head in heads), q, places)
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
        ).transpose(1, 2)
        if masking.is_strict:
            attended = torch.cat([torch.zeros_like(_of_heads(v, heads)[:, :1]), attended], dim=1)
        return places.reverse(attended) if masking.weak is Masking.PAST else attended


def _of_heads(rows: Tensor, heads: list[int]) -> Tensor:
    """The rows [batch, position, head, d_head] of some heads."""
    return rows if len(heads) == rows.shape[2] else rows[:, :, heads]


def _coldness(weighting: HardWeighting | Softmax) -> ClosedForm:
    return weighting.inverse_temperature if isinstance(weighting, Softmax) else ONE


def _visible(masking: Masking, places: Places) -> Tensor:
    """Which keys each query sees, [batch or 1, query, key]; padding sees itself as the last position."""
    keys, queries = places.steps[:, None, :], places.i[:, :, None]
    keys_real = places.real[:, None, :]
    match masking:
        case Masking.FUTURE:
            return keys <= queries
        case Masking.STRICT_FUTURE:
            return keys < queries
        case Masking.PAST:
            return (keys >= queries) & keys_real
        case Masking.STRICT_PAST:
            return (keys > queries) & keys_real
        case Masking.NONE:
            return keys_real.expand(-1, places.width, -1)
        case _:
            assert_never(masking)


def _weights(scores: Tensor, weighting: HardWeighting | Softmax, masking: Masking) -> Tensor:
    """One head's attention weights; 0 throughout where a strict mask shows nothing."""
    if not masking.is_strict:
        return _weights_of_some(scores, weighting)
    sees = scores.isfinite().any(dim=-1, keepdim=True)
    return _weights_of_some(scores.where(sees, 0), weighting).where(sees, 0)


def _weights_of_some(scores: Tensor, weighting: HardWeighting | Softmax) -> Tensor:
    """One head's attention weights [batch, query, key] from its masked scores."""
    if isinstance(weighting, Softmax):
        return scores.softmax(dim=-1)
    best = scores == scores.amax(dim=-1, keepdim=True)
    match weighting:
        case HardWeighting.AVERAGE:
            return best.to(scores.dtype) / best.sum(dim=-1, keepdim=True)
        case HardWeighting.LEFTMOST:
            return _one_hot(best.int().argmax(dim=-1), scores)
        case HardWeighting.RIGHTMOST:
            return _one_hot(scores.shape[-1] - 1 - best.flip(-1).int().argmax(dim=-1), scores)
        case _:
            assert_never(weighting)


def _one_hot(place: Tensor, like: Tensor) -> Tensor:
    return torch.zeros_like(like).scatter_(-1, place[..., None], 1.0)


def _running_means(v: Tensor, masking: Masking, places: Places) -> Tensor:
    """The mean of the visible values; numerators first, in at least float32."""
    exact = torch.promote_types(v.dtype, torch.float32)
    values = v.to(exact)
    match masking:
        case Masking.FUTURE:
            sums, seen = values.cumsum(dim=1), places.i
        case Masking.STRICT_FUTURE:
            sums, seen = _shifted(values.cumsum(dim=1)), places.i - 1
        case Masking.PAST:
            sums = places.reverse(places.reverse(values).cumsum(dim=1))
            seen = places.n - places.i + 1
        case Masking.STRICT_PAST:
            sums = places.reverse(_shifted(places.reverse(values).cumsum(dim=1)))
            seen = places.n - places.i
        case Masking.NONE:
            real = places.real[:, :, None, None].to(exact)
            sums, seen = (values * real).sum(dim=1, keepdim=True), places.n
        case _:
            assert_never(masking)
    if masking.is_strict:
        seen = seen.clamp(min=1)
    return (sums / seen.to(exact)[:, :, None, None]).to(v.dtype)


def _shifted(rows: Tensor) -> Tensor:
    """Each position's row moved to the next one, 0 at the first."""
    return torch.cat([torch.zeros_like(rows[:, :1]), rows[:, :-1]], dim=1)
