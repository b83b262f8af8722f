"""What whoever writes a language is told where it has no word, or all of them: seldom what was meant."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from attemper.checker.names import UnprovenError
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.show import show_symbol
from attemper.languages.temporal.vacuous import symbols_at_once
from attemper.languages.words import Alphabet, words_of_length
from attemper.workbench.language import Language

LONGEST = 4
"""Words of up to so many symbols are tried first: nearly every language has some of them, and lacks some."""

MOST_WORDS = 500
"""No more words are tried: of large alphabets only shorter ones."""

CONFIGURATIONS, SECONDS = 1_000, 1.0
"""So far, and so long, a language is followed to its automaton, which tells of all lengths."""


def notes_on_words(spoken: Language) -> Iterator[str]:
    """That two symbols at once are asked for; that no word of n >= 1 symbols is accepted, or every one.

    The latter is proved where the language's automaton is small; else the lengths that were tried are named.

    >>> import attemper
    >>> for note in notes_on_words(attemper.formula("O (a & b)")):
    ...     print(note)
    a & b holds nowhere: letters are symbols, not propositions, and a position has one
    no word is accepted
    """
    language, alphabet = spoken.definition, spoken.alphabet
    if isinstance(language, TemporalLanguage):
        at_once = symbols_at_once(language.formula)
        if at_once is not None:
            both = " & ".join(map(show_symbol, at_once))
            yield f"{both} holds nowhere: letters are symbols, not propositions, and a position has one"
    if spoken.puts_out:
        return
    longest = _longest(len(alphabet.symbols))
    tried: set[bool] = set()
    for word in chain.from_iterable(words_of_length(alphabet, n) for n in range(1, longest + 1)):
        try:
            tried.add(language.bits(word)[0 if language.reads_first else -1])
        except UnsupportedError:  # a program that means nothing on this word: the compiler says so
            return
        if len(tried) > 1:
            return
    yield from _of_all_lengths(language, alphabet, longest, tried.pop())


def _longest(symbols: int) -> int:
    """How long words can be if all of them are tried."""
    fitting = (n for n in range(2, LONGEST + 1) if sum(symbols**k for k in range(1, n + 1)) <= MOST_WORDS)
    return max(fitting, default=1)


def _of_all_lengths(language: Definition, alphabet: Alphabet, longest: int, verdict: bool) -> Iterator[str]:
    """What holds of longer words too, where all that were tried have one verdict."""
    from attemper.workbench.automata import Caps, automaton_of_language  # of hardly any language

    which = "every" if verdict else "no"
    try:
        dfa = automaton_of_language(language, alphabet, Caps(CONFIGURATIONS, SECONDS))
    except (UnprovenError, UnsupportedError):
        yield f"{which} word of 1 to {longest} symbols is accepted; longer ones were not tried"
        return
    if {target in dfa.accepting for moves in dfa.moves for target in moves} == {verdict}:
        beside = "" if dfa.accepts_empty is verdict else " of one symbol or more"
        yield f"{which} word{beside} is accepted"
