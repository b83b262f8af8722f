"""Does a model compute its language? Soft run, hard run and exact meaning, word by word.

Agreement on the words tried is not a proof: it is a search for a counterexample.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations, product
from typing import assert_never, final

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.meaning import visible
from attemper.attention_program.ops import Numbers
from attemper.errors import UnsupportedError
from attemper.exact.predicates import Remainder
from attemper.languages.language import Language
from attemper.languages.measures import FLOAT_ACCURACY, Measure
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.syntax import Comparison, Formula, Numerical, Term, subformulas, subtract
from attemper.languages.words import Word, words_of_length
from attemper.running.batches import run_words
from attemper.running.dense import DenseTransformer
from attemper.running.numbers import Number
from attemper.running.truth import truth_of_words
from attemper.workbench.model import Model

MAX_WORDS = 2_000_000
MANY_WORDS = 200_000
CHUNK = 2048
MANY_SYMBOLS = 5
MAX_BOUNDARY_WORDS = 20_000
DEFINITIONAL_LENGTH = 8
"""Up to this length the exact meaning is evaluated straight from the definition as well."""


Expected = int | Fraction | dict[str, Fraction]
"""A number as it should be."""


@final
@dataclass(frozen=True)
class Disagreement:
    """A word on which a run differs from the language's exact meaning at a position (from 1)."""

    word: Word
    position: int
    which: str
    expected: bool | Expected
    got: bool | Number | None


@final
@dataclass(frozen=True)
class Verification:
    """How many words were tried, the smallest margin seen, and the first disagreement if any."""

    words: int
    longest: int
    smallest_margin: float
    disagreement: Disagreement | None


@final
@dataclass(frozen=True)
class Plan:
    """The words to try: all up to a length, then random and adversarial ones up to another."""

    up_to: int
    random_words: int
    length: int
    seed: int = 0


def longest_exhaustive(model: Model, at_most: int = 8, words: int = MANY_WORDS) -> int:
    """The greatest length up to `at_most` with no more than so many words up to it."""
    size, total = len(model.alphabet.symbols), 0
    for length in range(1, at_most + 1):
        total += size**length
        if total > words:
            return length - 1
    return at_most


def count_words(model: Model, plan: Plan) -> int:
    """How many words the plan has. Raises `UnsupportedError` for more than two million."""
    size, possible = len(model.alphabet.symbols), longest_exhaustive(model, plan.up_to, MAX_WORDS)
    if possible < plan.up_to:
        raise UnsupportedError(
            f"there are more than {MAX_WORDS:,} words up to length {plan.up_to} over {size} symbols; "
            f"use --up-to {possible} or less"
        )
    exhaustive: int = sum(size**length for length in range(1, plan.up_to + 1))
    return exhaustive + plan.random_words


def verify(model: Model, plan: Plan, progress: Callable[[int], None] = lambda _: None) -> Verification:
    """Try the plan's words; stop at the first disagreement. `progress` hears how many were done."""
    count_words(model, plan)
    tried, longest, smallest = 0, 0, float("inf")
    runners = {"soft": model.dense(weights="soft"), "hard": model.dense(weights="hard")}
    for words in _chunks(model, plan):
        disagreement, margin = _compare(model.language, runners, words)
        tried, longest = tried + len(words), max(longest, len(words[0]))
        smallest = min(smallest, margin)
        if disagreement is not None:
            return Verification(tried, longest, smallest, disagreement)
        progress(len(words))
    return Verification(tried, longest, smallest, None)


