"""What one symbol can change: the largest change of a model's outputs under one exchange, measured.

    influence(n) = max |f(x) - f(x')|   over words x, x' of n symbols that differ in x_i only, for one i < n

f is any function from words to K numbers, in floating point: what is found here is measured, not proved. For
soft attention whose parameters do not depend on n the influence is O(1/n) (Hahn 2020, Lemma 5, with the
repairs that docs/influence.md names). All modes but the exact ones look at some words only: what they find is
at most the maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, islice
from math import comb, log
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError

Integers = NDArray[np.int64]
Matrix = NDArray[np.float64]

Outputs = Callable[[Integers], Matrix]
"""Words of n numbered symbols, of shape (B, n), to outputs of shape (B, K)."""

OutputsOfHistograms = Callable[[Integers, int], Matrix]
"""Counts of each symbol in a word, of shape (B, S), and the symbol at position n, to outputs (B, K)."""

MOST_CASES = 1 << 20
"""How many words or histograms of one length are enumerated at most."""

BATCH = 1024
"""How many words are handed to a model at a time."""

CLIMBERS = 16
"""How many words a search improves at the same time, for each class of positions."""

SAMPLED_POSITIONS = 4
"""At how many positions between the first and the last but one a sampled word is exchanged."""


class Place(StrEnum):
    """A class of positions i < n."""

    FIRST = "first"
    MIDDLE = "middle"
    LAST_BUT_ONE = "last but one"
    ANY = "any"
    """All positions alike, where order cannot matter."""


@final
@dataclass(frozen=True)
class Frame:
    """Which words there are: numbered `free` symbols between a fixed first symbol and an end marker, if any.

    A length n counts both. Position n is read; the positions that are exchanged are the free ones before it.

    >>> frame = Frame((0, 1), ending=2)
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

    def place(self, position: int, length: int) -> Place:
        """The class of a position."""
        if position == length - 1:
            return Place.LAST_BUT_ONE
        return Place.FIRST if position == self.positions(length)[0] else Place.MIDDLE

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


Seen = Mapping[tuple[Place, int], Changes]
"""Changes by class of positions and output."""


def merged(parts: Iterable[Seen]) -> dict[tuple[Place, int], Changes]:
    """All that was seen in several parts; of equal changes the first is kept."""
    found: dict[tuple[Place, int], Changes] = {}
    for part in parts:
        for key, changes in part.items():
            found[key] = _both(found[key], changes) if key in found else changes
    return found


def _both(left: Changes, right: Changes) -> Changes:
    best = right if right.largest > left.largest else left
    total = None if left.total is None or right.total is None else left.total + right.total
    return Changes(left.exchanges + right.exchanges, best.largest, best.exchange, total)


def count_words(frame: Frame, length: int) -> int:
    """How many words of that length there are."""
    words: int = len(frame.free) ** (length - frame.fixed)
    return words


def count_histograms(frame: Frame, length: int) -> int:
    """How many histograms words of that length have, for each symbol that can stand at position n."""
    free, exchanged = len(frame.free), len(frame.positions(length))
    lasts = 1 if frame.ending is not None else free
    return lasts * comb(exchanged + free - 1, free - 1)


def all_words(outputs: Outputs, frame: Frame, length: int) -> Iterator[Seen]:
    """Every exchange in every word of n symbols: the exact maximum, of what floats compute.

    Raises `UnsupportedError` beyond `MOST_CASES` words.
    """
    frame.require(length)
    cases, free, size = count_words(frame, length), len(frame.free), length - frame.fixed
    _require_few(cases, f"words of {length} symbols")
    found = []
    for top in range(0, cases, BATCH):
        numbers = np.arange(top, min(cases, top + BATCH))
        found.append(_finite(outputs(frame.words(_digits(numbers, free, size)))))
        yield {}
    values = np.concatenate(found)
    first = frame.positions(length).start
    for position in frame.positions(length):
        split = values.reshape(free ** (position - first), free, -1, values.shape[1])
        for a, b in combinations(range(free), 2):
            changes = np.abs(split[:, a] - split[:, b])
            yield _of_all_words(changes.reshape(-1, values.shape[1]), (a, b), position, length, frame)


