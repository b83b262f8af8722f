"""Longest paths against all words, one after the other, in exact arithmetic."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from attemper.models.enclosures.paths import greatest_sums


def drawn(rng: random.Random) -> float:
    """A number of any size, of either sign."""
    return rng.choice([-1, 1]) * rng.random() * 10.0 ** rng.randrange(-30, 30)


@pytest.mark.parametrize("seed", range(24))
def test_no_word_has_a_greater_sum_and_one_has_nearly_that(seed: int) -> None:
    rng = random.Random(seed)
    states, letters, sums = rng.randrange(1, 5), rng.randrange(1, 4), 3
    moves = [[rng.randrange(-1 if seed % 2 else 0, states) for _ in range(letters)] for _ in range(states)]
    lengths = np.array(sorted(rng.choices(range(6), k=5)))
    shape = (7, len(lengths), sums, letters)
    table = np.array([drawn(rng) for _ in range(int(np.prod(shape)))]).reshape(shape)
    start = np.array([drawn(rng) for _ in range(len(lengths) * sums)]).reshape(-1, sums)
    found = greatest_sums(start, lambda position, row: table[position][row:], lengths, moves, 0)
    for row, length in enumerate(lengths):
        best: dict[tuple[int, int], tuple[Fraction, Fraction]] = {}
        for word in product(range(letters), repeat=int(length)):
            state = 0
            for symbol in word:
                state = moves[state][symbol] if state >= 0 else -1
            for one in range(sums if state >= 0 else 0):
                terms = [start[row, one], *(table[j, row, one, symbol] for j, symbol in enumerate(word, 1))]
                total, size = sum(map(Fraction, terms)), sum(abs(Fraction(term)) for term in terms)
                best[one, state] = max(best.get((one, state), (total, size)), (total, size))
                assert Fraction(found[row, one, state]) >= total
        for (one, state), (total, size) in best.items():
            spread = Fraction(2) ** -46 * max(size, *(own for (k, q), (_, own) in best.items() if k == one))
            assert Fraction(found[row, one, state]) <= total + spread
        reached = np.isfinite(found[row])
        assert {(one, state) for one, state in zip(*np.nonzero(reached), strict=True)} == set(best)


def test_a_large_sum_harms_no_other_path() -> None:
    """Of two symbols one gains 2^80: a word without it keeps all its digits."""
    gains = np.array([[[2.0**80, 2.0**-80]]])
    apart = ((1, 0), (1, 1))
    found = greatest_sums(np.array([[-(2.0**-79)]]), lambda *_: gains, np.array([2]), apart, 0)
    assert 0 < found[0, 0, 0] < 2.0**-120
    assert found[0, 0, 1] > 2.0**80


def test_what_is_no_number_stays_so() -> None:
    gains = np.array([[[np.nan, 1.0]]])
    found = greatest_sums(np.zeros((1, 1)), lambda *_: gains, np.array([2]), ((0, 0),), 0)
    assert np.isnan(found).all()
    nowhere = greatest_sums(
        np.zeros((1, 1)), lambda *_: -np.inf * np.ones((1, 1, 1)), np.array([1]), ((0,),), 0
    )
    assert np.isneginf(nowhere).all()
