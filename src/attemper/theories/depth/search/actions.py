"""What words do to the states of an automaton, and words that make two such actions different verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import final

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.visits import shortest_words

Letters = tuple[int, ...]
"""A word as the numbers of its letters."""

LetterPair = tuple[Letters, Letters]

STATES = 30
"""From so many states it is tried how two words are told apart: each takes a search of its own."""


@final
class Actions:
    """The transformations of the states that words make, each with a number: 0 is that of the empty word."""

    def __init__(self, dfa: Dfa) -> None:
        self._moves = dfa.moves
        identity = tuple(range(len(dfa.moves)))
        self._images = [identity]
        self._numbers = {identity: 0}
        self._after: dict[tuple[int, int], int] = {}

    def after(self, action: int, letter: int) -> int:
        """What the word does with one more letter."""
        found = self._after.get((action, letter))
        if found is None:
            images = tuple(self._moves[state][letter] for state in self._images[action])
            found = self._numbers.setdefault(images, len(self._images))
            if found == len(self._images):
                self._images.append(images)
            self._after[action, letter] = found
        return found

    def images(self, action: int) -> tuple[int, ...]:
        """The state that each state is taken to."""
        return self._images[action]


@final
class SeparatingWords:
    """Words that lead to a state, and that tell two states apart, of one minimal automaton."""

    def __init__(self, dfa: Dfa) -> None:
        self._dfa = dfa
        self._access = dict(shortest_words(dfa.start, lambda state: enumerate(dfa.moves[state])))

    def telling(
        self, first: Letters, second: Letters, one: tuple[int, ...], other: tuple[int, ...]
    ) -> LetterPair:
        """x u y and x v y with different verdicts, where u and v act in these two ways.

        They are the shortest for the first states that x leads to and that u and v take to different ones.
        """
        found = []
        differing = (state for state in self._access if one[state] != other[state])
        for state in islice(differing, STATES):
            before, behind = self._access[state], self._apart(one[state], other[state])
            found.append(((*before, *first, *behind), (*before, *second, *behind)))
        return min(found, key=lambda pair: len(pair[0]) + len(pair[1]))

    def of_one_length(
        self, first: Letters, second: Letters, one: tuple[int, ...], other: tuple[int, ...]
    ) -> LetterPair | None:
        """Two words of one length with different verdicts, both made of u and v; None if none is found.

        If u and v have one length, these are x u y and x v y, else x u y v z and x v y u z.
        """
        if len(first) == len(second):
            return self.telling(first, second, one, other)
        swaps = (swap for state in islice(self._access, STATES) for swap in self._swaps(state, one, other))
        best = min(swaps, key=lambda parts: sum(map(len, parts)), default=None)
        if best is None:
            return None
        x, y, z = best
        return (*x, *first, *y, *second, *z), (*x, *second, *y, *first, *z)

    def _swaps(
        self, start: int, one: tuple[int, ...], other: tuple[int, ...]
    ) -> Iterator[tuple[Letters, Letters, Letters]]:
        """x to this state, y and z such that x u y v z and x v y u z have different verdicts."""
        for (left, right), between in self._from(one[start], other[start]):
            if other[left] != one[right]:
                yield self._access[start], between, self._apart(other[left], one[right])
                return

    def _apart(self, one: int, other: int) -> Letters:
        """A shortest word that exactly one of two states accepts: a minimal automaton has one."""
        accepting = self._dfa.accepting
        visits = self._from(one, other)
        return next(word for (p, q), word in visits if (p in accepting) != (q in accepting))

    def _from(self, one: int, other: int) -> Iterator[tuple[tuple[int, int], Letters]]:
        """Shortest words from two states to the pairs of states behind them."""
        moves = self._dfa.moves
        return shortest_words(
            (one, other), lambda pair: enumerate(zip(moves[pair[0]], moves[pair[1]], strict=True))
        )
