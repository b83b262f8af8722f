"""When an attention program is well formed.

* every reference is to an earlier step;
* every bit is read where a bit is meant, every count where a count is meant, and the output is a bit, or one
  bit for each of several distinct symbols;
* letters are symbols of the alphabet, each once;
* a table has at most 12 bits and rows of that width, each once;
* a selection has one case that is everywhere in force, or cases with a bit each;
* a default is a truth value or None;
* a shift goes over 1 to 64 positions, over 1 if it does as a head does;
* of numbers, there is one integer or fraction, or one for each of a distribution's distinct names; each part
  has a bit or a count, an integer's has a count and an integer for its factor, a probability's no count.

A machine, moreover, attends somewhere wherever it sees anything: its selections and shifts have no default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program import ops
from attemper.errors import InternalError, UnsupportedError
from attemper.exact import closed_forms
from attemper.languages.measures import Measure

MAX_TABLE_BITS = 12

MAX_DISTANCE = 64


@final
@dataclass(frozen=True)
class Complaint:
    """What is wrong, and at which step (None: the program as a whole)."""

    step: ops.Ref | None
    message: str

    def __str__(self) -> str:
        return self.message if self.step is None else f"s{self.step}: {self.message}"


def complaints(program: ops.Program) -> tuple[Complaint, ...]:
    """Everything that is wrong with the program, in the order of its steps."""
    found: list[Complaint] = []
    for index, step in enumerate(program.steps):
        found.extend(Complaint(index, message) for message in _of_step(program, index, step))
    found.extend(Complaint(None, message) for message in _of_outputs(program))
    return tuple(found)


def _of_outputs(program: ops.Program) -> Iterator[str]:
    late = [ref for ref in (program.output, *program.outputs) if not 0 <= ref < len(program.steps)]
    if late:
        yield f"the output s{late[0]} is not a step"
        return
    if program.numbers is not None:
        yield from _of_numbers(program, program.numbers)
        return
    for ref in program.outputs:
        if isinstance(program.steps[ref], ops.Count | ops.Linear):
            yield f"the output s{ref} is a count, not a bit"
    names = [name for name, _ in program.symbols]
    if len(set(names)) != len(names):
        yield "an output symbol has two bits"
    if names and program.output != program.outputs[0]:
        yield "the output is not the bit of the first symbol"


def _of_numbers(program: ops.Program, numbers: ops.Numbers) -> Iterator[str]:
    measure, parts = numbers.measure, [part for row in numbers.rows for part in row]
    is_distribution = measure is Measure.DISTRIBUTION
    if program.symbols or program.output not in numbers.inputs[:1]:
        yield "the output is not the first step that the numbers are made of"
    if len(numbers.rows) != (len(numbers.names) if is_distribution else 1):
        yield f"{len(numbers.rows)} numbers are put out where one is, or one for each name"
    if len(set(numbers.names)) != len(numbers.names) or bool(numbers.names) != is_distribution:
        yield "a distribution has distinct names, and nothing else has names"
    if numbers.mask in {ops.Mask.BEFORE, ops.Mask.AFTER} or (
        is_distribution and numbers.mask is not ops.Mask.ALL
    ):
        yield f"numbers are not put out under the mask '{numbers.mask}'"
    for part in parts:
        yield from _of_part(program, measure, part)


def _of_part(program: ops.Program, measure: Measure, part: ops.Part) -> Iterator[str]:
    if part.bit is not None and _is_count(program, part.bit):
        yield f"s{part.bit} is a count, a bit is meant"
    if part.count is not None and not _is_count(program, part.count):
        yield f"s{part.count} is a bit, a count is meant"
    if part.bit is None and part.count is None:
        yield "a part of a number has neither a bit nor a count"
    if measure is Measure.DISTRIBUTION and part.count is not None:
        yield "a probability has a count"
    if measure is Measure.INTEGER and (part.count is None or part.factor.denominator != 1):
        yield "a part of an integer has no count, or a factor that is no integer"


def require_wellformed(program: ops.Program, after: str) -> ops.Program:
    """The program itself; raises `InternalError` if the pass called `after` left it ill-formed."""
    found = complaints(program)
    if found:
        listed = "; ".join(map(str, found[:5]))
        raise InternalError(f"ill-formed program after '{after}' (please report): {listed}")
    return program


def is_machine(program: ops.Program) -> bool:
    """Whether every step is one that a machine has."""
    return not any(map(_has_default, program.steps))


def require_machine(program: ops.Program) -> ops.Program:
    """The program itself; raises `UnsupportedError` at the first step that no machine has."""
    for index, step in enumerate(program.steps):
        if _has_default(step):
            raise UnsupportedError(
                f"s{index} has a default for where there is nothing to read, but a head attends somewhere "
                "all the same; compile the program instead"
            )
    return program


def _has_default(step: ops.Step) -> bool:
    return isinstance(step, ops.Attend | ops.Shift) and step.default is not None


def _of_step(program: ops.Program, index: int, step: ops.Step) -> list[str]:
    late = [ref for ref in ops.inputs(step) if not 0 <= ref < index]
    if late:
        return [f"s{ref} is not an earlier step" for ref in late]
    bits, counts = _kinds(step)
    wrong = [f"s{ref} is a count, a bit is meant" for ref in bits if _is_count(program, ref)]
    wrong += [f"s{ref} is a bit, a count is meant" for ref in counts if not _is_count(program, ref)]
    match step:
        case ops.Place(form):
            wrong += closed_forms.complaints(form)
        case ops.Letter(symbols):
            wrong += [
                f"'{symbol}' is not in the alphabet"
                for symbol in symbols
                if symbol not in program.alphabet.symbols
            ]
            if not wrong and len(set(symbols)) != len(symbols):
                wrong.append("a letter has a symbol twice")
        case ops.Table(refs, rows):
            wrong += _of_table(len(refs), rows)
        case ops.Attend():
            wrong += _of_cases(step.cases) + _of_default(step.default)
        case ops.Nearest(mask) | ops.Matched(mask) if mask in {ops.Mask.BEFORE, ops.Mask.AFTER}:
            wrong.append(f"the nearest count is looked for where i itself is seen, not under '{mask}'")
        case ops.Shift(_, _, distance, default):
            wrong += _of_shift(distance, default) + _of_default(default)
        case _:
            pass
    return wrong


def _kinds(step: ops.Step) -> tuple[tuple[ops.Ref, ...], tuple[ops.Ref, ...]]:
    """The references that must be bits, and those that must be counts."""
    match step:
        case ops.Linear() | ops.Compare() | ops.Equals() | ops.CountTest():
            return (), ops.inputs(step)
        case ops.Nearest(_, _, where, query, key, value):
            return (where, value), (query, key)
        case ops.Matched(_, _, where, query, key):
            return (where,), (query, key)
        case (
            ops.Letter()
            | ops.Place()
            | ops.Not()
            | ops.Gate()
            | ops.Table()
            | ops.Merge()
            | ops.Attend()
            | ops.Shift()
            | ops.Count()
        ):
            return ops.inputs(step), ()
        case _:
            assert_never(step)


def _of_cases(cases: ops.Cases) -> list[str]:
    if not cases:
        return ["a selection has no case"]
    if len(cases) > 1 and any(here is None for here, _ in cases):
        return ["a case that is everywhere in force stands alone"]
    return []


def _of_default(default: bool | None) -> list[str]:
    """Numbers would be taken for no default by whoever asks whether there is one."""
    return [] if type(default) in {bool, type(None)} else [f"a default is True, False or None, not {default}"]


def _of_shift(distance: int, default: bool | None) -> list[str]:
    if not 1 <= distance <= MAX_DISTANCE:
        return [f"a shift over {distance} positions; from 1 to {MAX_DISTANCE} are allowed"]
    if default is None and distance > 1:
        return [f"no head shifts over {distance} positions without a default"]
    return []


def _of_table(width: int, rows: tuple[tuple[bool, ...], ...]) -> list[str]:
    wrong: list[str] = []
    if width > MAX_TABLE_BITS:
        wrong.append(f"a table of {width} bits; at most {MAX_TABLE_BITS} are allowed")
    if any(len(row) != width for row in rows):
        wrong.append(f"a table of {width} bits has a row of another width")
    if len(set(rows)) != len(rows):
        wrong.append("a table has a row twice")
    return wrong


def _is_count(program: ops.Program, ref: ops.Ref) -> bool:
    return isinstance(program.steps[ref], ops.Count | ops.Linear)
