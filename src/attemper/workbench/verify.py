"""Does a model compute its formula? Soft run, hard run and exact meaning, word by word.

Agreement on the words tried is not a proof: it is a search for a counterexample.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.temporal.meaning import truth
from attemper.languages.words import Word, words_of_length
from attemper.running.batches import run_words
from attemper.running.truth import truth_of_words
from attemper.workbench.model import Model

MAX_WORDS = 2_000_000
CHUNK = 2048
DEFINITIONAL_LENGTH = 8
"""Up to this length the exact meaning is evaluated straight from the definition as well."""


@final
@dataclass(frozen=True)
class Disagreement:
    """A word on which a run differs from the formula's exact meaning at a position (from 1)."""

    word: Word
    position: int
    which: str
    expected: bool
    got: bool | None


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


def count_words(model: Model, plan: Plan) -> int:
    """How many words the plan has. Raises `UnsupportedError` for more than two million."""
    size = len(model.alphabet.symbols)
    total = 0
    for length in range(1, plan.up_to + 1):
        total += size**length
        if total > MAX_WORDS:
            raise UnsupportedError(
                f"there are more than {MAX_WORDS:,} words up to length {plan.up_to} over {size} symbols; "
                f"use --up-to {length - 1} or less"
            )
    return total + plan.random_words


def verify(model: Model, plan: Plan, progress: Callable[[int], None] = lambda _: None) -> Verification:
    """Try the plan's words; stop at the first disagreement. `progress` hears how many were done."""
    count_words(model, plan)
    tried, longest, smallest = 0, 0, float("inf")
    for words in _chunks(model, plan):
        disagreement, margin = _compare(model, words)
        tried, longest = tried + len(words), max(longest, len(words[0]))
        smallest = min(smallest, margin)
        if disagreement is not None:
            return Verification(tried, longest, smallest, disagreement)
        progress(len(words))
    return Verification(tried, longest, smallest, None)


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
    symbols = model.alphabet.symbols
    left = plan.random_words
    while left > 0:
        # Half of the lengths are the extremes, where constructions break first.
        length = plan.length if rng.random() < 0.25 else rng.randint(1, plan.length)
        boundary = list(boundary_words(symbols, length))
        chunk = rng.sample(boundary, min(4, len(boundary), left))
        chunk += [_random_word(rng, symbols, length) for _ in range(min(4, left - len(chunk)))]
        left -= len(chunk)
        yield chunk


def _random_word(rng: random.Random, symbols: Sequence[str], length: int) -> Word:
    """Uniform symbols, or one symbol rare, so that counts come out small as well."""
    weights = [1.0] * len(symbols)
    weights[rng.randrange(len(symbols))] = rng.choice([1.0, 0.05])
    return tuple(rng.choices(symbols, weights, k=length))


def _compare(model: Model, words: list[Word]) -> tuple[Disagreement | None, float]:
    exact = truth_of_words(model.language.formula, words).tolist()
    if len(words[0]) <= DEFINITIONAL_LENGTH:
        for word, row in zip(words, exact, strict=True):
            by_definition = truth(model.language.formula, word)
            found = _difference(word, "linear-time meaning", by_definition, row)
            if found:
                return found, float("inf")
    smallest = float("inf")
    for which in ("soft", "hard"):
        dense = model.dense(weights="soft" if which == "soft" else "hard")
        for run, expected in zip(run_words(dense, words), exact, strict=True):
            if which == "soft":
                smallest = min(smallest, run.margin)
            found = _difference(run.word, which, expected, run.bits)
            if found:
                return found, smallest
    return None, smallest


def _difference(
    word: Word, which: str, expected: Sequence[bool], got: Sequence[bool | None]
) -> Disagreement | None:
    for position, (want, have) in enumerate(zip(expected, got, strict=True), start=1):
        if want is not have:
            return Disagreement(word, position, which, want, have)
    return None
