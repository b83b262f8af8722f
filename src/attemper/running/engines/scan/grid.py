"""Words laid out in columns, one after the other, each right-padded to one width."""

from __future__ import annotations

from functools import cached_property
from typing import assert_never, final

import torch
from torch import Tensor

from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Masking
from attemper.running.closed_form_tensors import form_values


@final
class Grid:
    """Where words, or a block of one word, stand in flat arrays [column].

    Word k has the columns k width to (k + 1) width - 1, which are its positions from `first` on. A column
    past the end of its word is padding: it sees what the word's last position sees, and nobody sees it.
    """

    def __init__(self, lengths: Tensor, width: int, first: int = 1) -> None:
        self.lengths = lengths
        self.width = width
        self.first = first
        self.words = len(lengths)
        self.columns = self.words * width
        self.longest = int(lengths.max())
        self.is_ragged = bool((lengths != self.longest).any())
        self.has_padding = bool((lengths < first + width - 1).any())

    @cached_property
    def positions(self) -> Tensor:
        """The number of each column in its word, from `first` on, also of padding."""
        steps = torch.arange(self.first, self.first + self.width, device=self.lengths.device)
        return steps.repeat(self.words) if self.words > 1 else steps

    @cached_property
    def distinct_lengths(self) -> tuple[int, ...]:
        """The lengths that words have, each once, the least first."""
        return tuple(sorted(set(self.lengths.tolist())))

    @cached_property
    def n(self) -> Tensor:
        """The length of each column's word."""
        return self.lengths.repeat_interleave(self.width)

    @cached_property
    def i(self) -> Tensor:
        """The position of each column; padding repeats the last one."""
        return torch.minimum(self.positions, self.n) if self.has_padding else self.positions

    @cached_property
    def word(self) -> Tensor:
        """The number of each column's word."""
        return torch.arange(self.words, device=self.lengths.device).repeat_interleave(self.width)

    @cached_property
    def start(self) -> Tensor:
        """The first column of each column's word."""
        return self.word * self.width

    @cached_property
    def padding(self) -> Tensor:
        """Which columns are padding."""
        return self.positions > self.n

    def visible(self, masking: Masking) -> tuple[Tensor, Tensor]:
        """(low, high): each column's query sees the positions from low + 1 to high of its word."""
        low, high = masking.ends(self.i, self.n)
        return torch.zeros_like(self.i) if masking.before else low, high

    def sums(self, rows: Tensor, masking: Masking, before: Tensor | None = None) -> Tensor:
        """The sum over what each query sees of rows [row, column], as one running sum inside each word.

        No two sums are subtracted, so a sum is off by no more than a sum of its own terms can be. `before`
        [row] is the sum over positions before the grid's first, which only future-masked heads may have.
        """
        table = rows.reshape(len(rows), self.words, self.width)
        if self.has_padding and masking.weak is not Masking.FUTURE:
            table = table.masked_fill(self.padding.reshape(self.words, self.width), 0)
        match masking:
            case Masking.FUTURE:
                found = _with(before, table.cumsum(dim=2))
            case Masking.STRICT_FUTURE:
                found = _with(before, _shifted(table.cumsum(dim=2)))
            case Masking.PAST:
                found = table.flip(2).cumsum(dim=2).flip(2)
            case Masking.STRICT_PAST:
                found = _shifted(table.flip(2).cumsum(dim=2)).flip(2)
            case Masking.NONE:
                found = table.sum(dim=2, keepdim=True).expand_as(table)
            case _:
                assert_never(masking)
        return found.reshape(len(rows), self.columns)

    def parts(self, *, single_words: bool) -> list[tuple[Tensor, Grid]]:
        """Smaller grids with their columns of this one: words of one length without padding, or single words.

        Nothing where there is no smaller one. Only of grids that begin at position 1.
        """
        if self.has_padding or self.is_ragged:
            groups = [(self.lengths == n).nonzero()[:, 0] for n in self.distinct_lengths]
        elif single_words and self.words > 1:
            groups = list(torch.arange(self.words, device=self.lengths.device)[:, None])
        else:
            return []
        found = []
        for words in groups:
            lengths = self.lengths[words]
            places = torch.arange(int(lengths[0]), device=lengths.device)
            columns = (words[:, None] * self.width + places).flatten()
            found.append((columns, Grid(lengths, len(places))))
        return found

    def values(self, form: ClosedForm) -> Tensor:
        """A closed form at every column, in float64."""
        if self.words == 1 or self.is_ragged:
            return form_values(form, self.i, self.n)
        row = slice(0, self.width)
        return form_values(form, self.i[row], self.n[row]).repeat(self.words)


def _with(before: Tensor | None, sums: Tensor) -> Tensor:
    return sums if before is None else sums + before[:, None, None]


def _shifted(sums: Tensor) -> Tensor:
    """Each column's sum moved to the next column, 0 at the first."""
    return torch.cat([torch.zeros_like(sums[:, :, :1]), sums[:, :, :-1]], dim=2)
