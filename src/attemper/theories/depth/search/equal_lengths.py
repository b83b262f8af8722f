"""For one k: two words of one length and one class of F_k that act differently on the automaton.

Length by length, one word for each class. What the next length has follows from what this one has, so that
the search is over when a length has the same classes, with the same actions, as an earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.languages.regular.dfa import Dfa
from attemper.theories.depth.search.actions import Letters
from attemper.theories.depth.search.caps import ClassCaps
from attemper.theories.depth.search.searching import Apart, Enough, Open, Outcome, Telling
from attemper.theories.depth.search.stepping import OrderState, Sight, SteppedClasses


@final
@dataclass(frozen=True)
class _Member:
    """The one word of a class and length: what is seen after it, its action, and the word itself."""

    state: OrderState
    action: int
    word: Letters


def search_by_length(dfa: Dfa, layers: int, sight: Sight, caps: ClassCaps) -> Outcome:
    """`Apart` with two words of one length, or `Enough`: at each length n >= 1 the class says the verdict.

    `Enough` speaks of networks whose functions may depend on n.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> search_by_length(parse_regex("(ab)*", "ab"), 1, Sight(), ClassCaps())
    Apart(words=((0, 0, 0, 1, 0, 1), (0, 1, 0, 1, 0, 1)), classes=32)
    >>> search_by_length(parse_regex("(aa)*", "a"), 0, Sight(), ClassCaps())
    Enough(classes=3)
    """
    steps, telling = SteppedClasses(layers, sight), Telling(dfa, same_length=True)
    level = {-1: _Member(steps.start, 0, ())}
    met = set[frozenset[tuple[int, int]]]()
    listed = 0
    while True:
        longer: dict[int, _Member] = {}
        for member in level.values():
            for letter in range(len(dfa.alphabet.symbols)):
                number, after = steps.step(member.state, letter)
                made = _Member(after, telling.actions.after(member.action, letter), (*member.word, letter))
                known = longer.setdefault(number, made)
                if known.action != made.action:
                    found = telling.pair(known.word, made.word, known.action, made.action)
                    if found is not None:
                        return Apart(found, listed + len(longer))
            why = caps.reached(listed + len(longer))
            if why is not None:
                return Open(listed + len(longer), why)
        listed += len(longer)
        signature = frozenset((number, member.action) for number, member in longer.items())
        if signature in met:
            return Enough(listed)
        met.add(signature)
        level = longer
