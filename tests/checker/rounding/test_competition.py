"""What competes for attention: leads and what they are worth, the rows, and the places of positions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from attemper.checker.identities import Formulas
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rounding import competition
from attemper.checker.rounding.competition import ScoreGap, ScoreTerm, places_of, rows_of
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.exact.laurent import Domain, Laurent
from attemper.networks.layers import Masking

F = Fraction


# Leads ------------------------------------------------------------------------------------------------

SCORE_GAPS: list[tuple[Laurent, Domain, tuple[int, int], tuple[int, Fraction]]] = [
    # Already without lowering.
    ({(1, 0): F(3)}, laurent.AFTER_FIRST, (1, 0), (0, F(3))),
    # 1 <= N / n needs the power of n to be lowered, i <= N that of i or of n.
    ({(0, 0): F(5)}, laurent.AFTER_FIRST, (0, 1), (1, F(5))),
    ({(0, 0): F(5)}, laurent.AFTER_FIRST, (1, 0), (1, F(5))),
    ({(-2, 0): F(5)}, laurent.LONGER_THAN_ONE, (2, 2), (6, F(5))),
    # Only with the power of i lowered a factor is found.
    ({(2, 0): F(1), (-1, 0): F(5), (1, 0): F(-2)}, laurent.BEFORE_LAST, (2, -2), (4, F(16))),
    # (i + 2 n) against i n and i^2 / n: 2 and 3 are found.
    ({(1, 0): F(1), (0, 1): F(2)}, laurent.AFTER_FIRST, (3, 1), (3, F(3))),
]


@pytest.mark.parametrize(("form", "domain", "power", "worth"), SCORE_GAPS)
def test_powers_are_lowered_until_a_factor_is_found_and_the_better_one_counts(
    form: Laurent, domain: Domain, power: tuple[int, int], worth: tuple[int, Fraction]
) -> None:
    score_gap = ScoreGap(form, domain)
    assert score_gap.worth(power) == worth
    assert score_gap.worth(power) == worth, "also when it is asked again"
    k, factor = worth
    for i, n in product(range(1, 20), repeat=2):
        if any(i >= first.gap and n >= i + second.gap for first, second in domain):
            assert F(i) ** power[0] * F(n) ** power[1] <= n**k * laurent.at(form, i, n) / factor


def test_a_lead_that_is_not_positive_is_worth_nothing() -> None:
    assert ScoreGap({}, laurent.AFTER_FIRST).worth((0, 0)) is None
    assert ScoreGap({(0, 0): F(-1)}, laurent.AFTER_FIRST).worth((0, 0)) is None


def test_powers_are_lowered_by_no_more_than_the_cap(monkeypatch: pytest.MonkeyPatch) -> None:
    one = laurent.constant(1)
    monkeypatch.setattr(competition, "MAX_REDUCTION", 3)
    assert ScoreGap(one, laurent.AFTER_FIRST).worth((2, 0)) == (2, F(1))
    assert ScoreGap(one, laurent.AFTER_FIRST).worth((3, 0)) is None


# Rows -------------------------------------------------------------------------------------------------


@pytest.fixture
def terms() -> Names:
    return Formulas(("a", "b")).names


def test_a_row_is_as_the_format_says_if_nothing_else_is_said() -> None:
    assert ScoreTerm(False, {}) == ScoreTerm(is_tie=False, query={}, growth=0, is_average=False)


@pytest.mark.parametrize("power", [1, -1])
def test_rows_are_known_by_their_keys(terms: Names, power: int) -> None:
    letter, two = terms.letter("a"), terms.number(2)
    one: Value = {(0, 0): terms.true}
    keys: list[tuple[Value, bool, int]] = [
        ({}, False, 0),
        ({(0, 0): letter}, False, 0),
        ({(0, 0): two}, False, 0),
        ({(power, 0): two}, True, 0),
        ({(power, 3): two}, True, 3),
        ({(power, -1): two}, True, -1),
    ]
    rows, diagrams = rows_of(terms, [(one, key) for key, _, _ in keys], one, power, terms.true)
    assert [(row.is_tie, row.growth) for row in rows] == [(tie, growth) for _, tie, growth in keys]
    assert diagrams == [next(iter(key.values()), terms.false) for key, _, _ in keys]
    assert all(row.query == laurent.constant(1) and not row.is_average for row in rows)


@pytest.mark.parametrize("power", [1, -1])
def test_other_keys_are_refused(terms: Names, power: int) -> None:
    letter, two = terms.letter("a"), terms.number(2)
    mean = terms.mean(Masking.FUTURE, letter)
    one: Value = {(0, 0): terms.true}
    wrong: list[Value] = [
        {(0, 0): two, (power, 0): two},
        {(-power, 0): two},
        {(2 * power, 0): two},
        {(-power, 0): letter},
        {(power, 0): letter},
        {(0, 1): two},
        {(0, -1): two},
        {(0, 0): mean},
    ]
    for key in wrong:
        with pytest.raises(UnprovenError):
            rows_of(terms, [(one, one), (one, key)], one, power, terms.true)


def test_a_query_that_is_an_average_for_some_words_is_an_average(terms: Names) -> None:
    letter = terms.letter("a")
    mean = terms.mean(Masking.FUTURE, letter)
    one: Value = {(0, 0): terms.true}
    queries: list[tuple[Value, bool]] = [
        ({}, False),
        ({(0, 0): letter}, False),
        ({(0, 0): mean}, True),
        ({(0, 0): terms.choose(letter, mean, terms.false)}, True),
        ({(0, 0): letter, (1, 0): mean}, True),
        ({(1, 0): mean, (0, 1): letter}, True),
    ]
    rows, _ = rows_of(terms, [(query, one) for query, _ in queries], one, 1, terms.true)
    assert [row.is_average for row in rows] == [average for _, average in queries]
    # The temperature may be the average, too.
    (row,), _ = rows_of(terms, [(one, one)], {(0, 0): mean}, 1, terms.true)
    assert row.is_average


def test_queries_are_bounded_by_their_greatest_size_in_each_case(terms: Names) -> None:
    """-5 at a and 2 at b, times i, and 3 n^2; and with a temperature of 2 / i."""
    letter = terms.letter("a")
    query: Value = {
        (1, 0): terms.choose(letter, terms.number(-5), terms.number(2)),
        (0, 2): terms.choose(letter, terms.number(3), terms.false),
    }
    one: Value = {(0, 0): terms.true}
    cases = [(terms.true, F(5)), (letter, F(5)), (terms.negation(letter), F(2))]
    for here, size in cases:
        (row,), _ = rows_of(terms, [(query, one)], one, 1, here)
        expected: Laurent = {(1, 0): size, (0, 2): F(3)} if size == 5 else {(1, 0): size}
        assert row.query == expected
    (row,), _ = rows_of(terms, [(query, one)], {(-1, 0): terms.number(2)}, 1, terms.negation(letter))
    assert row.query == {(0, 0): F(4)}


def test_an_average_is_bounded_by_its_ends(terms: Names) -> None:
    mean = terms.mean(Masking.FUTURE, terms.choose(terms.letter("a"), terms.number(-7), terms.number(3)))
    one: Value = {(0, 0): terms.true}
    (row,), _ = rows_of(terms, [({(0, 0): mean}, one)], one, 1, terms.true)
    assert row.query == laurent.constant(7)


# Places -----------------------------------------------------------------------------------------------


def test_places_are_the_values_that_occur_together(terms: Names) -> None:
    letter = terms.letter("a")
    keys = [terms.scaled(letter, 3), terms.negation(letter), terms.number(2)]
    assert places_of(terms, keys, terms.true) == [(F(0), F(1), F(2)), (F(3), F(0), F(2))]
    assert places_of(terms, keys, letter) == [(F(3), F(0), F(2))]
    assert places_of(terms, [], terms.true) == [()]


def test_no_more_places_are_followed_than_the_cap(terms: Names, monkeypatch: pytest.MonkeyPatch) -> None:
    letter = terms.letter("a")
    monkeypatch.setattr(competition, "MAX_PLACES", 2)
    assert len(places_of(terms, [letter, terms.true], terms.true)) == 2
    with pytest.raises(UnprovenError):
        places_of(terms, [letter, terms.first], terms.true)
