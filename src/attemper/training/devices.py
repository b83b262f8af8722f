"""Where a model computes: words and losses stay where they are made, on the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from attemper.errors import UnsupportedError


@contextmanager
def computing_on(model: nn.Module, device: torch.device) -> Iterator[None]:
    """Within, the model computes there, of tensors on the CPU and to tensors on the CPU; then it is back.

    Raises `UnsupportedError` for a model in float64 where the device has no such numbers.
    """
    if device.type == "cpu":
        yield
        return
    if device.type == "mps" and any(own.dtype is torch.float64 for own in model.parameters()):
        raise UnsupportedError(
            "this model computes in float64, which mps does not have: use device='cpu'", options=("device",)
        )
    own = model.forward

    def forward(*given: Tensor) -> Tensor:
        with device:  # what the model makes by itself, as numbers of positions, is made there
            found: Tensor = own(*(tensor.to(device) for tensor in given))
        return found.cpu()

    model.to(device)
    model.forward = forward
    try:
        yield
    finally:
        model.forward = own
        model.cpu()
