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
from attemper.languages.temporal.core import values_by_core
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
    Unary,
    UnaryOperator,
    subtract,
)
from attemper.networks.layers import Masking

Known = Mapping[Formula, Diagram]
_SIDES = {Side.LEFT: Masking.FUTURE, Side.RIGHT: Masking.PAST, Side.TOTAL: Masking.NONE}


def meanings_of(names: Formulas, formula: Formula) -> dict[Formula, Diagram]:
    """The normal form of every subformula."""
    return values_by_core(formula, lambda part, known: _meaning(names, part, known))


def _meaning(names: Formulas, formula: Formula, known: Known) -> Diagram:
    match formula:
        case Symbol(name):
            return names.letter(name)
        case Constant(value):
            return names.number(int(value))
        case First():
            return names.first
        case Last():
            return names.last
        case Unary(operator, operand):
            return _unary(names, operator, known[operand])
        case Binary(operator, left, right):
            return names.settled(_binary(names, operator, known[left], known[right]))
        case Comparison(operator, left_term, right_term):
            difference = subtract(left_term, right_term)
            return names.settled(_comparison(names, operator, difference, known))
        case Numerical(predicate, term):
            return names.settled(test_of_sum(names, predicate, _counts(names, term, known), term.constant))
        case _:
            assert_never(formula)


def _unary(names: Formulas, operator: UnaryOperator, bit: Diagram) -> Diagram:
    match operator:
        case UnaryOperator.NOT:
            return names.negation(bit)  # of what is settled: that is settled, too
        case UnaryOperator.YESTERDAY:
            return names.settled(names.shifted(bit, -1, names.false))
        case UnaryOperator.NEXT:
            return names.settled(names.shifted(bit, 1, names.false))
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _binary(names: Formulas, operator: BinaryOperator, left: Diagram, right: Diagram) -> Diagram:
    match operator:
        case BinaryOperator.AND:
            return names.both(left, right)
        case BinaryOperator.OR:
            return names.either(left, right)
        case BinaryOperator.XOR:
            return names.different(left, right)
        case BinaryOperator.SINCE:
            return names.attend(Masking.FUTURE, False, names.either(names.negation(left), right), right)
        case BinaryOperator.UNTIL:
            return names.attend(Masking.PAST, True, names.either(names.negation(left), right), right)
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _comparison(names: Formulas, operator: ComparisonOperator, difference: Term, known: Known) -> Diagram:
    """The comparison `difference operator 0`."""
    sums = dict.fromkeys(Masking, names.false)
    for factor, masking, bit in _counts(names, difference, known):
        sums[masking] = names.plus(sums[masking], names.scaled(bit, factor))
    at_least = names.total_at_least(sums, -difference.constant)
    match operator:
        case ComparisonOperator.AT_LEAST:
            return at_least
        case ComparisonOperator.EQUAL:
            return names.both(at_least, names.negation(names.total_at_least(sums, 1 - difference.constant)))
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _counts(names: Formulas, term: Term, known: Known) -> list[Counted]:
    """What the term adds up, as (factor, what is visible, bit); the counts of 1 are positions."""
    found = []
    for factor, atom in term.parts:
        match atom:
            case PositionAtom():
                found.append((factor, Masking.FUTURE, names.true))
            case LengthAtom():
                found.append((factor, Masking.NONE, names.true))
            case CountAtom(side, counted):
                found.append((factor, _SIDES[side], known[counted]))
            case _:
                assert_never(atom)
    return found
