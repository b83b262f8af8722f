"""One attention layer in torch: its weights and hook points, and what both dense engines compute of them."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import torch
from torch import Tensor, nn

from attemper.exact.closed_forms import ONE
from attemper.networks.layers import HardWeighting, Layer, Softmax
from attemper.running.closed_form_tensors import form_values
from attemper.running.hooks import HookPoint
from attemper.running.kept import KeptTensors
from attemper.running.places import Places

AttendFunction = Callable[["Attention", Tensor, Places], Tensor]
"""An engine: what every head of a layer attends to, [batch, position, head, d_head]."""


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

    def forward(self, x: Tensor, places: Places, attend: AttendFunction) -> Tensor:
        """The residual stream [batch, position, d_model] to what the heads add to it, by an engine."""
        added: Tensor = self.hook_z(attend(self, x, places)).flatten(2) @ self.W_O.flatten(0, 1)
        return added

    def queries_and_keys(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Queries and keys [batch, position, head, d_head]."""
        q: Tensor = self.hook_q(torch.einsum("bnd,hde->bnhe", x, self.W_Q))
        k: Tensor = self.hook_k(torch.einsum("bnd,hde->bnhe", x, self.W_K))
        return q, k

    def values(self, x: Tensor) -> Tensor:
        """Values [batch, position, head, d_head]."""
        v: Tensor = self.hook_v(torch.einsum("bnd,hde->bnhe", x, self.W_V))
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
