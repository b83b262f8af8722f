"""Beyond the cap on classes: products of few powers, put in buckets by their class of F_k."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attemper.languages.regular.dfa import Dfa
from attemper.theories.depth.search.actions import LetterPair, Letters
from attemper.theories.depth.search.caps import ClassCaps
from attemper.theories.depth.search.searching import Telling
from attemper.theories.depth.search.stepping import OrderState, Sight, SteppedClasses

FACTORS, ROOT = 3, 3
"""So many powers, of words of so many letters at most."""

TRIED = 100_000
"""So many products are looked at: with many letters there are many more."""

ActingWord = tuple[Letters, OrderState, int, int]
"""Letters, what is seen after them, the class that they are in, and their action."""


def search_shapes(
    dfa: Dfa, layers: int, sight: Sight, caps: ClassCaps, *, same_length: bool = False
) -> LetterPair | None:
    """Two words of one class with different verdicts, among products of up to three powers; None if none is.

    The exponents are those at which powers become one class: 1, k and k + 1, times the period. What is found
    is as good as any other pair; that nothing is found says nothing.
    """
    steps, telling = SteppedClasses(layers, sight), Telling(dfa, same_length=same_length)
    powers = sorted(_powers(len(dfa.alphabet.symbols), layers, sight), key=lambda word: (len(word), word))
    listed: dict[int, ActingWord] = {}
    level: list[ActingWord] = [((), steps.start, -1, 0)]
    tried = 0
    for _ in range(FACTORS):
        longer = []
        for word, power in product(level, powers):
            tried += 1
            made = _longer(word, power, steps, telling)
            known = listed.setdefault(made[2], made)
            if known is made:
                longer.append(made)
            elif known[3] != made[3]:
                found = telling.pair(known[0], made[0], known[3], made[3])
                if found is not None:
                    return found
            if tried >= TRIED or caps.reached(len(listed)):
                return None
        level = longer
    return None


def _powers(letters: int, layers: int, sight: Sight) -> Iterator[Letters]:
    """The words y^e: y no power itself, and e one of few exponents."""
    unit = sight.period
    exponents = sorted({1, max(layers, 1) * unit, (layers + 1) * unit})
    for length in range(1, ROOT + 1):
        for root in product(range(letters), repeat=length):
            if not any(
                root == root[:part] * (length // part) for part in range(1, length) if length % part == 0
            ):
                yield from (root * exponent for exponent in exponents)


def _longer(word: ActingWord, power: Letters, steps: SteppedClasses, telling: Telling) -> ActingWord:
    letters, state, number, action = word
    for letter in power:
        number, state = steps.step(state, letter)
        action = telling.actions.after(action, letter)
    return (*letters, *power), state, number, action
