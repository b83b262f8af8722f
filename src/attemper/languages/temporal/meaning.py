"""What a formula means, straight from the definition: slow, exact, and the oracle of all tests.

Positions are 1..n. S and U are non-strict (reflexive): phi S psi holds at i iff psi holds at some
j <= i and phi at every k with j < k <= i. The counts are inclusive: #<[f] counts j <= i, #>[f]
counts j >= i. (Yang, Strobl, Chiang, Angluin, Definitions 10, 14, 19.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from attemper.exact.predicates import holds
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
    TermAtom,
    Unary,
    UnaryOperator,
    subformulas,
)
from attemper.languages.words import Word

TruthValues = tuple[bool, ...]
"""The truth of a formula at the positions 1..n, as entries 0..n-1."""


def truth(formula: Formula, word: Word) -> TruthValues:
    """The truth of the formula at every position 1..n of the word (n = 0 gives the empty tuple)."""
    return truth_of_subformulas(formula, word)[formula]


def truth_of_subformulas(formula: Formula, word: Word) -> Mapping[Formula, TruthValues]:
    """The truth of every subformula at every position."""
    known: dict[Formula, TruthValues] = {}
    positions = range(1, len(word) + 1)
    for part in subformulas(formula):
        known[part] = tuple(_holds(part, word, i, known) for i in positions)
    return known


def _holds(formula: Formula, word: Word, i: int, known: Mapping[Formula, TruthValues]) -> bool:
    """Whether the formula holds at position i, given the truth of its operands everywhere."""
    n = len(word)
    match formula:
        case Symbol(name):
            return word[i - 1] == name
        case Constant(value):
            return value
        case First():
            return i == 1
        case Last():
            return i == n
        case Unary(operator, operand):
            return _unary(operator, known[operand], i)
        case Binary(operator, left, right):
            return _binary(operator, known[left], known[right], i)
        case Comparison(operator, left_term, right_term):
            return _compare(operator, _value(left_term, n, i, known), _value(right_term, n, i, known))
        case Numerical(predicate, term):
            return holds(predicate, _value(term, n, i, known))
        case _:
            assert_never(formula)


def _unary(operator: UnaryOperator, f: TruthValues, i: int) -> bool:
    n = len(f)
    past, future = range(1, i + 1), range(i, n + 1)
    match operator:
        case UnaryOperator.NOT:
            return not f[i - 1]
        case UnaryOperator.YESTERDAY:
            return i > 1 and f[i - 2]
        case UnaryOperator.WEAK_YESTERDAY:
            return i == 1 or f[i - 2]
        case UnaryOperator.ONCE:
            return any(f[j - 1] for j in past)
        case UnaryOperator.HISTORICALLY:
            return all(f[j - 1] for j in past)
        case UnaryOperator.NEXT:
            return i < n and f[i]
        case UnaryOperator.WEAK_NEXT:
            return i == n or f[i]
        case UnaryOperator.EVENTUALLY:
            return any(f[j - 1] for j in future)
        case UnaryOperator.ALWAYS:
            return all(f[j - 1] for j in future)
        case _:
            assert_never(operator)


def _binary(operator: BinaryOperator, f: TruthValues, g: TruthValues, i: int) -> bool:
    match operator:
        case BinaryOperator.AND:
            return f[i - 1] and g[i - 1]
        case BinaryOperator.OR:
            return f[i - 1] or g[i - 1]
        case BinaryOperator.XOR | BinaryOperator.IFF:
            return (f[i - 1] != g[i - 1]) == (operator is BinaryOperator.XOR)
        case BinaryOperator.IMPLIES:
            return not f[i - 1] or g[i - 1]
        case BinaryOperator.SINCE:
            return _since(f, g, i)
        case BinaryOperator.PAST_RELEASE:
            return not _since(_negated(f), _negated(g), i)
        case BinaryOperator.UNTIL:
            return _until(f, g, i)
        case BinaryOperator.RELEASE:
            return not _until(_negated(f), _negated(g), i)
        case BinaryOperator.WEAK_UNTIL:
            return _until(f, g, i) or all(f[i - 1 :])
        case BinaryOperator.STRONG_RELEASE:
            return _until(g, tuple(a and b for a, b in zip(f, g, strict=True)), i)
        case _:
            assert_never(operator)


def _since(f: TruthValues, g: TruthValues, i: int) -> bool:
    return any(g[j - 1] and all(f[k - 1] for k in range(j + 1, i + 1)) for j in range(1, i + 1))


def _until(f: TruthValues, g: TruthValues, i: int) -> bool:
    return any(g[j - 1] and all(f[k - 1] for k in range(i, j)) for j in range(i, len(f) + 1))


def _negated(f: TruthValues) -> TruthValues:
    return tuple(not value for value in f)


def _compare(operator: ComparisonOperator, left: int, right: int) -> bool:
    match operator:
        case ComparisonOperator.AT_MOST:
            return left <= right
        case ComparisonOperator.LESS:
            return left < right
        case ComparisonOperator.AT_LEAST:
            return left >= right
        case ComparisonOperator.GREATER:
            return left > right
        case ComparisonOperator.EQUAL:
            return left == right
        case ComparisonOperator.DIFFERENT:
            return left != right
        case _:
            assert_never(operator)


def _value(term: Term, n: int, i: int, known: Mapping[Formula, TruthValues]) -> int:
    return term.constant + sum(factor * _count(atom, n, i, known) for factor, atom in term.parts)


def _count(atom: TermAtom, n: int, i: int, known: Mapping[Formula, TruthValues]) -> int:
    match atom:
        case PositionAtom():
            return i
        case LengthAtom():
            return n
        case CountAtom(Side.LEFT, formula):
            return sum(known[formula][:i])
        case CountAtom(Side.RIGHT, formula):
            return sum(known[formula][i - 1 :])
        case CountAtom(Side.TOTAL, formula):
            return sum(known[formula])
        case CountAtom():
            raise AssertionError("a side is left, right or total")
        case _:
            assert_never(atom)
