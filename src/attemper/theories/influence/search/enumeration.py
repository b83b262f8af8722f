"""Every exchange in every word of a length: one by one, or by histograms where order cannot matter."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats, Integers
from attemper.theories.influence.search import influence

MOST_CASES = 1 << 20
"""How many words or histograms of one length are enumerated at most."""


def count_words(frame: influence.WordFrame, length: int) -> int:
    """How many words of that length there are."""
    words: int = len(frame.free) ** (length - frame.fixed)
    return words


def count_histograms(frame: influence.WordFrame, length: int) -> int:
    """How many histograms words of that length have, for each symbol that can stand at position n."""
    free, exchanged = len(frame.free), len(frame.positions(length))
    lasts = 1 if frame.ending is not None else free
    return lasts * comb(exchanged + free - 1, free - 1)


def all_words(
    outputs: influence.Outputs, frame: influence.WordFrame, length: int
) -> Iterator[influence.Seen]:
    """Every exchange in every word of n symbols: the exact maximum, of what floats compute.

    Raises `UnsupportedError` beyond `MOST_CASES` words.
    """
    frame.require(length)
    cases, free, size = count_words(frame, length), len(frame.free), length - frame.fixed
    _require_few(cases, f"words of {length} symbols")
    found = []
    for top in range(0, cases, influence.BATCH):
        numbers = np.arange(top, min(cases, top + influence.BATCH))
        found.append(influence.finite(outputs(frame.words(_digits(numbers, free, size)))))
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


def _of_all_words(
    changes: Floats, pair: tuple[int, int], position: int, length: int, frame: influence.WordFrame
) -> influence.Seen:
    """The changes (B, K) of exchanging a for b at a position, the rest of the word counting up."""
    free, size = len(frame.free), length - frame.fixed
    behind = free ** (size - 1 - (position - frame.positions(length).start))
    found = {}
    for output, row in enumerate(changes.argmax(axis=0)):
        number = np.array([row // behind * behind * free + pair[0] * behind + row % behind])
        word = frame.words(_digits(number, free, size))[0]
        exchange = influence.WordExchange(tuple(word.tolist()), position, frame.free[pair[1]])
        best, total = float(changes[row, output]), float(changes[:, output].sum())
        found[frame.place(position, length), output] = influence.Changes(len(changes), best, exchange, total)
    return found


def all_histograms(
    outputs: influence.OutputsOfHistograms, frame: influence.WordFrame, symbols: int, length: int
) -> Iterator[influence.Seen]:
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
        for rest in compositions(others, len(frame.free)):
            counts = np.tile(fixed, (len(rest), 1))
            counts[:, frame.free] += rest
            yield _of_histograms(outputs, frame, counts, last)


def _of_histograms(
    outputs: influence.OutputsOfHistograms, frame: influence.WordFrame, rest: Integers, last: int
) -> influence.Seen:
    """The exchanges of one symbol more, beside what the histograms (B, S) have."""
    filled = np.repeat(rest[:, None], len(frame.free), axis=1)
    for place, symbol in enumerate(frame.free):
        filled[:, place, symbol] += 1
    # Neighbours share most of their histograms: each is run once.
    cases, where = np.unique(filled.reshape(-1, rest.shape[1]), axis=0, return_inverse=True)
    values = influence.finite(outputs(cases, last))[where].reshape(*filled.shape[:2], -1)
    parts = []
    for a, b in combinations(range(len(frame.free)), 2):
        changes = np.abs(values[:, a] - values[:, b])
        found = {}
        for output, row in enumerate(changes.argmax(axis=0)):
            counts = tuple(filled[row, a].tolist())
            exchange = influence.HistogramExchange(counts, last, frame.free[a], frame.free[b])
            found[influence.PositionClass.ANY, output] = influence.Changes(
                len(rest), float(changes[row, output]), exchange, None
            )
        parts.append(found)
    return influence.merged(parts)


def compositions(total: int, parts: int) -> Iterator[Integers]:
    """All ways to write `total` as a sum of `parts` numbers from 0 on, in rows, some thousand at a time."""
    bars = combinations(range(total + parts - 1), parts - 1)
    while some := list(islice(bars, 64 * influence.BATCH)):
        edges = np.array(some, dtype=np.int64).reshape(len(some), parts - 1)
        ends = (len(some), 1)
        full = np.concatenate([np.full(ends, -1), edges, np.full(ends, total + parts - 1)], axis=1)
        yield np.diff(full, axis=1) - 1


def _require_few(cases: int, what: str) -> None:
    if cases > MOST_CASES:
        raise UnsupportedError(
            f"there are more than {MOST_CASES:,} {what}, and no more are enumerated: take mode='sampled' "
            "or mode='search', or a smaller n",
            options=("mode",),
        )
