"""A compiled network as a `torch.nn.Module`, with the whole attention matrix only where it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from attemper.networks.layers import HardWeighting, Layer, Network
from attemper.networks.weights import tensors_of
from attemper.running.attention import Attention, Places
from attemper.running.closed_form_tensors import form_values
from attemper.running.hooks import HookPoint, hooks


class FeedForward(nn.Module):
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

    def forward(self, x: Tensor) -> Tensor:
        pre = self.hook_pre(x @ self.W_in + self.b_in)
        post: Tensor = self.hook_post(pre.relu())
        return post @ self.W_out


class Block(nn.Module):
    """One layer: attention and feed-forward, each added to the residual stream."""

    def __init__(self, layer: Layer, weights: dict[str, Tensor], override: HardWeighting | None) -> None:
        super().__init__()
        self.attn = Attention(layer, _under("attn.", weights), override)
        self.mlp = FeedForward(_under("mlp.", weights))
        self.hook_resid_pre = HookPoint()
        self.hook_attn_out = HookPoint()
        self.hook_resid_mid = HookPoint()
        self.hook_mlp_out = HookPoint()
        self.hook_resid_post = HookPoint()

    def forward(self, x: Tensor, places: Places) -> Tensor:
        x = self.hook_resid_pre(x)
        x = self.hook_resid_mid(x + self.hook_attn_out(self.attn(x, places)))
        after: Tensor = self.hook_resid_post(x + self.hook_mlp_out(self.mlp(x)))
        return after


class DenseTransformer(nn.Module):
    """The network, running: tokens [batch, position] to the output coordinate [batch, position].

    `dtype` is the format of weights and activations; `weighting` replaces every head's own
    weighting (None: softmax for a soft network). The parameters do not depend on the length of the
    words; position embeddings and temperatures are evaluated from their closed forms.

    Hook points carry TransformerLens' names: hook_embed, hook_pos_embed, blocks.L.hook_resid_pre,
    blocks.L.attn.hook_q, hook_k, hook_v, hook_attn_scores, hook_pattern, hook_z,
    blocks.L.hook_attn_out, hook_resid_mid, blocks.L.mlp.hook_pre, hook_post, hook_mlp_out,
    hook_resid_post. Watching scores or patterns makes the n x n matrix; nothing else does, but
    hard weightings.
    """

    def __init__(
        self,
        network: Network,
        dtype: torch.dtype = torch.float64,
        weighting: HardWeighting | None = None,
    ) -> None:
        super().__init__()
        weights = {
            name: torch.from_numpy(np.asarray(tensor.numbers, dtype=np.float64).reshape(tensor.shape)).to(
                dtype
            )
            for name, tensor in tensors_of(network).items()
        }
        self.network = network
        self.dtype = dtype
        self.embed = nn.Module()
        self.embed.register_parameter("W_E", nn.Parameter(weights["embed.W_E"], requires_grad=False))
        self.blocks = nn.ModuleList(
            Block(layer, _under(f"blocks.{number}.", weights), weighting)
            for number, layer in enumerate(network.layers)
        )
        self.hook_embed = HookPoint()
        self.hook_pos_embed = HookPoint()

    def forward(self, tokens: Tensor, lengths: Tensor | None = None) -> Tensor:
        """The output coordinate at every position; entries past a word's length mean nothing.

        `tokens` [batch, position] numbers the symbols, padded on the right with any symbol;
        `lengths` [batch] are the words' lengths, from 1 on (default: no padding).
        """
        if lengths is None:
            lengths = torch.full((tokens.shape[0],), tokens.shape[1], device=tokens.device)
        places = Places(lengths, tokens.shape[1])
        embedding: Tensor = self.embed.get_parameter("W_E")
        x = self.hook_embed(embedding[tokens]) + self.hook_pos_embed(self._position_embedding(places))
        for block in self.blocks:
            x = block(x, places)
        output: Tensor = x[..., self.network.output]
        return output

    def run_with_cache(
        self, tokens: Tensor, lengths: Tensor | None = None, names: Iterable[str] | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """The output, and the activations at the hook points called `names` (default: all)."""
        if names is None:
            names = [name for name, module in self.named_modules() if isinstance(module, HookPoint)]
        cache: dict[str, Tensor] = {}

        def keep(name: str) -> Callable[[Tensor], None]:
            return lambda activation: cache.__setitem__(name, activation.detach())

        with hooks(self, {name: keep(name) for name in names}):
            output = self(tokens, lengths)
        return output, cache

    def run_with_margin(self, tokens: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """The output, and for each word the smallest margin of its clamps [batch].

        A clamp that rounds an approximate bit works while its sum stays out of an open interval of
        width 1/2; the margin is how far it stays out (1/4 is perfect, negative is broken). It is
        infinite for a network without clamps.
        """
        smallest = torch.full((tokens.shape[0],), float("inf"), dtype=torch.float64, device=tokens.device)
        real = Places(lengths, tokens.shape[1]).real

        def look(layer: Layer) -> Callable[[Tensor], None]:
            def hook(pre: Tensor) -> None:
                room = clamp_room(layer, pre).amin(dim=-1).double()
                room = room.masked_fill(~real, float("inf")).amin(dim=-1)
                torch.minimum(smallest, room, out=smallest)

            return hook

        watched: Mapping[str, Callable[[Tensor], None]] = {
            f"blocks.{number}.mlp.hook_pre": look(layer)
            for number, layer in enumerate(self.network.layers)
            if layer.clamps
        }
        with hooks(self, watched):
            output = self(tokens, lengths)
        return output, smallest

    def _position_embedding(self, places: Places) -> Tensor:
        width = len(self.network.coordinates)
        device = places.i.device
        table = torch.zeros(*places.i.shape, width, dtype=self.dtype, device=device)
        for coordinate, form in self.network.positions:
            table[..., coordinate] = form_values(form, places.i, places.n).to(self.dtype)
        return table


def clamp_room(layer: Layer, pre: Tensor) -> Tensor:
    """The margin of each clamp of a layer, from what its hidden units see: [..., hidden] to [..., clamp]."""
    low, high = ([pair[side] for pair in layer.clamps] for side in (0, 1))
    return torch.maximum(-pre[..., low], pre[..., high])


def _under(prefix: str, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): w for name, w in weights.items() if name.startswith(prefix)}
