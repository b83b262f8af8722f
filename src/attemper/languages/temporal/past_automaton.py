"""A past formula's automaton, straight from the definitions: what is true at a position decides the next.

Of the position before, S asks whether it held there, and Y whether its operand did:

    f S g at i = g at i, or f at i and f S g at i - 1;        Y f at i = f at i - 1, false at 1.

So a state is the set of those formulas among these that are true at the last position.
"""

from __future__ import annotations

from collections.abc import Mapping

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.languages.words import Alphabet

MOST_STATES = 1_000
"""An automaton with more states is not made."""


class _NoPastError(Exception):
    """The formula looks ahead, or at numbers."""


_State = frozenset[syntax.Formula] | None
"""What is true at the last position; None before the first."""


def past_automaton(formula: syntax.Formula, alphabet: Alphabet, *, accepts_empty: bool) -> Dfa | None:
    """The minimal automaton of the words at whose last position the formula holds.

    None for a formula that looks ahead, or at numbers, and for more than `MOST_STATES` states.

    >>> from attemper.languages.temporal.parse import parse
    >>> ab = Alphabet(("a", "b"))
    >>> past_automaton(parse("b & Y H a", ab), ab, accepts_empty=False).text()
    'an automaton over a b with 4 states: start 0; accepting 3; moves 0: 1 2, 1: 1 3, 2: 2 2, 3: 2 2'
    >>> past_automaton(parse("F a", ab), ab, accepts_empty=False)
    """
    number: dict[_State, int] = {None: 0}
    waiting: list[_State] = [None]
    moves = []
    for state in waiting:
        row = []
        for letter in alphabet.symbols:
            try:
                after = _after(formula, state, letter)
            except _NoPastError:
                return None
            if after not in number:
                number[after] = len(waiting)
                waiting.append(after)
            row.append(number[after])
        moves.append(tuple(row))
        if len(waiting) > MOST_STATES:
            return None
    accepting = {k for state, k in number.items() if (accepts_empty if state is None else formula in state)}
    return minimal(Dfa(alphabet, tuple(moves), 0, frozenset(accepting)))


def _after(formula: syntax.Formula, before: _State, letter: str) -> frozenset[syntax.Formula]:
    """What is true after a letter, of the formula itself and of what the next position asks for."""
    kept: dict[syntax.Formula, bool] = {}

    def value(part: syntax.Formula, known: Mapping[syntax.Formula, bool]) -> bool:
        match part:
            case syntax.Symbol(name):
                return name == letter
            case syntax.Constant(is_true):
                return is_true
            case syntax.First():
                return before is None
            case syntax.Unary(syntax.UnaryOperator.NOT, f):
                return not known[f]
            case syntax.Unary(syntax.UnaryOperator.YESTERDAY, f):
                kept[f] = known[f]
                return before is not None and f in before
            case syntax.Binary(syntax.BinaryOperator.AND, f, g):
                return known[f] and known[g]
            case syntax.Binary(syntax.BinaryOperator.OR, f, g):
                return known[f] or known[g]
            case syntax.Binary(syntax.BinaryOperator.XOR, f, g):
                return known[f] != known[g]
            case syntax.Binary(syntax.BinaryOperator.SINCE, f, g):
                kept[part] = known[g] or (known[f] and before is not None and part in before)
                return kept[part]
            case _:
                raise _NoPastError

    kept[formula] = values_by_core(formula, value)[formula]
    return frozenset(part for part, is_true in kept.items() if is_true)