def _digits(numbers: Integers, base: int, size: int) -> Integers:
    """The digits of numbers, the greatest first, of shape (B, size)."""
    return np.stack([numbers // base ** (size - 1 - k) % base for k in range(size)], axis=1)


def _of_all_words(changes: Matrix, pair: tuple[int, int], position: int, length: int, frame: Frame) -> Seen:
    """The changes (B, K) of exchanging a for b at a position, the rest of the word counting up."""
    free, size = len(frame.free), length - frame.fixed
    behind = free ** (size - 1 - (position - frame.positions(length).start))
    found = {}
    for output, row in enumerate(changes.argmax(axis=0)):
        number = np.array([row // behind * behind * free + pair[0] * behind + row % behind])
        word = frame.words(_digits(number, free, size))[0]
        exchange = WordExchange(tuple(word.tolist()), position, frame.free[pair[1]])
        best, total = float(changes[row, output]), float(changes[:, output].sum())
        found[frame.place(position, length), output] = Changes(len(changes), best, exchange, total)
    return found


def all_histograms(outputs: OutputsOfHistograms, frame: Frame, symbols: int, length: int) -> Iterator[Seen]:
    """Every exchange in every word of n symbols, where order cannot matter: the exact maximum, in floats.

    `symbols` is S, the fixed ones among them. A binary alphabet with an end marker has n histograms. Raises
    `UnsupportedError` beyond `MOST_CASES`.
    """
    frame.require(length)
    _require_few(count_histograms(frame, length), f"histograms of words of {length} symbols")
    others = len(frame.positions(length)) - 1
    for last in frame.free if frame.ending is None else (frame.ending,):
        fixed = np.zeros(symbols, dtype=np.int64)
        for symbol in (last,) if frame.start is None else (last, frame.start):
            fixed[symbol] += 1
        for rest in _compositions(others, len(frame.free)):
            counts = np.tile(fixed, (len(rest), 1))
            counts[:, frame.free] += rest
            yield _of_histograms(outputs, frame, counts, last)


def _of_histograms(outputs: OutputsOfHistograms, frame: Frame, rest: Integers, last: int) -> Seen:
    """The exchanges of one symbol more, beside what the histograms (B, S) have."""
    filled = np.repeat(rest[:, None], len(frame.free), axis=1)
    for place, symbol in enumerate(frame.free):
        filled[:, place, symbol] += 1
    # Neighbours share most of their histograms: each is run once.
    cases, where = np.unique(filled.reshape(-1, rest.shape[1]), axis=0, return_inverse=True)
    values = _finite(outputs(cases, last))[where].reshape(*filled.shape[:2], -1)
    parts = []
    for a, b in combinations(range(len(frame.free)), 2):
        changes = np.abs(values[:, a] - values[:, b])
        found = {}
        for output, row in enumerate(changes.argmax(axis=0)):
            counts = tuple(filled[row, a].tolist())
            exchange = HistogramExchange(counts, last, frame.free[a], frame.free[b])
            found[Place.ANY, output] = Changes(len(rest), float(changes[row, output]), exchange, None)
        parts.append(found)
    return merged(parts)


def _compositions(total: int, parts: int) -> Iterator[Integers]:
    """All ways to write `total` as a sum of `parts` numbers from 0 on, in rows, some thousand at a time."""
    bars = combinations(range(total + parts - 1), parts - 1)
    while some := list(islice(bars, 64 * BATCH)):
        edges = np.array(some, dtype=np.int64).reshape(len(some), parts - 1)
        ends = (len(some), 1)
        full = np.concatenate([np.full(ends, -1), edges, np.full(ends, total + parts - 1)], axis=1)
        yield np.diff(full, axis=1) - 1


def given_words(outputs: Outputs, frame: Frame, words: Integers) -> Iterator[Seen]:
    """All n (|S| - 1) exchanges in each of the words (B, n)."""
    frame.require(words.shape[1])
    positions = np.array(frame.positions(words.shape[1]))
    yield from _exchanges(outputs, frame, words, np.tile(positions, (len(words), 1)))


def sampled_words(outputs: Outputs, frame: Frame, words: Integers, seed: int) -> Iterator[Seen]:
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


def random_words(frame: Frame, length: int, count: int, seed: int) -> Integers:
    """Words of n symbols, of shape (count, n), the free ones uniform and independent."""
    random = np.random.default_rng([seed, length, 1])
    return frame.words(random.integers(0, len(frame.free), (count, length - frame.fixed)))


def _exchanges(outputs: Outputs, frame: Frame, words: Integers, positions: Integers) -> Iterator[Seen]:
    """Exchanges in each word (B, n) at its positions (B, P), by every other free symbol."""
    for word, own in zip(words, positions, strict=True):
        base = _finite(outputs(word[None]))
        pairs = [(at, symbol) for at in own.tolist() for symbol in frame.free if symbol != word[at - 1]]
        for top in range(0, len(pairs), BATCH):
            some = np.array(pairs[top : top + BATCH])
            changed = exchanged(np.tile(word, (len(some), 1)), some[:, 0], some[:, 1])
            yield _classed(frame, word, some, np.abs(_finite(outputs(changed)) - base))


def exchanged(words: Integers, positions: Integers, symbols: Integers) -> Integers:
    """The words (B, n) with another symbol each, at one position each, counted from 1.

    >>> exchanged(np.array([[0, 0, 2]]), np.array([2]), np.array([1])).tolist()
    [[0, 1, 2]]
    """
    changed = words.copy()
    changed[np.arange(len(words)), positions - 1] = symbols
    return changed


def _classed(frame: Frame, word: Integers, pairs: Integers, changes: Matrix) -> Seen:
    """The changes (B, K) of one word, by exchanges (position, symbol), in their classes."""
    places = np.array([frame.place(int(position), len(word)) for position, _ in pairs])
    found = {}
    for place in dict.fromkeys(places.tolist()):
        rows = np.flatnonzero(places == place)
        for output in range(changes.shape[1]):
            own = changes[rows, output]
            position, symbol = pairs[rows[own.argmax()]].tolist()
            exchange = WordExchange(tuple(word.tolist()), position, symbol)
            found[Place(place), output] = Changes(len(rows), float(own.max()), exchange, float(own.sum()))
    return found


def climb(outputs: Outputs, frame: Frame, length: int, seed: int) -> Iterator[Seen]:
    """Words with a large change, by hill climbing from simple and from random ones; without an end.

    In every round each climber, a word with a position and a symbol to exchange there, tries another: some
    symbols changed, two parts swapped, a stretch made constant, or another position of its class. What is
    found is at most the maximum, which nobody knows. Each part has run 2 `CLIMBERS` words for each class.
    """
    frame.require(length)
    random = np.random.default_rng([seed, length, 2])
    classes = list(dict.fromkeys(frame.place(at, length) for at in frame.positions(length)))
    kinds = [place for place in classes for _ in range(CLIMBERS)]
    bodies = _starts(random, len(kinds), len(frame.free), length - frame.fixed)
    own = {
        place: [at for at in frame.positions(length) if frame.place(at, length) == place] for place in classes
    }
    positions = np.array([random.choice(own[kind]) for kind in kinds])
    best = np.full(len(kinds), -1.0)
    shift = frame.positions(length).start
    while True:
        tried = np.stack([_mutated(random, body, len(frame.free)) for body in bodies])
        moved = random.random(len(kinds)) < 1 / 4
        places = np.array([random.choice(own[kind]) for kind in kinds])
        places = np.where(moved, places, positions)
        here = tried[np.arange(len(kinds)), places - shift]
        there = (here + random.integers(1, len(frame.free), len(kinds))) % len(frame.free)
        words = frame.words(tried)
        changed = exchanged(words, places, np.asarray(frame.free)[there])
        changes = np.abs(_finite(outputs(words)) - _finite(outputs(changed)))
        yield _climbed(frame, words, changed, places, changes)
        better = changes.max(axis=1) >= best
        best = np.where(better, changes.max(axis=1), best)
        bodies = np.where(better[:, None], tried, bodies)
        positions = np.where(better, places, positions)


def _climbed(frame: Frame, words: Integers, changed: Integers, places: Integers, changes: Matrix) -> Seen:
    """The changes of a round, in their classes."""
    parts = []
    for row, position in enumerate(places.tolist()):
        after = int(changed[row, position - 1])
        place = frame.place(position, words.shape[1])
        exchange = WordExchange(tuple(words[row].tolist()), position, after)
        parts.append(
            {(place, k): Changes(1, float(change), exchange, None) for k, change in enumerate(changes[row])}
        )
    return merged(parts)


def _starts(random: np.random.Generator, count: int, free: int, size: int) -> Integers:
    """Bodies to begin with: constant, alternating, and random ones in which one symbol is rare or not."""
    bodies = random.integers(0, free, (count, size))
    for row in range(count):
        match row % 4:
            case 0:
                bodies[row] = row // 4 % free
            case 1:
                bodies[row] = (np.arange(size) + row // 4) % free
            case 2:
                rare = random.random(size) < random.random() ** 2
                bodies[row] = np.where(rare, bodies[row], row // 4 % free)
            case _:
                pass
    return bodies


def _mutated(random: np.random.Generator, body: Integers, free: int) -> Integers:
    """The body, changed a little or much."""
    made, size = body.copy(), len(body)
    match random.integers(0, 4):
        case 0:
            some = random.integers(0, size, min(size, random.geometric(1 / 2)))
            made[some] = random.integers(0, free, len(some))
        case 1:
            a, b = random.integers(0, size, 2)
            made[a], made[b] = body[b], body[a]
        case 2:
            a, b = sorted(random.integers(0, size + 1, 2))
            made[a:b] = random.integers(0, free)
        case _:
            made = np.roll(body, random.integers(0, size))
    return made


def slope(points: Sequence[tuple[int, float]]) -> float | None:
    """The slope of log(influence) in log(n) over the tail: the longer half of the lengths, at least two.

    -1 is the rate 1/n. None with fewer than two positive values there.

    >>> round(slope([(8, 1.0), (16, 0.25), (32, 0.125), (64, 0.0625)]), 6)
    -1.0
    """
    longer = max(2, (len(points) + 1) // 2)
    tail = [(log(n), log(value)) for n, value in sorted(points)[-longer:] if value > 0]
    if len(tail) < 2:
        return None
    x, y = np.array(tail).T
    x = x - x.mean()
    return float((x * y).sum() / (x * x).sum())


def _require_few(cases: int, what: str) -> None:
    if cases > MOST_CASES:
        raise UnsupportedError(
            f"there are more than {MOST_CASES:,} {what}, and no more are enumerated: take --mode sampled "
            "or search, or a smaller n"
        )


def _finite(values: Matrix) -> Matrix:
    found = np.asarray(values, dtype=np.float64)
    if not np.isfinite(found).all():
        raise UnsupportedError("the model's output is not a finite number on some word: nothing is measured")
    return found
