"""What an attention program computes, straight from the definition: slow and exact.

A definition says "there is none" where a head attends all the same. The three kinds of steps for which that
matters are `Edges`; all other steps are the same here and in `machine`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Comparing,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Shift,
    Step,
    Table,
)
from attemper.errors import InternalError
from attemper.exact.closed_forms import ClosedForm, evaluate
from attemper.exact.predicates import holds
from attemper.languages.words import Word

Row = tuple[int, ...]
"""A value at every position 1..n; a bit is 0 or 1."""


@final
@dataclass(frozen=True)
class Edges:
    """The value at one position of the steps that may find nothing there, or more than they were promised."""

    attend: Callable[[Attend, range, int, list[Row]], int]
    """Of a selection at i, given the positions that i sees and the rows of the steps before."""
    shift: Callable[[Row, int], int]
    """Of a row at the neighbour j, which is 0 or n + 1 where there is none."""
    union: Callable[[list[int]], int]
    """Of bits of which at most one should hold."""


def run(program: Program, word: Word) -> tuple[Row, ...]:
    """The value of every step at every position of the word."""
    return run_with(Edges(_attend, _shift, _union), program, word)


def run_with(edges: Edges, program: Program, word: Word) -> tuple[Row, ...]:
    """The value of every step at every position of the word, with these edges."""
    rows: list[Row] = []
    for step in program.steps:
        rows.append(tuple(_value(edges, step, word, i, rows) for i in range(1, len(word) + 1)))
    return tuple(rows)


def output(program: Program, word: Word) -> tuple[bool, ...]:
    """The result bit at every position of the word."""
    return tuple(bool(value) for value in run(program, word)[program.output])


def visible(mask: Mask, i: int, n: int) -> range:
    """The positions j that position i sees."""
    match mask:
        case Mask.UP_TO:
            return range(1, i + 1)
        case Mask.BEFORE:
            return range(1, i)
        case Mask.FROM:
            return range(i, n + 1)
        case Mask.AFTER:
            return range(i + 1, n + 1)
        case Mask.ALL:
            return range(1, n + 1)
        case _:
            assert_never(mask)


def _value(edges: Edges, step: Step, word: Word, i: int, rows: list[Row]) -> int:
    n = len(word)
    match step:
        case Letter(symbols):
            return int(word[i - 1] in symbols)
        case Place(form):
            return _place(form, i, n)
        case Not(bit):
            return 1 - rows[bit][i - 1]
        case Gate(connective, bits):
            return _gate(edges, connective, [rows[bit][i - 1] for bit in bits])
        case Table(bits, table):
            return int(tuple(bool(rows[bit][i - 1]) for bit in bits) in table)
        case Merge(bits):
            return edges.union([rows[bit][i - 1] for bit in bits])
        case Attend(mask):
            return edges.attend(step, visible(mask, i, n), i, rows)
        case Shift(direction, bit):
            return edges.shift(rows[bit], i - 1 if direction is Direction.PREVIOUS else i + 1)
        case Count(mask, bit):
            return sum(rows[bit][j - 1] for j in visible(mask, i, n))
        case Linear(parts, constant):
            return constant + sum(factor * rows[count][i - 1] for factor, count in parts)
        case Compare(count) | Equals(count) | CountTest(_, count):
            return int(_compared(step, rows[count][i - 1]))
        case _:
            assert_never(step)


def _compared(step: Comparing, total: int) -> bool:
    match step:
        case Compare(_, threshold):
            return total >= threshold
        case Equals(_, value):
            return total == value
        case CountTest(predicate, _, scale, shift):
            return holds(predicate, scale * total + shift)
        case _:
            assert_never(step)


def _place(form: ClosedForm, i: int, n: int) -> int:
    """Raises `InternalError` where the form is neither 0 nor 1: whoever wrote the program promised one."""
    value = evaluate(form, i, n)
    if value not in {0, 1}:
        raise InternalError(f"a place is {value} at position {i} of {n}, neither 0 nor 1 (please report)")
    return int(value)


def _gate(edges: Edges, connective: Connective, bits: list[int]) -> int:
    match connective:
        case Connective.AND:
            return int(all(bits))
        case Connective.OR:
            return int(any(bits))
        case Connective.XOR:
            return sum(bits) % 2
        case Connective.UNION:
            return edges.union(bits)
        case _:
            assert_never(connective)


def _union(bits: list[int]) -> int:
    """Raises `InternalError` where two of the bits hold: whoever wrote the program promised that none do."""
    if sum(bits) > 1:
        raise InternalError("two bits of a union hold together (please report)")
    return sum(bits)


def _shift(row: Row, j: int) -> int:
    return row[j - 1] if 1 <= j <= len(row) else 0


def _attend(step: Attend, seen: range, i: int, rows: list[Row]) -> int:
    def matches(j: int) -> bool:
        if not rows[step.where][j - 1]:
            return False
        return step.match is None or rows[step.match[0]][i - 1] == rows[step.match[1]][j - 1]

    found = [j for j in seen if matches(j)]
    return rows[step.value][chosen(step.choice, found) - 1] if found else int(step.default)


def chosen(choice: Choice, positions: list[int]) -> int:
    """The rightmost or leftmost of some ascending positions."""
    return positions[-1] if choice is Choice.RIGHTMOST else positions[0]
