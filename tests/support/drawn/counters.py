"""Counters between two bounds, random ones from a seed, and past formulas that are almost theirs."""

from __future__ import annotations

import random
from dataclasses import dataclass

from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal import syntax
from tests.support.drawn import automata

OUTSIDE = "outside"


@dataclass(frozen=True)
class Rule:
    """A counter as one would write it down, and by its definition the automaton that it is."""

    weights: tuple[int | None, ...]
    low: int
    high: int
    accepting: frozenset[int]
    accepts_outside: bool

    def dfa(self) -> Dfa:
        symbols = "abcde"[: len(self.weights)]

        def move(state: object, symbol: str) -> object:
            weight = self.weights[symbols.index(symbol)]
            if state == OUTSIDE or weight is None:
                return OUTSIDE
            assert isinstance(state, int)
            return state + weight if self.low <= state + weight <= self.high else OUTSIDE

        return automata.explored(
            symbols,
            0,
            move,  # type: ignore[arg-type]
            lambda state: self.accepts_outside if state == OUTSIDE else state in self.accepting,
        )


def random_rule(draw: random.Random) -> Rule:
    weights = [draw.choice([1, -1, 1, -1, 0, 2, -2, 3, None]) for _ in range(draw.randint(2, 4))]
    low, high = -draw.choice([0, 0, 1, 2, 5]), draw.choice([0, 1, 2, 4, 7])
    values = range(low, high + 1)
    accepting = draw.choice([[0], [draw.choice(values)], draw.sample(values, draw.randint(0, len(values)))])
    return Rule(tuple(weights), low, high, frozenset(accepting), draw.random() < 0.3)


def changed(formula: syntax.Formula, draw: random.Random, rate: float) -> syntax.Formula:
    """The formula with some of its parts dropped, repeated, put under operators, or with other numbers."""
    if draw.random() < rate:
        inner = draw.choice([formula, changed(formula, draw, rate / 2)])
        match draw.randrange(5), formula:
            case 0, _:
                past = ("NOT", "YESTERDAY", "WEAK_YESTERDAY", "ONCE", "HISTORICALLY")
                return syntax.Unary(syntax.UnaryOperator[draw.choice(past)], inner)
            case 1, _:
                connective = draw.choice(
                    [syntax.BinaryOperator.AND, syntax.BinaryOperator.OR, syntax.BinaryOperator.SINCE]
                )
                return syntax.Binary(connective, formula, syntax.Unary(syntax.UnaryOperator.YESTERDAY, inner))
            case 2, syntax.Unary(_, operand):
                return operand
            case 2, syntax.Binary(_, left, right):
                return draw.choice([left, right])
            case 3, syntax.Comparison(operator, left, syntax.Term(parts, constant)):
                return syntax.Comparison(operator, left, syntax.Term(parts, constant + draw.choice([-1, 1])))
            case 3, syntax.Binary(_, left, right):
                return syntax.Binary(
                    draw.choice([syntax.BinaryOperator.OR, syntax.BinaryOperator.SINCE]), left, right
                )
            case 4, syntax.Comparison(_, left, right):
                return syntax.Comparison(draw.choice(list(syntax.ComparisonOperator)), left, right)
            case _:
                pass
    match formula:
        case syntax.Unary(operator, operand):
            return syntax.Unary(operator, changed(operand, draw, rate))
        case syntax.Binary(operator, left, right):
            return syntax.Binary(operator, changed(left, draw, rate), changed(right, draw, rate))
        case _:
            return formula
