"""The parts of a running network: embeddings, and layers of attention and hidden units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar, overload

import torch
from torch import Tensor, nn

from attemper.networks.layers import HardWeighting, Layer, Network, Normalisation
from attemper.running.attention import Attention
from attemper.running.engines import fused, matrix
from attemper.running.engines.names import Engine
from attemper.running.hooks import HookPoint
from attemper.running.norms import norm_of
from attemper.running.places import Places
from attemper.running.weights import torch_weights

Look = Callable[[Tensor], None]

Held = TypeVar("Held")
"""What is held under a weight's name: the weight, or its shape."""


class Embedding(nn.Module):
    """The word embeddings: W_E [symbol, d_model]."""

    W_E: Tensor

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.register_parameter("W_E", nn.Parameter(weight, requires_grad=False))


class MLP(nn.Module):
    """W_out ReLU(W_in x + b_in)."""

    W_in: Tensor
    b_in: Tensor
    W_out: Tensor

    def __init__(self, weights: dict[str, Tensor]) -> None:
        super().__init__()
        for name, weight in weights.items():
            self.register_parameter(name, nn.Parameter(weight, requires_grad=False))
        self.hook_pre = HookPoint()
        self.hook_post = HookPoint()

    def forward(self, x: Tensor, look: Look | None = None) -> Tensor:
        """`look` is called with what the hidden units see, [batch, position, d_mlp]."""
        pre = self.hook_pre(x @ self.W_in + self.b_in)
        if look is not None:
            look(pre)
        post: Tensor = self.hook_post(pre.relu())
        return post @ self.W_out


class Block(nn.Module):
    """One layer: attention and feed-forward, each added to the residual stream.

    Of a normalised network each reads what `ln1` and `ln2` make of the stream.
    """

    def __init__(
        self,
        layer: Layer,
        weights: dict[str, Tensor],
        override: HardWeighting | None,
        normalisation: Normalisation | None,
        *,
        sealed: bool,
    ) -> None:
        super().__init__()
        self.ln1 = norm_of(normalisation, under("ln1.", weights))
        self.ln2 = norm_of(normalisation, under("ln2.", weights))
        self.attn = Attention(layer, under("attn.", weights), override, sealed=sealed)
        self.mlp = MLP(under("mlp.", weights))
        self.hook_resid_pre = HookPoint()
        self.hook_attn_out = HookPoint()
        self.hook_resid_mid = HookPoint()
        self.hook_mlp_in = HookPoint()
        self.hook_mlp_out = HookPoint()
        self.hook_resid_post = HookPoint()

    def forward(self, x: Tensor, places: Places, engine: Engine, look: Look | None = None) -> Tensor:
        """`look` is called with what the hidden units see."""
        x = self.hook_resid_pre(x)
        attend = matrix.attend if engine is Engine.MATRIX else fused.attend
        heads = self.attn(self.attn.inputs(x, self.ln1), places, attend)
        x = self.hook_resid_mid(x + self.hook_attn_out(heads))
        read = self.ln2(self.hook_mlp_in(x.clone()) if self.hook_mlp_in.is_watched else x)
        after: Tensor = self.hook_resid_post(x + self.hook_mlp_out(self.mlp(read, look)))
        return after


class BlockList(nn.ModuleList):
    """The layers of a network, as `torch.nn.ModuleList` holds them; type checkers know that they are blocks.

    >>> import attemper
    >>> module = attemper.compile("O a", "ab").dense()
    >>> [block.attn.W_O.shape[0] for block in module.blocks], module.blocks[0].mlp.b_in.tolist()
    ([1], [-0.25, -0.75])
    """

    # Nothing is added to what runs: torch.compile and torch.export know the methods of ModuleList by name.
    if TYPE_CHECKING:

        @overload
        def __getitem__(self, idx: slice) -> BlockList: ...

        @overload
        def __getitem__(self, idx: int) -> Block: ...

        def __getitem__(self, idx: int | slice) -> Block | BlockList: ...

        def __iter__(self) -> Iterator[Block]: ...


class BlockStack(nn.Module):
    """A network's weights and hook points, from which every engine reads what it needs."""

    def __init__(
        self, network: Network, dtype: torch.dtype, weighting: HardWeighting | None, *, sealed: bool
    ) -> None:
        super().__init__()
        weights = torch_weights(network, dtype)
        self.network = network
        self.embed = Embedding(weights["embed.W_E"])
        self.blocks = BlockList(
            Block(layer, under(f"blocks.{n}.", weights), weighting, network.normalisation, sealed=sealed)
            for n, layer in enumerate(network.layers)
        )
        self.hook_embed = HookPoint()
        self.hook_pos_embed = HookPoint()

    @property
    def dtype(self) -> torch.dtype:
        """The format of the parameters now, in which activations are computed."""
        return self.embed.W_E.dtype

    @property
    def device(self) -> torch.device:
        """Where the parameters are now."""
        return self.embed.W_E.device


def clamp_room(layer: Layer, pre: Tensor) -> Tensor:
    """The margin of each clamp of a layer, from what its hidden units see: [..., hidden] to [..., clamp]."""
    low, high = torch.tensor(layer.clamps, device=pre.device).unbind(dim=1)
    return torch.maximum(-pre.index_select(-1, low), pre.index_select(-1, high))


def under(prefix: str, weights: Mapping[str, Held]) -> dict[str, Held]:
    """What is held under names that begin with the prefix, without the prefix."""
    return {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
