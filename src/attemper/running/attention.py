"""One attention layer in torch: its weights and hook points, and what both dense engines compute of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import final

import torch
from torch import Tensor, nn

from attemper.exact.closed_forms import ONE
from attemper.networks.layers import HardWeighting, Layer, Softmax
from attemper.running.closed_form_tensors import form_values
from attemper.running.hooks import HookPoint
from attemper.running.kept import KeptTensors
from attemper.running.places import Places


@final
@dataclass(frozen=True)
class HeadInputs:
    """What queries, keys and values read [batch, position, d_model]; [batch, position, head, d_model], where
    each head reads a copy of its own.
    """

    queries: Tensor
    keys: Tensor
    values: Tensor


AttendFunction = Callable[["Attention", HeadInputs, Places], Tensor]
"""An engine: what every head of a layer attends to, [batch, position, head, d_head]."""


class Attention(nn.Module):
    """softmax(q . k / (sqrt(d_head) tau)) v for every head of a layer, in TransformerLens' terms.

    Shapes: hook_q, hook_k, hook_v, hook_z [batch, position, head, d_head]; hook_q_input, hook_k_input,
    hook_v_input, hook_result [batch, position, head, d_model]; hook_attn_scores (already divided by tau) and
    hook_pattern [batch, head, query, key].
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
        self.hook_q_input, self.hook_k_input, self.hook_v_input = HookPoint(), HookPoint(), HookPoint()
        self.hook_q = HookPoint()
        self.hook_k = HookPoint()
        self.hook_v = HookPoint()
        self.hook_attn_scores = HookPoint()
        self.hook_pattern = HookPoint()
        self.hook_z = HookPoint()
        self.hook_result = HookPoint()
        self._scales = KeptTensors()
        self._zero_queries = self._find_zero_queries() if sealed else None

    def forward(self, read: HeadInputs, places: Places, attend: AttendFunction) -> Tensor:
        """What heads read to what they add to the stream [batch, position, d_model], by an engine."""
        z: Tensor = self.hook_z(attend(self, read, places))
        if not self.hook_result.is_watched:
            return z.flatten(2) @ self.W_O.flatten(0, 1)
        result: Tensor = self.hook_result(torch.einsum("bnhe,hed->bnhd", z, self.W_O))
        return result.sum(dim=2)

    def inputs(self, x: Tensor, norm: Callable[[Tensor], Tensor]) -> HeadInputs:
        """What is read of the stream, normalised; where somebody watches that, each head has a copy."""
        points = (self.hook_q_input, self.hook_k_input, self.hook_v_input)
        if not any(point.is_watched for point in points):
            return HeadInputs(*[norm(x)] * 3)
        copies = x[:, :, None].expand(-1, -1, len(self.maskings), -1)
        return HeadInputs(*(norm(point(copies.clone()) if point.is_watched else x) for point in points))

    def queries_and_keys(self, read: HeadInputs) -> tuple[Tensor, Tensor]:
        """Queries and keys [batch, position, head, d_head]."""
        return self.hook_q(_mapped(read.queries, self.W_Q)), self.hook_k(_mapped(read.keys, self.W_K))

    def values(self, read: HeadInputs) -> Tensor:
        """Values [batch, position, head, d_head]."""
        v: Tensor = self.hook_v(_mapped(read.values, self.W_V))
        return v

    def zero_queries(self) -> list[bool]:
        """Which heads have queries that are 0 whatever they read."""
        return self._find_zero_queries() if self._zero_queries is None else self._zero_queries

    def scales_of(
        self, weightings: tuple[HardWeighting | Softmax, ...], like: Tensor, places: Places
    ) -> Tensor:
        """1 / (sqrt(d_head) tau) of some heads [batch or 1, position, head, 1]; hard heads need no tau."""
        root = sqrt(like.shape[-1])

        def table(i: Tensor, n: Tensor) -> Tensor:
            colds = (one.inverse_temperature if isinstance(one, Softmax) else ONE for one in weightings)
            scales = [form_values(cold, i, n) / root for cold in colds]
            return torch.stack(scales, dim=2).to(like.dtype)[..., None]

        return places.tabulate(self._scales, (weightings, root, like.dtype), table)

    def _find_zero_queries(self) -> list[bool]:
        found: list[bool] = (self.W_Q == 0).flatten(1).all(dim=1).tolist()
        return found


def _mapped(x: Tensor, weights: Tensor) -> Tensor:
    """What each head's weights [head, d_model, d_head] make of what all heads read, or of its own copy."""
    return torch.einsum("bnd,hde->bnhe" if x.dim() == 3 else "bnhd,hde->bnhe", x, weights)
