"""From a formula to an attention program: each operator of the core becomes the attention pattern it needs.

    phi S psi    the value of psi at the rightmost j <= i where (not phi or psi) holds, else 0
    phi U psi    the same to the right, leftmost
    Y, X         shifts
    counts       `Count` steps, `Linear` combinations, comparisons with a constant

(Yang et al., Theorems 12, 15 and 20.) The other operators are defined in `temporal.core`. Counts of
`true` are positions: a comparison of pos and len alone needs no attention.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.attention_program.builder import Builder
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
    Not,
    Place,
    Program,
    Ref,
    Shift,
    everywhere,
)
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import FIRST, LAST, ONE, Test, number
from attemper.exact.predicates import NonNegative, Remainder, Zero, periodic
from attemper.languages.temporal.core import values_by_core
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Constant,
    CountAtom,
    First,
    Formula,
    Last,
    LengthAtom,
    Numerical,
    PositionAtom,
    Side,
    Symbol,
    Term,
    TermAtom,
    Unary,
    UnaryOperator,
    subtract,
)
from attemper.languages.words import Alphabet

Refs = Mapping[Formula, Ref]

MAX_CASES = 10_000
"""The remainders that several counts can leave together, at most: each case is a gate."""

_MASKS = {Side.LEFT: Mask.UP_TO, Side.RIGHT: Mask.FROM, Side.TOTAL: Mask.ALL}


def temporal_to_program(formula: Formula, alphabet: Alphabet) -> tuple[Program, dict[Formula, Ref]]:
    """The program of a formula, and the step that computes each subformula.

    Raises `UnsupportedError` for a numerical predicate of several counts that is no remainder.
    """
    lowering = _Lowering(alphabet)
    refs = values_by_core(formula, lowering.lower)
    return Program(alphabet, tuple(lowering.builder.steps), refs[formula]), refs


class _Lowering:
    """The steps so far."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.builder = Builder()

    def lower(self, formula: Formula, refs: Refs) -> Ref:
        """The step of a formula whose operator is of the core."""
        match formula:
            case Symbol(name):
                return self.builder.add(Letter((name,)))
            case Constant(value):
                return self.builder.add(Place(number(int(value))))
            case First():
                return self.builder.add(Place(FIRST))
            case Last():
                return self.builder.add(Place(LAST))
            case Unary(operator, operand):
                return self._unary(operator, refs[operand])
            case Binary(operator, left, right):
                return self._binary(operator, refs[left], refs[right])
            case Comparison(operator, left_term, right_term):
                return self._comparison(operator, subtract(left_term, right_term), refs)
            case Numerical():
                return self._numerical(formula, refs)
            case _:
                assert_never(formula)

    def _unary(self, operator: UnaryOperator, bit: Ref) -> Ref:
        match operator:
            case UnaryOperator.NOT:
                return self.builder.add(Not(bit))
            case UnaryOperator.YESTERDAY:
                return self.builder.add(Shift(Direction.PREVIOUS, bit))
            case UnaryOperator.NEXT:
                return self.builder.add(Shift(Direction.NEXT, bit))
            case _:
                raise AssertionError(f"'{operator}' is not of the core")

    def _binary(self, operator: BinaryOperator, left: Ref, right: Ref) -> Ref:
        match operator:
            case BinaryOperator.AND:
                return self.builder.add(Gate(Connective.AND, (left, right)))
            case BinaryOperator.OR:
                return self.builder.add(Gate(Connective.OR, (left, right)))
            case BinaryOperator.XOR:
                return self.builder.add(Gate(Connective.XOR, (left, right)))
            case BinaryOperator.SINCE:
                return self._nearest(Mask.UP_TO, Choice.RIGHTMOST, left, right)
            case BinaryOperator.UNTIL:
                return self._nearest(Mask.FROM, Choice.LEFTMOST, left, right)
            case _:
                raise AssertionError(f"'{operator}' is not of the core")

    def _nearest(self, mask: Mask, choice: Choice, left: Ref, right: Ref) -> Ref:
        where = self.builder.add(Gate(Connective.OR, (self.builder.add(Not(left)), right)))
        return self.builder.add(Attend(mask, choice, everywhere(where), right, False))

    def _comparison(self, operator: ComparisonOperator, difference: Term, refs: Refs) -> Ref:
        """The comparison `difference operator 0`: of positions alone a test of the place, else of counts."""
        place = _place_argument(difference)
        match operator:
            case ComparisonOperator.AT_LEAST if place is not None:
                return self.builder.add(Place(Test(NonNegative(), *place)))
            case ComparisonOperator.AT_LEAST:
                return self.builder.add(Compare(self._combination(difference, refs), -difference.constant))
            case ComparisonOperator.EQUAL if place is not None:
                return self.builder.add(Place(Test(Zero(), *place)))
            case ComparisonOperator.EQUAL:
                return self.builder.add(Equals(self._combination(difference, refs), -difference.constant))
            case _:
                raise AssertionError(f"'{operator}' is not of the core")

    def _combination(self, term: Term, refs: Refs) -> Ref:
        """The term without its constant."""
        parts = tuple((factor, self._count(atom, refs)) for factor, atom in term.parts)
        return self.builder.add(Linear(parts, 0))

    def _numerical(self, formula: Numerical, refs: Refs) -> Ref:
        predicate, term = formula.predicate, formula.term
        place = _place_argument(term)
        if place is not None:
            return self.builder.add(Place(Test(predicate, *place)))
        if len(term.parts) == 1:
            ((factor, atom),) = term.parts
            return self.builder.add(CountTest(predicate, self._count(atom, refs), factor, term.constant))
        _require_remainder(formula)
        return self.builder.add(CountTest(predicate, self._combination(term, refs), 1, term.constant))

    def _count(self, atom: TermAtom, refs: Refs) -> Ref:
        match atom:
            case PositionAtom():
                return self.builder.add(Count(Mask.UP_TO, self._true()))
            case LengthAtom():
                return self.builder.add(Count(Mask.ALL, self._true()))
            case CountAtom(side, formula):
                return self.builder.add(Count(_MASKS[side], refs[formula]))
            case _:
                assert_never(atom)

    def _true(self) -> Ref:
        return self.builder.add(Place(ONE))


