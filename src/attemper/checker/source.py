"""What a formula means, as a normal form: one clause per operator, from the definitions.

phi S psi is psi at the rightmost j <= i with (not phi or psi), 0 if there is none; phi U psi mirrors it.
The other operators are written with these. (Yang, Strobl, Chiang, Angluin, Definitions 10, 14, 19.)
"""

from __future__ import annotations

from typing import assert_never

from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
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
    subformulas,
    subtract,
)
from attemper.networks.layers import Masking

_SIDES = {Side.LEFT: Masking.FUTURE, Side.RIGHT: Masking.PAST, Side.TOTAL: Masking.NONE}


def meanings_of(names: Formulas, formula: Formula) -> dict[Formula, Diagram]:
    """The normal form of every subformula."""
    known: dict[Formula, Diagram] = {}
    for part in subformulas(formula):
        known[part] = names.settled(_meaning(names, part, known))
    return known


def _meaning(names: Formulas, formula: Formula, known: dict[Formula, Diagram]) -> Diagram:
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
            return _binary(names, operator, known[left], known[right])
        case Comparison(operator, left_term, right_term):
            return _comparison(names, operator, subtract(left_term, right_term), known)
        case Numerical():
            return _numerical(names, formula, known)
        case _:
            assert_never(formula)


def _unary(names: Formulas, operator: UnaryOperator, bit: Diagram) -> Diagram:
    match operator:
        case UnaryOperator.NOT:
            return names.negation(bit)
        case UnaryOperator.YESTERDAY:
            return names.shifted(bit, -1, names.false)
        case UnaryOperator.WEAK_YESTERDAY:
            return names.shifted(bit, -1, names.true)
        case UnaryOperator.NEXT:
            return names.shifted(bit, 1, names.false)
        case UnaryOperator.WEAK_NEXT:
            return names.shifted(bit, 1, names.true)
        case UnaryOperator.ONCE:
            return _since(names, names.true, bit)
        case UnaryOperator.HISTORICALLY:
            return names.negation(_since(names, names.true, names.negation(bit)))
        case UnaryOperator.EVENTUALLY:
            return _until(names, names.true, bit)
        case UnaryOperator.ALWAYS:
            return names.negation(_until(names, names.true, names.negation(bit)))
        case _:
            assert_never(operator)


def _binary(names: Formulas, operator: BinaryOperator, left: Diagram, right: Diagram) -> Diagram:
    match operator:
        case BinaryOperator.AND:
            return names.both(left, right)
        case BinaryOperator.OR:
            return names.either(left, right)
        case BinaryOperator.XOR:
            return names.different(left, right)
        case BinaryOperator.IFF:
            return names.negation(names.different(left, right))
        case BinaryOperator.IMPLIES:
            return names.either(names.negation(left), right)
        case BinaryOperator.SINCE:
            return _since(names, left, right)
        case BinaryOperator.PAST_RELEASE:
            return names.negation(_since(names, names.negation(left), names.negation(right)))
        case BinaryOperator.UNTIL:
            return _until(names, left, right)
        case BinaryOperator.RELEASE:
            return names.negation(_until(names, names.negation(left), names.negation(right)))
        case BinaryOperator.WEAK_UNTIL:
            # It fails iff, before any `right`, there is a place with neither.
            neither = names.negation(names.either(left, right))
            return names.negation(_until(names, names.negation(right), neither))
        case BinaryOperator.STRONG_RELEASE:
            return _until(names, right, names.both(left, right))
        case _:
            assert_never(operator)


def _since(names: Formulas, left: Diagram, right: Diagram) -> Diagram:
    return names.attend(Masking.FUTURE, False, names.either(names.negation(left), right), right)


def _until(names: Formulas, left: Diagram, right: Diagram) -> Diagram:
    return names.attend(Masking.PAST, True, names.either(names.negation(left), right), right)


def _comparison(
    names: Formulas, operator: ComparisonOperator, difference: Term, known: dict[Formula, Diagram]
) -> Diagram:
    """The comparison `difference operator 0`."""
    sums = _sums(names, difference, known)

    def at_least(threshold: int) -> Diagram:
        return names.total_at_least(sums, threshold - difference.constant)

    match operator:
        case ComparisonOperator.AT_LEAST:
            return at_least(0)
        case ComparisonOperator.GREATER:
            return at_least(1)
        case ComparisonOperator.AT_MOST:
            return names.negation(at_least(1))
        case ComparisonOperator.LESS:
            return names.negation(at_least(0))
        case ComparisonOperator.EQUAL:
            return names.both(at_least(0), names.negation(at_least(1)))
        case ComparisonOperator.DIFFERENT:
            return names.either(at_least(1), names.negation(at_least(0)))
        case _:
            assert_never(operator)


def _sums(names: Formulas, term: Term, known: dict[Formula, Diagram]) -> dict[Masking, Diagram]:
    """What the term adds up at each visible position, for each side."""
    sums = dict.fromkeys(Masking, names.false)
    for factor, atom in term.parts:
        match atom:
            case PositionAtom():
                masking, bit = Masking.FUTURE, names.true
            case LengthAtom():
                masking, bit = Masking.NONE, names.true
            case CountAtom(side, counted):
                masking, bit = _SIDES[side], known[counted]
            case _:
                assert_never(atom)
        sums[masking] = names.plus(sums[masking], names.scaled(bit, factor))
    return sums


def _numerical(names: Formulas, formula: Numerical, known: dict[Formula, Diagram]) -> Diagram:
    predicate, term = formula.predicate, formula.term
    place, counts = [0, 0], []
    for factor, atom in term.parts:
        match atom:
            case PositionAtom():
                place[0] += factor
            case LengthAtom():
                place[1] += factor
            case CountAtom(side, counted):
                counts.append((factor, _SIDES[side], known[counted]))
            case _:
                assert_never(atom)
    counts = [count for count in counts if count[2] != names.false]
    if not counts:
        return names.place(predicate, place[0], place[1], term.constant)
    if len(counts) > 1 or place != [0, 0]:
        raise UnprovenError("no rule covers a numerical predicate of several counts at once")
    factor, masking, bit = counts[0]
    return names.counted_test(masking, bit, predicate, factor, term.constant)
