"""What a network and its program do where variables are set: slow and exact, straight from the definitions.

An *interchange* takes a base word, and at some positions what a variable is there on another word of the same
length: in the network the numbers of its coordinates after its layer, in the program the bits of its steps.
Along edges it is what their readers read of the variable that is taken, and nothing else; the program is left
as it is, as one asks whether they matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from itertools import chain, islice, product
from typing import assert_never, final

import flint

from attemper.attention_program import machine
from attemper.attention_program.meaning import StepValues
from attemper.attention_program.ops import Attend, Connective, Gate, Merge, Program, Ref, Step
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.balls import ball
from attemper.exact.predicates import PredicateError
from attemper.languages.words import Alphabet, Word, show_word, words_of_length
from attemper.networks.layers import Coordinate, Network
from attemper.networks.meaning_soft import ResidualBalls, residual_streams
from attemper.theories.causal.certificate import CausalEdge, CausalVariable, Holder, Interchange, SetTo, Taken
from attemper.theories.causal.check.cutting import cut

QUARTER = Fraction(1, 4)

HALF = Fraction(1, 2)

TRIED = 400
"""So many interchanges are tried where nobody says which."""


@final
@dataclass(frozen=True)
class WrongSetting:
    """What shows that variables are none: an interchange after which an output is not the program's; or, with
    nothing taken, a word on which a coordinate does not hold its step. Or what shows that edges matter.
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


def short_settings(alphabet: Alphabet, variables: Mapping[int, CausalVariable]) -> Iterator[Interchange]:
    """The shortest words first, each of the variables, by its number, at each position, set to each value."""
    for length in range(1, TRIED):
        for base in words_of_length(alphabet, length):
            for (number, own), position in product(variables.items(), range(1, length + 1)):
                for value in range(len(own.codes) + 1):
                    yield Interchange(base, (SetTo(number, position, value),))


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
    """A network and its program, and variables that are set in both; a word's own run is computed once.

    With `edges` only their readers read what is taken, in the network alone.
    """

    def __init__(
        self,
        network: Network,
        program: Program,
        variables: Sequence[CausalVariable],
        edges: Sequence[CausalEdge] = (),
    ) -> None:
        self.network, self.program, self.variables, self.edges = network, program, variables, edges
        self.without, twins = cut(network, variables, edges)
        """The network in which what is taken is written, and natural rows where nothing is."""
        self.written: dict[int, list[tuple[Coordinate, Coordinate]]] = defaultdict(list)
        """Of variables, by their numbers, where they stand, and where what is taken of them is written."""
        for edge, own in zip(edges, twins, strict=True):
            self.written[edge.variable] += own.items()
        if not edges:
            self.written |= {k: [(c, c) for c in own.coordinates] for k, own in enumerate(variables)}
        self.streams_of: Callable[[Word], list[ResidualBalls]] = cache(partial(residual_streams, network))
        self.steps_of: Callable[[Word], tuple[StepValues, ...]] = cache(partial(machine.run, program))

    def outputs(self, said: Interchange) -> tuple[tuple[flint.arb, ...], ...]:
        """Enclosures of each output at every position of the base word, in real arithmetic."""

        def changed(layer: int, stream: ResidualBalls) -> ResidualBalls:
            after = [list(vector) for vector in stream]
            here = {k: own for k, own in self.written.items() if self.variables[k].layer == layer}
            for vector, (own, place) in product(after, chain(*here.values())):
                vector[place] = vector[own]
            for taken in said.taken:
                for own, place in here.get(taken.variable, ()):
                    after[taken.position - 1][place] = self._row_of(taken)[own]
            return after

        end = residual_streams(self.without, said.base, changed)[-1]
        return tuple(tuple(vector[output] for vector in end) for output in self.without.outputs)

    def _row_of(self, taken: Taken | SetTo) -> Mapping[Coordinate, flint.arb]:
        """What the coordinates of a variable are where it is as it is taken."""
        variable = self.variables[taken.variable]
        match taken:
            case Taken(_, position, source):
                there = self.streams_of(source)[variable.layer + 1][position - 1]
                return {coordinate: there[coordinate] for coordinate in variable.coordinates}
            case SetTo(_, _, value):
                return {own: ball(Fraction(bit)) for own, bit in row_of(variable, value).items()}
            case _:
                assert_never(taken)

    def steps(self, said: Interchange) -> tuple[StepValues, ...]:
        """Every step at every position of the base word."""
        if self.edges:
            return self.steps_of(said.base)

        def changed(ref: Ref, row: StepValues) -> StepValues:
            after = list(row)
            for own in said.taken:
                if ref in self.variables[own.variable].steps:
                    after[own.position - 1] = self._step_of(own, ref)
            return tuple(after)

        return machine.run(self.program, said.base, changed)

    def _step_of(self, taken: Taken | SetTo, ref: Ref) -> int:
        match taken:
            case Taken(_, position, source):
                return self.steps_of(source)[ref][position - 1]
            case SetTo(variable, _, value):
                return int(self.variables[variable].steps.index(ref) + 1 == value)
            case _:
                assert_never(taken)

    def short(self) -> Iterator[Interchange]:
        """What is tried where nobody says what: some that are short; along edges values that are set."""
        alphabet, variables = self.network.alphabet, self.variables
        read = {edge.variable: variables[edge.variable] for edge in self.edges}
        tried = short_settings(alphabet, read) if read else short_interchanges(alphabet, variables)
        return islice(tried, TRIED)

    def refuting(self, tried: Iterable[Interchange]) -> WrongSetting | None:
        """The first of these interchanges that is proved to go wrong, in balls. None says nothing.

        None does for which the program breaks a promise. Along edges an output has another bit than where
        nothing is taken: that refutes that they are irrelevant, if all that is taken is a value.
        """
        ways = (self._changed_bit,) if self.edges else (self._wrong_output, self._wrong_row)
        kept = (own for own in tried if self._keeps_promises(own))
        return _first(way(own) for own in kept for way in ways)

    def changing(self, said: Interchange) -> WrongSetting | None:
        """Whether an output has another bit after it; what the program does is not asked."""
        return _first(self._changed_bit(own) for own in (said,))

    def _keeps_promises(self, said: Interchange) -> bool:
        words = (said.base, *said.sources)
        runs = (self.steps(said), *map(self.steps_of, words))
        return all(keeps_promises(self.program, rows) for rows in runs)

    def _wrong_output(self, said: Interchange) -> WrongSetting | None:
        meant = self.steps(said)
        for output, ref in zip(self.outputs(said), self.program.outputs, strict=True):
            for i, (own, bit) in enumerate(zip(output, meant[ref], strict=True), start=1):
                if abs(own - bit) > ball(QUARTER):
                    shown = own.str(6, radius=False)
                    return self._wrong(said, f"at position {i} {shown} is put out, not {bit}")
        return None

    def _changed_bit(self, said: Interchange) -> WrongSetting | None:
        half, natural = ball(HALF), self.outputs(Interchange(said.base, ()))
        for before, after in zip(natural, self.outputs(said), strict=True):
            for i, (old, new) in enumerate(zip(before, after, strict=True), start=1):
                if old < half < new or new < half < old:
                    bit = int(new > half)
                    return self._wrong(said, f"at position {i} {bit} is put out, not {1 - bit}")
        return None

    def _wrong(self, said: Interchange, what: str) -> WrongSetting:
        return WrongSetting(said, f"{shown_interchange(said, self.variables)}, {what}")

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


