"""What a GPT-2 computes of its tensors, from the definition and without transformers."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn.functional import layer_norm

Weights = Mapping[str, Tensor]


def stream_of(weights: Weights, tokens: Tensor, heads: int, epsilon: float) -> Tensor:
    """The last stream, after the last norm: tokens [batch, position] to [batch, position, column]."""
    w = {name.removeprefix("transformer."): weight for name, weight in weights.items()}
    x = w["wte.weight"][tokens] + w["wpe.weight"][torch.arange(tokens.shape[1])]
    layers = len({name.split(".")[1] for name in w if name.startswith("h.")})
    for number in range(layers):
        own = {name.removeprefix(f"h.{number}."): part for name, part in w.items()}
        x = x + _attended(own, _normed(own, "ln_1", x, epsilon), heads)
        inner = (_normed(own, "ln_2", x, epsilon) @ own["mlp.c_fc.weight"] + own["mlp.c_fc.bias"]).relu()
        x = x + inner @ own["mlp.c_proj.weight"] + own["mlp.c_proj.bias"]
    return _normed(w, "ln_f", x, epsilon)


def _normed(w: Weights, name: str, x: Tensor, epsilon: float) -> Tensor:
    return layer_norm(x, x.shape[-1:], w[f"{name}.weight"], w[f"{name}.bias"], epsilon)


def _attended(w: Weights, x: Tensor, heads: int) -> Tensor:
    batch, length, width = x.shape
    parts = (x @ w["attn.c_attn.weight"] + w["attn.c_attn.bias"]).split(width, dim=-1)
    q, k, v = (part.reshape(batch, length, heads, -1).transpose(1, 2) for part in parts)
    scores = q @ k.transpose(2, 3) / (width // heads) ** 0.5
    hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
    z = scores.masked_fill(hidden, float("-inf")).softmax(dim=-1) @ v
    return z.transpose(1, 2).reshape(batch, length, width) @ w["attn.c_proj.weight"] + w["attn.c_proj.bias"]
