"""A network's weights as torch tensors, under the names of `weights.safetensors`."""

from __future__ import annotations

import torch

from attemper.networks.layers import Network
from attemper.running.arrays import arrays_of


def torch_weights(network: Network, dtype: torch.dtype = torch.float64) -> dict[str, torch.Tensor]:
    """Every weight of the network; raises `UnsupportedError` as `tensors_of` does."""
    return {name: torch.from_numpy(array).to(dtype) for name, array in arrays_of(network).items()}
