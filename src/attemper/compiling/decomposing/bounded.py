"""Whether an automaton is a counter between two bounds.

Every state but one is a number, which each letter changes by its weight; the last one is where all words go
that leave the range, for good.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import gcd

import flint

from attemper.compiling.bounded_counter import BoundedCounter
from attemper.languages.regular.dfa import Dfa

MOST_RANGES = 4
"""With more ranges of accepted numbers, comparisons do not fit into one feed-forward block."""


def bounded_counter(dfa: Dfa) -> BoundedCounter | None:
    """The counter that a minimal automaton is, if it is one.

    >>> from attemper.languages.words import Alphabet
    >>> most_two = Dfa(Alphabet(("a", "b")), ((1, 0), (2, 1), (3, 2), (3, 3)), 0, frozenset({0, 1, 2}))
    >>> found = bounded_counter(most_two)
    >>> found.weights, found.low, found.high, found.accepting
    ((1, 0), 0, 2, ((0, 2),))
    """
    absorbing = [state for state, row in enumerate(dfa.moves) if set(row) == {state}]
    if len(absorbing) != 1 or absorbing[0] == dfa.start:
        return None
    outside = absorbing[0]
    inside = [state for state in range(len(dfa.moves)) if state != outside]
    letters = [n for n in range(len(dfa.alphabet.symbols)) if any(dfa.moves[q][n] != outside for q in inside)]
    found = _weights(dfa, outside, letters) if letters else None
    if found is None:
        return None
    value, weight = found
    low, high = min(value.values()), max(value.values())
    for state in inside:
        for letter, own in weight.items():
            if dfa.moves[state][letter] == outside and low <= value[state] + own <= high:
                return None
    states = sorted(inside, key=value.__getitem__)
    groups = [(accepts, list(group)) for accepts, group in groupby(states, dfa.accepting.__contains__)]
    ranges = tuple((value[group[0]], value[group[-1]]) for accepts, group in groups if accepts)
    if len(ranges) > MOST_RANGES:
        return None
    return BoundedCounter(
        dfa.alphabet,
        tuple(weight.get(letter) for letter in range(len(dfa.alphabet.symbols))),
        low,
        high,
        ranges,
        outside in dfa.accepting,
    )


def _weights(dfa: Dfa, outside: int, letters: Sequence[int]) -> tuple[dict[int, int], dict[int, int]] | None:
    """The number of each state inside and the weight of each letter, if they are determined but for a factor.

    A state stands for the letters of one word that leads there; wherever two words lead to the same
    state, their letters must weigh the same.
    """
    place = {letter: n for n, letter in enumerate(letters)}
    counts = {dfa.start: (0,) * len(letters)}
    same: set[tuple[int, ...]] = set()
    waiting = [dfa.start]
    for state in waiting:
        for letter in letters:
            target = dfa.moves[state][letter]
            if target == outside:
                continue
            own = counts[state]
            after = (*own[: place[letter]], own[place[letter]] + 1, *own[place[letter] + 1 :])
            if target in counts:
                same.add(tuple(a - b for a, b in zip(after, counts[target], strict=True)))
            else:
                counts[target] = after
                waiting.append(target)
    solutions, free = flint.fmpz_mat([list(row) for row in same] or [[0] * len(letters)]).nullspace()
    if free != 1:
        return None
    column = [int(solutions[n, 0]) for n in range(len(letters))]
    factor = gcd(*column) * (-1 if next(w for w in column if w) < 0 else 1)
    weight = {letter: w // factor for letter, w in zip(letters, column, strict=True)}
    value = {
        q: sum(n * weight[letter] for n, letter in zip(own, letters, strict=True))
        for q, own in counts.items()
    }
    return (value, weight) if len(set(value.values())) == len(value) else None
