"""What hidden units write, as gates: a sum of bits is followed bit by bit, and units are functions of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import final

from attemper.attention_program.ops import Connective, Not, Ref
from attemper.checker.analysis import LayerFact
from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import Unit, piecewise
from attemper.checker.names import UnprovenError
from attemper.checker.values import ResidualValues, plain
from attemper.networks.layers import Coordinate, LinearForm
from attemper.reading.steps import RecoveredSteps

MAX_SUMS = 2_000
"""A sum of bits is given up that takes more different values on the way."""

Levels = list[tuple[Fraction, Ref]]
"""A number of which at most one bit is 1: what it is where each bit holds, 0 where none does."""


@final
class HiddenUnits:
    """One layer's hidden units, after its heads."""

    def __init__(self, found: RecoveredSteps, middle: ResidualValues) -> None:
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
            total = _Sum([(Fraction(1), one) for one in numbers])
        except UnprovenError:
            return False
        return all(self._is_added(total, level, self.names.canonical(bit)) for level, bit in wanted)

    def _is_added(self, total: _Sum, level: Fraction, bit: Diagram) -> bool:
        """Whether a step says where the sum is `level`: a disjunction, if its bits exclude each other."""
        if bit in self.found.refs:
            return True
        terms = [levels for _, levels in total.terms if levels]
        if all(len(levels) == 1 and levels[0][0] == level for levels in terms):
            either = self.found.gate(Connective.OR, *(ref for ((_, ref),) in terms))
            if self.found.diagram(either) == bit:
                return True
        wanted = {one for one in total.values if one * total.unit == level}
        return self.found.diagram(self._of_sum(total, wanted)) == bit

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
        total = _Sum([(factor, self._coordinate(coordinate)) for coordinate, factor in form])
        images: dict[Fraction, set[int]] = {}
        for one in total.values:
            images.setdefault(piecewise(units, one * total.unit), set()).add(one)
        images.pop(Fraction(0), None)
        return [(image, self._of_sum(total, own)) for image, own in images.items()]

    def _of_sum(self, total: _Sum, wanted: set[int]) -> Ref:
        """The bit that says whether a sum is one of these values."""
        ends = total.values
        literals = [self._literals(factor, levels) for factor, levels in total.terms]
        if all(own is not None for own in literals):
            found = [own for own in literals if own is not None]
            if ends & wanted == {max(ends)}:
                return self.found.gate(Connective.AND, *found)
            if ends - wanted == {min(ends)}:
                return self.found.gate(Connective.OR, *found)
        memo: dict[tuple[int, int], Ref] = {}

        def go(number: int, reached: int) -> Ref:
            if (number, reached) not in memo:
                sure = {reached + rest in wanted for rest in total.rests[number]}
                memo[number, reached] = (
                    self.found.constant(sure.pop()) if len(sure) == 1 else split(number, reached)
                )
            return memo[number, reached]

        def split(number: int, reached: int) -> Ref:
            made = go(number + 1, reached)
            for step, ref in total.steps[number]:
                made = self.found.choice(ref, go(number + 1, reached + step), made)
            return made

        return go(0, 0)

    def _literals(self, factor: Fraction, levels: Levels) -> Ref | None:
        """The bit that a term is large by, if it is a multiple of one bit."""
        if len(levels) != 1:
            return None
        ((level, ref),) = levels
        return ref if factor * level > 0 else self.found.add(Not(ref))


@final
class _Sum:
    """A sum of multiples of numbers, in whole multiples of a unit.

    `steps` has what each term adds where each bit holds, and `rests` the values that the terms from each one
    on can add.
    """

    def __init__(self, terms: Sequence[tuple[Fraction, Levels]]) -> None:
        self.terms = terms
        scale = lcm(*((factor * level).denominator for factor, levels in terms for level, _ in levels))
        self.unit = Fraction(1, scale)
        self.steps = [
            [(int(factor * level * scale), ref) for level, ref in levels] for factor, levels in terms
        ]
        self.rests: list[set[int]] = [{0}]
        for steps in reversed(self.steps):
            self.rests.append(
                {one + step for one in self.rests[-1] for step in (0, *(own for own, _ in steps))}
            )
            if len(self.rests[-1]) > MAX_SUMS:
                raise UnprovenError("a sum of bits has too many values")
        self.rests.reverse()

    @property
    def values(self) -> set[int]:
        """All values, also such as no word has."""
        return self.rests[0]
