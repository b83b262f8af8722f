"""All heads of a network in floats: rows and temperatures are worked out once where they are shared."""

from __future__ import annotations

from dataclasses import replace
from typing import final

from attemper.checker.attention.scores import Output
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names
from attemper.checker.rounding.arithmetic import BeyondError, Kernel, Lengths, Off, is_power_of_two
from attemper.checker.rounding.attention import RoundedHead, RoundedRow, Strains
from attemper.checker.rounding.embedding import rounded_form
from attemper.checker.rounding.leads import Cold, scored_row, unknown_relatively
from attemper.checker.rounding.scan import Scan
from attemper.checker.values import Stream, of_closed_form, of_form
from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Coordinate, Head, LinearForm, Softmax


@final
class RoundedHeads:
    """All heads of a network at one length, for one class of kernels: what they share is worked out once.

    `placed` are the coordinates of position embeddings. `scan` is there if it is a scan that runs them, in
    float64: then `lengths` are those of float64.
    """

    def __init__(
        self, lengths: Lengths, kernel: Kernel, placed: set[Coordinate], scan: Scan | None = None
    ) -> None:
        self.lengths = lengths
        self.kernel = kernel
        self.placed = placed
        self.scan = scan
        self.strains: Strains = {}
        self._colds: dict[ClosedForm, Cold] = {}
        self._rows: dict[tuple[LinearForm, LinearForm, int], RoundedRow] = {}

    def head(
        self, name: str, head: Head, outputs: tuple[Output, ...], before: Stream, offs: list[Off]
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
        return RoundedHead(
            name, head, lengths, self.kernel, cold, rows, values, *read, self.strains, self.scan
        )

    def written(self, head: RoundedHead, offs: list[Off]) -> list[Off]:
        """How far what the head writes can be off, if it is off by so much where it is computed."""
        return offs if self.scan is None else self.scan.written(head.name, head.values, offs)

    def _cold(self, form: ClosedForm) -> Cold:
        """The inverse temperature, which many heads share."""
        if form not in self._colds:
            exact = of_closed_form(self.lengths.names, form)
            number = rounded_form(self.lengths, form)
            # What is a power of two in real numbers may be computed as another number.
            is_power = set(exact) == {(0, 0)} and _is_one_power(self.lengths.names, exact[0, 0])
            self._colds[form] = Cold(number, is_power and number.grid is not None, self.scan is not None)
        return self._colds[form]

    def _row(
        self,
        query: LinearForm,
        key: LinearForm,
        cold: Cold,
        before: Stream,
        offs: list[Off],
        of_keys: list[Off],
    ) -> RoundedRow:
        """A row; those of position embeddings, which nothing else is added to, are the same in all layers.

        But behind a normalisation, which reads what else stands there, too, they are not.
        """
        name = query, key, id(cold)
        if name not in self._rows:
            row = rounded_row(self.lengths, query, key, cold, before, offs, of_keys)
            if self.scan is not None and not self.scan.is_whole(key):
                # Parts of the key cancel, each of them rounded.
                row = replace(row, scored=unknown_relatively(row.scored))
            if self.lengths.arithmetic.halves > 1 or not self.placed.issuperset(
                coordinate for coordinate, _ in query + key
            ):
                return row
            self._rows[name] = row
        return self._rows[name]


def rounded_row(
    lengths: Lengths,
    query: LinearForm,
    key: LinearForm,
    cold: Cold,
    before: Stream,
    offs: list[Off],
    of_keys: list[Off] | None = None,
) -> RoundedRow:
    """What is computed of a row; `of_keys` are the errors where keys read, if they are others."""
    q = lengths.linear(query, before.values, offs)
    k = lengths.linear(key, before.values, offs if of_keys is None else of_keys)
    values = of_form(lengths.names, query, before), of_form(lengths.names, key, before)
    return RoundedRow(query, values[0], values[1], scored_row(lengths, q, k, cold))


def _is_one_power(names: Names, diagram: Diagram) -> bool:
    """Whether a number is one power of two everywhere."""
    values = names.values(diagram)
    return len(values) == 1 and not values[0].parts and is_power_of_two(values[0].constant)
