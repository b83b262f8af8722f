"""All heads of a network in floats: rows and temperatures are worked out once where they are shared."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache
from typing import final

import flint

from attemper.checker.attention.scores import Output
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names
from attemper.checker.rounding.arithmetic import (
    BeyondError,
    Kernel,
    Lengths,
    Off,
    OnGrid,
    Rounded,
    is_power_of_two,
)
from attemper.checker.rounding.attention import Competitions, LostShares, RoundedHead, RoundedRow
from attemper.checker.rounding.embedding import rounded_form
from attemper.checker.rounding.scan import Scan
from attemper.checker.rounding.score_gaps import Cold, ScoredRow, scored_row, unknown_relatively
from attemper.checker.values import ResidualValues, of_closed_form, of_form
from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Head, LinearForm, Softmax


@final
class RoundedHeads:
    """All heads of a network at one length, for one class of kernels: what they share is worked out once.

    `scan` is there if it is a scan that runs them, in float64: then `lengths` are those of float64.
    """

    def __init__(
        self,
        lengths: Lengths,
        kernel: Kernel,
        scan: Scan | None = None,
        competitions: Competitions | None = None,
    ) -> None:
        self.lengths = lengths
        self.kernel = kernel
        self.scan = scan
        self.lost_shares: LostShares = {}
        self._competitions = {} if competitions is None else competitions
        self._cold = cache(self._cold_of)
        self._rows: dict[tuple[Rounded, Rounded, Cold, bool], ScoredRow] = {}
        self._losses: dict[Hashable, tuple[flint.arb, flint.arb]] = {}

    def head(
        self, name: str, head: Head, outputs: tuple[Output, ...], before: ResidualValues, offs: list[Off]
    ) -> RoundedHead:
        """What is computed of a head. Raises `BeyondError` if that may leave the range of the format."""
        assert isinstance(head.weighting, Softmax)
        lengths = self.lengths
        if self.scan is not None:
            self.scan.require_held(name, head)
        cold = self._cold(head.weighting.inverse_temperature)
        forms = [lengths.linear(form, before.values, offs) for form in head.values]
        if not all(2 * lengths.length * (own.size + own.absolute) < lengths.form.range for own in forms):
            raise BeyondError(f"{name} (its values leave the range of the format)")
        of_keys = offs if self.scan is None else self.scan.of_keys(offs)
        pairs = zip(head.query, head.key, strict=True)
        rows = tuple(self._row(query, key, cold, before, offs, of_keys) for query, key in pairs)
        values = tuple(zip(forms, outputs, strict=True))
        read = before, offs, of_keys
        kept = self.lost_shares, self._losses, self._competitions
        return RoundedHead(name, head, lengths, self.kernel, cold, rows, values, *read, *kept, self.scan)

    def written(self, head: RoundedHead, offs: list[Off]) -> list[Off]:
        """How far what the head writes can be off, if it is off by so much where it is computed."""
        return offs if self.scan is None else self.scan.written(head.name, head.values, offs)

    def _cold_of(self, form: ClosedForm) -> Cold:
        """The inverse temperature, which many heads share."""
        exact, number = of_closed_form(self.lengths.names, form), rounded_form(self.lengths, form)
        # What is a power of two in real numbers may be computed as another number.
        is_power = set(exact) == {(0, 0)} and _is_one_power(self.lengths.names, exact[0, 0])
        return Cold(number, is_power and isinstance(number, OnGrid), self.scan is not None)

    def _row(
        self,
        query: LinearForm,
        key: LinearForm,
        cold: Cold,
        before: ResidualValues,
        offs: list[Off],
        of_keys: list[Off],
    ) -> RoundedRow:
        """A row; heads whose queries, keys and temperature are the same quantities share what is computed."""
        q = self.lengths.linear(query, before.values, offs)
        k = self.lengths.linear(key, before.values, of_keys)
        is_whole = self.scan is None or self.scan.is_whole(key)
        if (q, k, cold, is_whole) not in self._rows:
            scored = scored_row(self.lengths, q, k, cold)
            # Parts of the key of a scan cancel, each of them rounded.
            self._rows[q, k, cold, is_whole] = scored if is_whole else unknown_relatively(scored)
        of_query, of_key = (of_form(self.lengths.names, form, before) for form in (query, key))
        return RoundedRow(query, of_query, of_key, self._rows[q, k, cold, is_whole])


def _is_one_power(names: Names, diagram: Diagram) -> bool:
    """Whether a number is one power of two everywhere."""
    values = names.values(diagram)
    return len(values) == 1 and not values[0].parts and is_power_of_two(values[0].constant)
