"""The positions of a batch of words, and what depends on them alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property

import torch
from torch import Tensor

from attemper.running.kept import KeptTensors


class Places:
    """The positions of a ragged batch, right-padded: i, n and who is real, each [batch, position].

    Padding repeats the last position's i, so that everything computed there stays finite.
    """

    def __init__(self, lengths: Tensor, width: int) -> None:
        self.width = width
        self.steps = torch.arange(1, width + 1, device=lengths.device)[None, :]
        self.n = lengths[:, None].expand(-1, width)
        self.is_ragged = bool((lengths != width).any())
        self.i = torch.minimum(self.steps, self.n) if self.is_ragged else self.steps.expand_as(self.n)

    @cached_property
    def real(self) -> Tensor:
        """Which positions are none of padding's."""
        return self.steps <= self.n

    @cached_property
    def reversed(self) -> Tensor:
        """Where each position of a reversed word comes from; padding stays where it is."""
        return torch.where(self.real, self.n - self.steps, self.steps - 1)

    def reverse(self, rows: Tensor) -> Tensor:
        """Each word's rows [batch, position, ...] in reverse order."""
        index = self.reversed.reshape(*self.reversed.shape, *[1] * (rows.ndim - 2))
        return rows.gather(1, index.expand_as(rows))

    def tabulate(
        self, kept: KeptTensors, key: tuple[Hashable, ...], table: Callable[[Tensor, Tensor], Tensor]
    ) -> Tensor:
        """`table(i, n)`, a tensor [batch or 1, position, ...] that depends on i and n alone.

        Where all words have one length it is one row, which `kept` keeps under `key` and that length.
        """
        if self.is_ragged:
            return table(self.i, self.n)
        i, n = self.steps, torch.full_like(self.steps, self.width)
        return kept.get((*key, self.width, i.device), lambda: table(i, n))
