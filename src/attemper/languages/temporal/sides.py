"""On which side of i formulas look, and so where they are read when nobody says.

The papers read at the last position, the LTLf tools at the first. A formula with future operators
and neither past operators nor counts must say which: `G (a -> F b)` at the last position only
looks at the last symbol.
"""

from __future__ import annotations

from collections.abc import Mapping

from attemper.errors import AmbiguousReadingError
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show


def sides_of(formula: syntax.Formula) -> dict[syntax.Formula, frozenset[syntax.Side]]:
    """The sides of i at which every subformula looks by temporal operators, its own and those inside."""
    return values_by_core(formula, _sides)


def _sides(
    formula: syntax.Formula, known: Mapping[syntax.Formula, frozenset[syntax.Side]]
) -> frozenset[syntax.Side]:
    inside = frozenset[syntax.Side]().union(*(known[operand] for operand in syntax.operands(formula)))
    match formula:
        case syntax.Unary(syntax.UnaryOperator.YESTERDAY) | syntax.Binary(syntax.BinaryOperator.SINCE):
            return inside | {syntax.Side.LEFT}
        case syntax.Unary(syntax.UnaryOperator.NEXT) | syntax.Binary(syntax.BinaryOperator.UNTIL):
            return inside | {syntax.Side.RIGHT}
        case _:
            return inside


def read_language(formula: syntax.Formula, at: At | None, accepts_empty: bool) -> TemporalLanguage:
    """The language of a formula; without `at`, the last position if that is not silently degenerate.

    Raises `AmbiguousReadingError` if `at` is None and the formula has future operators but neither
    past operators nor counts.
    """
    if at is None and _must_say(formula):
        text = show(formula)
        raise AmbiguousReadingError(
            f"'{text}' speaks of the future only, so say where it is read:\n"
            f"  at='first'   accepts w iff it holds at position 1: it sees the whole word (LTLf tools)\n"
            f"  at='last'    accepts w iff it holds at position n: nothing lies after the last symbol",
            options=("at",),
        )
    return TemporalLanguage(formula, at or At.LAST, accepts_empty)


def _must_say(formula: syntax.Formula) -> bool:
    counts = any(
        isinstance(part, syntax.Comparison | syntax.Numerical) and syntax.operands(part)
        for part in syntax.subformulas(formula)
    )
    return sides_of(formula)[formula] == {syntax.Side.RIGHT} and not counts
