"""What people are told of formulas that mean less than they may think.

Logics of finite words say of the empty one whether a formula holds where there is no position; attemper's
verdict on the empty word is a constant of the language. And letters are symbols here, propositions there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.exact.predicates import holds
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core


def holds_of_the_empty_word(formula: syntax.Formula) -> bool:
    """The truth of a formula without any position, as of LTL over finite words.

    No symbol is there, nothing was before or comes after (so `Y f`, `X f`, `f S g`, `f U g` are false and
    their duals true, `first` and `last` among these), and counts, `pos` and `len` are 0.

    >>> from attemper.languages.temporal.parse import parse
    >>> [holds_of_the_empty_word(parse(f)) for f in ("G (a -> F b)", "O a", "#<[a] >= 1", "WY a")]
    [True, False, False, True]
    """
    return values_by_core(formula, _value)[formula]


def symbols_at_once(formula: syntax.Formula) -> tuple[str, str] | None:
    """Two different symbols of one conjunction, which is false: a position has one symbol. None without any.

    >>> from attemper.languages.temporal.parse import parse
    >>> [symbols_at_once(parse(f)) for f in ("O (b & Y a & a)", "a & Y b", "a & !b")]
    [('b', 'a'), None, None]
    """
    named: dict[syntax.Formula, tuple[str, ...]] = {}
    for part in syntax.subformulas(formula):
        match part:
            case syntax.Symbol(name):
                named[part] = (name,)
            case syntax.Binary(syntax.BinaryOperator.AND, left, right):
                named[part] = tuple(dict.fromkeys((*named[left], *named[right])))
                if len(named[part]) > 1:
                    return named[part][0], named[part][1]
            case _:
                named[part] = ()
    return None


def _value(part: syntax.Formula, known: Mapping[syntax.Formula, bool]) -> bool:
    """The truth of a formula whose operator is of the core, given the truth of its operands."""
    match part:
        case syntax.Symbol():
            return False
        case syntax.Constant(value):
            return value
        case syntax.First() | syntax.Last():
            return True
        case syntax.Unary(operator, operand):
            return operator is syntax.UnaryOperator.NOT and not known[operand]
        case syntax.Binary(syntax.BinaryOperator.AND, left, right):
            return known[left] and known[right]
        case syntax.Binary(syntax.BinaryOperator.OR, left, right):
            return known[left] or known[right]
        case syntax.Binary(operator, left, right):
            return operator is syntax.BinaryOperator.XOR and known[left] != known[right]
        case syntax.Comparison(operator, left_term, right_term):
            difference = left_term.constant - right_term.constant
            return difference == 0 if operator is syntax.ComparisonOperator.EQUAL else difference >= 0
        case syntax.Numerical(predicate, term):
            return holds(predicate, term.constant)
        case _:
            assert_never(part)
