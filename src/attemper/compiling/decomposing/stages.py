"""What is known at one height of a cascade: a set of states that the true one is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

from attemper.compiling.decomposing.limits import CascadeCaps, check
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.image_sets import members


class Transition(NamedTuple):
    """A symbol of a level: the node at a position i, the letter there, and the node at i + 1."""

    source: int
    letter: int
    target: int


@final
@dataclass(frozen=True)
class Stage:
    """A graph that the positions walk through; its steps, by number, are the symbols of a level.

    `sets[v]` is a bit mask: whenever node v stands at position i, the state before the letter at i is in it.
    For a step from v to w with letter a, the set of w includes the image of the set of v under a. A step is a
    *reset* if it is larger than that. `places[v]` is the place of the position, or 0 throughout.
    """

    sets: tuple[int, ...]
    places: tuple[int, ...]
    start: int
    steps: tuple[Transition, ...]


@final
@dataclass(frozen=True)
class CascadeQuestion:
    """What the last level has to know: a code of the state after each letter.

    `with_letter` asks for the state before the letter in its place, and for the letter: the code c of the
    former and the letter a together are the code c * (number of letters) + a.
    """

    codes: tuple[int, ...]
    with_letter: bool = False


class Images:
    """Images of sets of states under the letters, each computed once. A set is a bit mask.

    Also keeps account of the search for alternatives: set `is_limited` while it goes on.
    """

    def __init__(self, dfa: Dfa, limits: CascadeCaps) -> None:
        self.dfa = dfa
        self.limits = limits
        self._known: dict[tuple[int, int], int] = {}
        self._sets: set[int] = set()
        self._states = 0
        self._left = limits.search_steps
        self.is_limited = False

    def spend(self, steps: int) -> None:
        """Accounts for work done. Raises `UnsupportedError` if that was too much while it `is_limited`."""
        if self.is_limited:
            self._left -= steps
            if self._left < 0:
                check(self.limits.search_steps - self._left, self.limits, "search_steps", "search steps")

    def under(self, mask: int, letter: int) -> int:
        """The set of the states that the letter leads to from a state of the set."""
        found = self._known.get((mask, letter))
        if found is None:
            found = 0
            for state in members(mask):
                found |= 1 << self.dfa.moves[state][letter]
            self._known[mask, letter] = found
            self._sets.add(found)
            self._states += mask.bit_count()
            check(len(self._sets), self.limits, "image_sets", "image sets")
            check(self._states, self.limits, "image_states", "states in image sets")
        return found

    def is_reset(self, stage: Stage, step: Transition) -> bool:
        """Whether the set after the step is larger than the image of the one before."""
        return self.under(stage.sets[step.source], step.letter) != stage.sets[step.target]
