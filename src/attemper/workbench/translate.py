"""An automaton's language as a past formula, and a proof that it is the same language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from math import lcm
from typing import final

from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.verdict import Status
from attemper.compiling.bounded_counter import BoundedCounter
from attemper.compiling.decomposing.bases import exact_places
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.decomposing.stages import Images
from attemper.compiling.lowering.cascade_to_formula import cascade_to_formula, shared_formula, tree_size
from attemper.compiling.lowering.counter_to_formula import counter_to_formula
from attemper.compiling.lowering.shorten_formula import shortened, with_operands
from attemper.compiling.lowering.split_formula import shortest
from attemper.compiling.pipeline import compile_language
from attemper.compiling.simplifying.spell_out import Shared
from attemper.errors import ExitCode, InternalError, UnsupportedError
from attemper.html_tables import Tabled
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.connectives import any_of, negation
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Formula, Numerical, Symbol, subformulas
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.regime import Regime
from attemper.workbench.language import Language
from attemper.workbench.report.languages import lines_on, record_of_language

TRIED_WORDS = 2_000
"""How many words, the shortest first, are tried with a formula that is not proved."""

LONGEST_PERIOD = 12
"""Positions are not tested by a longer period, unless the language's class needs it."""


@final
class Way(Enum):
    """What a formula comes from."""

    SEARCH = "search"
    CASCADE = "cascade"
    COUNTER = "counter"


@final
@dataclass(frozen=True, repr=False)
class Translation(Tabled):
    """A formula that holds at i where the language has the first i symbols.

    `proved` says that the checker found both the same for words of all lengths; where it did not, all words
    were tried up to the length `agreed`, or `unfinished` says why not even that. `way` says what the formula
    comes from.
    """

    language: Language
    formula: Formula
    way: Way
    proved: bool
    agreed: int | None = None
    unfinished: str = ""

    @property
    def text(self) -> str:
        """The formula as it is written."""
        return show(self.formula)

    @property
    def status(self) -> Status:
        """PROVED, or UNKNOWN where the formula is only tried."""
        return Status.PROVED if self.proved else Status.UNKNOWN

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return ExitCode.UNKNOWN if self.unfinished else ExitCode.OK

    def __repr__(self) -> str:
        return f"<Translation {self.text[:60]}: {self._shown}>"

    def __str__(self) -> str:
        empty = f"empty word: {self._empty}"
        lines = [*lines_on(self.language), self.text, f"read at the last position, {empty}; {self._shown}"]
        if self.way is not Way.SEARCH:
            lines.append(
                f"not from the search for a short formula: read from the automaton's {self.way.value}"
            )
        return "\n".join(lines)

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        return {
            **record_of_language(self.language),
            "formula": self.text,
            "at": "last",
            "empty": self._empty,
            "proved": self.proved,
            "agreed_up_to": self.agreed,
            "unfinished": self.unfinished or None,
            "way": self.way.value,
        }

    @property
    def _empty(self) -> str:
        return "accept" if self.language.definition.accepts_empty else "reject"

    @property
    def _shown(self) -> str:
        if self.proved:
            return "proved the same language"
        return f"NOT proved the same language, {self.unfinished or f'tried up to length {self.agreed}'}"


def translate(dfa: Dfa, limits: CascadeCaps | None = None) -> Translation:
    """The automaton as a past formula, short enough to be read where one is found.

    Else, as `way` says, the automaton's cascade or counter, without tests of positions where it needs none;
    `limits` are those of the cascade.
    Raises `UnsupportedError` if the formula is too large to be written down, or if there is no cascade.
    """
    return shown_same(dfa, *found_formula(dfa, limits))


def found_formula(dfa: Dfa, limits: CascadeCaps | None = None) -> tuple[Formula, Way]:
    """A formula that is meant to be the automaton's language; raises what `translate` raises."""
    formula = searched(dfa)
    if formula is not None:
        return formula, Way.SEARCH
    alike, small = _without_twins(dfa)
    found, way = _from_levels(small, limits or CascadeCaps())
    return _with_letters(shortened(found, small.alphabet), _letters(alike, dfa)), way


def shown_same(dfa: Dfa, formula: Formula, way: Way) -> Translation:
    """The formula, which is proved to be the automaton's language, or tried."""
    if _is_proved(formula, dfa):
        return Translation(Language(dfa, dfa.alphabet), formula, way, proved=True)
    return Translation(Language(dfa, dfa.alphabet), formula, way, proved=False, agreed=_tried(formula, dfa))


