"""Formulas joined, without what goes without saying."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

from attemper.languages.temporal.syntax import Binary, BinaryOperator, Constant, Formula, Unary, UnaryOperator

TRUE, FALSE = Constant(True), Constant(False)


def negation(formula: Formula) -> Formula:
    """Not the formula."""
    match formula:
        case Constant(value):
            return Constant(not value)
        case Unary(UnaryOperator.NOT, inner):
            return inner
        case _:
            return Unary(UnaryOperator.NOT, formula)


def all_of(formulas: Iterable[Formula]) -> Formula:
    """All of the formulas."""
    return _joined(BinaryOperator.AND, TRUE, FALSE, formulas)


def any_of(formulas: Iterable[Formula]) -> Formula:
    """At least one of the formulas."""
    return _joined(BinaryOperator.OR, FALSE, TRUE, formulas)


def _joined(operator: BinaryOperator, unit: Formula, zero: Formula, formulas: Iterable[Formula]) -> Formula:
    """The formulas joined by an associative operator, without its unit and without repetitions."""
    parts = [part for part in dict.fromkeys(formulas) if part != unit]
    if zero in parts:
        return zero
    return reduce(lambda left, right: Binary(operator, left, right), parts) if parts else unit