def _require_remainder(formula: Numerical) -> None:
    """Of several counts only remainders are taken apart, if these are not too many."""
    text, count = show(formula), len(formula.term.parts)
    match periodic(formula.predicate):
        case Remainder(modulus, _) if modulus**count <= MAX_CASES:
            return
        case Remainder(modulus, _):
            raise UnsupportedError(
                f"'{text}' asks for the remainder of {count} counts at once, which together can leave "
                f"{modulus}^{count} remainders, more than the cap of {MAX_CASES:,}. Use a smaller modulus or "
                "fewer counts: counts on the same side whose bits exclude each other are one count, "
                "#<[f] + #<[g] = #<[f | g]."
            )
        case _:
            raise UnsupportedError(
                f"'{text}' asks a numerical predicate of several counts at once; it can be asked of one "
                "count, or of pos and len. Of several counts it can only be a remainder, '% m = r'."
            )


def _place_argument(term: Term) -> tuple[int, int, int] | None:
    """(a, b, c) if the term is a*pos + b*len + c, else None; counts of true are positions, too."""
    per_position, per_length, shift = 0, 0, term.constant
    for factor, atom in term.parts:
        match atom:
            case PositionAtom() | CountAtom(Side.LEFT, Constant(True)):
                per_position += factor
            case LengthAtom() | CountAtom(Side.TOTAL, Constant(True)):
                per_length += factor
            case CountAtom(Side.RIGHT, Constant(True)):
                per_position, per_length, shift = per_position - factor, per_length + factor, shift + factor
            case CountAtom():
                return None
            case _:
                assert_never(atom)
    return per_position, per_length, shift
