"""Whether a GPT-2 in a format reads the numbers of a network as they are."""

from __future__ import annotations

import torch

from attemper.errors import UnsupportedError
from attemper.exports.gpt2.layout import Layout
from attemper.exports.gpt2.noise import require_quiet
from attemper.exports.gpt2.sizes import require_small
from attemper.exports.gpt2.weights import greatest_sizes, position_table
from attemper.networks.layers import Network
from attemper.running.weights import torch_weights


def require_readable(network: Network, layout: Layout, dtype: str) -> None:
    """Refuse numbers of which a GPT-2 would make others: too large for its norms or its format, or too noisy.

    Raises `UnsupportedError`, naming the coordinate, the weight, or what is read.
    """
    tabulated = greatest_sizes(network, layout.positions)
    require_small(network, layout, tabulated, dtype)
    require_finite(network, layout, getattr(torch, dtype))
    require_quiet(network, layout, tabulated, dtype)


def require_finite(network: Network, layout: Layout, dtype: torch.dtype) -> None:
    """Refuse a network that has a number too large for the format.

    Raises `UnsupportedError`, naming the tensor and the place in it; W_Q is that of the GPT-2.
    """
    table = position_table(network, layout.positions, dtype)
    for name, weight in (torch_weights(network, dtype) | {"the position embedding": table}).items():
        held = weight * layout.query_factor if name.endswith("W_Q") else weight
        places = (~held.isfinite()).nonzero().tolist()
        if places:
            raise UnsupportedError(
                f"{name}{places[0]} is no finite number in {str(dtype).removeprefix('torch.')}: export in "
                "float64, or use smaller weights"
            )
