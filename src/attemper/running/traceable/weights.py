"""Parameters of a traceable module, which are 0 until weights are loaded."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

Shapes = Mapping[str, tuple[int, ...]]
"""The shape of each parameter, by its name."""


class Weights(nn.Module):
    """Parameters by their names, of the shapes that are given; none asks for gradients."""

    def __init__(self, shapes: Shapes, dtype: torch.dtype) -> None:
        super().__init__()
        for name, shape in shapes.items():
            zeros = torch.zeros(shape, dtype=dtype)
            self.register_parameter(name, nn.Parameter(zeros, requires_grad=False))

    def get(self, name: str) -> Tensor:
        """The parameter of that name."""
        return self.get_parameter(name)
