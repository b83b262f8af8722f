"""What `depth` is asked about, as an automaton; and a past formula of few layers for a bound from above."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Comparison, Formula, operands, subformulas
from attemper.theories.depth.certificate import EnoughByFormula
from attemper.theories.depth.check.reading import layers_of, reading_of
from attemper.workbench.language import Language

CONFIGURATIONS = 20_000
"""A formula that keeps more is not made an automaton: the search would be longer still."""


def automaton_to_search(language: Language) -> Dfa:
    """The language's automaton. Raises `UnsupportedError` where it is not seen to be regular."""
    if isinstance(language.definition, Dfa):
        return language.definition
    # Formulas have their automata by way of the compiler, which automata need not load.
    from attemper.checker.names import UnprovenError
    from attemper.workbench.automata import Caps, automaton_of_language

    try:
        return automaton_of_language(language.definition, language.alphabet, Caps(CONFIGURATIONS))
    except UnprovenError as error:
        why = "not regular as it stands (counts modulo a number are, comparisons of counts need not be)"
        raise UnsupportedError(
            f"{language} is {why if _compares_counts(language) else 'not made an automaton'}: {error}"
        ) from None


def _compares_counts(language: Language) -> bool:
    match language.definition:
        case TemporalLanguage(formula):
            return any(isinstance(part, Comparison) and operands(part) for part in subformulas(formula))
        case _:
            return False


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