def _first(found: Iterator[WrongSetting | None]) -> WrongSetting | None:
    try:
        return next((own for own in found if own is not None), None)
    except (ZeroDivisionError, ValueError, UnsupportedError, PredicateError, InternalError):
        return None  # the network or the program means nothing on a word: there is nothing to compare


def row_of(variable: CausalVariable, value: int) -> dict[Coordinate, int]:
    """What each coordinate is where the variable has the value.

    >>> from attemper.theories.causal.certificate import HeldBit
    >>> row_of(CausalVariable(0, (HeldBit(8, (Holder(3, True), Holder(4, False))),)), 1)
    {3: 0, 4: 1}
    """
    return {
        holder.coordinate: int((number == value) != holder.opposite)
        for number, code in enumerate(variable.codes, start=1)
        for holder in code.holders
    }


def _what(taken: Taken | SetTo) -> str:
    match taken:
        case Taken(_, _, source):
            return f"as on '{show_word(source)}'"
        case SetTo(_, _, value):
            return f"set to {value}"
        case _:
            assert_never(taken)


def shown_interchange(said: Interchange, variables: Sequence[CausalVariable]) -> str:
    """The base word, and what is taken from which words; a variable is called by the first of its steps.

    >>> from attemper.theories.causal.certificate import HeldBit
    >>> held = CausalVariable(0, (HeldBit(8, (Holder(4, opposite=False),)),))
    >>> shown_interchange(Interchange(("a", "b"), (Taken(0, 2, ("b", "b")),)), [held])
    "on 'ab', with s8 at position 2 as on 'bb'"
    """
    with_these = " and ".join(
        f"s{variables[own.variable].steps[0]} at position {own.position} {_what(own)}" for own in said.taken
    )
    return f"on '{show_word(said.base)}'" + (f", with {with_these}" if with_these else "")
