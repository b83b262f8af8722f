"""Causal variables and edges as data, and their file: FORMAT.md, section 16."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never, final

from attemper.attention_program.ops import Count, Linear, Program, Ref
from attemper.attention_program.wellformed import complaints as program_complaints
from attemper.attention_program.wellformed import is_machine
from attemper.documents import Document
from attemper.exact.codec import Codec, Natural, Positive
from attemper.languages.words import Word


@final
@dataclass(frozen=True)
class Holder:
    """A coordinate that holds a bit, or its opposite: 1 less the bit."""

    coordinate: Natural
    opposite: bool


@final
@dataclass(frozen=True)
class HeldBit:
    """One value of a variable: the step that is 1 where the variable has it, and where that is held."""

    step: Ref
    holders: tuple[Holder, ...]


@final
@dataclass(frozen=True)
class CausalVariable:
    """What coordinates hold after a layer. Of its codes one is 1 at each position, or none."""

    layer: Natural
    codes: tuple[HeldBit, ...]

    @property
    def steps(self) -> tuple[Ref, ...]:
        """The program's steps, one for each code."""
        return tuple(code.step for code in self.codes)

    @property
    def coordinates(self) -> tuple[int, ...]:
        """All coordinates that hold one of its bits."""
        return tuple(holder.coordinate for code in self.codes for holder in code.holders)


class HeadPart(StrEnum):
    """What of a head reads the stream."""

    QUERY = "query"
    KEY = "key"
    VALUES = "values"


@final
@dataclass(frozen=True)
class HeadEdge:
    """From a variable, by its number, to a part of one head of a later layer."""

    variable: Natural
    layer: Natural
    head: Natural
    part: HeadPart


@final
@dataclass(frozen=True)
class FeedForwardEdge:
    """From a variable to the hidden units of a later layer, all of them."""

    variable: Natural
    layer: Natural


@final
@dataclass(frozen=True)
class OutputEdge:
    """From a variable to what is put out, where that is what stands in its coordinates."""

    variable: Natural


CausalEdge = HeadEdge | FeedForwardEdge | OutputEdge
"""A variable, and who reads its coordinates."""


@final
@dataclass(frozen=True)
class Taken:
    """At a position a variable, by its number, is what it is on the source."""

    variable: Natural
    position: Positive
    source: Word


@final
@dataclass(frozen=True)
class SetTo:
    """At a position a variable has this value: that of a code, counted from 1, or 0 for none."""

    variable: Natural
    position: Positive
    value: Natural


@final
@dataclass(frozen=True)
class Interchange:
    """A base word, and what is taken from words of the same length, or set, also where no word has that."""

    base: Word
    taken: tuple[Taken | SetTo, ...]

    @property
    def sources(self) -> tuple[Word, ...]:
        """Of all that is taken the word that has it."""
        return tuple(own.source for own in self.taken if isinstance(own, Taken))

    @property
    def is_natural(self) -> bool:
        """Whether words have all that is taken."""
        return len(self.sources) == len(self.taken)


@final
@dataclass(frozen=True)
class EdgeSet:
    """Edges that together are irrelevant; or that matter, as an interchange along them shows."""

    edges: tuple[CausalEdge, ...]
    matters: Interchange | None


@final
@dataclass(frozen=True)
class CausalClaim:
    """Setting these variables does in the network with this digest what it does in the program.

    Of each set of edges it is claimed that they are irrelevant, or that they matter.
    """

    network: str
    program: Program
    variables: tuple[CausalVariable, ...]
    edge_sets: tuple[EdgeSet, ...] = ()


def complaints(said: CausalClaim) -> Iterator[str]:
    """Why there is no claim, whatever the network is.

    What comes first is asked first: who yields later may rest on it.
    """
    program, steps = said.program, said.program.steps
    yield from map(str, program_complaints(program))
    if not is_machine(program):
        yield "its program is no machine's: a step has a default"
    if program.numbers is not None:
        yield "its program puts out numbers"
    if not said.variables:
        yield "it has no variable"
    for variable in said.variables:
        if not variable.codes:
            yield "a variable has no codes"
        if not all(code.holders for code in variable.codes):
            yield "a value of a variable has no coordinate"
        for ref in variable.steps:
            if ref not in range(len(steps)):
                yield f"there is no step {ref}"
            elif isinstance(steps[ref], Count | Linear):
                yield f"step {ref} is a count, and no bit"
    yield from _twice("step", (ref for variable in said.variables for ref in variable.steps))
    yield from _twice("coordinate", (c for variable in said.variables for c in variable.coordinates))
    for edge_set in said.edge_sets:
        yield from _wrong_edges(said, edge_set)


def _wrong_edges(said: CausalClaim, edge_set: EdgeSet) -> Iterator[str]:
    edges, variables = edge_set.edges, said.variables
    if not edges or len(set(edges)) < len(edges):
        yield "a set of edges is empty, or names an edge twice"
    for edge in edges:
        if edge.variable not in range(len(variables)):
            yield f"there is no variable {edge.variable}"
        elif not isinstance(edge, OutputEdge) and edge.layer <= variables[edge.variable].layer:
            yield f"{edge_text(edge, variables)} is no edge: that layer is over when the variable is held"
    if edge_set.matters is not None:
        yield from _wrong_interchange(said, edges, edge_set.matters)


def _wrong_interchange(claim: CausalClaim, edges: tuple[CausalEdge, ...], said: Interchange) -> Iterator[str]:
    words = (said.base, *said.sources)
    if not said.base or len(set(map(len, words))) > 1:
        yield "the words of an interchange have one length, of 1 symbol or more"
    yield from (
        f"the program reads no symbol '{symbol}'"
        for symbol in sorted(set().union(*words) - set(claim.program.alphabet.symbols))
    )
    for taken in said.taken:
        if taken.variable not in {edge.variable for edge in edges}:
            yield f"variable {taken.variable} is taken, and none of the edges is from it"
        elif isinstance(taken, SetTo) and taken.value not in _values(claim.variables[taken.variable]):
            yield f"variable {taken.variable} has no value {taken.value}"
        if taken.position not in range(1, len(said.base) + 1):
            yield f"there is no position {taken.position} in the base word"
    yield from _twice("place", (f"{taken.variable} at {taken.position}" for taken in said.taken))


def _values(variable: CausalVariable) -> range:
    return range(len(variable.codes) + 1)


def edge_text(edge: CausalEdge, variables: Sequence[CausalVariable]) -> str:
    """Who reads, and the variable that is read, by the first of its steps.

    >>> held = CausalVariable(0, (HeldBit(8, (Holder(4, opposite=False),)),))
    >>> edge_text(HeadEdge(0, 1, 2, HeadPart.QUERY), [held])
    'head 1.2 query <- s8'
    """
    step = variables[edge.variable].steps[0]
    match edge:
        case HeadEdge(_, layer, head, part):
            return f"head {layer}.{head} {part} <- s{step}"
        case FeedForwardEdge(_, layer):
            return f"feed-forward {layer} <- s{step}"
        case OutputEdge():
            return f"output <- s{step}"
        case _:
            assert_never(edge)


def _twice(what: str, numbers: Iterator[int] | Iterator[str]) -> Iterator[str]:
    yield from (f"{what} {number} is named twice" for number, times in Counter(numbers).items() if times > 1)


CAUSAL: Document[CausalClaim] = Document(
    "attemper-causal/2",
    "file about causal variables",
    Codec(CausalClaim),
    "make one with 'attemper causal ... -o FILE'",
    complaints,
)
