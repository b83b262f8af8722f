"""One attention layer in torch: soft or hard, future-masked, past-masked or unmasked, ragged batches.

In real arithmetic two ways lead to the same numbers. The *scores* way makes the n x n attention matrix,
for hooks and hard attention. The *streaming* way never does: uniform heads are running means, softmax
heads use torch's fused attention. Streaming is numerator-first: sums of values are formed before they
are divided, so averages of bits have their exact sign, also in narrow formats (docs/theory.md).
"""

from __future__ import annotations

from math import sqrt
from typing import assert_never

import torch
from torch import Tensor, nn

from attemper.exact.closed_forms import ONE, ClosedForm
from attemper.networks.layers import HardWeighting, Layer, Masking, Softmax
from attemper.running.closed_form_tensors import form_values
from attemper.running.hooks import HookPoint


class Places:
    """The positions of a ragged batch, right-padded: i, n and who is real, each [batch, position].

    Padding repeats the last position's i, so that everything computed there stays finite.
    """

    def __init__(self, lengths: Tensor, width: int) -> None:
        steps = torch.arange(1, width + 1, device=lengths.device)
        self.n = lengths[:, None].expand(-1, width)
        self.i = torch.minimum(steps[None, :], self.n)
        self.real = steps[None, :] <= self.n
        self.is_ragged = bool((lengths != width).any())
        # Position i of a reversed word; padding stays where it is.
        self.reversed = torch.where(self.real, self.n - steps[None, :], steps[None, :] - 1)

    def reverse(self, rows: Tensor) -> Tensor:
        """Each word's rows [batch, position, ...] in reverse order."""
        index = self.reversed.reshape(*self.reversed.shape, *[1] * (rows.ndim - 2))
        return rows.gather(1, index.expand_as(rows))


class Attention(nn.Module):
    """softmax(q . k / (sqrt(d_head) tau)) v for every head of a layer, in TransformerLens' terms.

    Shapes: hook_q, hook_k, hook_v, hook_z [batch, position, head, d_head]; hook_attn_scores (already
    divided by tau) and hook_pattern [batch, head, query, key].
    """

    W_Q: Tensor
    W_K: Tensor
    W_V: Tensor
    W_O: Tensor

    def __init__(self, layer: Layer, weights: dict[str, Tensor], override: HardWeighting | None) -> None:
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

    def forward(self, x: Tensor, places: Places) -> Tensor:
        """The residual stream [batch, position, d_model] to what the heads add to it."""
        q = self.hook_q(torch.einsum("bnd,hde->bnhe", x, self.W_Q))
        k = self.hook_k(torch.einsum("bnd,hde->bnhe", x, self.W_K))
        v = self.hook_v(torch.einsum("bnd,hde->bnhe", x, self.W_V))
        if self.hook_attn_scores.is_watched or self.hook_pattern.is_watched:
            z = self._by_scores(q, k, v, places)
        else:
            z = self._streaming(q, k, v, places)
        return torch.einsum("bnhe,hed->bnd", self.hook_z(z), self.W_O)

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
        """1 / (sqrt(d_head) tau) at every query [batch, position, 1]; hard heads need no tau."""
        coldness = _coldness(self.weightings[head])
        values = form_values(coldness, places.i, places.n) / sqrt(like.shape[-1])
        return values.to(like.dtype)[..., None]

    # The streaming way -------------------------------------------------------------------------

    def _streaming(self, q: Tensor, k: Tensor, v: Tensor, places: Places) -> Tensor:
        z = torch.zeros_like(v)
        untouched = not (self.hook_q.is_watched or self.hook_k.is_watched)
        uniform = (self.W_Q == 0).flatten(1).all(dim=1).tolist() if untouched else [False] * v.shape[2]
        for masking in Masking:
            mine = [head for head, own in enumerate(self.maskings) if own is masking]
            means = [head for head in mine if uniform[head] and self._averages(head)]
            softs = [h for h in mine if h not in means and isinstance(self.weightings[h], Softmax)]
            if means:
                z[:, :, means] = _running_means(v[:, :, means], masking, places)
            if softs:
                z[:, :, softs] = self._fused(q, k, v, softs, masking, places)
            # Hard heads one by one: each makes its n x n matrix and drops it again.
            for head in mine:
                if head not in means and head not in softs:
                    pattern = _weights(self._scores(q, k, head, places), self.weightings[head], masking)
                    z[:, :, head] = pattern @ v[:, :, head]
        return z

    def _averages(self, head: int) -> bool:
        """Whether equal scores make this head average over all that it sees."""
        weighting = self.weightings[head]
        return isinstance(weighting, Softmax) or weighting is HardWeighting.AVERAGE

    def _fused(
        self, q: Tensor, k: Tensor, v: Tensor, heads: list[int], masking: Masking, places: Places
    ) -> Tensor:
        """Softmax heads of one mask by torch's fused attention, in memory linear in n."""
        scale = torch.stack([self._scale(head, q, places) for head in heads], dim=2)
        rows = [q[:, :, heads] * scale, k[:, :, heads], v[:, :, heads]]
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
            attended = torch.cat([torch.zeros_like(v[:, :1, heads]), attended], dim=1)
        return places.reverse(attended) if masking.weak is Masking.PAST else attended


def _coldness(weighting: HardWeighting | Softmax) -> ClosedForm:
    return weighting.inverse_temperature if isinstance(weighting, Softmax) else ONE


def _visible(masking: Masking, places: Places) -> Tensor:
    """Which keys each query sees, [batch or 1, query, key]; padding sees itself as the last position."""
    steps = torch.arange(1, places.i.shape[1] + 1, device=places.i.device)
    keys_real = places.real[:, None, :]
    match masking:
        case Masking.FUTURE:
            return steps[None, None, :] <= places.i[:, :, None]
        case Masking.STRICT_FUTURE:
            return steps[None, None, :] < places.i[:, :, None]
        case Masking.PAST:
            return (steps[None, None, :] >= places.i[:, :, None]) & keys_real
        case Masking.STRICT_PAST:
            return (steps[None, None, :] > places.i[:, :, None]) & keys_real
        case Masking.NONE:
            return keys_real.expand(-1, places.i.shape[1], -1)
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
    i, n = (count.to(exact)[:, :, None, None] for count in (places.i, places.n))
    match masking:
        case Masking.FUTURE:
            means = values.cumsum(dim=1) / i
        case Masking.STRICT_FUTURE:
            means = _shifted(values.cumsum(dim=1)) / (i - 1).clamp(min=1)
        case Masking.PAST:
            sums = places.reverse(places.reverse(values).cumsum(dim=1))
            means = sums / (n - i + 1)
        case Masking.STRICT_PAST:
            sums = places.reverse(_shifted(places.reverse(values).cumsum(dim=1)))
            means = sums / (n - i).clamp(min=1)
        case Masking.NONE:
            real = places.real[:, :, None, None].to(exact)
            means = (values * real).sum(dim=1, keepdim=True) / n
        case _:
            assert_never(masking)
    return means.to(v.dtype)


def _shifted(rows: Tensor) -> Tensor:
    """Each position's row moved to the next one, 0 at the first."""
    return torch.cat([torch.zeros_like(rows[:, :1]), rows[:, :-1]], dim=1)
