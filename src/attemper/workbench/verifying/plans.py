"""Which words are tried, in which order, and cut into which tasks: a function of model and plan alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from itertools import islice
from typing import assert_never, final

from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.numbering import Numbering, numbering_of
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Word
from attemper.workbench.model import Model
from attemper.workbench.verifying.batches import Batch, PrefixStretch, Stretch, WordList
from attemper.workbench.verifying.boundaries import boundary_words, random_word, words_at_the_boundary

MAX_WORDS = 2_000_000
MANY_WORDS = 200_000
CHUNK = 2048
MANY_SYMBOLS = 5
MAX_BOUNDARY_WORDS = 20_000
TASK_COST = 1 << 22
"""About how many pairs of positions a task has: a fraction of a second, which pays for sending it."""

OWN_COST = 64
"""What a position costs beside its pairs, as so many pairs."""


@final
@dataclass(frozen=True)
class Plan:
    """The words to try: all up to a length, then so many random and adversarial ones up to the longest."""

    up_to: int
    count: int
    longest: int
    seed: int = 0

    @property
    def reach(self) -> int:
        """The greatest length that a word may have."""
        return max(self.up_to, self.longest if self.count else 0)


@final
class PlanPart(Enum):
    """What a part of a plan has: all words length by length, the same by their prefixes, or drawn words."""

    LENGTHS = auto()
    PREFIXES = auto()
    DRAWN = auto()


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
            f"use up_to={possible} or less",
            options=("up_to",),
        )
    exhaustive: int = sum(size**length for length in range(1, plan.up_to + 1))
    return exhaustive + plan.count


def tasks(model: Model, plan: Plan, part: PlanPart) -> Iterator[tuple[Batch, ...]]:
    """The batches of a part of the plan, in its order, some to a task. They are the same each time."""
    size = len(model.alphabet.symbols)
    match part:
        case PlanPart.LENGTHS:
            lengths = range(1, plan.up_to + 1)
            yield from _together(stretch for length in lengths for stretch in _stretches(length, size))
        case PlanPart.PREFIXES:
            for stretch in _stretches(plan.up_to, size):
                yield (PrefixStretch(stretch),)
        case PlanPart.DRAWN:
            yield from _together(WordList(tuple(words)) for words in _drawn(model, plan))
        case _:
            assert_never(part)


def _stretches(length: int, size: int) -> Iterator[Stretch]:
    """All words of one length."""
    for start in range(0, size**length, CHUNK):
        yield Stretch(length, start, min(start + CHUNK, size**length))


def _together(batches: Iterator[Stretch | WordList]) -> Iterator[tuple[Batch, ...]]:
    """As many batches to a task as its cost allows, and at least one."""
    task: list[Batch] = []
    spent = 0
    for batch in batches:
        cost = _cost(batch)
        if task and spent + cost > TASK_COST:
            yield tuple(task)
            task, spent = [], 0
        task.append(batch)
        spent += cost
    if task:
        yield tuple(task)


def _cost(batch: Stretch | WordList) -> int:
    match batch:
        case Stretch(length, start, stop):
            return (stop - start) * length * (length + OWN_COST)
        case WordList(words):
            return sum(len(word) * (len(word) + OWN_COST) for word in words)
        case _:
            assert_never(batch)


def _drawn(model: Model, plan: Plan) -> Iterator[list[Word]]:
    """Lists of words at the formula's numbers, at boundaries and at random, each list of one length."""
    rng = random.Random(plan.seed)
    left = plan.count
    at_numbers: list[Word] = []
    if isinstance(model.language.definition, TemporalLanguage):
        symbols = _some(rng, model.alphabet.symbols)
        found = words_at_the_boundary(model.language.definition.formula, symbols, plan.longest)
        at_numbers = list(islice(found, MAX_BOUNDARY_WORDS))
    # Half of the budget goes to the formula's own boundaries, if it has numbers.
    for word in rng.sample(at_numbers, min(left // 2, len(at_numbers))):
        left -= 1
        yield [word]
    length, members = plan.longest, _members(model.language.definition, plan.longest)
    while left > 0:
        symbols = _some(rng, model.alphabet.symbols)
        boundary = list(boundary_words(symbols, length))
        chunk = rng.sample(boundary, min(4, len(boundary), left))
        chunk += [random_word(rng, symbols, length) for _ in range(min(4, left - len(chunk)))]
        if members is not None and (count := members.count(length)):
            # Where members are rare no random word is one, and nothing but the reject would be tried.
            chunk[-1] = members.word(length, rng.randrange(count))
        left -= len(chunk)
        yield chunk
        # A quarter of the lengths is the greatest: constructions break there first.
        length = plan.longest if rng.random() < 0.25 else rng.randint(1, plan.longest)


def _members(language: Definition, longest: int) -> Numbering | None:
    """The members of an automaton, if it is one in which they can be counted."""
    return numbering_of(language, longest) if isinstance(language, Dfa) else None


def _some(rng: random.Random, symbols: Sequence[str]) -> Sequence[str]:
    """All symbols of a small alphabet, some of a large one."""
    return symbols if len(symbols) <= MANY_SYMBOLS else rng.sample(symbols, MANY_SYMBOLS)
