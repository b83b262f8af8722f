"""A machine's program that looks to the left, as a past formula: each step as what holds at its position.

A selection by w of v, of j <= i, reads v at the rightmost j with w, or, where w held nowhere so far, at i
itself; leftmost: at the leftmost j with w, or at 1. A shift reads i itself where there is no position before.
"""

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
    Ref,
    Shift,
    Table,
    counted_in,
)
from attemper.compiling.lowering.cascade_to_formula import LARGEST, tree_size
from attemper.compiling.lowering.connectives import FALSE, TRUE, all_of, any_of, negation
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ClosedForm, Number, Test
from attemper.exact.predicates import NonNegative, Predicate, Zero
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    CountAtom,
    First,
    Formula,
    Numerical,
    PositionAtom,
    Side,
    Symbol,
    Term,
    Unary,
    UnaryOperator,
    linear_term,
)

FIRST = First()


def program_to_formula(program: Program) -> Formula:
    """The formula of the output bit. Raises `UnsupportedError` for steps that no past formula says."""
    writer = _Writer(program)
    for ref, step in enumerate(program.steps):
        if not isinstance(step, Count | Linear):
            writer.formulas[ref] = writer.formula(ref)
    # Equal parts are one object, so that only a formula that is written out can be too large.
    found = writer.formulas[program.output]
    if tree_size(found) > LARGEST:
        raise UnsupportedError(f"its formula has over {LARGEST:,} operators")
    return found


class _Writer:
    """The formulas of the steps so far."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.formulas: dict[Ref, Formula] = {}

    def formula(self, ref: Ref) -> Formula:
        """The formula of one step."""
        known = self.formulas
        match self.program.steps[ref]:
            case Letter(symbols):
                return self._letters(symbols)
            case Place(form):
                return _of_place(ref, form)
            case Not(bit):
                return _opposite(known[bit])
            case Gate(Connective.AND, bits):
                return all_of(known[bit] for bit in bits)
            case Gate(Connective.OR | Connective.UNION, bits) | Merge(bits):
                return any_of(known[bit] for bit in bits)
            case Attend(Mask.UP_TO | Mask.BEFORE as mask, choice, ((None, where),), value, None):
                selected = _selected(choice, known[where], known[value])
                return selected if mask is Mask.UP_TO else _before(selected)
            case Shift(Direction.PREVIOUS, bit, 1, None):
                return any_of((_before(known[bit]), all_of((FIRST, known[bit]))))
            case Compare(count, threshold):
                return self._compared(ComparisonOperator.AT_LEAST, count, threshold)
            case Equals(count, value):
                return self._compared(ComparisonOperator.EQUAL, count, value)
            case CountTest(predicate, count, scale, shift):
                return _tested(ref, predicate, self._term(count, scale, shift))
            case Gate() | Table() | Attend() | Shift():
                raise UnsupportedError(f"step {ref} is not written as a formula")
            case _:
                raise UnsupportedError(f"step {ref} looks at something else than what was before")

    def _letters(self, symbols: tuple[str, ...]) -> Formula:
        others = [own for own in self.program.alphabet.symbols if own not in symbols]
        if len(others) < len(symbols):
            return negation(any_of(map(Symbol, others)))
        return any_of(map(Symbol, symbols))

    def _term(self, count: Ref, scale: int, shift: int) -> Term:
        """scale * count + shift."""
        found = counted_in(self.program, count, scale, shift)
        if found is None:
            raise UnsupportedError(f"step {count} counts with factors or constants of 2^62 or more")
        constant, factors = found
        parts: list[tuple[int, CountAtom]] = []
        for own, factor in factors.items():
            step = self.program.steps[own]
            if not isinstance(step, Count) or step.mask not in {Mask.UP_TO, Mask.BEFORE}:
                raise UnsupportedError(f"step {own} counts to the right")
            counted = self.formulas[step.bit]
            parts.append(
                (
                    factor,
                    CountAtom(Side.LEFT, counted if step.mask is Mask.UP_TO else _before(counted)),
                )
            )
        return linear_term(tuple(parts), constant)

    def _compared(self, operator: ComparisonOperator, count: Ref, threshold: int) -> Formula:
        """What is added on the left, what is taken away on the right."""
        term = self._term(count, 1, -threshold)
        more = tuple((factor, atom) for factor, atom in term.parts if factor > 0)
        less = tuple((-factor, atom) for factor, atom in term.parts if factor < 0)
        left, right = max(term.constant, 0), max(-term.constant, 0)
        return Comparison(operator, Term(more, left), Term(less, right))


def _opposite(formula: Formula) -> Formula:
    match formula:
        case Comparison(ComparisonOperator.AT_LEAST, left, right):
            return Comparison(ComparisonOperator.LESS, left, right)
        case _:
            return negation(formula)


def _before(formula: Formula) -> Formula:
    """The formula held at the position before; there was one."""
    return formula if formula == FALSE else Unary(UnaryOperator.YESTERDAY, formula)


def _once(formula: Formula) -> Formula:
    return formula if formula in (TRUE, FALSE) else Unary(UnaryOperator.ONCE, formula)


def _selected(choice: Choice, where: Formula, value: Formula) -> Formula:
    match choice:
        case Choice.RIGHTMOST:
            found = all_of((where, value))
            since = found if where == TRUE else Binary(BinaryOperator.SINCE, negation(where), found)
            return (
                _once(where) if where == value else any_of((since, all_of((negation(_once(where)), value))))
            )
        case Choice.LEFTMOST:
            earliest = all_of((where, value, negation(_before(_once(where)))))
            at_first = _once(all_of((FIRST, value)))
            return any_of((_once(earliest), all_of((negation(_once(where)), at_first))))
        case _:
            assert_never(choice)


def _of_place(ref: Ref, form: ClosedForm) -> Formula:
    match form:
        case Number(value) if value in (0, 1):
            return TRUE if value else FALSE
        case Test(Zero(), 1, 0, -1):
            return FIRST
        case Test(predicate, per_position, 0, shift):
            return _tested(ref, predicate, linear_term(((per_position, PositionAtom()),), shift))
        case _:
            raise UnsupportedError(f"step {ref} tests something else than where it is")


def _tested(ref: Ref, predicate: Predicate, term: Term) -> Formula:
    zero = Term((), 0)
    match predicate:
        case Zero():
            return Comparison(ComparisonOperator.EQUAL, term, zero)
        case NonNegative():
            return Comparison(ComparisonOperator.AT_LEAST, term, zero)
        case _:
            return Numerical(predicate, term)
