"""Token numbers as users hand them to a running transformer: what they mean, or what is wrong with them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from attemper.errors import WordError

EXAMPLE = "torch.tensor([[0, 1, 1]])"


def checked_tokens(tokens: Any, lengths: Any, symbols: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Token numbers [batch, position] and lengths [batch] as int64 on the device.

    Without `lengths` every word is as long as the tensor is wide. Raises `WordError` for anything but a
    two-dimensional tensor of integers from 0 to `symbols` - 1, at least one position wide, and lengths from 1
    to its width.

    >>> checked_tokens(torch.tensor([[0, 1]]), None, 2, torch.device("cpu"))
    (tensor([[0, 1]]), tensor([2]))
    """
    tokens = _integers("tokens", tokens, 2, "[batch, position]", EXAMPLE).to(device, torch.int64)
    batch, width = tokens.shape
    if width == 0:
        raise WordError("tokens have no positions: a transformer reads words from length 1 on")
    _within("token", tokens, 0, symbols - 1, f"the alphabet has the tokens 0 to {symbols - 1}")
    if lengths is None:
        return tokens, torch.full((batch,), width, device=device)
    lengths = _integers("lengths", lengths, 1, "[batch]", "torch.tensor([3])").to(device, torch.int64)
    if len(lengths) != batch:
        raise WordError(f"there are {len(lengths)} lengths for {batch} words: give one for each word")
    _within("length", lengths, 1, width, f"words in tokens of width {width} have lengths from 1 to {width}")
    return tokens, lengths


def _integers(what: str, given: Any, dimensions: int, axes: str, example: str) -> Tensor:
    """The given tensor, if it is one of integers with so many dimensions."""
    if not isinstance(given, Tensor):
        raise WordError(f"{what} must be a tensor, not a {type(given).__name__}: for example {example}")
    if given.dtype is torch.bool or given.is_floating_point() or given.is_complex():
        raise WordError(f"{what} must be integers, not {given.dtype}: for example {example}")
    if given.ndim != dimensions:
        raise WordError(
            f"{what} must be {axes}, but have the shape {list(given.shape)}: for example {example}"
        )
    return given


def _within(what: str, given: Tensor, least: int, greatest: int, allowed: str) -> None:
    if not given.numel():
        return
    low, high = given.aminmax()
    if low >= least and high <= greatest:
        return
    place = ((given < least) | (given > greatest)).nonzero()[0].tolist()
    value = int(given[tuple(place)])
    where = f"word {place[0]}" + (f", position {place[1] + 1}" if len(place) > 1 else "")
    raise WordError(f"the {what} {value} of {where} does not exist: {allowed}")
