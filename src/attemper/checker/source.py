"""What a formula means, as a normal form: one clause per operator of the core, from the definitions.

phi S psi is psi at the rightmost j <= i with (not phi or psi), 0 if there is none; phi U psi mirrors it.
(Yang, Strobl, Chiang, Angluin, Definitions 10, 14, 19.) The other operators are defined in `temporal.core`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.tested_sums import Counted, test_of_sum
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.networks.layers import Masking

Known = Mapping[syntax.Formula, Diagram]
_SIDES = {syntax.Side.LEFT: Masking.FUTURE, syntax.Side.RIGHT: Masking.PAST, syntax.Side.TOTAL: Masking.NONE}


def meanings_of(formulas: Formulas, formula: syntax.Formula) -> dict[syntax.Formula, Diagram]:
    """The normal form of every subformula."""
    return values_by_core(formula, lambda part, known: _meaning(formulas, part, known))


def _meaning(formulas: Formulas, formula: syntax.Formula, known: Known) -> Diagram:
    match formula:
        case syntax.Symbol(name):
            return formulas.names.letter(name)
        case syntax.Constant(value):
            return formulas.names.number(int(value))
        case syntax.First():
            return formulas.names.first
        case syntax.Last():
            return formulas.names.last
        case syntax.Unary(operator, operand):
            return _unary(formulas, operator, known[operand])
        case syntax.Binary(operator, left, right):
            return formulas.names.canonical(_binary(formulas, operator, known[left], known[right]))
        case syntax.Comparison(operator, left_term, right_term):
            difference = syntax.subtract(left_term, right_term)
            return formulas.names.canonical(_comparison(formulas, operator, difference, known))
        case syntax.Numerical(predicate, term):
            return formulas.names.canonical(
                test_of_sum(formulas, predicate, _counts(formulas, term, known), term.constant)
            )
        case _:
            assert_never(formula)


def _unary(formulas: Formulas, operator: syntax.UnaryOperator, bit: Diagram) -> Diagram:
    match operator:
        case syntax.UnaryOperator.NOT:
            return formulas.names.negation(bit)  # of what is canonical: that is canonical, too
        case syntax.UnaryOperator.YESTERDAY:
            return formulas.names.canonical(formulas.shifted(bit, -1, formulas.names.false))
        case syntax.UnaryOperator.NEXT:
            return formulas.names.canonical(formulas.shifted(bit, 1, formulas.names.false))
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _binary(formulas: Formulas, operator: syntax.BinaryOperator, left: Diagram, right: Diagram) -> Diagram:
    match operator:
        case syntax.BinaryOperator.AND:
            return formulas.names.both(left, right)
        case syntax.BinaryOperator.OR:
            return formulas.names.either(left, right)
        case syntax.BinaryOperator.XOR:
            return formulas.names.different(left, right)
        case syntax.BinaryOperator.SINCE:
            return formulas.attend(
                Masking.FUTURE, False, formulas.names.either(formulas.names.negation(left), right), right
            )
        case syntax.BinaryOperator.UNTIL:
            return formulas.attend(
                Masking.PAST, True, formulas.names.either(formulas.names.negation(left), right), right
            )
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _comparison(
    formulas: Formulas, operator: syntax.ComparisonOperator, difference: syntax.Term, known: Known
) -> Diagram:
    """The comparison `difference operator 0`."""
    sums = dict.fromkeys(Masking, formulas.names.false)
    for factor, masking, bit in _counts(formulas, difference, known):
        sums[masking] = formulas.names.plus(sums[masking], formulas.names.scaled(bit, factor))
    at_least = formulas.total_at_least(sums, -difference.constant)
    match operator:
        case syntax.ComparisonOperator.AT_LEAST:
            return at_least
        case syntax.ComparisonOperator.EQUAL:
            return formulas.names.both(
                at_least, formulas.names.negation(formulas.total_at_least(sums, 1 - difference.constant))
            )
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _counts(formulas: Formulas, term: syntax.Term, known: Known) -> list[Counted]:
    """What the term adds up, as (factor, what is visible, bit); the counts of 1 are positions."""
    found = []
    for factor, atom in term.parts:
        match atom:
            case syntax.PositionAtom():
                found.append((factor, Masking.FUTURE, formulas.names.true))
            case syntax.LengthAtom():
                found.append((factor, Masking.NONE, formulas.names.true))
            case syntax.CountAtom(side, counted):
                found.append((factor, _SIDES[side], known[counted]))
            case _:
                assert_never(atom)
    return found
