"""What an attention program computes, straight from the definition: slow and exact."""

from __future__ import annotations

from typing import assert_never

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
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
from attemper.exact.closed_forms import evaluate
from attemper.exact.predicates import holds
from attemper.languages.words import Word

Row = tuple[int, ...]
"""A value at every position 1..n; a bit is 0 or 1."""


def run(program: Program, word: Word) -> tuple[Row, ...]:
    """The value of every step at every position of the word."""
    rows: list[Row] = []
    for step in program.steps:
        rows.append(tuple(_value(step, word, i, rows) for i in range(1, len(word) + 1)))
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


def _value(step: Step, word: Word, i: int, rows: list[Row]) -> int:
    n = len(word)
    match step:
        case Letter(symbols):
            return int(word[i - 1] in symbols)
        case Place(form):
            return int(evaluate(form, i, n))
        case Not(bit):
            return 1 - rows[bit][i - 1]
        case Gate(connective, bits):
            return _gate(connective, [rows[bit][i - 1] for bit in bits])
        case Table(bits, table):
            return int(tuple(bool(rows[bit][i - 1]) for bit in bits) in table)
        case Merge(bits):
            return _union([rows[bit][i - 1] for bit in bits])
        case Attend():
            return _attend(step, n, i, rows)
        case Shift(direction, bit):
            j = i - 1 if direction is Direction.PREVIOUS else i + 1
            return rows[bit][j - 1] if 1 <= j <= n else 0
        case Count(mask, bit):
            return sum(rows[bit][j - 1] for j in visible(mask, i, n))
        case Linear(parts, constant):
            return constant + sum(factor * rows[count][i - 1] for factor, count in parts)
        case Compare(count, threshold):
            return int(rows[count][i - 1] >= threshold)
        case Equals(count, value):
            return int(rows[count][i - 1] == value)
        case CountTest(predicate, count, scale, shift):
            return int(holds(predicate, scale * rows[count][i - 1] + shift))
        case _:
            assert_never(step)


def _gate(connective: Connective, bits: list[int]) -> int:
    match connective:
        case Connective.AND:
            return int(all(bits))
        case Connective.OR:
            return int(any(bits))
        case Connective.XOR:
            return sum(bits) % 2
        case Connective.UNION:
            return _union(bits)
        case _:
            assert_never(connective)


def _union(bits: list[int]) -> int:
    """Raises `InternalError` where two of the bits hold: whoever wrote the program promised that none do."""
    if sum(bits) > 1:
        raise InternalError("two bits of a union hold together (please report)")
    return sum(bits)


def _attend(step: Attend, n: int, i: int, rows: list[Row]) -> int:
    def matches(j: int) -> bool:
        if not rows[step.where][j - 1]:
            return False
        return step.match is None or rows[step.match[0]][i - 1] == rows[step.match[1]][j - 1]

    found = [j for j in visible(step.mask, i, n) if matches(j)]
    if not found:
        return int(step.default)
    chosen = found[-1] if step.choice is Choice.RIGHTMOST else found[0]
    return rows[step.value][chosen - 1]
