"""How far states are from accepting ones, against all words."""

from __future__ import annotations

import random
from itertools import product

from attemper.languages.regular.completing import completions
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet


def test_the_shortest_word_that_is_accepted() -> None:
    rng = random.Random(1)
    for _ in range(200):
        count = rng.randrange(1, 6)
        moves = tuple((rng.randrange(count), rng.randrange(count)) for _ in range(count))
        accepting = frozenset(state for state in range(count) if rng.random() < 0.3)
        dfa = Dfa(Alphabet(("a", "b")), moves, 0, accepting)
        for state, found in enumerate(completions(dfa)):
            own = Dfa(dfa.alphabet, moves, state, accepting)
            shortest = next((n for n in range(count) if any(map(own.accepts, product("ab", repeat=n)))), None)
            assert found == shortest
