"""From text to attention program, with the names and types that the text gave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import final

from attemper.attention_program.builder import prune
from attemper.attention_program.ops import Program, Ref
from attemper.languages.rasp.bits import MAX_STEPS, TooManyStepsError
from attemper.languages.rasp.classes import ProgramClass, class_of
from attemper.languages.rasp.located import unsupported
from attemper.languages.rasp.lowering import Lowering, Value
from attemper.languages.rasp.numbers import Chances
from attemper.languages.rasp.parse import parse_source
from attemper.languages.rasp.syntax import Expression, ProgramText
from attemper.languages.rasp.types import Type, types_of
from attemper.languages.temporal.reading import At


@final
@dataclass(frozen=True)
class RaspProgram:
    """What a text says, as an attention program.

    * `program`: its steps, without those that the output does not need;
    * `at`, `accepts_empty`: where the verdict is read, and what it is on the empty word; last and False where
      the output is no Bit, and there is no verdict;
    * `names`: the names of steps; a Symbol's bits are called `kind = round`;
    * `types`: the type of each definition, in their order;
    * `program_class`: B-RASP, C-RASP or None;
    * `source`: what was read.
    """

    program: Program
    at: At
    accepts_empty: bool
    names: Mapping[Ref, str]
    types: Mapping[str, Type]
    program_class: ProgramClass | None
    source: ProgramText


def parse_rasp(text: str) -> RaspProgram:
    r"""Read a text, check its types and make an attention program of it; `docs/programs.md` has the language.

    The program means the same as the text on words of every length n >= 1.

    Raises `SourceError`, with line, column and caret, for what cannot be read or has the wrong type, and
    `UnsupportedError`, with the same, for what is not built yet or has too many cases.

    >>> found = parse_rasp("alphabet a b\nempty reject\nlate = some[j < i] in 'a'\noutput late & in 'b'")
    >>> found.program_class, found.at, {name: str(type) for name, type in found.types.items()}
    (<ProgramClass.B_RASP: 'B-RASP'>, <At.LAST: 'last'>, {'late': 'Bit'})
    >>> from attemper.attention_program.show import show_program
    >>> print(show_program(found.program), found.names)
    alphabet ["a", "b"]
    s0 = letter ["a"]
    s1 = attend < rightmost where s0 value s0 default 0
    s2 = letter ["b"]
    s3 = and s1 s2
    output s3
     {1: 'late'}
    """
    source = parse_source(text)
    types = types_of(source, text)
    lowering = Lowering(source, text)
    for definition in source.definitions:
        with _few_steps(text, definition.expression):
            lowering.define(definition.name, definition.expression)
    with _few_steps(text, source.output):
        program, to = prune(_program(lowering, source))
    names: dict[Ref, str] = {}
    for name, value in lowering.values.items():
        for step, called in _steps(name, value, lowering):
            if to[step] >= 0:
                names.setdefault(to[step], called)
    accepts_empty = source.accepts_empty is True
    return RaspProgram(program, source.at, accepts_empty, names, types, class_of(source), source)


@contextmanager
def _few_steps(text: str, expression: Expression) -> Iterator[None]:
    try:
        yield
    except TooManyStepsError:
        message = (
            f"the program has more than {MAX_STEPS:,} steps, as Symbols have a step for each of their names"
        )
        raise unsupported(message, text, expression.place) from None


def _program(lowering: Lowering, source: ProgramText) -> Program:
    output = lowering.value(source.output)
    steps = tuple(lowering.bits.builder.steps)
    match output:
        case int():
            return Program(source.alphabet, steps, output)
        case tuple() | Chances():
            numbers = lowering.numbers(output)
            steps = tuple(lowering.bits.builder.steps)
            return Program(source.alphabet, steps, numbers.inputs[0], numbers=numbers)
        case _:
            symbols = tuple(output.items())
            return Program(source.alphabet, steps, symbols[0][1], symbols)


def _steps(name: str, value: Value, lowering: Lowering) -> list[tuple[Ref, str]]:
    """The steps that a definition names, if it names any."""
    match value:
        case int():
            return [(value, name)]
        case tuple():
            step = lowering.integers.step_of(value)
            return [] if step is None else [(step, name)]
        case Chances():
            return []
        case _:
            return [(bit, f"{name} = {symbol}") for symbol, bit in value.items()]
