"""What one symbol can change: the largest change of a model's outputs under one exchange, measured.

    influence(n) = max |f(x) - f(x')|   over words x, x' of n symbols that differ in x_i only, for one i < n

f is any function from words to K numbers, in floating point: what is found here is measured, not proved. For
soft attention whose parameters do not depend on n the influence is O(1/n) (Hahn 2020, Lemma 5, with the
repairs that docs/influence.md names). All modes but the exact ones look at some words only: what they find is
at most the maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats, Integers

Outputs = Callable[[Integers], Floats]
"""Words of n numbered symbols, of shape (B, n), to outputs of shape (B, K)."""

OutputsOfHistograms = Callable[[Integers, int], Floats]
"""Counts of each symbol in a word, of shape (B, S), and the symbol at position n, to outputs (B, K)."""

BATCH = 1024
"""How many words are handed to a model at a time."""

SAMPLED_POSITIONS = 4
"""At how many positions between the first and the last but one a sampled word is exchanged."""


class PositionClass(StrEnum):
    """A class of positions i < n."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST_BUT_ONE = "last but one"
    ANY = "any"
    """All positions alike, where order cannot matter."""


@final
@dataclass(frozen=True)
class WordFrame:
    """Which words there are: numbered `free` symbols between a fixed first symbol and an end marker, if any.

    A length n counts both. Position n is read; the positions that are exchanged are the free ones before it.

    >>> frame = WordFrame((0, 1), ending=2)
    >>> frame.words(np.array([[0, 1]])).tolist(), list(frame.positions(3))
    ([[0, 1, 2]], [1, 2])
    """

    free: tuple[int, ...]
    start: int | None = None
    ending: int | None = None

    @property
    def fixed(self) -> int:
        """How many positions have a fixed symbol."""
        return (self.start is not None) + (self.ending is not None)

    def positions(self, length: int) -> range:
        """The positions that are exchanged, counted from 1."""
        return range(1 if self.start is None else 2, length)

    def place(self, position: int, length: int) -> PositionClass:
        """The class of a position."""
        if position == length - 1:
            return PositionClass.LAST_BUT_ONE
        return PositionClass.FIRST if position == self.positions(length)[0] else PositionClass.MIDDLE

    def words(self, bodies: Integers) -> Integers:
        """Bodies, free symbols counted from 0 in the order of `free`, of shape (B, m), as words (B, n)."""
        rows = np.asarray(self.free, dtype=np.int64)[bodies]
        before = [] if self.start is None else [np.full((len(rows), 1), self.start)]
        after = [] if self.ending is None else [np.full((len(rows), 1), self.ending)]
        return np.concatenate([*before, rows, *after], axis=1)

    def require(self, length: int) -> None:
        """Raises `UnsupportedError` unless something can be exchanged in words of that length."""
        if len(self.free) < 2:
            raise UnsupportedError("with one symbol only there is nothing to exchange")
        if not self.positions(length):
            least = self.positions(length).start + 1
            raise UnsupportedError(
                f"at n = {length} there is no position to exchange: take n from {least} on (n counts "
                "the end marker and the symbol that begins every word)"
            )


@final
@dataclass(frozen=True)
class WordExchange:
    """Position `position` of the word, from 1, is given the symbol `after`."""

    word: tuple[int, ...]
    position: int
    after: int


@final
@dataclass(frozen=True)
class HistogramExchange:
    """In any word with these `counts` of symbols and `last` at position n, a `before` becomes an `after`."""

    counts: tuple[int, ...]
    last: int
    before: int
    after: int


@final
@dataclass(frozen=True)
class Changes:
    """What was seen of one output and one class of positions.

    `exchanges` is the number of pairs of words, `largest` their largest change and `exchange` where that was.
    `total` is the sum of all changes, None where a mean over these pairs would mean nothing.
    """

    exchanges: int
    largest: float
    exchange: WordExchange | HistogramExchange
    total: float | None

    @property
    def mean(self) -> float | None:
        return None if self.total is None else self.total / self.exchanges


