"""Past formulas as automata, straight from the definitions: no network, and no normal form.

A state is what is true of the subformulas at the last position, with each count modulo what its remainders
need, and up to where its thresholds do not change any more. Such a state says what holds at the next
position, so that the automaton of the states that are met is the formula's.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from math import lcm

from attemper.exact.predicates import Remainder
from attemper.languages.temporal import syntax
from tests.support.drawn.samples import PAST_BINARY, PAST_UNARY

FAR = 5
"""No threshold that is drawn is as far from 0."""

COMPARED: dict[syntax.ComparisonOperator, Callable[[int, int], bool]] = {
    syntax.ComparisonOperator.AT_MOST: operator.le,
    syntax.ComparisonOperator.LESS: operator.lt,
    syntax.ComparisonOperator.AT_LEAST: operator.ge,
    syntax.ComparisonOperator.GREATER: operator.gt,
    syntax.ComparisonOperator.EQUAL: operator.eq,
    syntax.ComparisonOperator.DIFFERENT: operator.ne,
}


@dataclass(frozen=True)
class Table:
    """A complete automaton: moves by state and letter, and the states that accept. It starts in 0."""

    moves: tuple[tuple[int, ...], ...]
    accepting: frozenset[int]

    def accepts(self, word: Sequence[int]) -> bool:
        state = 0
        for letter in word:
            state = self.moves[state][letter]
        return state in self.accepting


def explored(
    start: Hashable,
    step: Callable[[Hashable, int], Hashable],
    accepts: Callable[[Hashable], bool],
    letters: int,
) -> Table:
    """All states that can be reached, in the order in which they are met."""
    numbers: dict[Hashable, int] = {start: 0}
    waiting, moves = [start], []
    for state in waiting:
        row = []
        for letter in range(letters):
            reached = step(state, letter)
            if reached not in numbers:
                numbers[reached] = len(waiting)
                waiting.append(reached)
            row.append(numbers[reached])
        moves.append(tuple(row))
    return Table(tuple(moves), frozenset(numbers[state] for state in waiting if accepts(state)))


def least(table: Table) -> Table:
    """The table with states made one that no word tells apart (Moore), numbered as they are met."""
    colours = [int(state in table.accepting) for state in range(len(table.moves))]
    while True:
        seen: dict[tuple[int, ...], int] = {}
        finer = [
            seen.setdefault((colours[state], *(colours[other] for other in row)), len(seen))
            for state, row in enumerate(table.moves)
        ]
        if len(seen) == len(set(colours)):
            break
        colours = finer
    row_of = {colour: row for colour, row in zip(colours, table.moves, strict=True)}
    accepting = {colours[state] for state in table.accepting}
    return explored(
        colours[0],
        lambda colour, letter: colours[row_of[colour][letter]],  # type: ignore[index]
        lambda colour: colour in accepting,
        len(table.moves[0]),
    )


# Formulas -----------------------------------------------------------------------------------------------


def table_of(formula: syntax.Formula, symbols: Sequence[str], accepts_empty: bool = False) -> Table:
    """The minimal automaton of the words at whose last position the formula holds."""
    parts = syntax.subformulas(formula)
    kept, counted = _remembered(formula, parts), _counted(parts)

    def step(state: Hashable, letter: int) -> Hashable:
        old, totals = (None, dict.fromkeys(counted, 0)) if state is None else _unpacked(state)
        totals = {atom: value + (atom == syntax.PositionAtom()) for atom, value in totals.items()}
        known: dict[syntax.Formula, bool] = {}
        for part in parts:
            known[part] = _holds(part, symbols[letter], old, known, totals)
            atom = syntax.CountAtom(syntax.Side.LEFT, part)
            if atom in counted:
                totals[atom] += known[part]
        rest = tuple(_folded(totals[atom], *own) for atom, own in counted.items())
        return tuple(known[part] for part in kept), rest

    def _unpacked(state: Hashable) -> tuple[dict[syntax.Formula, bool], dict[syntax.TermAtom, int]]:
        truths, totals = state  # type: ignore[misc]
        return dict(zip(kept, truths, strict=True)), dict(zip(counted, totals, strict=True))

    def accepts(state: Hashable) -> bool:
        return accepts_empty if state is None else _unpacked(state)[0][formula]

    return least(explored(None, step, accepts, len(symbols)))


def _remembered(formula: syntax.Formula, parts: Sequence[syntax.Formula]) -> tuple[syntax.Formula, ...]:
    """The parts whose truth at the last position is read at the next one, and the formula itself."""
    found: dict[syntax.Formula, None] = {formula: None}
    for part in parts:
        match part:
            case syntax.Unary(syntax.UnaryOperator.YESTERDAY | syntax.UnaryOperator.WEAK_YESTERDAY, inner):
                found[inner] = None
            case syntax.Unary(syntax.UnaryOperator.ONCE | syntax.UnaryOperator.HISTORICALLY, _):
                found[part] = None
            case syntax.Binary(syntax.BinaryOperator.SINCE | syntax.BinaryOperator.PAST_RELEASE, _, _):
                found[part] = None
    return tuple(found)


def _counted(parts: Sequence[syntax.Formula]) -> dict[syntax.TermAtom, tuple[int, int]]:
    """What is counted, with the total from which on only its remainder matters, and the modulus."""
    found: dict[syntax.TermAtom, tuple[int, int]] = {}
    for part in parts:
        match part:
            case syntax.Comparison(_, left, right):
                term, own = syntax.subtract(left, right), (FAR, 1)
            case syntax.Numerical(Remainder(modulus, _), term):
                own = (0, modulus)
            case _:
                continue
        for _, atom in term.parts:
            far, modulus = found.get(atom, (0, 1))
            found[atom] = max(far, own[0]), lcm(modulus, own[1])
    return found


def _folded(count: int, far: int, modulus: int) -> int:
    return count if count < far else far + (count - far) % modulus


def _holds(
    part: syntax.Formula,
    symbol: str,
    old: dict[syntax.Formula, bool] | None,
    known: dict[syntax.Formula, bool],
    totals: dict[syntax.TermAtom, int],
) -> bool:
    """`old` has what is remembered of the position before, `totals` all of the counts that the part reads."""
    match part:
        case syntax.Symbol(name):
            return name == symbol
        case syntax.Constant(value):
            return value
        case syntax.First():
            return old is None
        case syntax.Unary(_, inner):
            return _unary(part, known[inner], old)
        case syntax.Binary(_, left, right):
            return _binary(part, known[left], known[right], old)
        case syntax.Comparison(own, left_term, right_term):
            term = syntax.subtract(left_term, right_term)
            _require_one_sided(term)
            return COMPARED[own](_value(term, totals), 0)
        case syntax.Numerical(Remainder(modulus, remainder), term):
            return _value(term, totals) % modulus == remainder % modulus
    raise AssertionError(f"no past formula of a finite automaton: {part}")


def _unary(part: syntax.Unary, now: bool, old: dict[syntax.Formula, bool] | None) -> bool:
    match part.operator:
        case syntax.UnaryOperator.NOT:
            return not now
        case syntax.UnaryOperator.YESTERDAY:
            return old is not None and old[part.operand]
        case syntax.UnaryOperator.WEAK_YESTERDAY:
            return old is None or old[part.operand]
        case syntax.UnaryOperator.ONCE:
            return now or (old is not None and old[part])
        case syntax.UnaryOperator.HISTORICALLY:
            return now and (old is None or old[part])
    raise AssertionError(f"{part.operator} looks ahead")


def _binary(part: syntax.Binary, left: bool, right: bool, old: dict[syntax.Formula, bool] | None) -> bool:
    match part.operator:
        case syntax.BinaryOperator.SINCE:
            return right or (left and old is not None and old[part])
        case syntax.BinaryOperator.PAST_RELEASE:
            return right and (left or old is None or old[part])
        case syntax.BinaryOperator.AND:
            return left and right
        case syntax.BinaryOperator.OR:
            return left or right
        case syntax.BinaryOperator.XOR:
            return left != right
        case syntax.BinaryOperator.IMPLIES:
            return right or not left
        case syntax.BinaryOperator.IFF:
            return left == right
    raise AssertionError(f"{part.operator} looks ahead")


def _require_one_sided(term: syntax.Term) -> None:
    """A sum that only rises, or only falls, is on one side of 0 from some small total on."""
    factors = [factor for factor, _ in term.parts]
    assert not factors or min(factors) > 0 or max(factors) < 0, "rises and falls"
    assert abs(term.constant) < FAR


def _value(term: syntax.Term, totals: dict[syntax.TermAtom, int]) -> int:
    return term.constant + sum(factor * totals[atom] for factor, atom in term.parts)


# Drawn formulas -----------------------------------------------------------------------------------------


def drawn(draw: random.Random, operators: int, symbols: Sequence[str]) -> syntax.Formula:
    """A past formula with so many operators, of all kinds: also remainders and thresholds of counts."""
    if operators == 0:
        return _leaf(draw, symbols)
    kind = draw.random()
    if kind < 0.35:
        return syntax.Unary(draw.choice(PAST_UNARY), drawn(draw, operators - 1, symbols))
    if kind < 0.8:
        left = draw.randrange(operators)
        return syntax.Binary(
            draw.choice(PAST_BINARY), drawn(draw, left, symbols), drawn(draw, operators - 1 - left, symbols)
        )
    counted = (
        syntax.PositionAtom()
        if kind < 0.82
        else syntax.CountAtom(syntax.Side.LEFT, drawn(draw, operators - 1, symbols))
    )
    if kind < 0.92:
        modulus = draw.choice([2, 2, 3, 3, 4])
        term = syntax.Term(((draw.choice([1, 1, 2, -1, 3]), counted),), draw.choice([0, 0, 1, -2]))
        return syntax.Numerical(Remainder(modulus, draw.randrange(modulus)), term)
    factor, threshold = draw.choice([1, 1, 2]), draw.randint(0, 3)
    sides = [syntax.Term(((factor, counted),), 0), syntax.Term((), threshold)]
    draw.shuffle(sides)
    return syntax.Comparison(draw.choice(tuple(syntax.ComparisonOperator)), *sides)


def _leaf(draw: random.Random, symbols: Sequence[str]) -> syntax.Formula:
    kind = draw.random()
    if kind < 0.9:
        return syntax.Symbol(draw.choice(symbols))
    return syntax.First() if kind < 0.95 else syntax.Constant(draw.random() < 0.5)
