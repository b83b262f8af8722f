"""A formula read from the other end of the word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.languages.temporal.core import values_by_core
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
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
    linear_term,
)

_UNARY = {
    UnaryOperator.YESTERDAY: UnaryOperator.NEXT,
    UnaryOperator.NEXT: UnaryOperator.YESTERDAY,
}
_BINARY = {
    BinaryOperator.SINCE: BinaryOperator.UNTIL,
    BinaryOperator.UNTIL: BinaryOperator.SINCE,
}
_SIDES = {Side.LEFT: Side.RIGHT, Side.RIGHT: Side.LEFT, Side.TOTAL: Side.TOTAL}


def mirrored(formula: Formula) -> Formula:
    """The formula that holds at position n + 1 - i of the reversed word where this one holds at i.

    For every word of any length n >= 1 and 1 <= i <= n: w, i |= formula if and only if reverse(w), n + 1 - i
    |= mirrored(formula). By induction: each operator of the core is defined by positions j <= i where its
    mirror image is defined by j >= i, the position i is n + 1 - i from the other end, and derived operators
    are taken by their definitions.

    >>> from attemper.languages.temporal.parse import parse
    >>> from attemper.languages.temporal.show import show
    >>> show(mirrored(parse("a U (first & X b)")))
    'a S (last & Y b)'
    >>> show(mirrored(parse("#<[a] >= pos")))
    '#>[a] >= -pos + len + 1'
    """
    return values_by_core(formula, _mirrored)[formula]


def _mirrored(formula: Formula, known: Mapping[Formula, Formula]) -> Formula:
    match formula:
        case Symbol() | Constant():
            return formula
        case First():
            return Last()
        case Last():
            return First()
        case Unary(operator, operand):
            return Unary(_UNARY.get(operator, operator), known[operand])
        case Binary(operator, left, right):
            return Binary(_BINARY.get(operator, operator), known[left], known[right])
        case Comparison(operator, left_term, right_term):
            return Comparison(operator, _term(left_term, known), _term(right_term, known))
        case Numerical(predicate, term):
            return Numerical(predicate, _term(term, known))
        case _:
            assert_never(formula)


def _term(term: Term, known: Mapping[Formula, Formula]) -> Term:
    """The term with each position i as n + 1 - i, and each count on the other side."""
    parts: list[tuple[int, TermAtom]] = []
    constant = term.constant
    for factor, atom in term.parts:
        match atom:
            case PositionAtom():
                parts += [(-factor, atom), (factor, LengthAtom())]
                constant += factor
            case LengthAtom():
                parts.append((factor, atom))
            case CountAtom(side, counted):
                parts.append((factor, CountAtom(_SIDES[side], known[counted])))
            case _:
                assert_never(atom)
    return linear_term(tuple(parts), constant)
