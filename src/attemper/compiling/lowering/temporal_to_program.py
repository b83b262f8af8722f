"""From a formula to an attention program: each operator becomes the attention pattern it needs.

    phi S psi    the value of psi at the rightmost j <= i where (not phi or psi) holds, else 0
    phi U psi    the same to the right, leftmost
    Y, X         shifts
    counts       `Count` steps, `Linear` combinations, comparisons with a constant

(Yang et al., Theorems 12, 15 and 20.) The other operators are dual or special cases. Counts of
`true` are positions: a comparison of pos and len alone needs no attention.
"""

from __future__ import annotations

from typing import assert_never

from attemper.attention_program.ops import (
    Attend,
    Builder,
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
)
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import FIRST, LAST, ONE, Test, number
from attemper.exact.predicates import NonNegative, Zero
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    Atom,
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
    Unary,
    UnaryOperator,
    subformulas,
    subtract,
)
from attemper.languages.words import Alphabet

_MASKS = {Side.LEFT: Mask.UP_TO, Side.RIGHT: Mask.FROM, Side.TOTAL: Mask.ALL}


def temporal_to_program(formula: Formula, alphabet: Alphabet) -> tuple[Program, dict[Formula, Ref]]:
    """The program of a formula, and the step that computes each subformula.

    Raises `UnsupportedError` for a numerical predicate of anything but one count or of positions.
    """
    lowering = _Lowering(alphabet)
    for part in subformulas(formula):
        lowering.refs[part] = lowering.lower(part)
    program = Program(alphabet, tuple(lowering.builder.steps), lowering.refs[formula])
    return program, lowering.refs


