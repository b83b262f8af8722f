"""The sets of states that words lead to, and which of them words lead back to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa

LIMIT = 50_000
"""How many image sets are listed before the automaton is refused."""


@final
@dataclass(frozen=True)
class ImageSets:
    """The sets Q.w of the states that a word w can end in, over all words w, and all singletons.

    A set is a bit mask: bit q says whether state q is in it. `masks` has each set once: first the set Q of
    all states, then the others in breadth-first order, then the singletons that no word leads to.
    `moves[s][a]` is the number of the image of set s under the letter number a. `component[s]` is the number
    of the strongly connected component of s under these moves; a move never leads to a lower number.
    """

    masks: tuple[int, ...]
    moves: tuple[tuple[int, ...], ...]
    component: tuple[int, ...]

    @cached_property
    def index(self) -> dict[int, int]:
        """The number of each mask."""
        return {mask: number for number, mask in enumerate(self.masks)}


def members(mask: int) -> tuple[int, ...]:
    """The states of a mask, in increasing order.

    >>> members(0b1101)
    (0, 2, 3)
    """
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(found)


def image_sets(dfa: Dfa, limit: int = LIMIT) -> ImageSets:
    """All image sets of an automaton.

    There can be 2^m of them for m states: raises `UnsupportedError` when there are more than `limit`.

    >>> from attemper.languages.words import Alphabet
    >>> sets = image_sets(Dfa(Alphabet(("a", "b")), ((1, 0), (1, 0)), 0, frozenset({1})))
    >>> sets.masks, sets.moves, sets.component
    ((3, 2, 1), ((1, 2), (1, 2), (1, 2)), (0, 1, 1))
    """
    masks = [(1 << len(dfa.moves)) - 1]
    index = {masks[0]: 0}
    singletons = [1 << state for state in range(len(dfa.moves))]
    moves: list[tuple[int, ...]] = []
    letters = range(len(dfa.alphabet.symbols))
    while True:
        while len(moves) < len(masks):
            states = members(masks[len(moves)])
            row = []
            for letter in letters:
                image = 0
                for state in states:
                    image |= 1 << dfa.moves[state][letter]
                row.append(_number(image, masks, index, limit))
            moves.append(tuple(row))
        missing = [mask for mask in singletons if mask not in index]
        if not missing:
            return ImageSets(tuple(masks), tuple(moves), strong_components(moves))
        for mask in missing:
            _number(mask, masks, index, limit)


def _number(mask: int, masks: list[int], index: dict[int, int], limit: int) -> int:
    """The number of a mask, new or known."""
    if mask not in index:
        if len(masks) >= limit:
            raise UnsupportedError(
                f"the automaton has more than {limit} image sets, the cap on what is examined; "
                f"raise it with limits={ {'image_sets': 4 * limit} }, or split the language into "
                "simpler ones",
                options=("limits",),
            )
        index[mask] = len(masks)
        masks.append(mask)
    return index[mask]


def strong_components(moves: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The strongly connected components, numbered so that no move leads to a lower number.

    (Tarjan's algorithm with a stack of its own: it finishes a component after all that it leads to.)
    """
    visited: dict[int, int] = {}
    low: dict[int, int] = {}
    finished: dict[int, int] = {}
    open_nodes: list[int] = []
    count = 0
    for root in range(len(moves)):
        path: list[tuple[int, Iterator[int]]] = []
        if root not in visited:
            path.append((root, iter(moves[root])))
        while path:
            node, rest = path[-1]
            if node not in visited:
                visited[node] = low[node] = len(visited)
                open_nodes.append(node)
            for target in rest:
                if target not in visited:
                    path.append((target, iter(moves[target])))
                    break
                if target not in finished:
                    low[node] = min(low[node], visited[target])
            else:
                path.pop()
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[node])
                if low[node] == visited[node]:
                    member = -1
                    while member != node:
                        member = open_nodes.pop()
                        finished[member] = count
                    count += 1
    return tuple(count - 1 - finished[node] for node in range(len(moves)))
