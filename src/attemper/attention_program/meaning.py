"""What an attention program computes, straight from the definition: slow and exact.

That no two bits of a union hold together, and no two cases of a selection with a default are in force
together, is promised by whoever wrote the program: `InternalError` where a promise is not kept. Networks add
the bits of a union up, whatever they are: `machine`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from attemper.attention_program import ops
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.closed_forms import ClosedForm, evaluate
from attemper.exact.predicates import holds
from attemper.languages.measures import Measure
from attemper.languages.words import Word

StepValues = tuple[int, ...]
"""A value at every position 1..n; a bit is 0 or 1."""


Union = Callable[[list[int]], int]
"""The value of bits of which at most one should hold."""

Setting = Callable[[ops.Ref, StepValues], StepValues]
"""What a step is set to, at every position, once it has been computed."""


def run(program: ops.Program, word: Word) -> tuple[StepValues, ...]:
    """The value of every step at every position of the word."""
    return run_with(_union, program, word)


def run_with(
    union: Union, program: ops.Program, word: Word, changed: Setting | None = None
) -> tuple[StepValues, ...]:
    """The value of every step at every position of the word, with these unions, each as it is `changed`."""
    rows: list[StepValues] = []
    for ref, step in enumerate(program.steps):
        row = tuple(_value(union, step, word, i, rows) for i in range(1, len(word) + 1))
        rows.append(row if changed is None else changed(ref, row))
    return tuple(rows)


def output(program: ops.Program, word: Word) -> tuple[bool, ...]:
    """The result bit at every position of the word."""
    return outputs(program, word)[0]


def outputs(program: ops.Program, word: Word) -> tuple[tuple[bool, ...], ...]:
    """Each result bit, at every position of the word.

    Raises `InternalError` where the result is to be a symbol, and not exactly one of the bits holds.
    """
    rows = run(program, word)
    found = tuple(tuple(map(bool, rows[ref])) for ref in program.outputs)
    if program.symbols and any(sum(column) != 1 for column in zip(*found, strict=True)):
        raise InternalError("the output is not exactly one symbol (please report)")
    return found


def numbers(program: ops.Program, word: Word) -> tuple[tuple[Fraction, ...], ...]:
    """Each number that is put out, at every position of the word: of an integer its share.

    Raises `InternalError` where numbers are to be a distribution and are none.
    """
    said, rows = program.numbers, run(program, word)
    assert said is not None
    places = range(1, len(word) + 1)
    found = tuple(
        tuple(sum((_part(said, part, i, rows) for part in row), Fraction(0)) for i in places)
        for row in said.rows
    )
    if said.measure is Measure.DISTRIBUTION:
        for i, column in enumerate(zip(*found, strict=True), start=1):
            if min(column) < 0 or sum(column) != 1:
                raise InternalError(f"the numbers at position {i} are no distribution (please report)")
    return found


def _part(said: ops.Numbers, part: ops.Part, i: int, rows: tuple[StepValues, ...]) -> Fraction:
    bit = 1 if part.bit is None else rows[part.bit][i - 1]
    if part.count is None:
        return part.factor * bit
    return part.factor * bit * rows[part.count][i - 1] / len(said.mask.visible(i, len(rows[part.count])))


def _value(union: Union, step: ops.Step, word: Word, i: int, rows: list[StepValues]) -> int:
    n = len(word)
    match step:
        case ops.Letter(symbols):
            return int(word[i - 1] in symbols)
        case ops.Place(form):
            return _place(form, i, n)
        case ops.Not(bit):
            return 1 - rows[bit][i - 1]
        case ops.Gate(connective, bits):
            return _gate(union, connective, [rows[bit][i - 1] for bit in bits])
        case ops.Table(bits, table):
            return int(tuple(bool(rows[bit][i - 1]) for bit in bits) in table)
        case ops.Merge(bits):
            return union([rows[bit][i - 1] for bit in bits])
        case ops.Attend() | ops.Nearest() | ops.Matched() | ops.Shift():
            return _looked(step, i, n, rows)
        case ops.Count(mask, bit):
            return sum(rows[bit][j - 1] for j in mask.visible(i, n))
        case ops.Linear(parts, constant):
            return _counted(constant + sum(factor * rows[count][i - 1] for factor, count in parts))
        case ops.Compare(count) | ops.Equals(count) | ops.CountTest(_, count):
            return int(_compared(step, rows[count][i - 1]))
        case _:
            assert_never(step)


def _counted(total: int) -> int:
    """Raises `UnsupportedError` where steps multiply counts so often that a total has no end."""
    if abs(total) >= ops.TOO_LARGE:
        raise UnsupportedError("a count reaches 2^62: so large ones are not computed")
    return total


def _looked(step: ops.Looking, i: int, n: int, rows: list[StepValues]) -> int:
    match step:
        case ops.Attend(mask):
            return _attend(step, mask.visible(i, n), i, rows)
        case ops.Nearest(mask):
            return rows[step.value][_nearest(step, mask.visible(i, n), i, rows) - 1]
        case ops.Matched(mask):
            j = _nearest(step, mask.visible(i, n), i, rows)
            return int(_clamped(rows[step.query], i) == _clamped(rows[step.key], j))
        case ops.Shift():
            return _shift(step, rows[step.bit], i)
        case _:
            assert_never(step)


def _compared(step: ops.Comparing, total: int) -> bool:
    match step:
        case ops.Compare(_, threshold):
            return total >= threshold
        case ops.Equals(_, value):
            return total == value
        case ops.CountTest(predicate, _, scale, shift):
            return holds(predicate, scale * total + shift)
        case _:
            assert_never(step)


def _place(form: ClosedForm, i: int, n: int) -> int:
    """Raises `InternalError` where the form is neither 0 nor 1: whoever wrote the program promised one."""
    value = evaluate(form, i, n)
    if value not in {0, 1}:
        raise InternalError(f"a place is {value} at position {i} of {n}, neither 0 nor 1 (please report)")
    return int(value)


def _gate(union: Union, connective: ops.Connective, bits: list[int]) -> int:
    match connective:
        case ops.Connective.AND:
            return int(all(bits))
        case ops.Connective.OR:
            return int(any(bits))
        case ops.Connective.XOR:
            return sum(bits) % 2
        case ops.Connective.UNION:
            return union(bits)
        case _:
            assert_never(connective)


def _union(bits: list[int]) -> int:
    """Raises `InternalError` where two of the bits hold: whoever wrote the program promised that none do."""
    if sum(bits) > 1:
        raise InternalError("two bits of a union hold together (please report)")
    return sum(bits)


def _shift(step: ops.Shift, row: StepValues, i: int) -> int:
    j = i - step.distance if step.direction is ops.Direction.PREVIOUS else i + step.distance
    if 1 <= j <= len(row):
        return row[j - 1]
    return row[i - 1] if step.default is None else int(step.default)


def _attend(step: ops.Attend, seen: range, i: int, rows: list[StepValues]) -> int:
    """Raises `InternalError` where two cases of a selection with a default are in force."""
    sought = [there for here, there in step.cases if here is None or rows[here][i - 1]]
    if step.default is None:
        return _attended(step, seen, sought, rows)
    if len(sought) > 1:
        raise InternalError(f"two cases of a selection are in force at position {i} (please report)")
    found = [j for j in seen for there in sought if rows[there][j - 1]]
    return rows[step.value][chosen(step.choice, found) - 1] if found else int(step.default)


def _attended(step: ops.Attend, seen: range, sought: list[ops.Ref], rows: list[StepValues]) -> int:
    """What a head reads: where most of what is sought holds; one bit holds there, or nowhere."""
    if not seen:
        return 0
    columns = [rows[there][seen.start - 1 : seen.stop - 1] for there in sought] or [(0,) * len(seen)]
    held = list(map(sum, zip(*columns, strict=True)))
    most = max(held)
    found = [j for j, total in zip(seen, held, strict=True) if total == most]
    return rows[step.value][chosen(step.choice, found) - 1]


def _nearest(step: ops.Nearest | ops.Matched, seen: range, i: int, rows: list[StepValues]) -> int:
    """The position whose count is nearest."""
    query = _clamped(rows[step.query], i)

    def off(j: int) -> int:
        return (query - _clamped(rows[step.key], j)) ** 2 + 1 - rows[step.where][j - 1]

    least = min(map(off, seen))
    return chosen(step.choice, [j for j in seen if off(j) == least])


def _clamped(counts: StepValues, position: int) -> int:
    return min(max(counts[position - 1], 1), len(counts))


def chosen(choice: ops.Choice, positions: list[int]) -> int:
    """The rightmost or leftmost of some ascending positions."""
    return positions[-1] if choice is ops.Choice.RIGHTMOST else positions[0]