Seen = Mapping[tuple[PositionClass, int], Changes]
"""Changes by class of positions and output."""


def merged(parts: Iterable[Seen]) -> dict[tuple[PositionClass, int], Changes]:
    """All that was seen in several parts; of equal changes the first is kept."""
    found: dict[tuple[PositionClass, int], Changes] = {}
    for part in parts:
        for key, changes in part.items():
            found[key] = _both(found[key], changes) if key in found else changes
    return found


def _both(left: Changes, right: Changes) -> Changes:
    best = right if right.largest > left.largest else left
    total = None if left.total is None or right.total is None else left.total + right.total
    return Changes(left.exchanges + right.exchanges, best.largest, best.exchange, total)


def given_words(outputs: Outputs, frame: WordFrame, words: Integers) -> Iterator[Seen]:
    """All n (|S| - 1) exchanges in each of the words (B, n)."""
    frame.require(words.shape[1])
    positions = np.array(frame.positions(words.shape[1]))
    yield from _exchanges(outputs, frame, words, np.tile(positions, (len(words), 1)))


def sampled_words(outputs: Outputs, frame: WordFrame, words: Integers, seed: int) -> Iterator[Seen]:
    """Exchanges in each of the words (B, n): at the first position, the last but one, and some at random."""
    frame.require(words.shape[1])
    random = np.random.default_rng([seed, words.shape[1]])
    first, *middle = frame.positions(words.shape[1])
    between = middle[:-1]
    rows = [
        [
            first,
            *middle[-1:],
            *random.permutation(np.array(between, dtype=np.int64))[:SAMPLED_POSITIONS].tolist(),
        ]
        for _ in words
    ]
    yield from _exchanges(outputs, frame, words, np.array(rows, dtype=np.int64))


def random_words(frame: WordFrame, length: int, count: int, seed: int) -> Integers:
    """Words of n symbols, of shape (count, n), the free ones uniform and independent."""
    random = np.random.default_rng([seed, length, 1])
    return frame.words(random.integers(0, len(frame.free), (count, length - frame.fixed)))


def _exchanges(outputs: Outputs, frame: WordFrame, words: Integers, positions: Integers) -> Iterator[Seen]:
    """Exchanges in each word (B, n) at its positions (B, P), by every other free symbol."""
    for word, own in zip(words, positions, strict=True):
        base = finite(outputs(word[None]))
        pairs = [(at, symbol) for at in own.tolist() for symbol in frame.free if symbol != word[at - 1]]
        for top in range(0, len(pairs), BATCH):
            some = np.array(pairs[top : top + BATCH])
            changed = exchanged(np.tile(word, (len(some), 1)), some[:, 0], some[:, 1])
            yield _classed(frame, word, some, np.abs(finite(outputs(changed)) - base))


def exchanged(words: Integers, positions: Integers, symbols: Integers) -> Integers:
    """The words (B, n) with another symbol each, at one position each, counted from 1.

    >>> exchanged(np.array([[0, 0, 2]]), np.array([2]), np.array([1])).tolist()
    [[0, 1, 2]]
    """
    changed = words.copy()
    changed[np.arange(len(words)), positions - 1] = symbols
    return changed


def _classed(frame: WordFrame, word: Integers, pairs: Integers, changes: Floats) -> Seen:
    """The changes (B, K) of one word, by exchanges (position, symbol), in their classes."""
    places = np.array([frame.place(int(position), len(word)) for position, _ in pairs])
    found = {}
    for place in dict.fromkeys(places.tolist()):
        rows = np.flatnonzero(places == place)
        for output in range(changes.shape[1]):
            own = changes[rows, output]
            position, symbol = pairs[rows[own.argmax()]].tolist()
            exchange = WordExchange(tuple(word.tolist()), position, symbol)
            found[PositionClass(place), output] = Changes(
                len(rows), float(own.max()), exchange, float(own.sum())
            )
    return found


def finite(values: Floats) -> Floats:
    """The outputs themselves. Raises `UnsupportedError` if one is no finite number."""
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise UnsupportedError("the model's output is not a finite number on some word: nothing is measured")
    return found
