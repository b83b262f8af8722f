"""A language that a network can be compiled for, whichever way it was written."""

from __future__ import annotations

from typing import assert_never

from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Word

Language = TemporalLanguage | Dfa
"""A formula that is read at one end of the word, or an automaton, which is read at the last position."""


def reads_first(language: Language) -> bool:
    """Whether the verdict stands at the first position, not at the last."""
    return isinstance(language, TemporalLanguage) and language.at is At.FIRST


def accepts_empty(language: Language) -> bool:
    """The verdict on the empty word."""
    return language.accepts(()) if isinstance(language, Dfa) else language.accepts_empty


def bits(language: Language, word: Word) -> tuple[bool, ...]:
    """What the network's output should be at each position: straight from the definition, slow."""
    from attemper.languages.temporal.meaning import truth  # a proof needs no meaning; a wrong word does

    match language:
        case TemporalLanguage(formula, _, _):
            return truth(formula, word)
        case Dfa():
            return language.prefixes(word)
        case _:
            assert_never(language)
