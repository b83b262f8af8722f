"""An automaton's language as a past formula, and a proof that it is the same language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.bounded_counter import BoundedCounter
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import Limits
from attemper.compiling.lowering.cascade_to_formula import cascade_to_formula, tree_size
from attemper.compiling.lowering.counter_to_formula import counter_to_formula
from attemper.compiling.pipeline import compile_language
from attemper.compiling.regimes import Regime
from attemper.errors import InternalError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Formula, Numerical, subformulas
from attemper.languages.words import words_of_length

TRIED_WORDS = 2_000
"""How many words, the shortest first, are tried in any case."""


@final
@dataclass(frozen=True, repr=False)
class Translation:
    """A formula that holds at i where the automaton accepts the prefix of length i.

    `proved` says that the checker found both the same for words of all lengths; `agreed` is the length up to
    which all words were tried.
    """

    formula: Formula
    proved: bool
    agreed: int

    def __str__(self) -> str:
        return show(self.formula)

    def __repr__(self) -> str:
        how = "proved" if self.proved else f"tried up to length {self.agreed}"
        return f"<Translation {str(self)[:60]}: {how}>"


def translate(dfa: Dfa) -> Translation:
    """The automaton's cascade or counter as a past formula; without tests of positions where it needs none.

    Raises `UnsupportedError` if the formula is too large to be written down, or if there is no cascade.
    """
    formula = _shortest(dfa)
    return Translation(formula, _is_proved(formula, dfa), _tried(formula, dfa))


def _shortest(dfa: Dfa) -> Formula:
    """Without looking at positions and last letters first, or with it if that is shorter.

    A star-free language has no tests of positions the first way, so it is preferred there. Where a counter
    between two bounds takes fewer layers, the formula compares counts.
    """
    found: list[Formula] = []
    refusal: UnsupportedError | None = None
    for limits in (Limits(bases=False), Limits()):
        try:
            chosen = decompose(dfa, limits).chosen
            if isinstance(chosen, BoundedCounter):
                return counter_to_formula(chosen)
            found.append(cascade_to_formula(chosen))
        except UnsupportedError as error:
            refusal = refusal or error
        if found and not any(isinstance(part, Numerical) for part in subformulas(found[0])):
            return found[0]
    if refusal is not None and not found:
        raise refusal
    return min(found, key=tree_size)


def _is_proved(formula: Formula, dfa: Dfa) -> bool:
    """Whether one network is shown to compute both."""
    language = TemporalLanguage(formula, At.LAST, accepts_empty=dfa.accepts(()))
    try:
        compiled = compile_language(language, dfa.alphabet, Regime.UNBOUNDED)
        for own in (language, dfa):
            prove(compiled.soft, own, compiled.realisation)
    except (UnprovenError, UnsupportedError):
        return False
    return True


def _tried(formula: Formula, dfa: Dfa) -> int:
    """Try all words up to a length. Raises `InternalError` if the formula is wrong."""
    length = tried = 0
    while tried + len(dfa.alphabet.symbols) ** (length + 1) <= TRIED_WORDS:
        length += 1
        for word in words_of_length(dfa.alphabet, length):
            tried += 1
            if truth(formula, word) != dfa.prefixes(word):
                raise InternalError(f"a cascade was read as a wrong formula, see {word} (please report)")
    return length
