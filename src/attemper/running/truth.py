"""The meaning of formulas on many words of one length at once: exact integers, linear time.

The same truth as `languages.temporal.meaning`, which defines it; tests compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, assert_never

import numpy as np
from numpy.typing import NDArray

from attemper.exact.predicates import holds
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.languages.words import Word

if TYPE_CHECKING:
    from attemper.models.arrays import Booleans, Integers


def truth_of_words(formula: syntax.Formula, words: Sequence[Word]) -> Booleans:
    """The truth of the formula in words of one length n >= 1, as [word, position]."""
    letters = np.array(words, dtype=object)
    return values_by_core(formula, lambda part, known: _truth(part, letters, known))[formula]


def _truth(
    formula: syntax.Formula, letters: NDArray[Any], known: Mapping[syntax.Formula, Booleans]
) -> Booleans:
    shape = letters.shape
    match formula:
        case syntax.Symbol(name):
            return np.asarray(letters == name, dtype=bool)
        case syntax.Constant(value):
            return np.full(shape, value)
        case syntax.First() | syntax.Last():
            edge = np.zeros(shape, dtype=bool)
            edge[:, 0 if isinstance(formula, syntax.First) else -1] = True
            return edge
        case syntax.Unary(operator, operand):
            return _unary(operator, known[operand])
        case syntax.Binary(operator, left, right):
            return _binary(operator, known[left], known[right])
        case syntax.Comparison(operator, left_term, right_term):
            left_value = _value(left_term, shape, known)
            return _compare(operator, left_value, _value(right_term, shape, known))
        case syntax.Numerical(predicate, term):
            distinct, place = np.unique(_value(term, shape, known), return_inverse=True)
            answers = np.array([holds(predicate, int(value)) for value in distinct])
            return np.asarray(answers[place].reshape(shape), dtype=bool)
        case _:
            assert_never(formula)


def _unary(operator: syntax.UnaryOperator, f: Booleans) -> Booleans:
    match operator:
        case syntax.UnaryOperator.NOT:
            return ~f
        case syntax.UnaryOperator.YESTERDAY:
            return _shifted(f)
        case syntax.UnaryOperator.NEXT:
            return _mirrored(_shifted(_mirrored(f)))
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _binary(operator: syntax.BinaryOperator, f: Booleans, g: Booleans) -> Booleans:
    match operator:
        case syntax.BinaryOperator.AND:
            return f & g
        case syntax.BinaryOperator.OR:
            return f | g
        case syntax.BinaryOperator.XOR:
            return f ^ g
        case syntax.BinaryOperator.SINCE:
            return _since(f, g)
        case syntax.BinaryOperator.UNTIL:
            return _mirrored(_since(_mirrored(f), _mirrored(g)))
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _since(f: Booleans, g: Booleans) -> Booleans:
    """Whether the latest event is g, not that f fails: the one has odd numbers, the other even ones."""
    failures = 2 * np.arange(1, f.shape[1] + 1)
    events = np.where(g, failures + 1, np.where(f, 0, failures))
    return np.asarray(np.maximum.accumulate(events, axis=1) & 1, dtype=bool)


def _shifted(f: Booleans) -> Booleans:
    shifted = np.zeros_like(f)
    shifted[:, 1:] = f[:, :-1]
    return shifted


def _mirrored(f: Booleans) -> Booleans:
    return f[:, ::-1]


def _compare(operator: syntax.ComparisonOperator, left: Integers, right: Integers) -> Booleans:
    match operator:
        case syntax.ComparisonOperator.AT_LEAST:
            return np.greater_equal(left, right)
        case syntax.ComparisonOperator.EQUAL:
            return np.equal(left, right)
        case _:
            raise AssertionError(f"'{operator}' is not of the core")


def _value(term: syntax.Term, shape: tuple[int, ...], known: Mapping[syntax.Formula, Booleans]) -> Integers:
    total = np.full(shape, term.constant, dtype=np.int64)
    for factor, atom in term.parts:
        total += factor * _count(atom, shape, known)
    return total


def _count(
    atom: syntax.TermAtom, shape: tuple[int, ...], known: Mapping[syntax.Formula, Booleans]
) -> Integers:
    match atom:
        case syntax.PositionAtom():
            return np.broadcast_to(np.arange(1, shape[1] + 1), shape)
        case syntax.LengthAtom():
            return np.full(shape, shape[1], dtype=np.int64)
        case syntax.CountAtom(syntax.Side.LEFT, formula):
            return np.cumsum(known[formula], axis=1, dtype=np.int64)
        case syntax.CountAtom(syntax.Side.RIGHT, formula):
            return np.cumsum(known[formula][:, ::-1], axis=1, dtype=np.int64)[:, ::-1]
        case syntax.CountAtom(_, formula):
            return np.broadcast_to(known[formula].sum(axis=1, keepdims=True, dtype=np.int64), shape)
        case _:
            assert_never(atom)
