"""A batch of words: soft run, hard run and exact meaning, word by word and position by position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never, cast, final

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Numbers
from attemper.languages.definition import Definition
from attemper.languages.measures import FLOAT_ACCURACY, Measure
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Network
from attemper.running.numbers import OutputNumber
from attemper.running.runs import Run
from attemper.running.truth import truth_of_words
from attemper.workbench.verifying.answers import NOTHING, Disagreement, Expected, Verification, joined
from attemper.workbench.verifying.batches import Batch, PrefixStretch, Stretch, WordList, shorter, words_in
from attemper.workbench.verifying.engines import RunFunction, runs_by

DEFINITIONAL_LENGTH = 8
"""Up to this length the exact meaning of a formula is evaluated straight from the definition as well."""

OutputBits = Sequence[Sequence[bool]]
"""One row for each output, with a bit for each position."""

ExpectedOutputs = OutputBits | Sequence[Sequence[Expected]]
"""Bits, or in their places numbers."""


@final
@dataclass(frozen=True)
class TestedNetwork:
    """A language, and the network that should compute it, to be run softly and hard."""

    language: Definition
    symbols: Sequence[str]
    """Those of the words."""
    soft: RunFunction
    hard: RunFunction

    @classmethod
    def of(cls, network: Network, language: Definition) -> TestedNetwork:
        """Both runs in float64, by engines that nobody else has."""
        soft, hard = runs_by(network, None), runs_by(network, HardWeighting.AVERAGE)
        return cls(language, network.alphabet.symbols, soft, hard)

    def runs(self, words: Sequence[Word]) -> Iterator[tuple[Run, Run]]:
        """Of each word its soft run and its hard one."""
        return zip(self.soft(words), self.hard(words), strict=True)


def try_batches(tested: TestedNetwork, batches: Sequence[Batch]) -> Verification:
    """Try the batches in their order, up to the first disagreement."""
    found = NOTHING
    for batch in batches:
        found = joined(found, _try_batch(tested, batch))
        if found.disagreement is not None:
            break
    return found


def _try_batch(tested: TestedNetwork, batch: Batch) -> Verification:
    match batch:
        case Stretch():
            return _try_words(tested, words_in(batch, tested.symbols))
        case WordList(words):
            return _try_words(tested, words)
        case PrefixStretch(stretch):
            return _try_prefixes(tested, stretch)
        case _:
            assert_never(batch)


def _try_words(tested: TestedNetwork, words: Sequence[Word]) -> Verification:
    """Words of one length, up to the first on which anything differs."""
    smallest, length = float("inf"), len(words[0])
    exact = exact_outputs(tested.language, words)
    for tried, (expected, (soft, hard)) in enumerate(zip(exact, tested.runs(words), strict=True), start=1):
        smallest = min(smallest, soft.margin)
        found = _disagreement(tested.language, soft.word, expected, soft, hard)
        if found is not None:
            return Verification(tried, length, smallest, found)
    return Verification(len(words), length, smallest, None)


def _try_prefixes(tested: TestedNetwork, stretch: Stretch) -> Verification:
    """All words of a stretch, and of the shorter words that belong to the stretch, by the longest's runs.

    A shorter word's exact meaning is its own; its outputs are the first ones of its continuation.
    """
    size = len(tested.symbols)
    runs = list(tested.runs(words_in(stretch, tested.symbols)))
    smallest, tried = min(soft.margin for soft, _ in runs), 0
    for length in range(1, stretch.length + 1):
        own, apart = shorter(stretch, length, size)
        words = words_in(own, tested.symbols)
        for number, expected in enumerate(exact_outputs(tested.language, words), start=own.start):
            word, tried = words[number - own.start], tried + 1
            found = _disagreement(tested.language, word, expected, *runs[number * apart - stretch.start])
            if found is not None:
                return Verification(tried, length, smallest, found)
    return Verification(tried, stretch.length, smallest, None)


def _disagreement(
    language: Definition, word: Word, expected: ExpectedOutputs, soft: Run, hard: Run
) -> Disagreement | None:
    """Where anything first differs on a word; the runs may be those of a continuation of the word."""
    if isinstance(language, TemporalLanguage) and len(word) <= DEFINITIONAL_LENGTH:
        found = _difference(word, "linear-time meaning", language.rows(word), cast("OutputBits", expected))
        if found is not None:
            return found
    for which, run in (("soft", soft), ("hard", hard)):
        put_out = run.rows if run.numbers is None else (run.numbers,)
        found = _difference(word, which, expected, tuple(row[: len(word)] for row in put_out))
        if found is not None:
            return found
    return None


def _difference(
    word: Word, which: str, expected: ExpectedOutputs, got: Sequence[Sequence[bool | OutputNumber | None]]
) -> Disagreement | None:
    for wanted, had in zip(expected, got, strict=True):
        for position, (want, have) in enumerate(zip(wanted, had, strict=True), start=1):
            if want is not have and not _agrees(want, have):
                return Disagreement(word, position, which, want, have)
    return None


def _agrees(want: bool | Expected, have: bool | OutputNumber | None) -> bool:
    """Bits and integers are the same, other numbers as near as is claimed of them in floats."""
    if isinstance(want, bool):
        return want is have
    if isinstance(want, dict):
        return isinstance(have, dict) and all(_is_near(number, have[name]) for name, number in want.items())
    if isinstance(want, int):
        return want == have
    return isinstance(have, float) and _is_near(want, have)


def _is_near(want: Fraction, have: float) -> bool:
    return abs(Fraction(have) - want) <= FLOAT_ACCURACY


def exact_outputs(language: Definition, words: Sequence[Word]) -> Sequence[ExpectedOutputs]:
    """What a network should put out on words of one length: bits, or numbers."""
    if isinstance(language, ProgramLanguage) and language.program.numbers is not None:
        said = language.program.numbers
        return [[_expected(said, language.numbers(word))] for word in words]
    return exact_rows(language, words)


def exact_rows(language: Definition, words: Sequence[Word]) -> Sequence[OutputBits]:
    """The exact bits of words of one length, of a formula in linear time."""
    if isinstance(language, TemporalLanguage):
        return [[row] for row in truth_of_words(language.formula, words).tolist()] if words else []
    return [language.rows(word) for word in words]


def _expected(said: Numbers, rows: tuple[tuple[Fraction, ...], ...]) -> tuple[Expected, ...]:
    """The exact number at each position, of an integer the integer itself."""
    match said.measure:
        case Measure.INTEGER:
            n = len(rows[0])
            return tuple(int(x * said.mask.number_visible(i, n)) for i, x in enumerate(rows[0], start=1))
        case Measure.FRACTION:
            return rows[0]
        case Measure.DISTRIBUTION:
            return tuple(dict(zip(said.names, column, strict=True)) for column in zip(*rows, strict=True))
        case _:
            assert_never(said.measure)
