"""A network's weights as torch tensors, under the names of `weights.safetensors`."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from attemper.networks.layers import Network
from attemper.networks.weights import tensors_of


def torch_weights(network: Network, dtype: torch.dtype = torch.float64) -> dict[str, Tensor]:
    """Every weight of the network; raises `UnsupportedError` as `tensors_of` does."""
    return {
        name: torch.from_numpy(np.asarray(tensor.numbers, dtype=np.float64).reshape(tensor.shape)).to(dtype)
        for name, tensor in tensors_of(network).items()
    }
