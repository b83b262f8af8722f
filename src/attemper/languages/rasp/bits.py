"""Steps of a program in the making, with gates that fold constants: constants show at once.

The compiler simplifies programs for good; this much is needed to see which cases a condition has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import final

from attemper.attention_program.builder import Builder
from attemper.attention_program.ops import Connective, Gate, Not, Place, Ref, Step
from attemper.exact.closed_forms import number

MAX_STEPS = 50_000
"""A program of more steps is refused."""


class TooManyStepsError(Exception):
    """The program would have more than `MAX_STEPS` steps."""


@final
class Bits:
    """Bits by the steps that compute them."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.false = self.add(Place(number(0)))
        self.true = self.add(Place(number(1)))

    def add(self, step: Step) -> Ref:
        """The index of the step. Raises `TooManyStepsError`."""
        if len(self.builder.steps) >= MAX_STEPS:
            raise TooManyStepsError
        return self.builder.add(step)

    def find(self, step: Step) -> Ref | None:
        """The index of the step, if it is there."""
        return self.builder.find(step)

    def constant(self, value: bool) -> Ref:
        """The bit that is the same everywhere."""
        return self.true if value else self.false

    def negation(self, bit: Ref) -> Ref:
        """Not the bit."""
        if bit in {self.true, self.false}:
            return self.constant(bit == self.false)
        match self.builder.steps[bit]:
            case Not(inner):
                return inner
            case _:
                return self.add(Not(bit))

    def all_of(self, bits: Iterable[Ref]) -> Ref:
        """All of the bits."""
        return self._joined(Connective.AND, self.true, self.false, bits)

    def any_of(self, bits: Iterable[Ref]) -> Ref:
        """At least one of the bits."""
        return self._joined(Connective.OR, self.false, self.true, bits)

    def odd_of(self, bits: Iterable[Ref]) -> Ref:
        """An odd number of the bits."""
        return self.add(Gate(Connective.XOR, tuple(bits)))

    def chosen(self, condition: Ref, then: Ref, otherwise: Ref) -> Ref:
        """`then` where the condition holds, else `otherwise`."""
        if then == otherwise:
            return then
        if otherwise == self.false:
            return self.all_of((condition, then))
        if then == self.false:
            return self.all_of((self.negation(condition), otherwise))
        if otherwise == self.true:
            return self.any_of((self.negation(condition), then))
        if then == self.true:
            return self.any_of((condition, otherwise))
        unless = self.all_of((self.negation(condition), otherwise))
        return self.any_of((self.all_of((condition, then)), unless))

    def _joined(self, connective: Connective, unit: Ref, zero: Ref, bits: Iterable[Ref]) -> Ref:
        parts = tuple(bit for bit in dict.fromkeys(bits) if bit != unit)
        if zero in parts or not {self.find(Not(bit)) for bit in parts}.isdisjoint(parts):
            return zero
        if len(parts) < 2:
            return parts[0] if parts else unit
        return self.add(Gate(connective, parts))
