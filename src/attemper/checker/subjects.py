"""What a verdict is about, in words: the language as the checker read it, not as anybody described it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.show import show_within
from attemper.languages.temporal.syntax import subformulas
from attemper.languages.words import Alphabet

LONGEST_FORMULA = 2_000
"""The text of a longer formula is not shown."""

MOST_SHOWN = 60
"""How many symbols, states or moves are shown at most."""


def describe(language: Language, alphabet: Alphabet) -> str:
    """The language over the alphabet of its network, in one line.

    >>> from attemper.languages.temporal.reading import At
    >>> from attemper.languages.temporal.syntax import Symbol
    >>> describe(TemporalLanguage(Symbol("a"), At.LAST, False), Alphabet(("a", "b")))
    'a (read at the last position of words over a b; the empty word is rejected)'
    """
    match language:
        case TemporalLanguage(formula, at, accepts_empty):
            text = show_within(formula, LONGEST_FORMULA)
            if text is None:
                text = f"a formula with {len(subformulas(formula)):,} subformulas, too long to be shown"
            symbols = listed(alphabet.symbols, "symbols")
            empty = "accepted" if accepts_empty else "rejected"
            return f"{text} (read at the {at} position of words over {symbols}; the empty word is {empty})"
        case Dfa():
            return describe_automaton(language)
        case _:
            assert_never(language)


def describe_automaton(dfa: Dfa) -> str:
    """States, start, accepting states and, if they are few, all moves, in the alphabet's order.

    >>> describe_automaton(Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0})))
    'an automaton over 0 1 with 2 states: start 0; accepting 0; moves 0: 0 1, 1: 1 0'
    """
    symbols = dfa.alphabet.symbols
    accepting = listed(list(map(str, sorted(dfa.accepting))), "states") if dfa.accepting else "none"
    text = (
        f"an automaton over {listed(symbols, 'symbols')} with {len(dfa.moves):,} states: "
        f"start {dfa.start}; accepting {accepting}"
    )
    if len(dfa.moves) * len(symbols) > MOST_SHOWN:
        return f"{text}; its moves are too many to be shown"
    rows = ", ".join(f"{state}: {' '.join(map(str, row))}" for state, row in enumerate(dfa.moves))
    return f"{text}; moves {rows}"


def listed(names: Sequence[str], what: str) -> str:
    """The names, cut off where they are long or many."""
    shown = " ".join(
        name if len(name) <= MOST_SHOWN else f"{name[:MOST_SHOWN]}..." for name in names[:MOST_SHOWN]
    )
    return shown if len(names) <= MOST_SHOWN else f"{shown} ... ({len(names):,} {what})"
