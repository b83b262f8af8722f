"""The automaton of a comparison of counts, right on words up to a length: one state for each total."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal import syntax
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import ComparisonOperator
from attemper.languages.words import Alphabet

HOLDS: Mapping[ComparisonOperator, Callable[[int, int], bool]] = {
    ComparisonOperator.AT_MOST: operator.le,
    ComparisonOperator.LESS: operator.lt,
    ComparisonOperator.AT_LEAST: operator.ge,
    ComparisonOperator.GREATER: operator.gt,
    ComparisonOperator.EQUAL: operator.eq,
    ComparisonOperator.DIFFERENT: operator.ne,
}
"""What is said of the left side less the right one, and 0."""


def counted_to(language: object, alphabet: Alphabet, up_to: int) -> Dfa | None:
    """An automaton that agrees with the language on all words of n <= `up_to` symbols; None for another one.

    The language is one comparison of counts of symbols, read at the last position: what one side is less the
    other is a sum over the word's symbols. On longer words the automaton says nothing.

    >>> from attemper.workbench.naming import language
    >>> more = language("#<['1'] > #<['0']", "01", at="last", empty="reject")
    >>> counted_to(more.definition, more.alphabet, 2).moves
    ((1, 2), (3, 0), (0, 4), (3, 3), (4, 4))
    """
    if not isinstance(language, TemporalLanguage) or language.at is not At.LAST:
        return None
    compared = language.formula
    if not isinstance(compared, syntax.Comparison):
        return None
    steps = [_of_symbol(compared, symbol) for symbol in alphabet.symbols]
    known = [step for step in steps if step is not None]
    if len(known) < len(steps):
        return None
    first = compared.left.constant - compared.right.constant
    holds = HOLDS[compared.operator]
    # The empty word has a verdict of its own: where that differs its state is one that no other word has.
    totals: dict[int | None, int] = {None if holds(first, 0) != language.accepts_empty else first: 0}
    moves: list[Sequence[int]] = []
    level = [*totals]
    for _ in range(up_to):
        ahead: list[int | None] = []
        for total in level:
            after = [(first if total is None else total) + step for step in known]
            for own in after:
                if own not in totals:
                    totals[own] = len(totals)
                    ahead.append(own)
            moves.append([totals[own] for own in after])
        level = ahead
    moves += [[state] * len(known) for state in range(len(moves), len(totals))]
    accepting = {state for total, state in totals.items() if total is not None and holds(total, 0)}
    if None in totals and language.accepts_empty:
        accepting.add(0)
    return Dfa(alphabet, tuple(map(tuple, moves)), 0, frozenset(accepting))


def _of_symbol(compared: syntax.Comparison, symbol: str) -> int | None:
    """By how much one more such symbol raises the left side less the right one."""
    found = 0
    for sign, term in ((1, compared.left), (-1, compared.right)):
        for factor, atom in term.parts:
            match atom:
                case syntax.CountAtom(side, formula) if side is not syntax.Side.RIGHT:
                    is_one = _holds_at(formula, symbol)
                    if is_one is None:
                        return None
                    found += sign * factor * is_one
                case _:
                    return None
    return found


def _holds_at(formula: syntax.Formula, symbol: str) -> bool | None:
    """Whether a formula about the symbol alone holds; None of another one."""
    match formula:
        case syntax.Symbol(name):
            return name == symbol
        case syntax.Constant(value):
            return value
        case syntax.Unary(syntax.UnaryOperator.NOT, operand):
            inner = _holds_at(operand, symbol)
            return None if inner is None else not inner
        case syntax.Binary(syntax.BinaryOperator.AND | syntax.BinaryOperator.OR as joined, left, right):
            sides = _holds_at(left, symbol), _holds_at(right, symbol)
            if None in sides:
                return None
            return all(sides) if joined is syntax.BinaryOperator.AND else any(sides)
        case _:
            return None
