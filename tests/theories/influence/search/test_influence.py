"""What one symbol can change: every mode against the definition, on words that can all be tried."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product

import numpy as np
import pytest

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats, Integers
from attemper.models.slopes import slope
from attemper.models.soft.soft import outputs_of, outputs_of_histograms
from attemper.models.soft.weights import Encoder, Mask, Periodic
from attemper.theories.influence.search.climbing import climb
from attemper.theories.influence.search.enumeration import (
    MOST_CASES,
    all_histograms,
    all_words,
    count_histograms,
    count_words,
)
from attemper.theories.influence.search.influence import (
    HistogramExchange,
    Outputs,
    PositionClass,
    Seen,
    WordExchange,
    WordFrame,
    exchanged,
    given_words,
    merged,
    random_words,
    sampled_words,
)
from tests.support.drawn.encoders import FIXTURES, NORMS, fixture, random_encoder
from tests.theories.influence.fixtures.make_fixtures import RECIPES, train

BINARY = WordFrame((0, 1), ending=2)
FRAMES = (
    BINARY,
    WordFrame((0, 1)),
    WordFrame((1, 2), start=0),
    WordFrame((0, 1, 2)),
    WordFrame((1,), start=0, ending=2),
)


def hashed(words: Integers) -> Floats:
    """Two outputs that depend on every symbol and its place in no simple way."""
    numbers = words @ 5 ** np.arange(words.shape[1])
    return np.stack([np.sin(numbers), np.cos(3.0 * numbers)], axis=1)


def by_definition(
    outputs: Outputs, frame: WordFrame, length: int
) -> dict[tuple[PositionClass, int], tuple[int, float, float]]:
    """The number of pairs, their largest change, and the sum of changes, by class and output: one by one."""
    found: dict[tuple[PositionClass, int], tuple[int, float, float]] = {}
    for body in product(range(len(frame.free)), repeat=length - frame.fixed):
        word = frame.words(np.array([body]))[0]
        for position in frame.positions(length):
            for symbol in (s for s in frame.free if s > word[position - 1]):
                other = word.copy()
                other[position - 1] = symbol
                changes = np.abs(outputs(word[None]) - outputs(other[None]))[0]
                for output, change in enumerate(changes.tolist()):
                    key = frame.place(position, length), output
                    count, most, total = found.get(key, (0, 0.0, 0.0))
                    found[key] = count + 1, max(most, change), total + change
    return found


def run(outputs: Outputs, exchange: WordExchange) -> Floats:
    """The change that an exchange is said to make."""
    word = np.array([exchange.word])
    other = exchanged(word, np.array([exchange.position]), np.array([exchange.after]))
    return np.abs(outputs(word) - outputs(other))[0]


@pytest.mark.parametrize("frame", FRAMES[:4], ids=str)
def test_all_words_are_all_pairs_of_the_definition(frame: WordFrame) -> None:
    found = merged(all_words(hashed, frame, 5))
    wanted = by_definition(hashed, frame, 5)
    assert {key: changes.exchanges for key, changes in found.items()} == {
        key: n for key, (n, _, _) in wanted.items()
    }
    for key, changes in found.items():
        np.testing.assert_allclose([changes.largest, changes.total], wanted[key][1:], rtol=1e-12)
        assert isinstance(changes.exchange, WordExchange)
        np.testing.assert_allclose(run(hashed, changes.exchange)[key[1]], changes.largest, rtol=1e-12)
        assert frame.place(changes.exchange.position, 5) == key[0]


def soft(encoder: Encoder) -> Outputs:
    return lambda words: outputs_of(encoder, words)


def largest(seen: Seen) -> float:
    return max(changes.largest for changes in seen.values())


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "frame", [BINARY, WordFrame((0, 1)), WordFrame((0, 1, 2)), WordFrame((1, 2), start=0)], ids=str
)
def test_histograms_are_all_words_where_order_cannot_matter(norm: str, frame: WordFrame) -> None:
    encoder = random_encoder(4, norm=norm)

    def histograms(counts: Integers, last: int) -> Floats:
        return outputs_of_histograms(encoder, counts.astype(float), last)

    found = merged(all_histograms(histograms, frame, 3, 6))
    words = merged(all_words(soft(encoder), frame, 6))
    assert list(found) == [(PositionClass.ANY, 0)]
    best = found[PositionClass.ANY, 0]
    np.testing.assert_allclose(best.largest, largest(words), rtol=1e-9)
    assert isinstance(best.exchange, HistogramExchange)
    assert sum(best.exchange.counts) == 6
    assert best.exchange.counts[best.exchange.before] > 0
    assert best.mean is None


def test_a_million_positions_have_a_million_histograms() -> None:
    assert count_histograms(BINARY, 10**6) == 10**6
    assert count_histograms(WordFrame((0, 1)), 10) == 20
    assert count_words(WordFrame((0, 1, 3), start=2), 5) == 81


def test_given_words_have_all_their_exchanges() -> None:
    frame = WordFrame((0, 1, 3), start=2)
    words = frame.words(np.array([[0, 1, 2, 0, 1], [2, 2, 2, 2, 2]]))
    found = merged(given_words(hashed, frame, words))
    assert {place: found[place, 0].exchanges for place, _ in found} == {
        PositionClass.FIRST: 4,
        PositionClass.MIDDLE: 8,
        PositionClass.LAST_BUT_ONE: 4,
    }
    tried = [
        run(hashed, WordExchange(tuple(word.tolist()), position, symbol))
        for word in words
        for position in frame.positions(6)
        for symbol in frame.free
    ]
    assert largest(found) == pytest.approx(np.max(tried), rel=1e-12)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(3))
def test_samples_and_searches_find_at_most_the_maximum(seed: int) -> None:
    encoder = random_encoder(seed, positions=Periodic(np.linspace(-1, 1, 48).reshape(3, 16)))
    outputs = soft(encoder)
    exact = merged(all_words(outputs, BINARY, 9))
    words = random_words(BINARY, 9, 20, seed)
    sampled = merged(sampled_words(outputs, BINARY, words, seed))
    searched = merged(islice(climb(outputs, BINARY, 9, seed), 60))
    for found in (sampled, searched):
        assert set(found) == set(exact)
        assert all(found[key].largest <= exact[key].largest * (1 + 1e-9) for key in exact)
    assert largest(searched) > 0.999 * largest(exact)
    assert largest(searched) >= largest(sampled)
    again = merged(islice(climb(outputs, BINARY, 9, seed), 60))
    assert again == searched
    assert merged(sampled_words(outputs, BINARY, words, seed)) == sampled


def test_sampled_words_are_exchanged_at_both_ends_and_between() -> None:
    found = merged(sampled_words(hashed, BINARY, random_words(BINARY, 12, 5, 0), 0))
    assert [
        found[place, 0].exchanges
        for place in (PositionClass.FIRST, PositionClass.MIDDLE, PositionClass.LAST_BUT_ONE)
    ] == [
        5,
        20,
        5,
    ]
    short = merged(sampled_words(hashed, BINARY, random_words(BINARY, 2, 5, 0), 0))
    assert list(short) == [(PositionClass.LAST_BUT_ONE, 0), (PositionClass.LAST_BUT_ONE, 1)]


def test_a_causal_model_has_classes_of_positions() -> None:
    """Early symbols are seen by all, the last but one by two positions only."""
    encoder = random_encoder(2, mask=Mask.FUTURE_MASKED)
    found = merged(all_words(soft(encoder), BINARY, 8))
    assert found[PositionClass.FIRST, 0].largest != found[PositionClass.LAST_BUT_ONE, 0].largest


@pytest.mark.parametrize(
    ("frame", "length", "said"),
    [
        (FRAMES[4], 5, "one symbol only"),
        (BINARY, 1, "take n from 2 on"),
        (WordFrame((1, 2), start=0), 2, "take n from 3 on"),
        (BINARY, 40, f"more than {MOST_CASES:,} words"),
    ],
)
def test_what_cannot_be_enumerated_is_refused(frame: WordFrame, length: int, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        list(all_words(hashed, frame, length))


def test_histograms_beyond_the_cap_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="histograms"):
        list(all_histograms(lambda counts, _: counts * 1.0, BINARY, 3, MOST_CASES + 1))


def test_outputs_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="not a finite number"):
        list(all_words(lambda words: np.full((len(words), 1), np.nan), BINARY, 4))


def test_the_slope_is_that_of_the_longer_half() -> None:
    points = [(n, 3.0 if n < 64 else 64.0 / n) for n in (8, 16, 64, 128, 256, 512)]
    assert slope(points) == pytest.approx(-1)
    assert slope(points[:1]) is None
    assert slope([(8, 0.0), (16, 0.0)]) is None


def test_every_fixture_has_a_recipe_that_runs() -> None:
    assert {path.stem for path in FIXTURES.glob("*.safetensors")} == set(RECIPES)
    assert set(SUPREMA) == {name for name, recipe in RECIPES.items() if recipe.task != "parity source"}
    losses = {name: train(replace(recipe, steps=1))[1] for name, recipe in RECIPES.items()}
    assert all(0 < loss < 9 for loss in losses.values())
    assert train(replace(RECIPES["ones_1_none"], steps=1))[1] == losses["ones_1_none"]


SUPREMA = {
    "majority_1_post": 363.416,
    "majority_2_post": 609.015,
    "majority_2_none": 420.551,
    "majority_3_pre": 175.121,
    "parity_2_post": 0.0514824,
    "ones_1_none": 100067.0,
    "ones_2_none": 527097.0,
}
"""n times the exact maximum at n = 20,000 of each trained recogniser, to six digits."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", SUPREMA)
def test_the_trained_recognisers_have_their_maxima(name: str) -> None:
    encoder = fixture(name)
    length = 20_000

    def histograms(counts: Integers, last: int) -> Floats:
        return outputs_of_histograms(encoder, counts.astype(float), last)

    found = merged(all_histograms(histograms, BINARY, 3, length))[PositionClass.ANY, 0]
    assert found.exchanges == length - 1
    assert length * found.largest == pytest.approx(SUPREMA[name], rel=5e-6)


@pytest.mark.slow
def test_the_maximum_of_a_million_symbols_is_exact() -> None:
    """n times the maximum has settled: majority is decided with the margin that C/n allows, and no more."""
    encoder = fixture("majority_1_post")

    def histograms(counts: Integers, last: int) -> Floats:
        return outputs_of_histograms(encoder, counts.astype(float), last)

    found = merged(all_histograms(histograms, BINARY, 3, 10**6))[PositionClass.ANY, 0]
    assert found.exchanges == 10**6 - 1
    assert 10**6 * found.largest == pytest.approx(363.5, rel=1e-3)
