"""What a block's sublayers read: the residual stream as it is, or normalised by PyTorch's own functions."""

from __future__ import annotations

from typing import assert_never

from torch import Tensor, nn

from attemper.networks.layers import Normalisation
from attemper.running.hooks import HookPoint


class LayerNorm(nn.Module):
    """w (x - mean) / sqrt(variance + eps) + b over the coordinates, as in `torch.nn.LayerNorm`."""

    w: Tensor
    b: Tensor

    def __init__(self, weights: dict[str, Tensor], eps: float) -> None:
        super().__init__()
        for name, weight in weights.items():
            self.register_parameter(name, nn.Parameter(weight, requires_grad=False))
        self.eps = eps
        self.hook_normalized = HookPoint()

    def forward(self, x: Tensor) -> Tensor:
        """The residual stream [batch, position, d_model] to what the sublayer reads."""
        found = nn.functional.layer_norm(x, x.shape[-1:], self.w, self.b, self.eps)
        read: Tensor = self.hook_normalized(_of_numbers(found, x))
        return read


class RMSNorm(nn.Module):
    """w x / sqrt(mean square + eps) over the coordinates, as in `torch.nn.RMSNorm`."""

    w: Tensor

    def __init__(self, weights: dict[str, Tensor], eps: float) -> None:
        super().__init__()
        self.register_parameter("w", nn.Parameter(weights["w"], requires_grad=False))
        self.eps = eps
        self.hook_normalized = HookPoint()

    def forward(self, x: Tensor) -> Tensor:
        """The residual stream [batch, position, d_model] to what the sublayer reads."""
        found = nn.functional.rms_norm(x, x.shape[-1:], self.w, self.eps)
        read: Tensor = self.hook_normalized(_of_numbers(found, x))
        return read


def _of_numbers(read: Tensor, x: Tensor) -> Tensor:
    """What is read where the mean square of x is a number: PyTorch's norms would divide by infinity."""
    return read.masked_fill(x.square().mean(dim=-1, keepdim=True).isinf(), float("nan"))


NormModule = LayerNorm | RMSNorm | nn.Identity
"""What stands before a sublayer; the identity where nothing is normalised."""


def norm_of(normalisation: Normalisation | None, weights: dict[str, Tensor]) -> NormModule:
    """The module of one norm, with its weights w and b."""
    match normalisation:
        case None:
            return nn.Identity()
        case Normalisation(is_centred=True):
            return LayerNorm(weights, float(normalisation.eps))
        case Normalisation():
            return RMSNorm(weights, float(normalisation.eps))
        case _:
            assert_never(normalisation)
