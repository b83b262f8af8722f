"""A compiled network as torch operations that branch on shapes only: what every export is made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import torch
from torch import Tensor, nn

from attemper.networks.structure import Structure
from attemper.running.blocks import under
from attemper.running.closed_form_tensors import constant_like, form_values
from attemper.running.traceable.architecture import LayerPlan, NormPlan, architecture_of
from attemper.running.traceable.attention import Seats, TraceableAttention
from attemper.running.traceable.weights import Weights


@final
class TraceableTransformer(nn.Module):
    """The network: tokens and mask [batch, position] to outputs and each word's smallest margin.

    `structure` is all but the weights; these are 0 until
    `load_state_dict(tensors, strict=True)` has loaded those of `weights.safetensors`, names and shapes alike.
    `mask` is 0 at padding, which may stand on any side and hold any token, and not 0 elsewhere. Outputs are
    those of `DenseTransformer`: [batch, position], or [batch, position, name] where several names are put
    out; entries at padding mean nothing. The margin [batch] is that of
    `DenseTransformer.run_with_margin`, in float64: where it is negative, no output of the word is to be read.

    No operation depends on data, so `torch.export`, `torch.compile` and ONNX exporters trace the module for
    all batch sizes and lengths n >= 1. Raises what `architecture_of` raises.

    >>> import attemper
    >>> from attemper.networks.structure import structure_of
    >>> from attemper.running.weights import torch_weights
    >>> model = attemper.compile("O a", "ab", regime="temperature")
    >>> module = TraceableTransformer(structure_of(model.network, model.source))
    >>> module.load_state_dict(torch_weights(model.network))
    <All keys matched successfully>
    >>> outputs, margins = module(torch.tensor([[1, 0, 1]]), torch.tensor([[1, 1, 1]]))
    >>> outputs.tolist(), margins.tolist()
    ([[0.0, 1.0, 1.0]], [0.24999999793815486])
    """

    def __init__(self, structure: Structure, dtype: torch.dtype = torch.float64) -> None:
        super().__init__()
        self.architecture = architecture_of(structure)
        shapes = dict(self.architecture.shapes())
        self.embed = Weights(under("embed.", shapes), dtype)
        norm = self.architecture.norm
        self.blocks = nn.ModuleList(
            TraceableBlock(layer, norm, under(f"blocks.{number}.", shapes), dtype)
            for number, layer in enumerate(self.architecture.layers)
        )

    def forward(self, tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        seats = Seats.of(mask)
        x = self.embedded(tokens, seats)
        margins = torch.full(tokens.shape[:1], float("inf"), dtype=torch.float64, device=x.device)
        for block in self.blocks:
            x, margins = block(x, seats, margins)
        return self.read(x), margins

    def embedded(self, tokens: Tensor, seats: Seats) -> Tensor:
        """The residual stream before the first layer, [batch, position, d_model]."""
        weights = self.embed.get("W_E")
        columns = [torch.zeros_like(seats.i, dtype=weights.dtype)] * self.architecture.width
        for coordinate, form in self.architecture.positions:
            columns[coordinate] = columns[coordinate] + form_values(form, seats.i, seats.n).to(weights.dtype)
        return weights[tokens.masked_fill(~seats.real, 0)] + torch.stack(columns, dim=-1)

    def read(self, x: Tensor) -> Tensor:
        """What is put out of the last residual stream."""
        outputs, norm = self.architecture.outputs, self.architecture.norm
        found = x[..., outputs[0]] if self.architecture.is_plain else x[..., list(outputs)]
        return found if norm is None else found / norm.unit


@final
class TraceableBlock(nn.Module):
    """One layer: attention and feed-forward, each added to the residual stream; margins of its clamps."""

    def __init__(
        self,
        layer: LayerPlan,
        norm: NormPlan | None,
        shapes: Mapping[str, tuple[int, ...]],
        dtype: torch.dtype,
    ) -> None:
        super().__init__()
        self.hidden, self.clamps, self.norm = layer.hidden, layer.clamps, norm
        # Parameters are in the order of `weights.safetensors`, whose digest can so be made of them.
        self.ln1 = Weights(under("ln1.", shapes), dtype)
        self.attn = TraceableAttention(layer.heads, under("attn.", shapes), dtype)
        self.ln2 = Weights(under("ln2.", shapes), dtype)
        self.mlp = Weights(under("mlp.", shapes), dtype)

    def forward(self, x: Tensor, seats: Seats, margins: Tensor) -> tuple[Tensor, Tensor]:
        x = x + self.attn(self.read_by_heads(x), seats)
        if not self.hidden:
            return x, margins  # runtimes cannot run a feed-forward part of no units, which adds nothing
        pre = self._normalised(x, self.ln2) @ self.mlp.get("W_in") + self.mlp.get("b_in")
        room = self._room(pre).masked_fill(~seats.real, float("inf"))
        return x + pre.relu() @ self.mlp.get("W_out"), torch.minimum(margins, room.amin(dim=-1))

    def _room(self, pre: Tensor) -> Tensor:
        """The least margin of the clamps at each position; -inf where a hidden unit sees no number.

        Runtimes may take a maximum or ReLU of what is no number for a number, so that nothing would show it.
        """
        is_number = (pre == pre).all(dim=-1)
        room = torch.full_like(is_number, float("inf"), dtype=torch.float64)
        if self.clamps:
            low, high = ([pair[side] for pair in self.clamps] for side in (0, 1))
            room = torch.maximum(-pre[..., low], pre[..., high]).amin(dim=-1).double()
        return torch.where(is_number, room, float("-inf"))

    def read_by_heads(self, x: Tensor) -> Tensor:
        """What the heads read of the residual stream: the stream itself, or normalised."""
        return self._normalised(x, self.ln1)

    def _normalised(self, x: Tensor, own: Weights) -> Tensor:
        """The stream as a sublayer reads it, in operations that every runtime has in every format.

        Normalisations of runtimes may be others: ONNX has their eps in float32, whatever the numbers are.
        """
        if self.norm is None:
            return x
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        if self.norm.is_centred:
            wide = wide - wide.mean(dim=-1, keepdim=True)
        mean = (wide * wide).mean(dim=-1, keepdim=True)
        # A mean square beyond the format is no number to divide by: all would be read as 0.
        mean = torch.where(mean.abs() < float("inf"), mean, constant_like(mean, float("nan"), mean.dtype))
        read = wide / (mean + constant_like(mean, self.norm.eps, mean.dtype)).sqrt() * own.get("w")
        return (read + own.get("b") if self.norm.is_centred else read).to(x.dtype)
