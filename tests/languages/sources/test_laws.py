"""Weights, next symbols, lengths: equal, as rationals, to the enumeration of all prefixes."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from attemper.errors import ExitCode, OptionError, WordError
from attemper.languages.sources.laws import mean_length, next_symbols, survival
from attemper.languages.sources.values import NAMES, Brackets, Parity, Source, name_of, source_named
from tests.support.oracles.sources import after, law, prefixes

SHARES = (Fraction(1, 2), Fraction(2, 7), Fraction(9, 10))


def to_the_last(source: Source) -> int:
    return 9 if isinstance(source, Parity) else 8


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("p", SHARES)
def test_laws_equal_enumeration(name: str, p: Fraction) -> None:
    source = source_named(name, p)
    for n in range(to_the_last(source) + 1):
        found = prefixes(source, n)
        assert survival(source, n) == sum(found.values())
        for prefix in found:
            assert next_symbols(source, prefix) == after(source, prefix)


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("p", SHARES)
def test_the_states_of_parity_are_independent_and_the_last_is_uniform(odd: bool, p: Fraction) -> None:
    """Accepting with (1-p)/(2-p) after 1, ..., n-1 symbols, whatever the polarity is."""
    source = Parity(p, odd)
    a = source.accepting_share
    for n in range(1, 9):
        for prefix, share in law(source, n).items():
            accepting = [(prefix[:t].count("1") % 2 == 1) is odd for t in range(1, n)]
            expected = Fraction(1, 2)
            for one in accepting:
                expected *= a if one else 1 - a
            assert share == expected


def test_words_of_brackets_have_the_grammars_probability() -> None:
    """P(word of 2m symbols) = (p/2)^m q^(m+1): of S -> ( S ) S | [ S ] S | nothing."""
    p = Fraction(2, 5)
    source = Brackets(p)
    for half in range(5):
        ended = [
            share * after(source, prefix)["END"]
            for prefix, share in prefixes(source, 2 * half).items()
            if "END" in after(source, prefix)
        ]
        assert set(ended) == {(p / 2) ** half * (1 - p) ** (half + 1)}


@pytest.mark.parametrize("p", SHARES)
def test_mean_lengths_of_parity_are_sums_of_survivals(p: Fraction) -> None:
    for odd in (False, True):
        source = Parity(p, odd)
        ratio = survival(source, 8) / survival(source, 7)
        assert all(survival(source, n + 1) == ratio * survival(source, n) for n in range(1, 7))
        assert mean_length(source) == survival(source, 1) / (1 - ratio)
    assert mean_length(Parity(p, odd=True)) == 2 / p
    assert mean_length(Parity(p, odd=False)) == 2 * (1 - p) / p


def test_the_mean_length_of_brackets_is_the_sum_of_survivals() -> None:
    source = Brackets(Fraction(1, 5))
    missing = mean_length(source) - sum(survival(source, n) for n in range(1, 121))
    # P(|w| >= n) falls at least by 4pq = .64 with two symbols more: sum of the rest < 2 P(|w| >= 120) / .36.
    assert mean_length(Brackets(Fraction(2, 5))) == 4
    assert 0 < missing < 6 * survival(source, 120) < Fraction(1, 10**12)


def test_names_say_the_polarity() -> None:
    for name in NAMES:
        assert name_of(source_named(name, Fraction(1, 3))) == name
    with pytest.raises(OptionError, match="choose one of parity-even, parity-odd, dyck2"):
        source_named("parity", Fraction(1, 3))


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1), Fraction(-1, 2), Fraction(3, 2), 0.5, 1, None])
def test_a_p_that_is_no_probability_is_refused(p: Fraction) -> None:
    for make in (Brackets, lambda p: Parity(p, odd=True)):
        with pytest.raises(OptionError, match=f"p={p} is not a fraction between 0 and 1") as refused:
            make(p)
        assert refused.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("n", [-1, 1.5, True])
def test_a_length_that_is_none_is_refused(n: int) -> None:
    with pytest.raises(OptionError, match=f"n={n!r} is no length here: give a number of symbols from 0 on"):
        survival(Brackets(Fraction(1, 3)), n)


@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(2, 3)])
def test_an_infinite_mean_is_refused(p: Fraction) -> None:
    with pytest.raises(OptionError, match="infinite; choose p below 1/2"):
        mean_length(Brackets(p))


def test_what_is_no_prefix_is_refused_where_it_breaks() -> None:
    source = Brackets(Fraction(1, 3))
    live = {prefix for n in range(1, 5) for prefix in prefixes(source, n)}
    for n in range(1, 5):
        for word in product("()[]", repeat=n):
            if word not in live:
                with pytest.raises(WordError, match="closes nothing"):
                    next_symbols(source, word)
    with pytest.raises(WordError, match="']' at position 2 closes nothing"):
        next_symbols(source, ("(", "]"))
    with pytest.raises(WordError, match="'2' at position 3") as refused:
        next_symbols(Parity(Fraction(1, 2), odd=True), ("0", "1", "2"))
    assert refused.value.details == {"position": 3}
