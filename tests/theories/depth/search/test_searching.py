"""The searches against enumeration: every pair is one, and where none is found there is none."""

from __future__ import annotations

import random
from itertools import chain, islice, product

import pytest

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet, Word
from attemper.theories.depth.search.actions import LetterPair
from attemper.theories.depth.search.caps import ClassCaps
from attemper.theories.depth.search.deepening import Paused, deepen
from attemper.theories.depth.search.equal_lengths import search_by_length
from attemper.theories.depth.search.searching import NO_EQUAL_LENGTHS, Apart, Enough, Open, search
from attemper.theories.depth.search.shapes import search_shapes
from attemper.theories.depth.search.stepping import Sight
from tests.support.oracles.layered import places, value_at_end

WORDS = tuple(chain.from_iterable(product("ab", repeat=n) for n in range(1, 9)))


def drawn(seed: int, states: int) -> Dfa:
    """A minimal automaton over a b with at most so many states."""
    rng = random.Random(seed)
    moves = tuple((rng.randrange(states), rng.randrange(states)) for _ in range(states))
    accepting = frozenset(state for state in range(states) if rng.random() < 0.5)
    return minimal(Dfa(Alphabet(("a", "b")), moves, 0, accepting))


def spelled(dfa: Dfa, pair: LetterPair) -> tuple[Word, Word]:
    first, second = (tuple(dfa.alphabet.symbols[letter] for letter in word) for word in pair)
    return first, second


def require_pair(dfa: Dfa, words: LetterPair, layers: int, prefix: int = 1, period: int = 1) -> None:
    first, second = spelled(dfa, words)
    assert dfa.accepts(first) is not dfa.accepts(second)
    place = places(prefix, period)
    assert value_at_end(first, layers, place) == value_at_end(second, layers, place)


def clashing(dfa: Dfa, layers: int, place: object, *, same_length: bool) -> bool:
    """Whether two words of at most 8 letters are of one class, with different verdicts."""
    verdicts: dict[object, bool] = {}
    for word in WORDS:
        key = value_at_end(word, layers, place), len(word) if same_length else 0  # type: ignore[arg-type]
        if verdicts.setdefault(key, dfa.accepts(word)) is not dfa.accepts(word):
            return True
    return False


@pytest.mark.parametrize(("prefix", "period"), [(1, 1), (1, 2), (2, 1)])
@pytest.mark.parametrize("layers", [0, 1])
def test_a_search_finds_a_pair_or_there_is_none(layers: int, prefix: int, period: int) -> None:
    place, met = places(prefix, period), set()
    values = {word: value_at_end(word, layers, place) for word in WORDS}
    for seed in range(60):
        dfa = drawn(seed, 4)
        found = search(dfa, layers, Sight(prefix, period), ClassCaps())
        if isinstance(found, Apart):
            require_pair(dfa, found.words, layers, prefix, period)
        else:
            assert isinstance(found, Enough)
            verdicts: dict[object, bool] = {}
            assert all(
                verdicts.setdefault(values[word], dfa.accepts(word)) is dfa.accepts(word) for word in WORDS
            )
        met.add(type(found))
    assert met == {Apart, Enough}


def test_a_search_by_length_finds_a_pair_or_there_is_none() -> None:
    met = set()
    for seed in range(60):
        dfa = drawn(seed, 3)
        found = search_by_length(dfa, 1, Sight(), ClassCaps())
        if isinstance(found, Apart):
            require_pair(dfa, found.words, 1)
            assert len(found.words[0]) == len(found.words[1])
        else:
            assert isinstance(found, Enough)
            assert not clashing(dfa, 1, places(1, 1), same_length=True)
        met.add(type(found))
    assert met == {Apart, Enough}


@pytest.mark.sweep(2)
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_words_of_shapes_are_pairs(layers: int) -> None:
    found = 0
    for seed in range(30):
        dfa = drawn(seed, 3)
        pair = search_shapes(dfa, layers, Sight(1, 2), ClassCaps(classes=200))
        if pair is not None:
            require_pair(dfa, pair, layers, 1, 2)
            found += 1
        both = search_shapes(dfa, layers, Sight(), ClassCaps(classes=100), same_length=True)
        if both is not None:
            require_pair(dfa, both, layers)
            assert len(both[0]) == len(both[1])
    assert found > 2


def test_one_letter_has_no_pair_of_one_length_but_a_network_that_is_the_same_at_each_may_not_be_enough() -> (
    None
):
    pairs = parse_regex("(aa)*", "a")
    *_, last = deepen(pairs, Sight(), ClassCaps(), 5, same_length=True)
    assert last.layers == 0
    assert last.outcome == Open(1, NO_EQUAL_LENGTHS)


def test_a_cap_ends_the_search_and_says_so() -> None:
    nested = parse_regex("(a(ab)*b)*", "ab")
    found = search(nested, 3, Sight(), ClassCaps(classes=100))
    assert found == Open(101, "more than 100 classes") or (isinstance(found, Open) and found.classes <= 102)
    assert isinstance(search(nested, 3, Sight(), ClassCaps(deadline=0.0)), Open)


def test_whoever_asks_is_told_before_many_classes_are_listed() -> None:
    nested = parse_regex("(a(ab)*b)*", "ab")
    layers = list(islice(deepen(nested, Sight(), ClassCaps(), 9), 4))
    assert [type(layer.outcome) for layer in layers] == [Apart, Apart, Apart, Paused]
    assert layers[-1].layers == 3


@pytest.mark.parametrize(
    ("letters", "layers", "period", "classes"),
    [("ab", 0, 1, 2), ("ab", 1, 1, 14), ("ab", 2, 1, 602), ("abc", 0, 1, 3), ("abc", 1, 1, 156)]
    + [("ab", 0, 2, 4), ("ab", 1, 2, 342)]
    + [("a", k, 1, k + 1) for k in range(6)],
)
def test_there_are_so_many_classes(letters: str, layers: int, period: int, classes: int) -> None:
    everything = parse_regex("~[]", letters)
    assert search(everything, layers, Sight(1, period), ClassCaps()) == Enough(classes)


@pytest.mark.parametrize(("letters", "layers", "period"), [("ab", 3, 1), ("ab", 2, 2), ("abc", 2, 1)])
def test_then_there_are_many_more(letters: str, layers: int, period: int) -> None:
    found = search(parse_regex("~[]", letters), layers, Sight(1, period), ClassCaps(classes=20_000))
    assert isinstance(found, Open)
    assert found.classes > 20_000
