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

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import FIRST, LAST, ONE, Test, number
from attemper.exact.predicates import NonNegative, Remainder, Zero, periodic
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet

Refs = Mapping[syntax.Formula, ops.Ref]

MAX_CASES = 10_000
"""The remainders that several counts can leave together, at most: each case is a gate."""

_MASKS = {syntax.Side.LEFT: ops.Mask.UP_TO, syntax.Side.RIGHT: ops.Mask.FROM, syntax.Side.TOTAL: ops.Mask.ALL}


def temporal_to_program(
    formula: syntax.Formula, alphabet: Alphabet
) -> tuple[ops.Program, dict[syntax.Formula, ops.Ref]]:
    """The program of a formula, and the step that computes each subformula.

    Raises `UnsupportedError` for a numerical predicate of several counts that is no remainder.
    """
    lowering = _Lowering(alphabet)
    refs = values_by_core(formula, lowering.lower)
    return ops.Program(alphabet, tuple(lowering.builder.steps), refs[formula]), refs


class _Lowering:
    """The steps so far."""

    def __init__(self, alphabet: Alphabet) -> None:
        self.alphabet = alphabet
        self.builder = Builder()

    def lower(self, formula: syntax.Formula, refs: Refs) -> ops.Ref:
        """The step of a formula whose operator is of the core."""
        match formula:
            case syntax.Symbol(name):
                return self.builder.add(ops.Letter((name,)))
            case syntax.Constant(value):
                return self.builder.add(ops.Place(number(int(value))))
            case syntax.First():
                return self.builder.add(ops.Place(FIRST))
            case syntax.Last():
                return self.builder.add(ops.Place(LAST))
            case syntax.Unary(operator, operand):
                return self._unary(operator, refs[operand])
            case syntax.Binary(operator, left, right):
                return self._binary(operator, refs[left], refs[right])
            case syntax.Comparison(operator, left_term, right_term):
                return self._comparison(operator, syntax.subtract(left_term, right_term), refs)
            case syntax.Numerical():
                return self._numerical(formula, refs)
            case _:
                assert_never(formula)

    def _unary(self, operator: syntax.UnaryOperator, bit: ops.Ref) -> ops.Ref:
        match operator:
            case syntax.UnaryOperator.NOT:
                return self.builder.add(ops.Not(bit))
            case syntax.UnaryOperator.YESTERDAY:
                return self.builder.add(ops.Shift(ops.Direction.PREVIOUS, bit))
            case syntax.UnaryOperator.NEXT:
                return self.builder.add(ops.Shift(ops.Direction.NEXT, bit))
            case _:
                raise AssertionError(f"'{operator}' is not of the core")

    def _binary(self, operator: syntax.BinaryOperator, left: ops.Ref, right: ops.Ref) -> ops.Ref:
        match operator:
            case syntax.BinaryOperator.AND:
                return self.builder.add(ops.Gate(ops.Connective.AND, (left, right)))
            case syntax.BinaryOperator.OR:
                return self.builder.add(ops.Gate(ops.Connective.OR, (left, right)))
            case syntax.BinaryOperator.XOR:
                return self.builder.add(ops.Gate(ops.Connective.XOR, (left, right)))
            case syntax.BinaryOperator.SINCE:
                return self._nearest(ops.Mask.UP_TO, ops.Choice.RIGHTMOST, left, right)
            case syntax.BinaryOperator.UNTIL:
                return self._nearest(ops.Mask.FROM, ops.Choice.LEFTMOST, left, right)
            case _:
                raise AssertionError(f"'{operator}' is not of the core")

    def _nearest(self, mask: ops.Mask, choice: ops.Choice, left: ops.Ref, right: ops.Ref) -> ops.Ref:
        where = self.builder.add(ops.Gate(ops.Connective.OR, (self.builder.add(ops.Not(left)), right)))
        return self.builder.add(ops.Attend(mask, choice, ops.everywhere(where), right, False))

    def _comparison(
        self, operator: syntax.ComparisonOperator, difference: syntax.Term, refs: Refs
    ) -> ops.Ref:
        """The comparison `difference operator 0`: of positions alone a test of the place, else of counts."""
        place = _place_argument(difference)
        match operator:
            case syntax.ComparisonOperator.AT_LEAST if place is not None:
                return self.builder.add(ops.Place(Test(NonNegative(), *place)))
            case syntax.ComparisonOperator.AT_LEAST:
                return self.builder.add(
                    ops.Compare(self._combination(difference, refs), -difference.constant)
                )
            case syntax.ComparisonOperator.EQUAL if place is not None:
                return self.builder.add(ops.Place(Test(Zero(), *place)))
            case syntax.ComparisonOperator.EQUAL:
                return self.builder.add(ops.Equals(self._combination(difference, refs), -difference.constant))
            case _:
                raise AssertionError(f"'{operator}' is not of the core")

    def _combination(self, term: syntax.Term, refs: Refs) -> ops.Ref:
        """The term without its constant."""
        parts = tuple((factor, self._count(atom, refs)) for factor, atom in term.parts)
        return self.builder.add(ops.Linear(parts, 0))

    def _numerical(self, formula: syntax.Numerical, refs: Refs) -> ops.Ref:
        predicate, term = formula.predicate, formula.term
        place = _place_argument(term)
        if place is not None:
            return self.builder.add(ops.Place(Test(predicate, *place)))
        if len(term.parts) == 1:
            ((factor, atom),) = term.parts
            return self.builder.add(ops.CountTest(predicate, self._count(atom, refs), factor, term.constant))
        _require_remainder(formula)
        return self.builder.add(ops.CountTest(predicate, self._combination(term, refs), 1, term.constant))

    def _count(self, atom: syntax.TermAtom, refs: Refs) -> ops.Ref:
        match atom:
            case syntax.PositionAtom():
                return self.builder.add(ops.Count(ops.Mask.UP_TO, self._true()))
            case syntax.LengthAtom():
                return self.builder.add(ops.Count(ops.Mask.ALL, self._true()))
            case syntax.CountAtom(side, formula):
                return self.builder.add(ops.Count(_MASKS[side], refs[formula]))
            case _:
                assert_never(atom)

    def _true(self) -> ops.Ref:
        return self.builder.add(ops.Place(ONE))


def _require_remainder(formula: syntax.Numerical) -> None:
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


def _place_argument(term: syntax.Term) -> tuple[int, int, int] | None:
    """(a, b, c) if the term is a*pos + b*len + c, else None; counts of true are positions, too."""
    per_position, per_length, shift = 0, 0, term.constant
    for factor, atom in term.parts:
        match atom:
            case syntax.PositionAtom() | syntax.CountAtom(syntax.Side.LEFT, syntax.Constant(True)):
                per_position += factor
            case syntax.LengthAtom() | syntax.CountAtom(syntax.Side.TOTAL, syntax.Constant(True)):
                per_length += factor
            case syntax.CountAtom(syntax.Side.RIGHT, syntax.Constant(True)):
                per_position, per_length, shift = per_position - factor, per_length + factor, shift + factor
            case syntax.CountAtom():
                return None
            case _:
                assert_never(atom)
    return per_position, per_length, shift
