"""How far each state of an automaton is from an accepting one."""

from __future__ import annotations

from attemper.languages.regular.dfa import Dfa


def completions(dfa: Dfa) -> tuple[int | None, ...]:
    """Of each state how many symbols the shortest word has that leads to an accepting one; None if none does.

    >>> from attemper.languages.words import Alphabet
    >>> completions(Dfa(Alphabet(("a", "b")), ((1, 2), (2, 0), (2, 2)), 0, frozenset({0})))
    (0, 1, None)
    """
    found: list[int | None] = [0 if state in dfa.accepting else None for state in range(len(dfa.moves))]
    for length in range(1, len(dfa.moves)):
        for state, row in enumerate(dfa.moves):
            if found[state] is None and any(found[target] == length - 1 for target in row):
                found[state] = length
    return tuple(found)
