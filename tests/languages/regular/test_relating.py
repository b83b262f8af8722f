"""Automata beside each other, against enumeration."""

from __future__ import annotations

import itertools

import pytest

from attemper.errors import AutomatonError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.regular.relating import beyond, from_the_end, restricted
from attemper.languages.words import Alphabet, words_of_length
from tests.support.drawn import automata

AB = Alphabet(("a", "b"))


@pytest.mark.sweep(25)
@pytest.mark.parametrize("seed", range(60))
def test_an_automaton_read_from_the_end(seed: int) -> None:
    dfa = automata.random_dfa(seed, 1 + seed % 6, 2)
    other = from_the_end(dfa)
    for length in range(9):
        for word in words_of_length(dfa.alphabet, length):
            assert other.accepts(word[::-1]) == dfa.accepts(word)
    assert from_the_end(other) == minimal(dfa)


def test_too_many_states_from_the_end_are_refused() -> None:
    """The k-th symbol is an a: from the end that takes 2^k states."""
    dfa = from_the_end(automata.kth_from_end(6))
    assert len(dfa.moves) == 8
    assert len(from_the_end(dfa, most=64).moves) == 64
    with pytest.raises(UnsupportedError, match="over 63 states"):
        from_the_end(dfa, most=63)


@pytest.mark.sweep(25)
@pytest.mark.parametrize("seed", range(60))
def test_a_word_of_the_one_and_not_of_the_other(seed: int) -> None:
    left, right = (automata.random_dfa(2 * seed + k, 1 + seed % 5, 2) for k in range(2))
    words = itertools.chain.from_iterable(words_of_length(left.alphabet, length) for length in range(10))
    first = next((word for word in words if left.accepts(word) and not right.accepts(word)), None)
    found = beyond(left, right)
    if first is None:
        assert found is None or len(found) > 9
        return
    assert found is not None
    assert len(found) == len(first)
    assert left.accepts(found)
    assert not right.accepts(found)


def test_one_has_all_words_of_the_other() -> None:
    one, other = parse_regex("ab", AB), parse_regex("a*b*", AB)
    assert beyond(one, other) is None
    assert beyond(one, one) is None
    assert beyond(other, one) == ()
    assert beyond(parse_regex("[]", AB), one) is None


def test_automata_over_other_symbols_are_not_compared() -> None:
    with pytest.raises(AutomatonError, match="different alphabets"):
        beyond(parse_regex("a", "ab"), parse_regex("a", "ba"))


def test_fewer_symbols_and_another_order() -> None:
    dfa = parse_regex("a(b|c)*", "abc")
    assert restricted(dfa, Alphabet(("b", "a"))) == parse_regex("ab*", "ba")
    assert restricted(dfa, dfa.alphabet) == dfa
    assert restricted(dfa, Alphabet(("c",))) == parse_regex("[]", "c")
    with pytest.raises(AutomatonError, match="no symbol 'd'"):
        restricted(dfa, Alphabet(("a", "d")))


def test_an_automaton_that_is_not_minimal_is_made_so() -> None:
    dfa = Dfa(AB, ((1, 1), (0, 0)), 0, frozenset({0, 1}))
    assert restricted(dfa, AB) == parse_regex(".*", AB)
