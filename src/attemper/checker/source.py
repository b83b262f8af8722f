"""What a formula means, as a normal form: one clause per operator, from the definitions.

phi S psi is psi at the rightmost j <= i with (not phi or psi), 0 if there is none; phi U psi mirrors it.
The other operators are written with these. (Yang, Strobl, Chiang, Angluin, Definitions 10, 14, 19.)
"""

from __future__ import annotations

from typing import assert_never

from attemper.checker.diagrams import Diagram
from attemper.checker.terms import Terms, UnprovenError
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


def meanings_of(terms: Terms, formula: Formula) -> dict[Formula, Diagram]:
    """The normal form of every subformula."""
    known: dict[Formula, Diagram] = {}
    for part in subformulas(formula):
        known[part] = terms.settled(_meaning(terms, part, known))
    return known


def _meaning(terms: Terms, formula: Formula, known: dict[Formula, Diagram]) -> Diagram:
    match formula:
        case Symbol(name):
            return terms.letter(name)
        case Constant(value):
            return terms.number(int(value))
        case First():
            return terms.first
        case Last():
            return terms.last
        case Unary(operator, operand):
            return _unary(terms, operator, known[operand])
        case Binary(operator, left, right):
            return _binary(terms, operator, known[left], known[right])
        case Comparison(operator, left_term, right_term):
            return _comparison(terms, operator, subtract(left_term, right_term), known)
        case Numerical():
            return _numerical(terms, formula, known)
        case _:
            assert_never(formula)


def _unary(terms: Terms, operator: UnaryOperator, bit: Diagram) -> Diagram:
    match operator:
        case UnaryOperator.NOT:
            return terms.negation(bit)
        case UnaryOperator.YESTERDAY:
            return terms.shifted(bit, -1, terms.false)
        case UnaryOperator.WEAK_YESTERDAY:
            return terms.shifted(bit, -1, terms.true)
        case UnaryOperator.NEXT:
            return terms.shifted(bit, 1, terms.false)
        case UnaryOperator.WEAK_NEXT:
            return terms.shifted(bit, 1, terms.true)
        case UnaryOperator.ONCE:
            return _since(terms, terms.true, bit)
        case UnaryOperator.HISTORICALLY:
            return terms.negation(_since(terms, terms.true, terms.negation(bit)))
        case UnaryOperator.EVENTUALLY:
            return _until(terms, terms.true, bit)
        case UnaryOperator.ALWAYS:
            return terms.negation(_until(terms, terms.true, terms.negation(bit)))
        case _:
            assert_never(operator)


def _binary(terms: Terms, operator: BinaryOperator, left: Diagram, right: Diagram) -> Diagram:
    match operator:
        case BinaryOperator.AND:
            return terms.both(left, right)
        case BinaryOperator.OR:
            return terms.either(left, right)
        case BinaryOperator.XOR:
            return terms.different(left, right)
        case BinaryOperator.IFF:
            return terms.negation(terms.different(left, right))
        case BinaryOperator.IMPLIES:
            return terms.either(terms.negation(left), right)
        case BinaryOperator.SINCE:
            return _since(terms, left, right)
        case BinaryOperator.PAST_RELEASE:
            return terms.negation(_since(terms, terms.negation(left), terms.negation(right)))
        case BinaryOperator.UNTIL:
            return _until(terms, left, right)
        case BinaryOperator.RELEASE:
            return terms.negation(_until(terms, terms.negation(left), terms.negation(right)))
        case BinaryOperator.WEAK_UNTIL:
            # It fails iff, before any `right`, there is a place with neither.
            neither = terms.negation(terms.either(left, right))
            return terms.negation(_until(terms, terms.negation(right), neither))
        case BinaryOperator.STRONG_RELEASE:
            return _until(terms, right, terms.both(left, right))
        case _:
            assert_never(operator)


def _since(terms: Terms, left: Diagram, right: Diagram) -> Diagram:
    return terms.attend(Masking.FUTURE, False, terms.either(terms.negation(left), right), right)


def _until(terms: Terms, left: Diagram, right: Diagram) -> Diagram:
    return terms.attend(Masking.PAST, True, terms.either(terms.negation(left), right), right)


def _comparison(
    terms: Terms, operator: ComparisonOperator, difference: Term, known: dict[Formula, Diagram]
) -> Diagram:
    """The comparison `difference operator 0`."""
    sums = _sums(terms, difference, known)

    def at_least(threshold: int) -> Diagram:
        return _at_least(terms, sums, threshold - difference.constant)

    match operator:
        case ComparisonOperator.AT_LEAST:
            return at_least(0)
        case ComparisonOperator.GREATER:
            return at_least(1)
        case ComparisonOperator.AT_MOST:
            return terms.negation(at_least(1))
        case ComparisonOperator.LESS:
            return terms.negation(at_least(0))
        case ComparisonOperator.EQUAL:
            return terms.both(at_least(0), terms.negation(at_least(1)))
        case ComparisonOperator.DIFFERENT:
            return terms.either(at_least(1), terms.negation(at_least(0)))
        case _:
            assert_never(operator)


def _sums(terms: Terms, term: Term, known: dict[Formula, Diagram]) -> dict[Masking, Diagram]:
    """What the term adds up at each visible position, for each side."""
    sums = dict.fromkeys(Masking, terms.false)
    for factor, atom in term.parts:
        match atom:
            case PositionAtom():
                masking, bit = Masking.FUTURE, terms.true
            case LengthAtom():
                masking, bit = Masking.NONE, terms.true
            case CountAtom(side, counted):
                masking, bit = _SIDES[side], known[counted]
            case _:
                assert_never(atom)
        sums[masking] = terms.plus(sums[masking], terms.scaled(bit, factor))
    return sums


def _at_least(terms: Terms, sums: dict[Masking, Diagram], threshold: int) -> Diagram:
    used = [masking for masking, summand in sums.items() if summand != terms.false]
    if not used:
        return terms.number(threshold <= 0)
    if len(used) == 1:
        return terms.sum_at_least(used[0], sums[used[0]], threshold)
    # A total over all j is the sum over j <= i and the sum over j >= i, less what stands at i.
    total = sums[Masking.NONE]
    left, right = (terms.plus(sums[side], total) for side in (Masking.FUTURE, Masking.PAST))
    return terms.mixed_at_least(left, right, terms.scaled(total, -1), threshold)


def _numerical(terms: Terms, formula: Numerical, known: dict[Formula, Diagram]) -> Diagram:
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
    counts = [count for count in counts if count[2] != terms.false]
    if not counts:
        return terms.place(predicate, place[0], place[1], term.constant)
    if len(counts) > 1 or place != [0, 0]:
        raise UnprovenError("no rule covers a numerical predicate of several counts at once")
    factor, masking, bit = counts[0]
    return terms.counted_test(masking, bit, predicate, factor, term.constant)
