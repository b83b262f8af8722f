"""What an exported network says of a bit: rejected, accepted, or undecided; never a guess."""

from __future__ import annotations

import torch
from torch import Tensor

LABELS = ("rejected", "accepted", "undecided")
"""The names of the labels 0, 1 and 2."""

REJECTED, ACCEPTED, UNDECIDED = range(3)


def labels_of(outputs: Tensor, margins: Tensor) -> Tensor:
    """The label of each bit, as int64: outputs [batch] or [batch, position], margins [batch].

    A bit is 1 from 3/4 on and 0 up to 1/4, where no clamp of the word has a negative margin; what is between,
    infinite or no number is undecided, as is everything of a word whose margin is negative.

    >>> labels_of(torch.tensor([0.0, 1.0, 0.5, 1.0]), torch.tensor([0.25, 0.25, 0.25, -0.1])).tolist()
    [0, 1, 2, 2]
    """
    holds = (margins >= 0).reshape(-1, *[1] * (outputs.ndim - 1)) & (outputs.abs() < float("inf"))
    labels = torch.full_like(outputs, UNDECIDED, dtype=torch.int64)
    labels = torch.where((outputs <= 0.25) & holds, REJECTED, labels)
    return torch.where((outputs >= 0.75) & holds, ACCEPTED, labels)


def read_at(outputs: Tensor, mask: Tensor, *, first: bool, accepts_empty: bool) -> Tensor:
    """The bit of the verdict [batch]: at the first or last real position of outputs [batch, position].

    `mask` [batch, position] is True at real positions; a word that has none is the empty word.

    >>> bits, mask = torch.tensor([[0.0, 1.0, 0.0]]), torch.tensor([[True, True, False]])
    >>> read_at(bits, mask, first=False, accepts_empty=False).tolist()
    [1.0]
    """
    width = outputs.shape[1]
    steps = torch.arange(1, width + 1, device=mask.device)
    # Rows have one place before the word, for words of no position: there stands what the empty word gets.
    marks = torch.nn.functional.pad(mask * (width + 1 - steps if first else steps), (1, 0))
    most = marks.amax(dim=1, keepdim=True)
    place = torch.where(most > 0, width + 1 - most, 0) if first else most
    rows = torch.nn.functional.pad(outputs, (1, 0), value=float(accepts_empty))
    return rows.gather(1, place)[:, 0]
