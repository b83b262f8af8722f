"""The residual stream before each layer and what each head of it attends to, from a module that runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from attemper.running.dense import DenseTransformer
from attemper.running.hooks import hooks


@dataclass(frozen=True)
class Seen:
    """One run: what is put out [word, position, ...], and of each layer its stream and its heads.

    `streams[layer]` is [word, position, d_model], `heads[layer]` is [word, position, head, d_head]: both as
    float64, which holds the numbers of every format.
    """

    output: NDArray[np.float64]
    streams: tuple[NDArray[np.float64], ...]
    heads: tuple[NDArray[np.float64], ...]


def heads_of(module: DenseTransformer, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> Seen:
    """Run the words and keep what the heads read and attend to."""
    kept: dict[str, NDArray[np.float64]] = {}

    def keep(name: str) -> Callable[[torch.Tensor], None]:
        return lambda activation: kept.__setitem__(name, activation.detach().double().cpu().numpy().copy())

    layers = range(len(module.network.layers))
    streams = [f"blocks.{layer}.hook_resid_pre" for layer in layers]
    heads = [f"blocks.{layer}.attn.hook_z" for layer in layers]
    with torch.no_grad(), hooks(module, {name: keep(name) for name in (*streams, *heads)}):
        output = module(tokens, lengths).double().cpu().numpy()
    return Seen(output, tuple(kept[name] for name in streams), tuple(kept[name] for name in heads))


def rounding_to(dtype: torch.dtype) -> Callable[[float], float] | None:
    """What the format makes of a number; None for float64, which changes none."""
    if dtype == torch.float64:
        return None
    return lambda number: torch.tensor(number, dtype=torch.float64).to(dtype).item()
