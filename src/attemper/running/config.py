"""A network's sizes under the names that TransformerLens gives them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from attemper.networks.layers import Network, hidden_width


@dataclass(frozen=True)
class Config:
    """What `HookedTransformer.cfg` says of a model, as far as it applies.

    `n_heads` and `d_mlp` are those of the layer with the most: layers differ. There is no `n_ctx`, since
    words of every length are read, and no unembedding: the output is one coordinate of the residual stream.
    `normalization_type` is LN or RMS, and None where sublayers read the residual stream as it is, without an
    `eps`.
    """

    n_layers: int
    n_heads: int
    d_model: int
    d_head: int
    d_mlp: int
    d_vocab: int
    act_fn: str
    normalization_type: str | None
    eps: float | None
    dtype: torch.dtype
    device: torch.device


def config_of(network: Network, dtype: torch.dtype, device: torch.device) -> Config:
    """The sizes of a network whose parameters have that format and stand there."""
    norm = network.normalisation
    return Config(
        n_layers=len(network.layers),
        n_heads=max((len(layer.heads) for layer in network.layers), default=0),
        d_model=len(network.coordinates),
        d_head=network.head_width,
        d_mlp=hidden_width(network),
        d_vocab=len(network.alphabet.symbols),
        act_fn="relu",
        normalization_type=None if norm is None else "LN" if norm.is_centred else "RMS",
        eps=None if norm is None else float(norm.eps),
        dtype=dtype,
        device=device,
    )
