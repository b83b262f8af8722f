"""What hidden units write, as gates: a sum of bits is followed bit by bit, and units are functions of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import final

from attemper.attention_program.ops import Ref
from attemper.checker.analysis import LayerFact
from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import Unit, piecewise
from attemper.checker.names import UnprovenError
from attemper.checker.values import Stream, plain
from attemper.networks.layers import Coordinate, LinearForm
from attemper.reading.steps import Found

MAX_SUMS = 2_000
"""A sum of bits is given up that takes more different values on the way."""

Levels = list[tuple[Fraction, Ref]]
"""A number of which at most one bit is 1: what it is where each bit holds, 0 where none does."""


@final
class Writing:
    """One layer's hidden units, after its heads."""

    def __init__(self, found: Found, middle: Stream) -> None:
        self.found, self.names, self.middle = found, found.names, middle

    def writes(self, fact: LayerFact, coordinate: Coordinate) -> bool:
        """Whether each value of the coordinate after the layer is a step, which is added."""
        try:
            value = plain(fact.after.values[coordinate], self.names, "a coordinate")
            wanted = list(self.found.levels(value))
            numbers = [self._coordinate(coordinate)]
            for group in fact.groups:
                if coordinate in group.outputs:
                    numbers.append(self._unit(group.form, group.outputs[coordinate]))
        except UnprovenError:
            return False
        refs = [self._where([(1, one) for one in numbers], level) for level, _ in wanted]
        return all(
            self.found.diagram(ref) == self.names.settled(bit)
            for ref, (_, bit) in zip(refs, wanted, strict=True)
        )

    def _coordinate(self, coordinate: Coordinate) -> Levels:
        """A coordinate before the units. Raises `UnprovenError` where its bits are no steps."""
        value = plain(self.middle.values[coordinate], self.names, "a coordinate")
        found: Levels = []
        for level, bit in self.found.levels(value):
            ref = self.found.made_of(bit, ())
            if ref is None:
                raise UnprovenError("a bit that hidden units read is no step")
            found.append((level, ref))
        return found

    def _unit(self, form: LinearForm, units: tuple[Unit, ...]) -> Levels:
        """What units with one form write."""
        terms = [(factor, self._coordinate(coordinate)) for coordinate, factor in form]
        sums = self._sums(terms)
        images = {piecewise(units, one) for one in sums} - {Fraction(0)}
        return [(image, self._of_sum(terms, lambda one, own=image: piecewise(units, one) == own)) for image in images]

    def _where(self, terms: Sequence[tuple[Fraction | int, Levels]], level: Fraction) -> Ref:
        return self._of_sum(terms, lambda one: one == level)

    def _sums(self, terms: Sequence[tuple[Fraction | int, Levels]]) -> set[Fraction]:
        """All values of a sum."""
        found = {Fraction(0)}
        for factor, levels in terms:
            found = {one + factor * own for one in found for own in (Fraction(0), *(v for v, _ in levels))}
            if len(found) > MAX_SUMS:
                raise UnprovenError("a sum of bits has too many values")
        return found

    def _of_sum(self, terms: Sequence[tuple[Fraction | int, Levels]], holds: Callable[[Fraction], bool]) -> Ref:
        """The bit that says whether a sum has a property."""
        rests = [self._sums(terms[number:]) for number in range(len(terms) + 1)]
        memo: dict[tuple[int, Fraction], Ref] = {}

        def go(number: int, total: Fraction) -> Ref:
            if (number, total) not in memo:
                ends = {holds(total + rest) for rest in rests[number]}
                memo[number, total] = self.found.constant(ends.pop()) if len(ends) == 1 else split(number, total)
            return memo[number, total]

        def split(number: int, total: Fraction) -> Ref:
            factor, levels = terms[number]
            made = go(number + 1, total)
            for level, ref in levels:
                made = self.found.choice(ref, go(number + 1, total + factor * level), made)
            return made

        return go(0, Fraction(0))
