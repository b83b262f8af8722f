"""Positions that keep a record of what heads looked for, as the rules of the checker ask for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

from attemper.checker.diagrams import Diagram, Variable
from attemper.checker.names import PlaceAtLeast, is_of_position
from attemper.checker.program import Programs
from attemper.networks.layers import Masking


@final
@dataclass(frozen=True)
class SelectLookup:
    """Whether some visible position has a bit was asked: a head selects by the bit."""

    where: Diagram


@final
@dataclass(frozen=True)
class Moved:
    """What stands at i + offset was read, and this value of i itself where there is no such position."""

    offset: int
    value: Diagram


@final
@dataclass(frozen=True)
class Added:
    """Whether a sum over the visible positions, in its normal form, reaches a threshold was asked."""

    masking: Masking
    summand: Diagram
    threshold: int


@final
@dataclass(frozen=True)
class CountLookup:
    """A function of the position was read at the number of visible positions with a bit."""

    masking: Masking
    bit: Diagram
    function: Diagram


Record = SelectLookup | Moved | Added | CountLookup


@final
class Recording(Programs):
    """What programs call other positions; whatever is asked of these stands in `records`, each once."""

    def __init__(self, symbols: tuple[str, ...]) -> None:
        self.records: dict[Record, None] = {}
        self.leftmost = False
        """Whether the last selection took the leftmost one of several positions."""
        super().__init__(symbols)

    def possible(self, variables: Iterable[Variable]) -> Diagram:
        """Where the tests of i among these are, at i = 1, what they are there: true at every position.

        Tests that differ at i = 1 alone are not told apart otherwise, and canonical diagrams leave that open.
        """
        found = self.names.true
        for variable in sorted(variables):
            family, threshold = variable
            atom = self.names.atoms[family]
            if is_of_position(atom) and not isinstance(atom, PlaceAtLeast):
                wrong = self.names.different(
                    self.names.variable(variable), self.names.test_at(atom, threshold, (0, 0, 1))
                )
                found = self.names.both(found, self.names.negation(self.names.both(self.names.first, wrong)))
        return found

    def chosen(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        self.leftmost = leftmost
        return super().chosen(masking, leftmost, where, diagram)

    def exists(self, masking: Masking, where: Diagram) -> Diagram:
        self.records[SelectLookup(where)] = None
        return super().exists(masking, where)

    def shifted(self, diagram: Diagram, offset: int, at_edge: Diagram) -> Diagram:
        if diagram == at_edge:
            self.records[Moved(offset, diagram)] = None
        return super().shifted(diagram, offset, at_edge)

    def _summed(self, masking: Masking, summand: Diagram, threshold: int) -> Diagram:
        self.records[Added(masking, summand, threshold)] = None
        return super()._summed(masking, summand, threshold)

    def looked_up(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        self.records[CountLookup(masking, bit, diagram)] = None
        return super().looked_up(masking, bit, diagram)
