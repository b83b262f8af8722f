"""A formula read from the other end of the word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core

_UNARY = {
    syntax.UnaryOperator.YESTERDAY: syntax.UnaryOperator.NEXT,
    syntax.UnaryOperator.NEXT: syntax.UnaryOperator.YESTERDAY,
}
_BINARY = {
    syntax.BinaryOperator.SINCE: syntax.BinaryOperator.UNTIL,
    syntax.BinaryOperator.UNTIL: syntax.BinaryOperator.SINCE,
}
_SIDES = {
    syntax.Side.LEFT: syntax.Side.RIGHT,
    syntax.Side.RIGHT: syntax.Side.LEFT,
    syntax.Side.TOTAL: syntax.Side.TOTAL,
}


def mirrored(formula: syntax.Formula) -> syntax.Formula:
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


def _mirrored(formula: syntax.Formula, known: Mapping[syntax.Formula, syntax.Formula]) -> syntax.Formula:
    match formula:
        case syntax.Symbol() | syntax.Constant():
            return formula
        case syntax.First():
            return syntax.Last()
        case syntax.Last():
            return syntax.First()
        case syntax.Unary(operator, operand):
            return syntax.Unary(_UNARY.get(operator, operator), known[operand])
        case syntax.Binary(operator, left, right):
            return syntax.Binary(_BINARY.get(operator, operator), known[left], known[right])
        case syntax.Comparison(operator, left_term, right_term):
            return syntax.Comparison(operator, _term(left_term, known), _term(right_term, known))
        case syntax.Numerical(predicate, term):
            return syntax.Numerical(predicate, _term(term, known))
        case _:
            assert_never(formula)


def _term(term: syntax.Term, known: Mapping[syntax.Formula, syntax.Formula]) -> syntax.Term:
    """The term with each position i as n + 1 - i, and each count on the other side."""
    parts: list[tuple[int, syntax.TermAtom]] = []
    constant = term.constant
    for factor, atom in term.parts:
        match atom:
            case syntax.PositionAtom():
                parts += [(-factor, atom), (factor, syntax.LengthAtom())]
                constant += factor
            case syntax.LengthAtom():
                parts.append((factor, atom))
            case syntax.CountAtom(side, counted):
                parts.append((factor, syntax.CountAtom(_SIDES[side], known[counted])))
            case _:
                assert_never(atom)
    return syntax.linear_term(tuple(parts), constant)
