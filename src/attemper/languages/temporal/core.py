"""Derived operators, each defined once by others, down to a core of few that every reader of formulas knows.

The core is the leaves, the gates `!` `&` `|` `xor`, the shifts Y and X, S and U, the comparisons `>=` and
`==`, and numerical predicates. Two gates and a comparison could go, but each is more than its definition to a
compiler: one gate of a program, one test of a count. `meaning` does not use this file: it says itself what
every operator means, and tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Constant,
    First,
    Formula,
    Last,
    Term,
    Unary,
    UnaryOperator,
    subformulas,
    subtract,
)

Value = TypeVar("Value")
ValueOfCore = Callable[[Formula, Mapping[Formula, Value]], Value]
"""The value of a formula whose operator is of the core, given the values of its operands."""


def _not(f: Formula) -> Formula:
    return Unary(UnaryOperator.NOT, f)


TRUE, ZERO, ONE = Constant(True), Term((), 0), Term((), 1)

UNARY: dict[UnaryOperator, Callable[[Formula], Formula]] = {
    UnaryOperator.WEAK_YESTERDAY: lambda f: Binary(
        BinaryOperator.OR, Unary(UnaryOperator.YESTERDAY, f), First()
    ),
    UnaryOperator.WEAK_NEXT: lambda f: Binary(BinaryOperator.OR, Unary(UnaryOperator.NEXT, f), Last()),
    UnaryOperator.ONCE: lambda f: Binary(BinaryOperator.SINCE, TRUE, f),
    UnaryOperator.HISTORICALLY: lambda f: _not(Binary(BinaryOperator.SINCE, TRUE, _not(f))),
    UnaryOperator.EVENTUALLY: lambda f: Binary(BinaryOperator.UNTIL, TRUE, f),
    UnaryOperator.ALWAYS: lambda f: _not(Binary(BinaryOperator.UNTIL, TRUE, _not(f))),
}
BINARY: dict[BinaryOperator, Callable[[Formula, Formula], Formula]] = {
    BinaryOperator.IMPLIES: lambda f, g: Binary(BinaryOperator.OR, _not(f), g),
    BinaryOperator.IFF: lambda f, g: _not(Binary(BinaryOperator.XOR, f, g)),
    BinaryOperator.PAST_RELEASE: lambda f, g: _not(Binary(BinaryOperator.SINCE, _not(f), _not(g))),
    BinaryOperator.RELEASE: lambda f, g: _not(Binary(BinaryOperator.UNTIL, _not(f), _not(g))),
    BinaryOperator.STRONG_RELEASE: lambda f, g: Binary(
        BinaryOperator.UNTIL, g, Binary(BinaryOperator.AND, f, g)
    ),
    BinaryOperator.WEAK_UNTIL: lambda f, g: _not(Binary(BinaryOperator.STRONG_RELEASE, _not(f), _not(g))),
}
COMPARISONS: dict[ComparisonOperator, Callable[[Term], Formula]] = {
    ComparisonOperator.GREATER: lambda d: Comparison(ComparisonOperator.AT_LEAST, d, ONE),
    ComparisonOperator.AT_MOST: lambda d: Comparison(ComparisonOperator.AT_LEAST, subtract(ZERO, d), ZERO),
    ComparisonOperator.LESS: lambda d: Comparison(ComparisonOperator.AT_LEAST, subtract(ZERO, d), ONE),
    ComparisonOperator.DIFFERENT: lambda d: _not(Comparison(ComparisonOperator.EQUAL, d, ZERO)),
}
"""Comparisons of left with right, of their difference d."""


def definition_of(formula: Formula) -> Formula | None:
    """The same, said of its operands with simpler operators; None if the operator is of the core.

    >>> from attemper.languages.temporal.parse import parse
    >>> from attemper.languages.temporal.show import show
    >>> show(definition_of(parse("a W b")))
    '!(!a M !b)'
    """
    match formula:
        case Unary(operator, f) if operator in UNARY:
            return UNARY[operator](f)
        case Binary(operator, f, g) if operator in BINARY:
            return BINARY[operator](f, g)
        case Comparison(operator, left, right) if operator in COMPARISONS:
            return COMPARISONS[operator](subtract(left, right))
        case _:
            return None


def values_by_core(formula: Formula, value_of_core: ValueOfCore[Value]) -> dict[Formula, Value]:
    """The value of every subformula, in the order of `subformulas`: a derived one has its definition's."""
    parts, known = subformulas(formula), dict[Formula, Value]()
    _learn(parts, value_of_core, known)
    return {part: known[part] for part in parts}


def _learn(parts: Iterable[Formula], value_of_core: ValueOfCore[Value], known: dict[Formula, Value]) -> None:
    """Add the values of the parts, which stand after their operands. Only definitions recurse."""
    for part in parts:
        definition = definition_of(part)
        if definition is None:
            known[part] = value_of_core(part, known)
        else:
            _learn(subformulas(definition, known), value_of_core, known)
            known[part] = known[definition]
