"""Splitting an automaton into smaller ones that run side by side.

A congruence is an equivalence of states that the letters respect; its classes are the states of a smaller
automaton. If no two states are equivalent in all of several congruences, the classes together tell the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.languages.regular.dfa import Dfa

Congruence = tuple[int, ...]
"""The class of each state; classes are numbered in the order of their least states."""


@final
@dataclass
class UnionBudget:
    """How many more unions of classes may be tried."""

    left: int

    def spend(self, steps: int) -> bool:
        """Takes some steps away; whether that many were left."""
        self.left -= steps
        return self.left >= 0


class _Classes:
    """Equivalence classes that grow together, with their least states as leaders (union-find).

    What is united on trial stands in `trial`, from leader to leader, until it is kept or given up.
    """

    def __init__(self, states: int) -> None:
        self.leader = list(range(states))
        self.trial: dict[int, int] = {}

    def find(self, state: int) -> int:
        while self.leader[state] != state:
            self.leader[state] = self.leader[self.leader[state]]
            state = self.leader[state]
        while state in self.trial:
            state = self.trial[state]
        return state

    def unite(self, p: int, q: int) -> bool:
        p, q = self.find(p), self.find(q)
        if p != q:
            self.trial[max(p, q)] = min(p, q)
        return p != q

    def end_trial(self, *, keeps: bool) -> None:
        if keeps:
            for state, leader in self.trial.items():
                self.leader[state] = leader
        self.trial = {}

    def numbered(self) -> Congruence:
        number: dict[int, int] = {}
        return tuple(number.setdefault(self.find(state), len(number)) for state in range(len(self.leader)))


def splitting(dfa: Dfa, budget: UnionBudget) -> tuple[Congruence, ...] | None:
    """Congruences, none the identity, that together tell all states apart; each is as coarse as it can be.

    None if there are none (two states are equivalent in every congruence but the identity), or if the
    budget is spent: see `budget.left`.
    """
    states = range(len(dfa.moves))
    chosen: list[Congruence] = []
    for p in states:
        united = [q for q in states[p + 1 :] if all(congruence[p] == congruence[q] for congruence in chosen)]
        while united:
            coarse = coarsest(dfa, p, united[0], budget)
            if coarse is None or max(coarse) == len(states) - 1:
                return None
            chosen.append(coarse)
            united = [q for q in united if coarse[p] == coarse[q]]
    return _needed(chosen) or None


def coarsest(
    dfa: Dfa, p: int, q: int, budget: UnionBudget, within: Congruence | None = None
) -> Congruence | None:
    """A congruence that tells two states apart and that no coarser one does; None if the budget is spent.

    It unites only states that are equivalent in the congruence `within`, if one is given. (Greedy: two
    classes that cannot be united cannot be united later, either.)

    >>> from attemper.languages.words import Alphabet
    >>> six = Dfa(Alphabet(("a",)), ((1,), (2,), (3,), (4,), (5,), (0,)), 0, frozenset({0}))
    >>> coarsest(six, 0, 3, UnionBudget(1_000))
    (0, 1, 0, 1, 0, 1)
    """
    classes = _Classes(len(dfa.moves))
    for r, s in _pairs(classes, within):
        waiting = [(r, s)]
        while waiting and classes.find(p) != classes.find(q):
            if not budget.spend(1):
                return None
            one, other = waiting.pop()
            if classes.unite(one, other):
                waiting.extend(zip(dfa.moves[one], dfa.moves[other], strict=True))
        classes.end_trial(keeps=classes.find(p) != classes.find(q))
    return classes.numbered()


def _pairs(classes: _Classes, within: Congruence | None) -> Iterator[tuple[int, int]]:
    """The pairs of leaders, as they are when it is a pair's turn; those of one class of `within`."""
    states = range(len(classes.leader))
    own = within or (0,) * len(states)
    for r in states:
        for s in range(r + 1, len(states)):
            if classes.leader[r] != r:
                break
            if classes.leader[s] == s and own[r] == own[s]:
                yield r, s


def descending(dfa: Dfa, budget: UnionBudget) -> tuple[Congruence, ...]:
    """Ever finer congruences, from one class for all states to one for each; None between if possible.

    Each is one of the coarsest below the one before it, with as few classes as were found. The last step is
    longer if the budget is spent.

    >>> from attemper.languages.words import Alphabet
    >>> six = Dfa(Alphabet(("a",)), ((1,), (2,), (3,), (4,), (5,), (0,)), 0, frozenset({0}))
    >>> descending(six, UnionBudget(1_000))
    ((0, 0, 0, 0, 0, 0), (0, 1, 0, 1, 0, 1), (0, 1, 2, 3, 4, 5))
    """
    number = range(len(dfa.moves))
    found: list[Congruence] = [(0,) * len(number)]
    while max(found[-1]) < len(number) - 1:
        within = found[-1]
        leader = next(state for state in number if within.count(within[state]) > 1)
        finer: list[Congruence] = []
        for other in (state for state in number if state != leader and within[state] == within[leader]):
            coarse = coarsest(dfa, leader, other, budget, within)
            if coarse is None:
                break
            finer.append(coarse)
        found.append(min(finer, key=max, default=tuple(number)))
    return tuple(found)


def _needed(chosen: list[Congruence]) -> tuple[Congruence, ...]:
    """Leaves out congruences that the others make superfluous."""
    kept = list(chosen)
    for congruence in chosen:
        rest = [other for other in kept if other is not congruence]
        if rest and len(set(zip(*rest, strict=True))) == len(congruence):
            kept = rest
    return tuple(kept)


def quotient(dfa: Dfa, congruence: Congruence) -> Dfa:
    """The automaton whose states are the classes. It accepts nothing: its states are what is asked for."""
    representative = [congruence.index(number) for number in range(max(congruence) + 1)]
    moves = tuple(tuple(congruence[target] for target in dfa.moves[state]) for state in representative)
    return Dfa(dfa.alphabet, moves, congruence[dfa.start], frozenset())
