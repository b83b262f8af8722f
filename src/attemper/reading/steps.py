"""The steps of a program that is found piece by piece: each with what it is, as the checker names that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import final

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder
from attemper.checker.diagrams import Diagram
from attemper.checker.names import LetterBit, PlaceAtLeast, PlaceNamed, PlaceRemainder
from attemper.checker.program import Steps
from attemper.exact.closed_forms import Number, Test
from attemper.exact.predicates import Named, NonNegative, Remainder
from attemper.languages.words import Alphabet
from attemper.reading.recording import Recording

MAX_SPLITS = 300
"""A bit that is no function of so many combinations of others is given up."""


@final
class RecoveredSteps:
    """The steps that have been found, and the one that each diagram is."""

    def __init__(self, recording: Recording, alphabet: Alphabet, look: Callable[[], None]) -> None:
        self.recording, self.names = recording, recording.names
        self.look = look
        self.refs: dict[Diagram, ops.Ref] = {}
        self.builder = Builder()
        self._steps = Steps(recording, ops.Program(alphabet, (), 0))
        self._supports: dict[Diagram, frozenset[tuple[int, int]]] = {}
        self._left = 0

    @property
    def program(self) -> ops.Program:
        """All steps; the output is not known yet."""
        return self._steps.program

    def add(self, step: ops.Step) -> ops.Ref:
        """The number of a step, which is added if need be. Raises `UnprovenError` where it means nothing."""
        self.look()
        known = self.builder.find(step)
        if known is not None:
            return known
        ref = self.builder.add(step)
        self._steps.program = replace(self.program, steps=tuple(self.builder.steps))
        if not isinstance(step, ops.Count | ops.Linear):
            self.refs.setdefault(self._steps.bit(ref), ref)
        return ref

    @property
    def used(self) -> frozenset[ops.Ref]:
        """The steps that others read."""
        return frozenset(ref for step in self.builder.steps for ref in ops.inputs(step))

    def diagram(self, ref: ops.Ref) -> Diagram:
        """What a step is."""
        return self._steps.bit(ref)

    def name(self, ref: ops.Ref, diagram: Diagram) -> None:
        """Call a step by another name from now on."""
        self._steps.name(ref, diagram)
        self.refs[diagram] = ref

    # Functions of bits ----------------------------------------------------------------------------

    def made_of(self, diagram: Diagram, parts: Sequence[ops.Ref]) -> ops.Ref | None:
        """The step that a bit is, as a function of these; None if no such function is found."""
        diagram = self.names.canonical(diagram)
        known = self._plain(diagram)
        if known is not None:
            return known
        self._left = MAX_SPLITS
        own = (self.add(ops.Place(test)) for test in self.tests(diagram))
        used = [part for part in dict.fromkeys((*parts, *own)) if self._meets(part, diagram)]
        # By cases of the place a head of many cases is one selection each, which it is not the other way.
        used.sort(key=lambda part: not isinstance(self.program.steps[part], ops.Place))
        read = {variable for one in (diagram, *map(self.diagram, used)) for variable in self.support(one)}
        made = self._split(diagram, self.recording.possible(read), tuple(used))
        return made if made is not None and self.diagram(made) == diagram else None

    def _plain(self, diagram: Diagram) -> ops.Ref | None:
        """A step that is there, or is about letters alone."""
        names = self.names
        if diagram in self.refs:
            return self.refs[diagram]
        if names.diagrams.is_constant(diagram):
            return self.constant(diagram == names.true)
        if all(isinstance(names.atoms[family], LetterBit) for family, _ in self.support(diagram)):
            own = (s for s in names.symbols if names.both(names.letter(s), diagram) != names.false)
            return self.add(ops.Letter(tuple(own)))
        return None

    def _split(self, diagram: Diagram, care: Diagram, parts: tuple[ops.Ref, ...]) -> ops.Ref | None:
        """A step that is the bit wherever `care` is 1."""
        names = self.names
        for sure, value in ((diagram, False), (names.negation(diagram), True)):
            if names.both(sure, care) == names.false:
                return self.constant(value)
        self._left -= 1
        if self._left < 0:
            return None
        for part in parts:
            if names.both(names.different(self.diagram(part), diagram), care) == names.false:
                return part
        for number, part in enumerate(parts):
            own = self.diagram(part)
            sides = [names.both(care, own), names.both(care, names.negation(own))]
            if names.false in sides:
                continue
            rest = parts[number + 1 :]
            high = self._split(diagram, sides[0], rest)
            low = None if high is None else self._split(diagram, sides[1], rest)
            return None if high is None or low is None else self.choice(part, high, low)
        return None

    def _meets(self, part: ops.Ref, diagram: Diagram) -> bool:
        return not self.support(self.diagram(part)).isdisjoint(self.support(diagram))

    def constant(self, value: bool) -> ops.Ref:
        """A bit that is always the same."""
        known = self.refs.get(self.names.number(value))
        return self.add(ops.Place(Number(Fraction(value)))) if known is None else known

    def choice(self, bit: ops.Ref, high: ops.Ref, low: ops.Ref) -> ops.Ref:
        """`high` where the bit is 1, else `low`."""
        true, false = self.constant(True), self.constant(False)
        if high == low or bit == true:
            return high
        if bit == false:
            return low
        if (high, low) == (true, false):
            return bit
        if high == true:
            return self.gate(ops.Connective.OR, bit, low)
        if low == false:
            return self.gate(ops.Connective.AND, bit, high)
        off = self.add(ops.Not(bit))
        if (high, low) == (false, true):
            return off
        if high == false:
            return self.gate(ops.Connective.AND, off, low)
        if low == true:
            return self.gate(ops.Connective.OR, off, high)
        return self.gate(
            ops.Connective.OR,
            self.gate(ops.Connective.AND, bit, high),
            self.gate(ops.Connective.AND, off, low),
        )

    def gate(self, connective: ops.Connective, *bits: ops.Ref) -> ops.Ref:
        """The conjunction or disjunction of bits; of none it is 1, or 0."""
        if not bits:
            return self.constant(connective is ops.Connective.AND)
        return bits[0] if len(bits) == 1 else self.add(ops.Gate(connective, bits))

    def tests(self, diagram: Diagram) -> Iterator[Test]:
        """The tests of i alone that a diagram reads."""
        for family, threshold in sorted(self.support(diagram)):
            match self.names.atoms[family]:
                case PlaceAtLeast(factor, 0):
                    yield Test(NonNegative(), factor, 0, -threshold)
                case PlaceRemainder(modulus, factor, 0):
                    yield Test(Remainder(modulus, threshold % modulus), factor, 0, 0)
                case PlaceNamed(name, factor, 0):
                    yield Test(Named(name), factor, 0, threshold)
                case _:
                    pass

    def support(self, diagram: Diagram) -> frozenset[tuple[int, int]]:
        """The variables that a diagram reads."""
        if diagram not in self._supports:
            self._supports[diagram] = frozenset(self.names.diagrams.support(diagram))
        return self._supports[diagram]

    # Values ---------------------------------------------------------------------------------------

    def levels(self, diagram: Diagram) -> Iterator[tuple[Fraction, Diagram]]:
        """Where a value is each number that it can be but 0. Raises `UnprovenError` for an average."""
        for value in dict.fromkeys(self.names.constants(diagram, "a value")):
            if value:
                yield value, self.names.equals(diagram, value)
