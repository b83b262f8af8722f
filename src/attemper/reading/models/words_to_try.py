"""Words on which an automaton is compared with runs of what it was read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np

from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word, words_of_length

LONGEST = 120
"""The longest random word."""

LONGEST_SHORT = 16
"""All words are tried up to this length at most."""


def words_to_try(dfa: Dfa, count: int, seed: int, least: int) -> Iterator[Word]:
    """So many words, with repetitions; none has fewer than `least` letters (0 or 1).

    First all short ones, the shortest first, to `LONGEST_SHORT` letters and at most half of all; then a
    shortest word to each state of the automaton with each letter behind it; then random ones, of which every
    second is made of repeated parts.

    >>> from attemper.languages.words import Alphabet
    >>> dfa = Dfa(Alphabet(("a",)), ((1,), (1,)), 0, frozenset({1}))
    >>> [len(word) for word in words_to_try(dfa, 4, 0, 0)]
    [0, 1, 1, 2]
    """
    short = list(islice(_short(dfa, least), (count + 1) // 2))
    edges = list(islice(_edges(dfa), count - len(short)))
    yield from short
    yield from edges
    yield from islice(_random(dfa, seed), count - len(short) - len(edges))


def _short(dfa: Dfa, least: int) -> Iterator[Word]:
    for length in range(least, LONGEST_SHORT + 1):
        yield from words_of_length(dfa.alphabet, length)


def _edges(dfa: Dfa) -> Iterator[Word]:
    """A shortest word to each state, and each letter behind it."""
    known: dict[int, Word] = {dfa.start: ()}
    waiting = [dfa.start]
    for state in waiting:
        for letter, target in zip(dfa.alphabet.symbols, dfa.moves[state], strict=True):
            longer = (*known[state], letter)
            yield longer
            if target not in known:
                known[target] = longer
                waiting.append(target)


def _random(dfa: Dfa, seed: int) -> Iterator[Word]:
    """Random words without end."""
    draw = np.random.default_rng(seed)
    symbols = dfa.alphabet.symbols
    while True:
        yield _drawn(draw, symbols, int(draw.integers(1, LONGEST // 3)))
        word: Word = ()
        for _ in range(int(draw.integers(1, 5))):
            part = _drawn(draw, symbols, int(draw.integers(1, 4)))
            word += part * int(draw.integers(1, LONGEST // 12))
        yield word[:LONGEST]


def _drawn(draw: np.random.Generator, symbols: Sequence[str], length: int) -> Word:
    return tuple(symbols[k] for k in draw.integers(0, len(symbols), length).tolist())