class _Lowering:
    """The steps so far, and the step of each subformula already lowered."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.builder = Builder()
        self.refs: dict[Formula, Ref] = {}

    def lower(self, formula: Formula) -> Ref:
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
                return self._unary(operator, self.refs[operand])
            case Binary(operator, left, right):
                return self._binary(operator, self.refs[left], self.refs[right])
            case Comparison(operator, left_term, right_term):
                return self._comparison(operator, subtract(left_term, right_term))
            case Numerical():
                return self._numerical(formula)
            case _:
                assert_never(formula)

    def _unary(self, operator: UnaryOperator, bit: Ref) -> Ref:
        match operator:
            case UnaryOperator.NOT:
                return self._not(bit)
            case UnaryOperator.YESTERDAY:
                return self.builder.add(Shift(Direction.PREVIOUS, bit))
            case UnaryOperator.WEAK_YESTERDAY:
                return self._or(
                    self.builder.add(Shift(Direction.PREVIOUS, bit)), self.builder.add(Place(FIRST))
                )
            case UnaryOperator.NEXT:
                return self.builder.add(Shift(Direction.NEXT, bit))
            case UnaryOperator.WEAK_NEXT:
                return self._or(self.builder.add(Shift(Direction.NEXT, bit)), self.builder.add(Place(LAST)))
            case UnaryOperator.ONCE:
                return self._since(self._true(), bit)
            case UnaryOperator.HISTORICALLY:
                return self._not(self._since(self._true(), self._not(bit)))
            case UnaryOperator.EVENTUALLY:
                return self._until(self._true(), bit)
            case UnaryOperator.ALWAYS:
                return self._not(self._until(self._true(), self._not(bit)))
            case _:
                assert_never(operator)

    def _binary(self, operator: BinaryOperator, left: Ref, right: Ref) -> Ref:
        match operator:
            case BinaryOperator.AND:
                return self._and(left, right)
            case BinaryOperator.OR:
                return self._or(left, right)
            case BinaryOperator.XOR:
                return self._gate(Connective.XOR, left, right)
            case BinaryOperator.IFF:
                return self._not(self._gate(Connective.XOR, left, right))
            case BinaryOperator.IMPLIES:
                return self._or(self._not(left), right)
            case BinaryOperator.SINCE:
                return self._since(left, right)
            case BinaryOperator.PAST_RELEASE:
                return self._not(self._since(self._not(left), self._not(right)))
            case BinaryOperator.UNTIL:
                return self._until(left, right)
            case BinaryOperator.RELEASE:
                return self._not(self._until(self._not(left), self._not(right)))
            case BinaryOperator.WEAK_UNTIL:
                # f W g fails iff before any g there is a place with neither f nor g.
                neither = self._and(self._not(left), self._not(right))
                return self._not(self._until(self._not(right), neither))
            case BinaryOperator.STRONG_RELEASE:
                return self._until(right, self._and(left, right))
            case _:
                assert_never(operator)

    def _since(self, left: Ref, right: Ref) -> Ref:
        where = self._or(self._not(left), right)
        return self.builder.add(Attend(Mask.UP_TO, Choice.RIGHTMOST, where, right, default=False))

    def _until(self, left: Ref, right: Ref) -> Ref:
        where = self._or(self._not(left), right)
        return self.builder.add(Attend(Mask.FROM, Choice.LEFTMOST, where, right, default=False))

    def _comparison(self, operator: ComparisonOperator, difference: Term) -> Ref:
        """The comparison `difference operator 0`."""
        match operator:
            case ComparisonOperator.AT_LEAST:
                return self._at_least(difference, 0)
            case ComparisonOperator.GREATER:
                return self._at_least(difference, 1)
            case ComparisonOperator.AT_MOST:
                return self._at_least(subtract(Term((), 0), difference), 0)
            case ComparisonOperator.LESS:
                return self._at_least(subtract(Term((), 0), difference), 1)
            case ComparisonOperator.EQUAL:
                return self._equals_zero(difference)
            case ComparisonOperator.DIFFERENT:
                return self._not(self._equals_zero(difference))
            case _:
                assert_never(operator)

    def _equals_zero(self, term: Term) -> Ref:
        place = _place_argument(term)
        if place is not None:
            return self.builder.add(Place(Test(Zero(), *place)))
        return self.builder.add(Equals(self._combination(term), -term.constant))

    def _at_least(self, term: Term, threshold: int) -> Ref:
        place = _place_argument(term)
        if place is not None:
            per_position, per_length, shift = place
            return self.builder.add(Place(Test(NonNegative(), per_position, per_length, shift - threshold)))
        return self.builder.add(Compare(self._combination(term), threshold - term.constant))

    def _combination(self, term: Term) -> Ref:
        """The term without its constant."""
        parts = tuple((factor, self._count(atom)) for factor, atom in term.parts)
        return self.builder.add(Linear(parts, 0))

    def _numerical(self, formula: Numerical) -> Ref:
        predicate, term = formula.predicate, formula.term
        place = _place_argument(term)
        if place is not None:
            return self.builder.add(Place(Test(predicate, *place)))
        if len(term.parts) > 1:
            raise UnsupportedError(
                f"'{show(formula)}' asks a numerical predicate of several counts at once; "
                "it can be asked of one count, or of pos and len. A remainder of a sum can be "
                "written with the remainders of its parts."
            )
        ((factor, atom),) = term.parts
        return self.builder.add(CountTest(predicate, self._count(atom), factor, term.constant))

    def _count(self, atom: Atom) -> Ref:
        match atom:
            case PositionAtom():
                return self.builder.add(Count(Mask.UP_TO, self._true()))
            case LengthAtom():
                return self.builder.add(Count(Mask.ALL, self._true()))
            case CountAtom(side, formula):
                return self.builder.add(Count(_MASKS[side], self.refs[formula]))
            case _:
                assert_never(atom)

    def _true(self) -> Ref:
        return self.builder.add(Place(ONE))

    def _not(self, bit: Ref) -> Ref:
        return self.builder.add(Not(bit))

    def _and(self, *bits: Ref) -> Ref:
        return self._gate(Connective.AND, *bits)

    def _or(self, *bits: Ref) -> Ref:
        return self._gate(Connective.OR, *bits)

    def _gate(self, connective: Connective, *bits: Ref) -> Ref:
        return self.builder.add(Gate(connective, bits))


def _place_argument(term: Term) -> tuple[int, int, int] | None:
    """(a, b, c) if the term is a*pos + b*len + c, else None."""
    per_position = per_length = 0
    for factor, atom in term.parts:
        match atom:
            case PositionAtom():
                per_position += factor
            case LengthAtom():
                per_length += factor
            case CountAtom():
                return None
            case _:
                assert_never(atom)
    return per_position, per_length, term.constant
