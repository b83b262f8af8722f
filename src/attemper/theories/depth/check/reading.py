"""Languages that are read letter by letter in finitely many states: automata, and past formulas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal import syntax
from attemper.languages.temporal.core import values_by_core
from attemper.languages.temporal.reading import At, TemporalLanguage

AcceptorState = tuple[int, ...]
"""An automaton's state, alone; or what a formula remembers, none at first; its truth comes last."""

TruthRule = Callable[[list[bool], AcceptorState, str], bool]


@final
@dataclass(frozen=True)
class Acceptor:
    """A language as its states: where a word begins, how a letter goes on, and which states accept."""

    start: AcceptorState
    step: Callable[[AcceptorState, str], AcceptorState]
    accepts: Callable[[AcceptorState], bool]


def reading_of(language: Definition) -> Acceptor:
    """The language's states. Raises `UnsupportedError` where none are known."""
    match language:
        case Dfa(alphabet, moves, start, accepting):
            number = {symbol: k for k, symbol in enumerate(alphabet.symbols)}
            return Acceptor(
                (start,),
                lambda state, letter: (moves[state[0]][number[letter]],),
                lambda state: state[0] in accepting,
            )
        case TemporalLanguage(formula, At.LAST, _):
            return formula_reading(formula)
        case _:
            raise UnsupportedError("only automata, and past formulas read at the last position, have states")


def formula_reading(formula: syntax.Formula) -> Acceptor:
    """What the formula remembers at each position, by that at the position before.

    Raises `UnsupportedError` for a formula that looks at positions, counts or the future.
    """
    parts = syntax.subformulas(_in_core(formula))
    number = {part: place for place, part in enumerate(parts)}
    kept = sorted({number[own] for part in parts for own in _remembered(part)} | {len(parts) - 1})
    memory = {own: place for place, own in enumerate(kept)}
    rules = [_rule(part, number, memory) for part in parts]

    def step(before: AcceptorState, letter: str) -> AcceptorState:
        now: list[bool] = []
        for rule in rules:
            now.append(rule(now, before, letter))
        return tuple(now[own] for own in kept)

    return Acceptor((), step, lambda state: bool(state[-1]))


def _remembered(part: syntax.Formula) -> tuple[syntax.Formula, ...]:
    """Whose truth at the position before decides a part's truth."""
    match part:
        case syntax.Unary(syntax.UnaryOperator.YESTERDAY, own):
            return (own,)
        case syntax.Binary(syntax.BinaryOperator.SINCE):
            return (part,)
        case _:
            return ()


def _rule(part: syntax.Formula, number: Mapping[syntax.Formula, int], memory: Mapping[int, int]) -> TruthRule:
    """The truth of a part at a position, of the parts before it there, the memory and the letter."""
    own = [number[one] for one in syntax.operands(part)]
    kept = [memory[number[one]] for one in _remembered(part)]
    match part:
        case syntax.Symbol(name):
            return lambda now, before, letter: letter == name
        case syntax.Constant(value):
            return lambda now, before, letter: value
        case syntax.First():
            return lambda now, before, letter: not before
        case syntax.Unary(syntax.UnaryOperator.NOT):
            return lambda now, before, letter: not now[own[0]]
        case syntax.Unary():
            return lambda now, before, letter: bool(before and before[kept[0]])
        case syntax.Binary(syntax.BinaryOperator.AND):
            return lambda now, before, letter: now[own[0]] and now[own[1]]
        case syntax.Binary(syntax.BinaryOperator.OR):
            return lambda now, before, letter: now[own[0]] or now[own[1]]
        case syntax.Binary(syntax.BinaryOperator.XOR):
            return lambda now, before, letter: now[own[0]] is not now[own[1]]
        case _:  # f S g
            return lambda now, before, letter: now[own[1]] or bool(now[own[0]] and before and before[kept[0]])


def layers_of(formula: syntax.Formula) -> int:
    """How many layers the operators of a past formula take, one inside another.

    Raises `UnsupportedError` for a formula that looks at positions, counts or the future.
    """
    return values_by_core(formula, _layers)[formula][0]


def _layers(part: syntax.Formula, known: Mapping[syntax.Formula, tuple[int, int]]) -> tuple[int, int]:
    """Layers until a part is known at i, and until it is known at i of i - 1."""
    inside = [known[own] for own in syntax.operands(part)]
    match part:
        case syntax.Symbol() | syntax.Constant():
            return 0, 1
        case syntax.First():
            return 1, 2
        case syntax.Unary(syntax.UnaryOperator.NOT) | syntax.Binary(
            syntax.BinaryOperator.AND | syntax.BinaryOperator.OR | syntax.BinaryOperator.XOR
        ):
            return max(here for here, _ in inside), max(before for _, before in inside)
        case syntax.Unary(syntax.UnaryOperator.YESTERDAY):
            return inside[0][1], inside[0][1] + 1
        case syntax.Binary(syntax.BinaryOperator.SINCE):
            needed = 1 + max(here for here, _ in inside)
            return needed, needed
        case _:
            raise _unsupported()


def _in_core(formula: syntax.Formula) -> syntax.Formula:
    """The formula with every derived operator written out."""
    return values_by_core(formula, _rebuilt)[formula]


def _rebuilt(part: syntax.Formula, known: Mapping[syntax.Formula, syntax.Formula]) -> syntax.Formula:
    match part:
        case syntax.Symbol() | syntax.Constant() | syntax.First():
            return part
        case syntax.Unary(syntax.UnaryOperator.NOT | syntax.UnaryOperator.YESTERDAY as operator, own):
            return syntax.Unary(operator, known[own])
        case syntax.Binary(operator, left, right) if operator is not syntax.BinaryOperator.UNTIL:
            return syntax.Binary(operator, known[left], known[right])
        case _:
            raise _unsupported()


def _unsupported() -> UnsupportedError:
    return UnsupportedError("a formula that looks at positions, counts or the future is not read this way")
