"""Batches of words as plain data, small enough to be sent to another process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from attemper.languages.words import Word


@final
@dataclass(frozen=True)
class Stretch:
    """The words of one length with the numbers from `start` to `stop` - 1, in the alphabet's order.

    The number of a word is what its symbols' numbers say as digits, the first of them the greatest.
    """

    length: int
    start: int
    stop: int


@final
@dataclass(frozen=True)
class PrefixStretch:
    """A stretch of words, and each shorter word whose continuation by the first symbol is in the stretch."""

    stretch: Stretch


@final
@dataclass(frozen=True)
class WordList:
    """These words, all of one length."""

    words: tuple[Word, ...]


Batch = Stretch | PrefixStretch | WordList


def words_in(stretch: Stretch, symbols: Sequence[str]) -> list[Word]:
    """The words of the stretch, in order.

    >>> words_in(Stretch(length=3, start=1, stop=4), "ab")
    [('a', 'a', 'b'), ('a', 'b', 'a'), ('a', 'b', 'b')]
    """
    size = len(symbols)
    powers = [size**place for place in reversed(range(stretch.length))]
    return [
        tuple(symbols[number // power % size] for power in powers)
        for number in range(stretch.start, stretch.stop)
    ]


def shorter(stretch: Stretch, length: int, size: int) -> tuple[Stretch, int]:
    """The words of a lesser length that belong to the stretch, and how far apart their continuations are.

    `size` is how many symbols there are. The continuation of the word with number m has the number m times
    that distance, so each shorter word belongs to exactly one of the stretches that make up a length.

    >>> shorter(Stretch(length=3, start=1, stop=5), 2, 2)
    (Stretch(length=2, start=1, stop=3), 2)
    """
    apart = size ** (stretch.length - length)
    return Stretch(length, -(-stretch.start // apart), -(-stretch.stop // apart)), apart
