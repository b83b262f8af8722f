"""A walk between two walls: a number that letters move up and down, as far as there are states.

Let b + 1 be the number of states, x(i) the number before position i, w(i) what the letter there adds, and
c(i) the sum of the w(j) with j < i, modulo b. A walk is known by its b *thresholds*: whether x >= s, for
s = 1, ..., b. They stand in a ring: the threshold s at place c - s modulo b. A step by w turns the ring by w,
so that all thresholds stay where they are, and only those that come in from beyond a wall are new: they are
known from the letter and c alone. So a latch for each place holds what stands there, and one counter modulo b
says where the ring begins: three layers of attention, however many states there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod
from operator import mul
from typing import final

from attemper.compiling.cascade import Chain, Content, Counter, Latch, RegisterLevel, Sum
from attemper.compiling.decomposing.bases import PositionCycle
from attemper.compiling.decomposing.limits import CascadeCaps, check
from attemper.compiling.decomposing.stages import CascadeQuestion
from attemper.languages.regular.dfa import Dfa

WIDE = 2_000
"""Counts are looked at all together as long as the table has no more rows."""


@final
@dataclass(frozen=True)
class _Move:
    """What a letter does: it adds `weight` and takes the nearest number in low..high."""

    weight: int
    low: int
    high: int

    def after(self, number: int) -> int:
        return max(self.low, min(self.high, number + self.weight))


def walk_chain(
    dfa: Dfa, question: CascadeQuestion, limits: CascadeCaps
) -> tuple[PositionCycle, Chain] | None:
    """A chain that follows the automaton, if it is a walk between two walls.

    Some letter must lead through all states, one after the other, to a last one. Raises `UnsupportedError`
    beyond a limit.

    >>> from attemper.languages.words import Alphabet
    >>> three = Dfa(Alphabet(("up", "down")), ((1, 0), (2, 0), (2, 1)), 0, frozenset({2}))
    >>> places, chain = walk_chain(three, CascadeQuestion((0, 0, 1)), CascadeCaps())
    >>> places, [len(level.registers) for level in chain.levels]
    (PositionCycle(prefix=0, period=2), [2])
    """
    order = _line(dfa)
    if order is None or question.with_letter:
        return None
    number = {state: n for n, state in enumerate(order)}
    letters = range(len(dfa.alphabet.symbols))
    possible = [_moves([number[dfa.moves[state][letter]] for state in order]) for letter in letters]
    if not all(possible):
        return None
    size, first = len(order) - 1, number[dfa.start]
    check(size, limits, "registers", "registers on a level")
    codes = tuple(question.codes[state] for state in order)
    for turn in range(size):
        alike = [[move for move in moves if move.weight % size == turn] for moves in possible]
        if all(alike):
            places = PositionCycle(0, size // gcd(turn, size))
            turns = tuple(turn * place % size for place in range(places.count))
            return places, Chain((_thresholds([moves[0] for moves in alike], turns, first, size),), codes)
    least = [min(moves, key=lambda move: abs(move.weight)) for moves in possible]
    top = _thresholds(least, range(size), first, size)
    return PositionCycle(0, 1), Chain((_ring(least, size), top), codes)


def _line(dfa: Dfa) -> tuple[int, ...] | None:
    """All states as one letter leads through them, the last one to itself; None if no letter does."""
    for letter in range(len(dfa.alphabet.symbols)):
        after = [row[letter] for row in dfa.moves]
        begins = set(range(len(after))) - set(after)
        line = list(begins)[:1]
        while line and after[line[-1]] != line[-1] and len(line) <= len(after):
            line.append(after[line[-1]])
        if 2 <= len(line) == len(after):
            return tuple(line)
    return None


def _moves(images: Sequence[int]) -> list[_Move]:
    """The moves that lead each number to its image: one at most, unless all images are the same."""
    low, high = min(images), max(images)
    if low == high:
        return [_Move(weight, low, high) for weight in range(len(images))]
    number = next(n for n, image in enumerate(images) if images[n + 1] != image)
    move = _Move(images[number] - number, low, high)
    return [move] if all(move.after(n) == image for n, image in enumerate(images)) else []


def _ring(moves: Sequence[_Move], size: int) -> RegisterLevel:
    """The level that knows where the ring begins: its symbols are (c, letter), numbered as places are."""
    weights = tuple(move.weight % size for move in moves)
    counted = sorted({weight for weight in weights if weight})
    counters = tuple(
        Counter(frozenset(n for n, own in enumerate(weights) if own == weight), size // gcd(weight, size))
        for weight in counted
    )
    letters = range(len(moves))
    if prod(counter.modulus for counter in counters) * len(moves) > WIDE:
        rows = [((letter, (turn,)), turn * len(moves) + letter) for turn in range(size) for letter in letters]
        return RegisterLevel((Sum(tuple(enumerate(weights)), size),), tuple(rows))
    every = product(*(range(counter.modulus) for counter in counters))
    turns = {held: sum(map(mul, counted, held)) % size for held in every}
    return RegisterLevel(
        counters,
        tuple(
            ((letter, held), turn * len(moves) + letter) for held, turn in turns.items() for letter in letters
        ),
    )


def _thresholds(moves: Sequence[_Move], turns: Sequence[int], first: int, size: int) -> RegisterLevel:
    """The level of latches; its symbols are the numbers after each letter.

    A latch that is empty holds what stands at its place before the first position.
    """
    at_first = [first >= _threshold(0, place, size) for place in range(size)]
    stores: list[list[tuple[int, Content]]] = [[] for _ in range(size)]
    rows: list[tuple[tuple[int, tuple[Content, ...]], int]] = []
    for begin, turn in enumerate(turns):
        for letter, move in enumerate(moves):
            symbol = begin * len(moves) + letter
            for place in range(size):
                new = _comes_in(move, _threshold(turn + move.weight, place, size), size)
                if new is not None:
                    stores[place].append((symbol, None if new == at_first[place] else 0))
            for number in range(size + 1):
                held = (number >= _threshold(turn, place, size) for place in range(size))
                contents = tuple(
                    None if own == other else 0 for own, other in zip(held, at_first, strict=True)
                )
                rows.append(((symbol, contents), move.after(number)))
    return RegisterLevel(tuple(Latch(tuple(store)) for store in stores), tuple(rows))


def _threshold(turn: int, place: int, size: int) -> int:
    """Which threshold stands at the place of the ring."""
    return (turn - place - 1) % size + 1


def _comes_in(move: _Move, threshold: int, size: int) -> bool | None:
    """Whether the number reaches the threshold after the move, if that is so whatever it was; else None."""
    below, above = move.after(0) >= threshold, move.after(size) >= threshold
    return below if below == above else None
