"""For one k: two words of one class of F_k that act differently on the automaton, or that there are none.

Breadth-first over classes, one word for each. The first letter that leads from a class to a known class, but
to another action on the states, gives two words of one class that act differently: being of one class is a
congruence (FORMAT.md, section 13). If there is no such letter, the class of a word determines its action.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import final

from attemper.languages.regular.dfa import Dfa
from attemper.theories.depth.search.actions import Actions, LetterPair, Letters, SeparatingWords
from attemper.theories.depth.search.caps import ClassCaps
from attemper.theories.depth.search.stepping import Sight, SteppedClasses


@final
@dataclass(frozen=True)
class Apart:
    """Two words of one class of F_k, and with different verdicts; `classes` were listed until then."""

    words: LetterPair
    classes: int


@final
@dataclass(frozen=True)
class Enough:
    """All classes were listed, and the class of a word says whether it is in the language."""

    classes: int


@final
@dataclass(frozen=True)
class Open:
    """Neither was found, and why."""

    classes: int
    why: str


Outcome = Apart | Enough | Open

NO_EQUAL_LENGTHS = "no two words of one length are such a pair"


@final
class Telling:
    """Makes a pair of two words of one class, if they act differently."""

    def __init__(self, dfa: Dfa, *, same_length: bool) -> None:
        self.actions = Actions(dfa)
        self._words = SeparatingWords(dfa)
        self._same_length = same_length
        self._hopeless: set[tuple[int, int]] = set()

    def pair(self, first: Letters, second: Letters, one: int, other: int) -> LetterPair | None:
        """Two words with different verdicts, given two of one class with different actions.

        None if they are to have one length, and none are found.
        """
        images = self.actions.images(one), self.actions.images(other)
        if not self._same_length:
            return self._words.telling(first, second, *images)
        if len(first) != len(second) and (one, other) in self._hopeless:
            return None
        found = self._words.of_one_length(first, second, *images)
        if found is None:
            self._hopeless.add((one, other))
        return found


def search(dfa: Dfa, layers: int, sight: Sight, caps: ClassCaps, *, same_length: bool = False) -> Outcome:
    """Whether k = `layers` layers are enough for the language of a minimal automaton, on words of n >= 1.

    `Enough`: a network with k layers that sees so much exists, right on all words with letters. `Apart`: none
    exists, as it would give both words one answer. With `same_length` only pairs of one length are looked
    for, and there may be none though k layers are not enough.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> blocks = parse_regex("(ab)*", "ab")
    >>> search(blocks, 1, Sight(), ClassCaps()), search(blocks, 2, Sight(), ClassCaps())
    (Apart(words=((0, 1), (0, 0, 1)), classes=6), Enough(classes=602))
    """
    steps, telling = SteppedClasses(layers, sight), Telling(dfa, same_length=same_length)
    letters = range(len(dfa.alphabet.symbols))
    listed: dict[int, int] = {}
    came: list[tuple[int, int]] = []
    acting: list[int] = []
    is_clashing = False
    queue = deque([(steps.start, -1, 0)])
    while queue:
        state, origin, action = queue.popleft()
        for letter in letters:
            number, after = steps.step(state, letter)
            made = telling.actions.after(action, letter)
            known = listed.get(number)
            if known is None:
                listed[number] = len(came)
                queue.append((after, len(came), made))
                came.append((origin, letter))
                acting.append(made)
            elif acting[known] != made:
                is_clashing = True
                second = (*_word(came, origin), letter)
                found = telling.pair(_word(came, known), second, acting[known], made)
                if found is not None:
                    return Apart(found, len(listed))
        why = caps.reached(len(listed))
        if why is not None:
            return Open(len(listed), why)
    return Open(len(listed), NO_EQUAL_LENGTHS) if is_clashing else Enough(len(listed))


def _word(came: list[tuple[int, int]], number: int) -> Letters:
    """The word that led to a class."""
    letters = []
    while number >= 0:
        number, letter = came[number]
        letters.append(letter)
    return tuple(reversed(letters))