def searched(dfa: Dfa) -> Formula | None:
    """A short formula of the automaton's language, if the search finds one."""
    alike, small = _without_twins(dfa)
    period = _period(small)
    found = None if period is None else shortest(small, period)
    return None if found is None else _with_letters(found, _letters(alike, dfa))


def _period(dfa: Dfa) -> int | None:
    """By what positions are tested in the search; None if its formulas say no language of this class.

    Beside the modulus of the class it has the period of the states that are reached by words of a length: a
    star-free language, too, can have a shorter formula that looks at positions.
    """
    try:
        modulus = classify(dfa).modulus
        places, sets = exact_places(Images(dfa, CascadeCaps()))
    except UnsupportedError:
        return 1
    if modulus is None:
        return None
    everything = (1 << len(dfa.moves)) - 1
    period = 1 if everything in sets[places.prefix :] else places.period
    return lcm(modulus, period) if lcm(modulus, period) <= LONGEST_PERIOD else modulus


def past_formulas(dfa: Dfa) -> Iterator[Formula]:
    """Some formulas for the automaton that look at positions and counts only where nothing else is found.

    That of a cascade without a counter, then the shortest one, if they are found. Written out the first may
    be too large for anybody: its equal parts are one object.
    """
    alike, small = _without_twins(dfa)
    letters = _letters(alike, dfa)
    with suppress(UnsupportedError):
        chosen = decompose(small, CascadeCaps(bases=False, counter=False)).chosen
        if not isinstance(chosen, BoundedCounter):
            yield _with_letters(shared_formula(chosen), letters)
    found = shortest(small)
    if found is not None:
        yield _with_letters(found, letters)


def _without_twins(dfa: Dfa) -> tuple[dict[str, list[str]], Dfa]:
    """The symbols that act alike, by the first of them; the automaton over these first ones."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for letter in range(len(dfa.alphabet.symbols)):
        groups.setdefault(tuple(row[letter] for row in dfa.moves), []).append(letter)
    symbols = dfa.alphabet.symbols
    alike = {symbols[own[0]]: [symbols[letter] for letter in own] for own in groups.values()}
    moves = tuple(tuple(row[own[0]] for own in groups.values()) for row in dfa.moves)
    return alike, Dfa(Alphabet(tuple(alike)), moves, dfa.start, dfa.accepting)


def _letters(alike: Mapping[str, list[str]], dfa: Dfa) -> dict[Formula, Formula]:
    """What stands for each symbol that others act like."""
    return {Symbol(one): _one_of(own, dfa) for one, own in alike.items()}


def _one_of(symbols: list[str], dfa: Dfa) -> Formula:
    """One of these symbols, or none of the others, whichever is shorter."""
    others = [symbol for symbol in dfa.alphabet.symbols if symbol not in symbols]
    if len(others) < len(symbols) - 1:
        return negation(any_of(map(Symbol, others)))
    return any_of(map(Symbol, symbols))


def _with_letters(formula: Formula, letters: Mapping[Formula, Formula]) -> Formula:
    """The formula with other formulas for its symbols."""
    known: dict[Formula, Formula] = {}
    for part in subformulas(formula):
        known[part] = letters[part] if part in letters else with_operands(part, known)
    return known[formula]


def _from_levels(dfa: Dfa, limits: CascadeCaps) -> tuple[Formula, Way]:
    """Without looking at positions and last letters first, or with it if that is shorter.

    A star-free language has no tests of positions the first way, so it is preferred there. Where a counter
    between two bounds takes fewer layers, the formula compares counts.
    """
    found: list[Formula] = []
    refusal: UnsupportedError | None = None
    for own in (replace(limits, bases=False), limits):
        try:
            chosen = decompose(dfa, own).chosen
            if isinstance(chosen, BoundedCounter):
                return counter_to_formula(chosen), Way.COUNTER
            found.append(cascade_to_formula(chosen))
        except UnsupportedError as error:
            refusal = refusal or error
        if found and not any(isinstance(part, Numerical) for part in subformulas(found[0])):
            return found[0], Way.CASCADE
    if refusal is not None and not found:
        raise refusal
    return min(found, key=tree_size), Way.CASCADE


def _is_proved(formula: Formula, dfa: Dfa) -> bool:
    """Whether one network is shown to compute both."""
    language = TemporalLanguage(formula, At.LAST, accepts_empty=dfa.accepts(()))
    try:
        compiled = compile_language(language, dfa.alphabet, Regime.UNBOUNDED, shared=Shared.NONE)
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
