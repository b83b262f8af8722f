"""Attention for tracing: tensor operations only, numerators first, and masks that compare positions.

Heads that average are running sums over counts. Of all others z = (sum_j e_j v_j) / (sum_j e_j) with
e_j = exp(score_j - greatest score): one division, as the class numerator-first of FORMAT.md, section 6, says.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import assert_never, final

import torch
from torch import Tensor

from attemper.networks.layers import Masking
from attemper.running.closed_form_tensors import form_values
from attemper.running.traceable.architecture import HeadArchitecture
from attemper.running.traceable.weights import Shapes, Weights


@final
@dataclass(frozen=True)
class Seats:
    """Where the symbols of a batch stand: `real` says which entries are symbols, each [batch, position].

    Positions i count the real symbols up to an entry, and n counts all of them, so that padding may stand
    anywhere. Padding has the i of the symbol before, or 1: what is computed there is finite, and not read.
    """

    real: Tensor
    i: Tensor
    n: Tensor

    @classmethod
    def of(cls, mask: Tensor) -> Seats:
        """The seats of the entries where `mask` [batch, position] is not 0."""
        real = mask.bool()
        count = real.long()
        i = count.cumsum(dim=1).clamp(min=1)
        n = count.sum(dim=1, keepdim=True).clamp(min=1)
        return cls(real, i, n.expand_as(i))

    def visible(self, masking: Masking) -> Tensor:
        """Which keys each query sees, [batch, query, key]."""
        real = self.real[:, None, :]
        if masking is Masking.NONE:
            return real.expand(-1, self.i.shape[1], -1)
        sees: Tensor = masking.sees(self.i[:, :, None], self.i[:, None, :])
        return real & sees

    def count(self, masking: Masking) -> Tensor:
        """How many keys each query sees [batch, position], at least 1."""
        seen: Tensor = masking.number_visible(self.i, self.n)
        return seen.clamp(min=1) if masking.is_strict else seen


class TraceableAttention(Weights):
    """The heads of one layer: the stream [batch, position, d_model] to what they add to it."""

    def __init__(self, heads: tuple[HeadArchitecture, ...], shapes: Shapes, dtype: torch.dtype) -> None:
        super().__init__(shapes, dtype)
        self.heads = heads
        self.means = [place for place, head in enumerate(heads) if head.averages]
        self.softs = [place for place, head in enumerate(heads) if not head.averages]

    def forward(self, x: Tensor, seats: Seats) -> Tensor:
        # Padding is given no values: what is computed there may be no number, and 0 times that is none, too.
        values = torch.einsum("bnd,hde->bhne", x, self.get("W_V"))
        values = values.masked_fill(~seats.real[:, None, :, None], 0)
        z = torch.zeros_like(values)
        if self.means:
            z = self._filled(z, self.means, self._running_means(values, seats))
        if self.softs:
            weights, total = self._weights(x, seats, self.softs)
            z = self._filled(z, self.softs, (weights @ values[:, self.softs]) / total)
        added: Tensor = z.transpose(1, 2).flatten(2) @ self.get("W_O").flatten(0, 1)
        return added

    def pattern(self, x: Tensor, seats: Seats) -> Tensor:
        """Every head's attention weights, [batch, head, query, key]; 0 where nothing is seen."""
        weights, total = self._weights(x, seats, list(range(len(self.heads))))
        return weights / total

    def _filled(self, z: Tensor, heads: list[int], own: Tensor) -> Tensor:
        """`z` [batch, head, position, d_head] with the rows of some heads in their places."""
        if len(heads) == len(self.heads):
            return own
        rows: list[Tensor] = [z[:, place] for place in range(len(self.heads))]
        for place, row in zip(heads, own.unbind(dim=1), strict=True):
            rows[place] = row
        return torch.stack(rows, dim=1)

    def _weights(self, x: Tensor, seats: Seats, heads: list[int]) -> tuple[Tensor, Tensor]:
        """exp(score - greatest score) [batch, head, query, key], 0 where nothing is seen, and its sums."""
        q = torch.einsum("bnd,hde->bhne", x, self.get("W_Q")[heads])
        k = torch.einsum("bnd,hde->bhne", x, self.get("W_K")[heads])
        root = sqrt(q.shape[-1])
        scales = [form_values(self.heads[place].coldness, seats.i, seats.n) / root for place in heads]
        scores = (q * torch.stack(scales, dim=1).to(q.dtype)[..., None]) @ k.transpose(2, 3)
        sees = torch.stack([seats.visible(self.heads[place].masking) for place in heads], dim=1)
        return weights_of(scores, sees)

    def _running_means(self, values: Tensor, seats: Seats) -> Tensor:
        """The means of the visible values of the heads that average; sums in at least float32.

        Such a head has no queries. Were it given some, it would be no running mean: it then gives no number.
        """
        wide = torch.promote_types(values.dtype, torch.float32)
        is_altered = (self.get("W_Q")[self.means] != 0).any()
        rows = []
        for place in self.means:
            masking = self.heads[place].masking
            count = seats.count(masking).to(wide).masked_fill(is_altered, float("nan"))
            sums = _running_sums(values[:, place].to(wide), masking)
            rows.append((sums / count[..., None]).to(values.dtype))
        return torch.stack(rows, dim=1)


def weights_of(scores: Tensor, sees: Tensor) -> tuple[Tensor, Tensor]:
    """exp(score - greatest visible score) [..., query, key], 0 where a key is not seen, and sums over keys.

    Where nothing is seen the sum is said to be 1, so that all weights divided by their sum are 0. Where keys
    are seen, and all their scores are less than any number, no weight is a number.
    """
    sees_nothing = ~sees.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~sees, float("-inf"))
    greatest = scores.amax(dim=-1, keepdim=True).masked_fill(sees_nothing, 0)
    weights = (scores - greatest).exp()
    return weights, weights.sum(dim=-1, keepdim=True).masked_fill(sees_nothing, 1)


def _running_sums(values: Tensor, masking: Masking) -> Tensor:
    """The sums of the values [batch, position, d_head] that each position sees; padding's are 0."""
    match masking:
        case Masking.FUTURE:
            return values.cumsum(dim=1)
        case Masking.STRICT_FUTURE:
            return _shifted(values.cumsum(dim=1))
        case Masking.PAST:
            return values.flip(1).cumsum(dim=1).flip(1)
        case Masking.STRICT_PAST:
            return _shifted(values.flip(1).cumsum(dim=1)).flip(1)
        case Masking.NONE:
            return values.sum(dim=1, keepdim=True).expand_as(values)
        case _:
            assert_never(masking)


def _shifted(rows: Tensor) -> Tensor:
    """Each position's row moved to the next one, 0 at the first: a sum without its own value, exactly."""
    return torch.nn.functional.pad(rows, (0, 0, 1, 0))[:, :-1]
