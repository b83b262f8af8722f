"""Average sensitivity: against all words and all exchanges, and where it is known by hand."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import product

import pytest

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.regular.sensitivity import average_sensitivity
from attemper.languages.words import Alphabet
from tests.languages.regular.test_forcing import random_dfas
from tests.support.cli.command_line import attemper
from tests.support.suites import Few


def by_enumeration(dfa: Dfa, n: int) -> Fraction:
    """Every word, every position, every other symbol."""
    symbols, turned, tried = dfa.alphabet.symbols, 0, 0
    for word in product(symbols, repeat=n):
        for place, symbol in enumerate(word):
            for other in symbols:
                if other != symbol:
                    tried += 1
                    turned += dfa.accepts((*word[:place], other, *word[place + 1 :])) != dfa.accepts(word)
    return Fraction(turned * n, tried) if tried else Fraction(0)


def test_it_is_that_of_all_words_and_all_exchanges(few: Few) -> None:
    for dfa in few(random_dfas(5, 80, 7), 20):
        for n in range(6 if len(dfa.alphabet.symbols) < 3 else 5):
            assert average_sensitivity(dfa, n) == by_enumeration(dfa, n)


@pytest.mark.parametrize(
    ("regex", "symbols", "at_100"),
    [
        ("(b*ab*a)*b*", "ab", Fraction(100)),
        ("(b*ab*a)*b*", "abc", Fraction(0)),
        ("(a|b)*a", "ab", Fraction(1)),
        ("(a|b)*a(a|b)*", "ab", Fraction(2 * 100, 2**100)),
        ("a*", "a", Fraction(0)),
    ],
)
def test_where_it_is_known(regex: str, symbols: str, at_100: Fraction) -> None:
    dfa = parse_regex(regex, symbols)
    found = average_sensitivity(dfa, 100)
    if symbols == "abc":  # almost no word is without c, and those with one c turn at that place
        assert 0 < found < Fraction(1, 10**15)
    else:
        assert found == at_100


def test_majority_is_as_sensitive_as_a_root() -> None:
    """More a than b at n = 100, as a counter with 201 states: n C(n-1, n/2) / 2^(n-1), about sqrt(2n/pi)."""
    states = 201
    moves = tuple((min(q + 1, states - 1), max(q - 1, 0)) for q in range(states))
    majority = Dfa(Alphabet(("a", "b")), moves, 100, frozenset(range(101, states)))
    ways = 1
    for k in range(50):
        ways = ways * (99 - k) // (k + 1)
    assert average_sensitivity(majority, 100, most=10**6) == Fraction(100 * ways, 2**99)
    assert 7.9 < average_sensitivity(majority, 100, most=10**6) < 8.1


def test_too_many_pairs_are_refused_and_classify_leaves_the_line_out() -> None:
    dfa = parse_regex("(b*ab*a)*b*", "ab")
    with pytest.raises(UnsupportedError, match="more than 1 moves"):
        average_sensitivity(dfa, 3, most=1)
    found = attemper("classify", "regex:(b*ab*a)*b*", "--alphabet", "ab", "--json")
    assert json.loads(found.out)["average_sensitivity"] == {"n": 100, "exact": "100"}
    lines = attemper("classify", "regex:(a|b)*a", "--alphabet", "ab").out
    assert "average sensitivity 1 at n = 100: so many" in lines
