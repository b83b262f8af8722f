"""What a head of a network might do, as steps of a program: tried for what the checker's rule asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import assert_never

from attemper.attention_program import ops
from attemper.checker.diagrams import Diagram
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.program import MASKINGS
from attemper.checker.rules import HeadFact
from attemper.checker.values import ResidualValues, of_form, plain
from attemper.networks.layers import Head, Layer, LinearForm, Masking
from attemper.reading.recording import Added, CountLookup, Moved, SelectLookup
from attemper.reading.steps import RecoveredSteps

BitReader = Callable[[Iterable[LinearForm]], Sequence[ops.Ref]]
"""The steps of the bits that some linear forms read."""

MASKS = {masking: mask for mask, masking in MASKINGS.items()}


def looks_of(found: RecoveredSteps, layer: Layer, stream: ResidualValues, bits: BitReader) -> list[ops.Ref]:
    """The steps that a layer's heads might be, made of what `bits` says of the coordinates that they read.

    That a count is at least 1 is first said of the count, and then of a sum in its normal form, which may
    rise and fall where the count does not: of two steps that are the same the first is taken.
    """
    plain_ones: list[ops.Ref] = []
    sums: list[tuple[_Looks, Added]] = []
    for head in layer.heads:
        found.recording.records.clear()
        fact = head_fact(found.names, head, stream)
        looks = _Looks(found, head, stream, bits((*head.query, *head.key, *head.values)))
        records = tuple(found.recording.records)
        own = looks.of_all(records)
        for record in records:
            if isinstance(record, Added):
                sums.append((looks, record))
            else:
                own += looks.steps(record)
        plain_ones += [*own, *looks.by_cases(fact, own)]
    refs = [*plain_ones, *(ref for looks, record in sums for ref in looks.steps(record))]
    return list(dict.fromkeys(found.refs[found.diagram(ref)] for ref in refs))


class _Looks:
    """One head, and the bits that it reads."""

    def __init__(
        self, found: RecoveredSteps, head: Head, stream: ResidualValues, parts: Sequence[ops.Ref]
    ) -> None:
        self.found, self.names, self.head, self.parts = found, found.names, head, parts
        self.choice = ops.Choice.LEFTMOST if found.recording.leftmost else ops.Choice.RIGHTMOST
        values = [plain(of_form(self.names, form, stream), self.names, "a value") for form in head.values]
        self.values = [ref for value in dict.fromkeys(values) for ref in self._levels(value)]

    def steps(self, record: SelectLookup | Moved | Added | CountLookup) -> list[ops.Ref]:
        """The steps of one record; none where a bit that it reads is not found."""
        match record:
            case SelectLookup(where):
                return self._selections(where)
            case Moved(offset, value):
                return list(self._shifts(offset, value))
            case Added():
                return list(self._sums(record))
            case CountLookup(masking, bit, function):
                return list(self._lookups(masking, bit, function))
            case _:
                assert_never(record)

    def of_all(self, records: Sequence[object]) -> list[ops.Ref]:
        """A head that looks for nothing reads the outermost position."""
        if any(isinstance(record, SelectLookup | Moved) for record in records):
            return []
        return self._selections(self.names.true)

    def by_cases(self, fact: HeadFact, steps: Sequence[ops.Ref]) -> list[ops.Ref]:
        """What a head puts out that selects by one bit or another, according to what stands at i."""
        found = [
            self.found.made_of(bit, (*self.parts, *steps))
            for output in fact.outputs
            for _, bit in self._levels_of(output.diagram)
        ]
        return [ref for ref in found if ref is not None]

    def _levels_of(self, value: Diagram) -> list[tuple[Fraction, Diagram]]:
        try:
            return list(self.found.levels(value))
        except UnprovenError:
            return []

    def _bit(self, diagram: Diagram) -> ops.Ref | None:
        return self.found.made_of(diagram, self.parts)

    def _levels(self, value: Diagram) -> list[ops.Ref]:
        bits = (self._bit(bit) for _, bit in self._levels_of(value))
        return [ref for ref in bits if ref is not None]

    def _selections(self, where: Diagram) -> list[ops.Ref]:
        bit = self._bit(where)
        if bit is None:
            return []
        return [self._selection(bit, value) for value in self.values]

    def _selection(self, where: ops.Ref, value: ops.Ref) -> ops.Ref:
        """The value at a position with `where`; of `where` and something else, both are selected.

        What depends on a total that is forgotten is known longer that way: whoever has found `where` once
        asks only for what else stands where it is found again.
        """
        step = self.found.program.steps[value]
        parts = [value]
        if isinstance(step, ops.Gate) and step.connective is ops.Connective.AND and where in step.bits:
            parts = [where, self.found.gate(ops.Connective.AND, *(bit for bit in step.bits if bit != where))]
        mask, cases = MASKS[self.head.masking], ops.everywhere(where)
        selected = [self.found.add(ops.Attend(mask, self.choice, cases, part, None)) for part in parts]
        return self.found.gate(ops.Connective.AND, *selected)

    def _shifts(self, offset: int, value: Diagram) -> Iterator[ops.Ref]:
        direction = ops.Direction.PREVIOUS if offset < 0 else ops.Direction.NEXT
        bit = self._bit(value)
        if bit is not None:
            yield self.found.add(ops.Shift(direction, bit, 1, None))

    def _sums(self, record: Added) -> Iterator[ops.Ref]:
        summand, threshold = self._everywhere(record)
        parts: list[tuple[int, ops.Ref]] = []
        for value, bit in self.found.levels(summand):
            ref = self._bit(bit)
            if ref is None or value.denominator != 1:
                return
            parts.append((int(value), self.found.add(ops.Count(MASKS[record.masking], ref))))
        if len(parts) == 1 and parts[0][0] == 1:
            yield self.found.add(ops.Compare(parts[0][1], threshold))
        else:
            yield self.found.add(ops.Compare(self.found.add(ops.Linear(tuple(parts), 0)), threshold))

    def _everywhere(self, record: Added) -> tuple[Diagram, int]:
        """The summand and the threshold, without a constant that is added at the marked position alone."""
        names = self.names
        mark = names.mark(record.masking)
        marked, others = (
            names.diagrams.constrain(record.summand, side, names.false)
            for side in (mark, names.negation(mark))
        )
        extra = names.plus(marked, names.scaled(others, -1))
        if not names.diagrams.is_constant(extra):
            return record.summand, record.threshold
        (constant,) = names.constants(extra, "a sum")
        return others, record.threshold - int(constant)

    def _lookups(self, masking: Masking, bit: Diagram, function: Diagram) -> Iterator[ops.Ref]:
        ref = self._bit(bit)
        if ref is None:
            return
        count = self.found.add(ops.Count(MASKS[masking], ref))
        yield self.found.add(ops.Compare(count, 1))
        for test in self.found.tests(function):
            yield self.found.add(ops.CountTest(test.predicate, count, test.per_position, test.shift))
