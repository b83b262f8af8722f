"""When an attention program is well formed.

* every reference is to an earlier step;
* every bit is read where a bit is meant, every count where a count is meant, and the output is a bit;
* letters are symbols of the alphabet, each once;
* a table has at most 12 bits and rows of that width, each once.

A machine, moreover, attends somewhere wherever it sees anything, and to bits only: its selections have the
default 0 and no match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program.ops import (
    Attend,
    Compare,
    Count,
    CountTest,
    Equals,
    Gate,
    Letter,
    Linear,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
    inputs,
)
from attemper.errors import InternalError, UnsupportedError

MAX_TABLE_BITS = 12


@final
@dataclass(frozen=True)
class Complaint:
    """What is wrong, and at which step (None: the program as a whole)."""

    step: Ref | None
    message: str

    def __str__(self) -> str:
        return self.message if self.step is None else f"s{self.step}: {self.message}"


def complaints(program: Program) -> tuple[Complaint, ...]:
    """Everything that is wrong with the program, in the order of its steps."""
    found: list[Complaint] = []
    for index, step in enumerate(program.steps):
        found.extend(Complaint(index, message) for message in _of_step(program, index, step))
    if not 0 <= program.output < len(program.steps):
        found.append(Complaint(None, f"the output s{program.output} is not a step"))
    elif isinstance(program.steps[program.output], Count | Linear):
        found.append(Complaint(None, f"the output s{program.output} is a count, not a bit"))
    return tuple(found)


def require_wellformed(program: Program, after: str) -> Program:
    """The program itself; raises `InternalError` if the pass called `after` left it ill-formed."""
    found = complaints(program)
    if found:
        listed = "; ".join(map(str, found[:5]))
        raise InternalError(f"ill-formed program after '{after}' (please report): {listed}")
    return program


def require_machine(program: Program) -> Program:
    """The program itself; raises `UnsupportedError` at the first step that no machine has."""
    for index, step in enumerate(program.steps):
        match step:
            case Attend(match=(_, _)):
                raise UnsupportedError(
                    f"s{index} attends to equal counts (attend ... match), which no machine does yet; "
                    "write it with comparisons or predicates of counts"
                )
            case Attend(default=True):
                raise UnsupportedError(
                    f"s{index} is 1 where nothing matches (default 1), but a head attends somewhere all the "
                    "same; guard the program's edges first (guard_edges)"
                )
            case _:
                pass
    return program


def _of_step(program: Program, index: int, step: Step) -> list[str]:
    late = [ref for ref in inputs(step) if not 0 <= ref < index]
    if late:
        return [f"s{ref} is not an earlier step" for ref in late]
    bits, counts = _kinds(step)
    wrong = [f"s{ref} is a count, a bit is meant" for ref in bits if _is_count(program, ref)]
    wrong += [f"s{ref} is a bit, a count is meant" for ref in counts if not _is_count(program, ref)]
    match step:
        case Letter(symbols):
            wrong += [
                f"'{symbol}' is not in the alphabet"
                for symbol in symbols
                if symbol not in program.alphabet.symbols
            ]
            if not wrong and len(set(symbols)) != len(symbols):
                wrong.append("a letter has a symbol twice")
        case Table(refs, rows):
            wrong += _of_table(len(refs), rows)
        case _:
            pass
    return wrong


def _kinds(step: Step) -> tuple[tuple[Ref, ...], tuple[Ref, ...]]:
    """The references that must be bits, and those that must be counts."""
    match step:
        case Attend(_, _, where, value, _, match):
            return (where, value), match or ()
        case Linear() | Compare() | Equals() | CountTest():
            return (), inputs(step)
        case Letter() | Place() | Not() | Gate() | Table() | Merge() | Shift() | Count():
            return inputs(step), ()
        case _:
            assert_never(step)


def _of_table(width: int, rows: tuple[tuple[bool, ...], ...]) -> list[str]:
    wrong: list[str] = []
    if width > MAX_TABLE_BITS:
        wrong.append(f"a table of {width} bits; at most {MAX_TABLE_BITS} are allowed")
    if any(len(row) != width for row in rows):
        wrong.append(f"a table of {width} bits has a row of another width")
    if len(set(rows)) != len(rows):
        wrong.append("a table has a row twice")
    return wrong


def _is_count(program: Program, ref: Ref) -> bool:
    return isinstance(program.steps[ref], Count | Linear)
