"""A head on one grid: its classes of keys, and its scores as polynomials of the position."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import log
from typing import Protocol, final

import torch
from torch import Tensor

from attemper.exact.closed_forms import ClosedForm
from attemper.running.engines.scan.classes import Class, Progression, contents, listed, masks
from attemper.running.engines.scan.grid import Grid
from attemper.running.engines.scan.past import ClassName, NeedsPastError, Past, UnfitError
from attemper.running.engines.scan.polynomials import KeyNumbers, class_numbers, scale_of
from attemper.running.engines.scan.shapes import Combination, HeadShape, KeyRow, key_row, key_rows
from attemper.running.engines.scan.sums import TAIL

MOST_LENGTHS = 4096
"""Of so many lengths the keys are kept."""


class FormReader(Protocol):
    """Linear forms of the residual stream at every column, in float64."""

    def __call__(self, form: Combination) -> Tensor:
        """The form of what stands in the stream, in its format."""

    def key(self, form: Combination) -> Tensor:
        """The form with pure coordinates evaluated in float64, which the stream's format may have rounded."""


@final
class Tables:
    """What follows of one head's keys from weights and lengths alone: computed once, and used again."""

    def __init__(self) -> None:
        self._rows: dict[int, tuple[KeyRow, ...]] = {}
        self._numbers: dict[tuple[ClassName, int], tuple[tuple[float, ...], ...]] = {}

    def rows_of(self, shape: HeadShape, pure: Mapping[int, ClosedForm], length: int) -> tuple[KeyRow, ...]:
        """The keys of all rows in words of that length. Raises `UnfitError` for what is no finite number."""
        found = self._rows.get(length)
        if found is None:
            if len(self._rows) > MOST_LENGTHS:
                self._rows, self._numbers = {}, {}
            found = self._rows[length] = _finite_rows(shape, pure, length)
        return found

    def numbers_of(
        self, name: ClassName, length: int, rows: Sequence[KeyRow]
    ) -> tuple[tuple[float, ...], ...]:
        """The numbers of a class's keys, made of these rows."""
        found = self._numbers.get((name, length))
        if found is None:
            try:
                found = self._numbers[name, length] = class_numbers(rows, name)
            except OverflowError:
                raise UnfitError("its keys leave the range of float64") from None
        return found


@final
class ScannedHead:
    """A head whose scores are not all equal, on one grid."""

    def __init__(
        self,
        shape: HeadShape,
        pure: Mapping[int, ClosedForm],
        read: FormReader,
        grid: Grid,
        past: Past | None,
        values: Tensor,
        tables: Tables,
    ) -> None:
        self.shape, self.pure, self.read, self.grid, self.past = shape, pure, read, grid, past
        self.values = values
        self.lengths = grid.distinct_lengths
        self.tables = tables
        self.rows_by_length = [tables.rows_of(shape, pure, n) for n in self.lengths]
        self.rows = self.rows_by_length[0]
        if any(_content(rows) != _content(self.rows) for rows in self.rows_by_length):
            raise UnfitError("what its keys read depends on the length")
        self.has_content = any(_content(self.rows))
        self.scale = scale_of([row for rows in self.rows_by_length for row in rows])
        self.need = TAIL + log(grid.longest)

    @cached_property
    def _cold(self) -> Tensor:
        """1 / (sqrt(d_head) tau) at every column."""
        return self.grid.values(self.shape.inverse_temperature) / self.shape.root

    # Classes -----------------------------------------------------------------------------------

    def masks(self) -> Iterator[tuple[ClassName, Tensor]]:
        """The classes that have members in the grid."""
        label, names = contents([self.read.key(form) for form in _content(self.rows) if form], self.grid)
        return masks(label, names, self.scale.by_parity, self.grid)

    def listed(self) -> dict[ClassName, Class]:
        """The classes, member by member, also those that have members in the past alone."""
        found: dict[ClassName, Class] = {
            name: listed(name, mask, self.values, self.grid, self.past) for name, mask in self.masks()
        }
        for name in () if self.past is None else tuple(self.past.members):
            if name not in found:
                found[name] = listed(name, None, self.values, self.grid, self.past)
        return found

    def spaced(self) -> dict[ClassName, Class]:
        """The classes where keys have no content: positions at equal distances."""
        values = self.values
        if self.past is not None and self.scale.degree == 2:
            values = self.past.remember(values, self.grid.first, self.grid.longest)
        if not self.scale.by_parity:
            return {(None, ()): Progression(1, 1, values)}
        return {(True, ()): Progression(1, 2, values), (False, ()): Progression(2, 2, values)}

    def constants(self) -> dict[ClassName, Tensor] | None:
        """Of each class the one value that all its members have, where scores are linear in j; else None.

        Whether there is one follows from the closed forms, and is then looked at in the numbers.
        """
        forms = [key_row(form, self.pure, self.grid.longest) for _, form, _ in self.shape.values]
        if self.scale.is_inverse or self.has_content:
            return None
        if any(row.content or any(p for p, _ in row.waves) for row in forms):
            return None
        found: dict[ClassName, Tensor] = {} if self.past is None else self.past.constants
        for name, mask in self.masks():
            own = self.values[:, mask]
            constant = found.setdefault(name, own[:, 0])
            if bool((own != constant[:, None]).any()):
                if self.past is not None:
                    raise NeedsPastError
                return None
        return found

    # Scores ------------------------------------------------------------------------------------

    def queries(self, part: slice) -> list[Tensor]:
        """The rows' numbers at some queries, times the inverse temperature."""
        cold = self._cold[part]
        return [self.read(row.query)[part] * cold for row in self.shape.rows]

    def numbers(self, name: ClassName, part: slice) -> KeyNumbers:
        """The numbers of a class's keys, by row and power; tensors where they depend on a word's length."""
        by_length = zip(self.lengths, self.rows_by_length, strict=True)
        tables = [self.tables.numbers_of(name, n, rows) for n, rows in by_length]
        if all(table == tables[0] for table in tables):
            return tables[0]
        lengths = torch.tensor(self.lengths, device=self.grid.lengths.device)
        place = torch.searchsorted(lengths, self.grid.lengths)
        of_words = torch.tensor(tables, dtype=torch.float64, device=self.grid.lengths.device)[place]
        of_columns = of_words[self.grid.word[part]]
        return [[of_columns[:, row, power] for power in range(3)] for row in range(len(self.rows))]


def _finite_rows(shape: HeadShape, pure: Mapping[int, ClosedForm], length: int) -> tuple[KeyRow, ...]:
    """The keys of all rows; infinite weights, and weights that are no numbers, are no rationals."""
    try:
        return key_rows(shape, pure, length)
    except (OverflowError, ValueError):
        raise UnfitError("a weight of its keys is no finite number", of_all_words=True) from None


def _content(rows: Sequence[KeyRow]) -> list[Combination]:
    """What each row reads of the stream at j."""
    return [row.content for row in rows]
