"""Breadth-first visits: shortest words to what can be reached, and its numbers as an automaton has them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from attemper.errors import AutomatonError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word

Visited = TypeVar("Visited", bound=Hashable)
Label = TypeVar("Label")


def shortest_words(
    begin: Visited, after: Callable[[Visited], Iterable[tuple[Label, Visited]]]
) -> Iterator[tuple[Visited, tuple[Label, ...]]]:
    """Each place that can be reached, the nearest first, with a shortest word to it.

    Of several shortest words it is the one that is least, in the order in which `after` has the letters.

    >>> list(shortest_words(0, lambda place: [("a", 1), ("b", (place + 2) % 3)]))
    [(0, ()), (1, ('a',)), (2, ('b',))]
    """
    words: dict[Visited, tuple[Label, ...]] = {begin: ()}
    waiting = deque([begin])
    while waiting:
        place = waiting.popleft()
        yield place, words[place]
        for letter, target in after(place):
            if target not in words:
                words[target] = (*words[place], letter)
                waiting.append(target)


def numbered(
    begin: Visited,
    row: Callable[[Visited], Iterable[Visited]],
    admit: Callable[[int], None] = lambda count: None,
) -> tuple[dict[Visited, int], tuple[tuple[int, ...], ...]]:
    """The places that can be reached, numbered in the order of first visit, and the numbers after each.

    `row` has what follows a place, `admit` is told after each row how many places there are.

    >>> numbered("x", lambda place: (place, "y"))
    ({'x': 0, 'y': 1}, ((0, 1), (1, 1)))
    """
    numbers, waiting = {begin: 0}, deque([begin])
    rows: list[tuple[int, ...]] = []
    while waiting:
        after = []
        for target in row(waiting.popleft()):
            if target not in numbers:
                numbers[target] = len(numbers)
                waiting.append(target)
            after.append(numbers[target])
        rows.append(tuple(after))
        admit(len(numbers))
    return numbers, tuple(rows)


def first_told_apart(left: Dfa, right: Dfa, tells: Callable[[bool, bool], bool]) -> Word | None:
    """A shortest word whose two verdicts are as asked, None if there is none.

    Raises `AutomatonError` for automata over different alphabets.
    """
    if left.alphabet != right.alphabet:
        raise AutomatonError("automata over different alphabets are not compared")

    def after(pair: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
        return zip(
            left.alphabet.symbols, zip(left.moves[pair[0]], right.moves[pair[1]], strict=True), strict=True
        )

    for (p, q), word in shortest_words((left.start, right.start), after):
        if tells(p in left.accepting, q in right.accepting):
            return word
    return None
