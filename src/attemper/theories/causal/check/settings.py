"""What a network and its program do where variables are set: slow and exact, straight from the definitions.

An *interchange* takes a base word, and at some positions what a variable is there on another word of the same
length: in the network the numbers of its coordinates after its layer, in the program the bits of its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import product
from typing import final

import flint

from attemper.attention_program import machine
from attemper.attention_program.meaning import StepValues
from attemper.attention_program.ops import Attend, Connective, Gate, Merge, Program, Ref, Step
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.balls import ball
from attemper.exact.codec import Natural, Positive
from attemper.exact.predicates import PredicateError
from attemper.languages.words import Alphabet, Word, show_word, words_of_length
from attemper.networks.layers import Network
from attemper.networks.meaning_soft import ResidualBalls, residual_streams
from attemper.theories.causal.certificate import CausalVariable, Holder

QUARTER = Fraction(1, 4)

TRIED = 400
"""So many interchanges are tried where nobody says which."""


@final
@dataclass(frozen=True)
class Taken:
    """At a position a variable, by its number, is what it is on the source."""

    variable: Natural
    position: Positive
    source: Word


@final
@dataclass(frozen=True)
class Interchange:
    """A base word, and what is taken from words of the same length."""

    base: Word
    taken: tuple[Taken, ...]


@final
@dataclass(frozen=True)
class WrongSetting:
    """What shows that variables are none: an interchange after which an output is not the program's; or, with
    nothing taken, a word on which a coordinate does not hold its step.
    """

    shown_by: Interchange
    text: str


def keeps_promises(program: Program, rows: Sequence[StepValues]) -> bool:
    """Whether no two bits of a sum, and no two cases, hold together: else the program means nothing."""
    return all(
        sum(bits) <= 1
        for step in program.steps
        for refs in _exclusive(step)
        for bits in zip(*(rows[ref] for ref in refs), strict=True)
    )


def _exclusive(step: Step) -> Iterator[tuple[Ref, ...]]:
    """Bits of which at most one is to be 1."""
    match step:
        case Gate(Connective.UNION, bits) | Merge(bits):
            yield bits
        case Attend(_, _, cases):
            yield tuple(here for here, _ in cases if here is not None)
        case _:
            return


def short_interchanges(alphabet: Alphabet, variables: Sequence[CausalVariable]) -> Iterator[Interchange]:
    """The shortest words first, each variable at each position, from every word of the same length."""
    for length in range(1, TRIED):
        words = tuple(words_of_length(alphabet, length))
        for base in words:
            yield Interchange(base, ())
            for variable, position, source in product(range(len(variables)), range(1, length + 1), words):
                yield Interchange(base, (Taken(variable, position, source),))


@final
class Interchanges:
    """A network and its program, and variables that are set in both; a word's own run is computed once."""

    def __init__(self, network: Network, program: Program, variables: Sequence[CausalVariable]) -> None:
        self.network, self.program, self.variables = network, program, variables
        self.streams_of: Callable[[Word], list[ResidualBalls]] = cache(partial(residual_streams, network))
        self.steps_of: Callable[[Word], tuple[StepValues, ...]] = cache(partial(machine.run, program))

    def outputs(self, said: Interchange) -> tuple[tuple[flint.arb, ...], ...]:
        """Enclosures of each output at every position of the base word, in real arithmetic."""

        def changed(layer: int, stream: ResidualBalls) -> ResidualBalls:
            after = [list(vector) for vector in stream]
            for own in said.taken:
                variable = self.variables[own.variable]
                for coordinate in variable.coordinates if variable.layer == layer else ():
                    there = self.streams_of(own.source)[layer + 1][own.position - 1]
                    after[own.position - 1][coordinate] = there[coordinate]
            return after

        end = residual_streams(self.network, said.base, changed)[-1]
        return tuple(tuple(vector[output] for vector in end) for output in self.network.outputs)

    def steps(self, said: Interchange) -> tuple[StepValues, ...]:
        """Every step at every position of the base word."""

        def changed(ref: Ref, row: StepValues) -> StepValues:
            after = list(row)
            for own in said.taken:
                if ref in self.variables[own.variable].steps:
                    after[own.position - 1] = self.steps_of(own.source)[ref][own.position - 1]
            return tuple(after)

        return machine.run(self.program, said.base, changed)

    def refuting(self, tried: Iterable[Interchange]) -> WrongSetting | None:
        """The first of these interchanges that is proved to go wrong, in balls. None says nothing."""
        try:
            for own in tried:
                wrong = self._wrong_output(own) or self._wrong_row(own)
                if wrong is not None:
                    return wrong
        except (ZeroDivisionError, ValueError, UnsupportedError, PredicateError, InternalError):
            pass  # the network or the program means nothing on a word: there is nothing to compare
        return None

    def _wrong_output(self, said: Interchange) -> WrongSetting | None:
        meant = self.steps(said)
        if not keeps_promises(self.program, meant):
            return None
        for output, ref in zip(self.outputs(said), self.program.outputs, strict=True):
            for i, (own, bit) in enumerate(zip(output, meant[ref], strict=True), start=1):
                if abs(own - bit) > ball(QUARTER):
                    shown = own.str(6, radius=False)
                    return WrongSetting(
                        said, f"{shown_interchange(said)}, at position {i} {shown} is put out, not {bit}"
                    )
        return None

    def _wrong_row(self, said: Interchange) -> WrongSetting | None:
        """A coordinate that does not hold its step where nothing is taken."""
        if said.taken:
            return None
        streams, meant = self.streams_of(said.base), self.steps_of(said.base)
        for layer, holder, step in self._held():
            for i, bit in enumerate(meant[step], start=1):
                own = streams[layer + 1][i - 1][holder.coordinate]
                right = 1 - bit if holder.opposite else bit
                if abs(own - right) > 0:
                    where = f"on '{show_word(said.base)}', coordinate {holder.coordinate} after layer {layer}"
                    apart = (own - right).str(3, radius=False)
                    return WrongSetting(said, f"{where} is {right} + {apart} at position {i}")
        return None

    def _held(self) -> Iterator[tuple[int, Holder, Ref]]:
        for variable in self.variables:
            for code in variable.codes:
                yield from ((variable.layer, holder, code.step) for holder in code.holders)


def shown_interchange(said: Interchange) -> str:
    """The base word, and what is taken from which words.

    >>> shown_interchange(Interchange(("a", "b"), (Taken(0, 2, ("b", "b")),)))
    "on 'ab', with variable 0 at position 2 as on 'bb'"
    """
    with_these = " and ".join(
        f"variable {own.variable} at position {own.position} as on '{show_word(own.source)}'"
        for own in said.taken
    )
    return f"on '{show_word(said.base)}'" + (f", with {with_these}" if with_these else "")
