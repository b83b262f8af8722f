"""Samplers against the exact law at n = 16, by Pearson's test; the same seed gives the same prefixes."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeVar

import pytest

from attemper.errors import OptionError
from attemper.languages.sources.brackets import LONGEST
from attemper.languages.sources.sampling import sample
from attemper.languages.sources.values import NAMES, Brackets, Parity, source_named
from attemper.languages.words import Word
from tests.support.oracles.sources import exceeds_chance, gathered, law, paths, prefixes, remembered

Symbol = TypeVar("Symbol")

N = 16
COUNT = 12_000
P = Fraction(2, 5)


PARTS = tuple(map(tuple, (range(6), range(N - 6, N), range(5, 11), range(0, N, 3))))
"""The places that are compared: how prefixes begin and end, the middle, and every third symbol."""


def at(places: tuple[int, ...], word: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
    return tuple(word[place] for place in places)


def opening(word: Word) -> tuple[bool, ...]:
    return tuple(symbol in "([" for symbol in word)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("odd", [False, True])
def test_parity_is_drawn_by_its_law(odd: bool) -> None:
    source = Parity(P, odd)
    drawn, others = sample(source, N, COUNT, seed=1), sample(Parity(P, not odd), N, COUNT, seed=1)

    def ones(word: Word) -> int:
        return min(max(word.count("1"), 3), 12)

    for places in PARTS:
        start: Word = ()
        wanted = remembered(
            source, N, start, lambda seen, i, symbol, kept=places: (*seen, symbol) if i in kept else seen
        )
        assert not exceeds_chance((at(places, word) for word in drawn), wanted)
        # The states before and after tell polarities apart, so only the first symbol does.
        assert exceeds_chance((at(places, word) for word in others), wanted) is (0 in places)
    counts = remembered(source, N, 0, lambda seen, _, symbol: seen + int(symbol))
    limited: dict[int, Fraction] = dict.fromkeys(range(3, 13), Fraction(0))
    for count, share in counts.items():
        limited[min(max(count, 3), 12)] += share
    assert not exceeds_chance(map(ones, drawn), limited)


def test_brackets_are_drawn_by_their_law() -> None:
    source = Brackets(P)
    drawn = sample(source, N, COUNT, seed=1)
    others = sample(Brackets(Fraction(9, 20)), N, COUNT, seed=1)
    shares = paths(source, N)
    for places in PARTS:
        wanted = gathered(shares, lambda path, kept=places: at(kept, path))
        assert not exceeds_chance((at(places, opening(word)) for word in drawn), wanted)
    far = (at(PARTS[1], opening(word)) for word in others)
    assert exceeds_chance(far, gathered(shares, lambda path: at(PARTS[1], path))), "it tells p apart"
    heights = gathered(shares, lambda path: min(2 * sum(path) - N, 10))
    assert not exceeds_chance((min(2 * sum(opening(word)) - N, 10) for word in drawn), heights)


def test_kinds_of_brackets_are_drawn_independently_and_matched() -> None:
    """All prefixes of four symbols, in whole: kinds, too."""
    source = Brackets(P)
    drawn = sample(source, 4, COUNT, seed=2)
    assert set(drawn) <= set(prefixes(source, 4))
    assert not exceeds_chance(drawn, law(source, 4))
    longer = sample(source, N, COUNT, seed=3)
    kinds = [tuple(symbol == "(" for symbol in word if symbol in "([")[:6] for word in longer]
    assert not exceeds_chance(kinds, dict.fromkeys(set(kinds), Fraction(1, 64)))


@pytest.mark.parametrize("name", NAMES)
def test_seeds_and_lengths(name: str) -> None:
    source = source_named(name, P)
    assert sample(source, 9, 5, seed=4) == sample(source, 9, 5, seed=4) != sample(source, 9, 5, seed=5)
    assert all(len(word) == 300 for word in sample(source, 300, 2, seed=0))
    assert sample(source, 3, 0, seed=0) == ()
    shares = law(source, 1)
    assert not exceeds_chance(sample(source, 1, 400, seed=0), shares)


@pytest.mark.parametrize(("n", "count", "seed"), [(0, 1, 0), (3, -1, 0), (3, 1, -1), (3, 1, 0.5)])
def test_what_is_no_number_is_refused(n: int, count: int, seed: int) -> None:
    with pytest.raises(OptionError, match="="):
        sample(Parity(P, odd=True), n, count, seed)


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(OptionError, match="is beyond the"):
        sample(Brackets(P), LONGEST + 1, 1, seed=0)
