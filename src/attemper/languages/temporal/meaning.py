"""What a formula means, straight from the definition: slow, exact, and the oracle of all tests.

Positions are 1..n. S and U are non-strict (reflexive): phi S psi holds at i iff psi holds at some
j <= i and phi at every k with j < k <= i. The counts are inclusive: #<[f] counts j <= i, #>[f]
counts j >= i. (Yang, Strobl, Chiang, Angluin, Definitions 10, 14, 19.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.exact.predicates import holds
from attemper.languages.temporal import syntax
from attemper.languages.words import Word

TruthValues = tuple[bool, ...]
"""The truth of a formula at the positions 1..n, as entries 0..n-1."""


def truth(formula: syntax.Formula, word: Word) -> TruthValues:
    """The truth of the formula at every position 1..n of the word (n = 0 gives the empty tuple)."""
    return truth_of_subformulas(formula, word)[formula]


def truth_of_subformulas(formula: syntax.Formula, word: Word) -> Mapping[syntax.Formula, TruthValues]:
    """The truth of every subformula at every position."""
    known: dict[syntax.Formula, TruthValues] = {}
    positions = range(1, len(word) + 1)
    for part in syntax.subformulas(formula):
        known[part] = tuple(_holds(part, word, i, known) for i in positions)
    return known


def _holds(formula: syntax.Formula, word: Word, i: int, known: Mapping[syntax.Formula, TruthValues]) -> bool:
    """Whether the formula holds at position i, given the truth of its operands everywhere."""
    n = len(word)
    match formula:
        case syntax.Symbol(name):
            return word[i - 1] == name
        case syntax.Constant(value):
            return value
        case syntax.First():
            return i == 1
        case syntax.Last():
            return i == n
        case syntax.Unary(operator, operand):
            return _unary(operator, known[operand], i)
        case syntax.Binary(operator, left, right):
            return _binary(operator, known[left], known[right], i)
        case syntax.Comparison(operator, left_term, right_term):
            return _compare(operator, _value(left_term, n, i, known), _value(right_term, n, i, known))
        case syntax.Numerical(predicate, term):
            return holds(predicate, _value(term, n, i, known))
        case _:
            assert_never(formula)


def _unary(operator: syntax.UnaryOperator, f: TruthValues, i: int) -> bool:
    n = len(f)
    past, future = range(1, i + 1), range(i, n + 1)
    match operator:
        case syntax.UnaryOperator.NOT:
            return not f[i - 1]
        case syntax.UnaryOperator.YESTERDAY:
            return i > 1 and f[i - 2]
        case syntax.UnaryOperator.WEAK_YESTERDAY:
            return i == 1 or f[i - 2]
        case syntax.UnaryOperator.ONCE:
            return any(f[j - 1] for j in past)
        case syntax.UnaryOperator.HISTORICALLY:
            return all(f[j - 1] for j in past)
        case syntax.UnaryOperator.NEXT:
            return i < n and f[i]
        case syntax.UnaryOperator.WEAK_NEXT:
            return i == n or f[i]
        case syntax.UnaryOperator.EVENTUALLY:
            return any(f[j - 1] for j in future)
        case syntax.UnaryOperator.ALWAYS:
            return all(f[j - 1] for j in future)
        case _:
            assert_never(operator)


def _binary(operator: syntax.BinaryOperator, f: TruthValues, g: TruthValues, i: int) -> bool:
    match operator:
        case syntax.BinaryOperator.AND:
            return f[i - 1] and g[i - 1]
        case syntax.BinaryOperator.OR:
            return f[i - 1] or g[i - 1]
        case syntax.BinaryOperator.XOR | syntax.BinaryOperator.IFF:
            return (f[i - 1] != g[i - 1]) == (operator is syntax.BinaryOperator.XOR)
        case syntax.BinaryOperator.IMPLIES:
            return not f[i - 1] or g[i - 1]
        case syntax.BinaryOperator.SINCE:
            return _since(f, g, i)
        case syntax.BinaryOperator.PAST_RELEASE:
            return not _since(_negated(f), _negated(g), i)
        case syntax.BinaryOperator.UNTIL:
            return _until(f, g, i)
        case syntax.BinaryOperator.RELEASE:
            return not _until(_negated(f), _negated(g), i)
        case syntax.BinaryOperator.WEAK_UNTIL:
            return _until(f, g, i) or all(f[i - 1 :])
        case syntax.BinaryOperator.STRONG_RELEASE:
            return _until(g, tuple(a and b for a, b in zip(f, g, strict=True)), i)
        case _:
            assert_never(operator)


def _since(f: TruthValues, g: TruthValues, i: int) -> bool:
    return any(g[j - 1] and all(f[k - 1] for k in range(j + 1, i + 1)) for j in range(1, i + 1))


def _until(f: TruthValues, g: TruthValues, i: int) -> bool:
    return any(g[j - 1] and all(f[k - 1] for k in range(i, j)) for j in range(i, len(f) + 1))


def _negated(f: TruthValues) -> TruthValues:
    return tuple(not value for value in f)


def _compare(operator: syntax.ComparisonOperator, left: int, right: int) -> bool:
    match operator:
        case syntax.ComparisonOperator.AT_MOST:
            return left <= right
        case syntax.ComparisonOperator.LESS:
            return left < right
        case syntax.ComparisonOperator.AT_LEAST:
            return left >= right
        case syntax.ComparisonOperator.GREATER:
            return left > right
        case syntax.ComparisonOperator.EQUAL:
            return left == right
        case syntax.ComparisonOperator.DIFFERENT:
            return left != right
        case _:
            assert_never(operator)


def _value(term: syntax.Term, n: int, i: int, known: Mapping[syntax.Formula, TruthValues]) -> int:
    return term.constant + sum(factor * _count(atom, n, i, known) for factor, atom in term.parts)


def _count(atom: syntax.TermAtom, n: int, i: int, known: Mapping[syntax.Formula, TruthValues]) -> int:
    match atom:
        case syntax.PositionAtom():
            return i
        case syntax.LengthAtom():
            return n
        case syntax.CountAtom(syntax.Side.LEFT, formula):
            return sum(known[formula][:i])
        case syntax.CountAtom(syntax.Side.RIGHT, formula):
            return sum(known[formula][i - 1 :])
        case syntax.CountAtom(syntax.Side.TOTAL, formula):
            return sum(known[formula])
        case syntax.CountAtom():
            raise AssertionError("a side is left, right or total")
        case _:
            assert_never(atom)