def words_at_the_boundary(formula: Formula, symbols: Sequence[str], longest: int) -> Iterator[Word]:
    """Words at which the formula's own numbers are met exactly, or missed by one.

    For each integer c of the formula: lengths c - 1, c, c + 1, and as many of one symbol among
    others. For each two factors p, q: p times one symbol's count against q times another's, tied,
    one more, one fewer.
    """
    numbers = sorted({abs(number) for number in _numbers(formula)})
    for number in numbers:
        for count in (c for c in (number - 1, number, number + 1) if 1 <= c <= longest):
            for symbol, other in permutations(symbols, 2):
                yield (symbol,) * count
                yield (symbol,) * count + (other,) * min(count, longest - count)
                yield (other,) * min(7, longest - count) + (symbol,) * count
    factors = [number for number in numbers if 0 < number <= longest] or [1]
    for p, q in product(dict.fromkeys([1, *factors]), repeat=2):
        times = max(1, min(longest // (p + q), 40))
        for symbol, other in permutations(symbols, 2):
            tie = (symbol,) * (q * times) + (other,) * (p * times)
            yield from (word for word in (tie, tie[::-1], tie[1:], tie[:-1]) if 0 < len(word) <= longest)


def _numbers(formula: Formula) -> Iterator[int]:
    """The factors, constants and moduli in the formula."""
    for part in subformulas(formula):
        terms: tuple[Term, ...] = ()
        if isinstance(part, Comparison):
            difference = subtract(part.left, part.right)
            terms = (part.left, part.right, difference)
        elif isinstance(part, Numerical):
            terms = (part.term,)
            if isinstance(part.predicate, Remainder):
                yield part.predicate.modulus
        for term in terms:
            yield term.constant
            yield from (factor for factor, _ in term.parts)


def boundary_words(symbols: Sequence[str], length: int) -> Iterator[Word]:
    """Runs of one symbol, one symbol changed, and exact ties, of one length."""
    half = length // 2
    for symbol in symbols:
        yield (symbol,) * length
        for other in symbols:
            if other != symbol:
                yield (symbol,) * half + (other,) * (length - half)
                for place in (0, half, length - 1):
                    yield tuple(other if i == place else symbol for i in range(length))
    yield tuple(symbols[i % len(symbols)] for i in range(length))


def _chunks(model: Model, plan: Plan) -> Iterator[list[Word]]:
    """Lists of words, each list of one length."""
    for length in range(1, plan.up_to + 1):
        words = words_of_length(model.alphabet, length)
        while chunk := list(islice(words, CHUNK)):
            yield chunk
    rng = random.Random(plan.seed)
    left = plan.random_words
    at_numbers: list[Word] = []
    if isinstance(model.language, TemporalLanguage):
        symbols = _some(rng, model.alphabet.symbols)
        found = words_at_the_boundary(model.language.formula, symbols, plan.length)
        at_numbers = list(islice(found, MAX_BOUNDARY_WORDS))
    # Half of the budget goes to the formula's own boundaries, if it has numbers.
    for word in rng.sample(at_numbers, min(left // 2, len(at_numbers))):
        left -= 1
        yield [word]
    length = plan.length
    while left > 0:
        symbols = _some(rng, model.alphabet.symbols)
        boundary = list(boundary_words(symbols, length))
        chunk = rng.sample(boundary, min(4, len(boundary), left))
        chunk += [_random_word(rng, symbols, length) for _ in range(min(4, left - len(chunk)))]
        left -= len(chunk)
        yield chunk
        # A quarter of the lengths is the greatest: constructions break there first.
        length = plan.length if rng.random() < 0.25 else rng.randint(1, plan.length)


def _some(rng: random.Random, symbols: Sequence[str]) -> Sequence[str]:
    """All symbols of a small alphabet, some of a large one."""
    return symbols if len(symbols) <= MANY_SYMBOLS else rng.sample(symbols, MANY_SYMBOLS)


def _random_word(rng: random.Random, symbols: Sequence[str], length: int) -> Word:
    """Uniform symbols, or one symbol rare, so that counts come out small as well."""
    weights = [1.0] * len(symbols)
    weights[rng.randrange(len(symbols))] = rng.choice([1.0, 0.05])
    return tuple(rng.choices(symbols, weights, k=length))


def _compare(
    language: Language, runners: Mapping[str, DenseTransformer], words: list[Word]
) -> tuple[Disagreement | None, float]:
    if isinstance(language, ProgramLanguage) and language.program.numbers is not None:
        return _compare_numbers(language, language.program.numbers, runners, words)
    exact = exact_rows(language, words)
    if len(words[0]) <= DEFINITIONAL_LENGTH:
        for word, rows in zip(words, exact, strict=True):
            found = _difference(word, "linear-time meaning", language.rows(word), rows)
            if found:
                return found, float("inf")
    smallest = float("inf")
    for which, dense in runners.items():
        for run, expected in zip(run_words(dense, words), exact, strict=True):
            if which == "soft":
                smallest = min(smallest, run.margin)
            found = _difference(run.word, which, expected, run.rows)
            if found:
                return found, smallest
    return None, smallest


def _compare_numbers(
    language: ProgramLanguage, said: Numbers, runners: Mapping[str, DenseTransformer], words: list[Word]
) -> tuple[Disagreement | None, float]:
    exact = [_expected(said, language.numbers(word)) for word in words]
    smallest = float("inf")
    for which, dense in runners.items():
        for run, expected in zip(run_words(dense, words), exact, strict=True):
            if which == "soft":
                smallest = min(smallest, run.margin)
            for position, (want, have) in enumerate(zip(expected, run.numbers or (), strict=True), start=1):
                if not _agrees(want, have):
                    return Disagreement(run.word, position, which, want, have), smallest
    return None, smallest


def _expected(said: Numbers, rows: tuple[tuple[Fraction, ...], ...]) -> tuple[Expected, ...]:
    """The exact number at each position, of an integer the integer itself."""
    match said.measure:
        case Measure.INTEGER:
            n = len(rows[0])
            return tuple(int(x * len(visible(said.mask, i, n))) for i, x in enumerate(rows[0], start=1))
        case Measure.FRACTION:
            return rows[0]
        case Measure.DISTRIBUTION:
            return tuple(dict(zip(said.names, column, strict=True)) for column in zip(*rows, strict=True))
        case _:
            assert_never(said.measure)


def _agrees(want: Expected, have: Number | None) -> bool:
    """Integers are the same, other numbers as near to each other as is claimed of them in floats."""
    if isinstance(want, dict):
        return isinstance(have, dict) and all(_is_near(number, have[name]) for name, number in want.items())
    if isinstance(want, int):
        return want == have
    return isinstance(have, float) and _is_near(want, have)


def _is_near(want: Fraction, have: float) -> bool:
    return abs(Fraction(have) - want) <= FLOAT_ACCURACY


def exact_rows(language: Language, words: list[Word]) -> list[Sequence[Sequence[bool]]]:
    """The exact outputs of words of one length, of a formula in linear time."""
    if isinstance(language, TemporalLanguage):
        return [[row] for row in truth_of_words(language.formula, words).tolist()]
    return [language.rows(word) for word in words]


def _difference(
    word: Word, which: str, expected: Sequence[Sequence[bool]], got: Sequence[Sequence[bool | None]]
) -> Disagreement | None:
    for wanted, had in zip(expected, got, strict=True):
        for position, (want, have) in enumerate(zip(wanted, had, strict=True), start=1):
            if want is not have:
                return Disagreement(word, position, which, want, have)
    return None
