"""What a head keeps of the positions before a block, where a long word is read block by block."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import final

import torch
from torch import Tensor

KEPT = 64
"""How many of a class's first members are kept, and how many of its last."""

ClassName = tuple[bool | None, tuple[float, ...]]
"""Whether the positions are odd (None: either), and the content of the rows."""


class NeedsPastError(Exception):
    """A head reads more of the past than is kept: the word has to be read as a whole."""


class UnfitError(Exception):
    """A head's scores have none of the forms that have a linear way; the text says why.

    `of_all_words`: that follows from weights and lengths alone, whatever the words are.
    """

    def __init__(self, text: str, *, of_all_words: bool = False) -> None:
        super().__init__(text)
        self.of_all_words = of_all_words


@final
@dataclass(frozen=True)
class Kept:
    """Members of a class: their positions [member] and values [value, member].

    From `hole` on they are the class's last ones, and before it its first ones; None: all members are here.
    """

    positions: Tensor
    values: Tensor
    hole: int | None = None

    def shortened(self) -> Kept:
        """The first and the last members alone."""
        if len(self.positions) <= 2 * KEPT:
            return self
        ends = [slice(0, KEPT), slice(-KEPT, None)]
        positions = torch.cat([self.positions[end] for end in ends])
        values = torch.cat([self.values[:, end] for end in ends], dim=1)
        return Kept(positions, values, KEPT)


@final
@dataclass
class Past:
    """One head's past, of a single word: classes by their name, and values of all positions for lookups."""

    members: dict[ClassName, Kept] = field(default_factory=dict)
    sums: dict[ClassName, Tensor] = field(default_factory=dict)
    constants: dict[ClassName, Tensor] = field(default_factory=dict)
    values: Tensor | None = None
    """[value, position]: filled up to the block that is read."""

    def remember(self, values: Tensor, first: int, length: int) -> Tensor:
        """The values of all positions up to the block's last, [value, position]."""
        if self.values is None:
            self.values = values.new_zeros(len(values), length)
        end = first - 1 + values.shape[1]
        self.values[:, first - 1 : end] = values
        return self.values[:, :end]
