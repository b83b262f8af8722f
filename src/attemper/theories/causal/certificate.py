"""Causal variables as data, and their file: FORMAT.md, section 16."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Count, Linear, Program, Ref
from attemper.attention_program.wellformed import complaints as program_complaints
from attemper.attention_program.wellformed import is_machine
from attemper.documents import Document
from attemper.exact.codec import Codec, Natural


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


@final
@dataclass(frozen=True)
class CausalClaim:
    """Setting these variables does in the network with this digest what it does in the program."""

    network: str
    program: Program
    variables: tuple[CausalVariable, ...]


def complaints(said: CausalClaim) -> Iterator[str]:
    """Why there is no claim, whatever the network is."""
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


def _twice(what: str, numbers: Iterator[int]) -> Iterator[str]:
    yield from (f"{what} {number} is named twice" for number, times in Counter(numbers).items() if times > 1)


CAUSAL: Document[CausalClaim] = Document(
    "attemper-causal/1",
    "file about causal variables",
    Codec(CausalClaim),
    "make one with 'attemper causal ... -o FILE'",
    complaints,
)
