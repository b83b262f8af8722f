"""What `depth` is asked about, as an automaton; and a past formula of few layers for a bound from above."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.errors import OptionError, UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Comparison, Formula, operands, subformulas
from attemper.languages.words import Alphabet, parse_alphabet
from attemper.theories.depth.certificate import EnoughByFormula
from attemper.theories.depth.check.reading import layers_of, reading_of

CONFIGURATIONS = 20_000
"""A formula that keeps more is not made an automaton: the search would be longer still."""


def regular_language(
    language: Dfa | TemporalLanguage | str, alphabet: str | Alphabet | None, at: str | None
) -> tuple[Definition, Alphabet, Dfa]:
    """The language, its alphabet and its automaton.

    Raises `OptionError` for what is no language, `UnsupportedError` for one that is not seen to be regular,
    and what reading a formula raises.
    """
    if isinstance(language, Dfa):
        if alphabet is not None or at is not None:
            raise OptionError("an automaton has its own alphabet, and is read at the last position")
        return language, language.alphabet, language
    if not isinstance(language, str | TemporalLanguage):
        raise OptionError(
            f"language={type(language).__name__} is neither an automaton nor a formula: give parse_regex(...)"
        )
    if alphabet is None:
        raise OptionError("a formula needs an alphabet, for example depth('O a', 'ab')")
    # Formulas have their automata by way of the compiler, which automata need not load.
    from attemper.checker.names import UnprovenError
    from attemper.workbench.automata import Caps, automaton_of_formula
    from attemper.workbench.compiling import read_source

    if isinstance(language, str):
        meant, letters = read_source(language, alphabet, at, "reject")
    else:
        meant, letters = language, alphabet if isinstance(alphabet, Alphabet) else parse_alphabet(alphabet)
    try:
        return meant, letters, automaton_of_formula(meant, letters, Caps(CONFIGURATIONS))
    except UnprovenError as error:
        counts = any(isinstance(part, Comparison) and operands(part) for part in subformulas(meant.formula))
        why = "not regular as it stands (counts modulo a number are, comparisons of counts need not be)"
        raise UnsupportedError(
            f"the formula is {why if counts else 'not made an automaton'}: {error}"
        ) from None


def in_states(language: Definition) -> bool:
    """Whether the checker reads the language letter by letter, so that a file may name it as it was given."""
    try:
        reading_of(language)
    except UnsupportedError:
        return False
    return True


def bound_by_formula(dfa: Dfa, language: Definition, least: int) -> EnoughByFormula | None:
    """The past formula with the fewest layers among those that are tried; None if there is none.

    With `least` layers, of which fewer are not enough, no other is tried.
    """
    best: EnoughByFormula | None = None
    for formula in _formulas(dfa, language):
        try:
            layers = layers_of(formula)
        except UnsupportedError:
            continue
        if best is None or layers < best.layers:
            best = EnoughByFormula(layers, formula)
        if layers <= least:
            break
    return best


def _formulas(dfa: Dfa, language: Definition) -> Iterator[Formula]:
    """What the language was given as, and what its automaton is translated to."""
    if isinstance(language, TemporalLanguage) and language.at is At.LAST:
        yield language.formula
    # Translations are the compiler's, which exhausted searches need not load.
    from attemper.workbench.translate import past_formulas

    yield from past_formulas(dfa)
