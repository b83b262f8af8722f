"""Levels and floors: every number of the tables, to the digits printed, and equal to enumeration."""

from __future__ import annotations

from fractions import Fraction

import pytest

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources import bracket_levels
from attemper.languages.sources.bracket_levels import (
    LengthParity,
    last_symbol_excess,
    length_excess,
    query_excess,
    star_excess,
    type_excess,
)
from attemper.languages.sources.brackets import balanced, closing
from attemper.languages.sources.entropies import entropy, in_bits
from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.pairs import gain, mean_least_loss, query_least_loss
from attemper.languages.sources.values import NAMES, Brackets, Parity, source_named
from tests.support.oracles.sources import conditional_entropy, shows

# p, H_opt, H_bi, H_uni, H_bi - H_opt, H_uni - H_opt
PARITY_TABLE = """
.1 .821031 .856932 .857005 .035901 .035974
.25 .887671 .981812 .983274 .094140 .095603
.5 .866434 1.063398 1.082196 .196964 .215762
.75 .714385 .981077 1.094780 .266693 .380396
.9 .543772 .759894 1.069370 .216122 .525597
"""

LAST_SYMBOLS = "1.0822 1.0634 1.0470 1.0325 1.0194 1.0076 .9969 .9871 .9782 .9700 .9625"

# p; type, even and odd n; type and END; a table on x_n and n; a table on n, even and odd n
BRACKETS_TABLE = """
.1 .11784 .45055 .42939 .53401 .72126 .62383
.25 .21661 .34657 .44320 .60302 .82396 .51986
.4 .22181 .24260 .27226 .34739 .53512 .41589
.45 .20275 .20794 .21653 .24667 .42428 .38123
.49 .18001 .18022 .18060 .18300 .35649 .35351
"""


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.strip().splitlines()]


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("row", rows(PARITY_TABLE), ids=lambda row: row[0])
def test_the_levels_of_parity_to_the_digits_printed(row: list[str], odd: bool) -> None:
    source = Parity(Fraction(row[0]), odd)
    best, last, none = optimum(source), last_symbols(source, 1), last_symbols(source, 0)
    found = (best, last, none, last - best, none - best)
    assert all(shows(value, text) for value, text in zip(found, row[1:], strict=True))


def test_the_levels_of_the_last_symbols_to_the_digits_printed() -> None:
    half = Parity(Fraction(1, 2), odd=False)
    for k, text in enumerate(LAST_SYMBOLS.split()):
        assert shows(last_symbols(half, k), text)


def test_the_formulas_of_the_levels() -> None:
    """H_bi by the probabilities of END after x_n = 0 and 1; g's ends are the levels."""
    for p in (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)):
        source = Parity(p, odd=False)
        with precision(128):
            rest = ball(1 - p / 2) * ball(Fraction(2)).log()
            after = (entropy(p * (1 - p) / (2 - p)) + entropy(p / (2 - p))) / 2
            assert last_symbols(source, 1).overlaps(after + rest)
            assert last_symbols(source, 0).overlaps(entropy(p / 2) + rest)
            assert mean_least_loss(p, Fraction(0)).overlaps(last_symbols(source, 1))
            assert query_least_loss(p, Fraction(0)).overlaps(last_symbols(source, 0))
            far = mean_least_loss(p, Fraction(200)) - optimum(source)
            assert abs(far) < ball(Fraction(1, 10**30))


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(2, 7)])
def test_levels_of_both_polarities_equal_enumeration(odd: bool, p: Fraction) -> None:
    source = Parity(p, odd)
    for n in (1, 2, 5, 7):
        for k in range(n):
            found = conditional_entropy(source, n, lambda prefix, k=k: prefix[len(prefix) - k :])
            assert last_symbols(source, k).overlaps(found)
        assert optimum(source).overlaps(conditional_entropy(source, n, lambda prefix: prefix))
    assert last_symbols(source, 3).rad() < ball(Fraction(1, 2**100))


@pytest.mark.parametrize("p", [Fraction(2, 5), Fraction(3, 5)])
def test_levels_of_brackets_equal_enumeration(p: Fraction) -> None:
    source = Brackets(p)
    for n in range(1, 8):
        best = conditional_entropy(source, n, lambda prefix: prefix)
        assert optimum(source).overlaps(best)
        with precision(128):
            last = conditional_entropy(source, n, lambda prefix: prefix[-1])
            assert (best + last_symbol_excess(source, n)).overlaps(last)
            assert (best + length_excess(source, n)).overlaps(conditional_entropy(source, n, len))


@pytest.mark.parametrize("row", rows(BRACKETS_TABLE), ids=lambda row: row[0])
def test_the_floors_of_brackets_to_the_digits_printed(row: list[str]) -> None:
    source = Brackets(Fraction(row[0]))
    found = (
        type_excess(source, LengthParity.EVEN),
        type_excess(source, LengthParity.ODD),
        star_excess(source, LengthParity.EVEN),
        last_symbol_excess(source, LengthParity.EVEN),
        length_excess(source, LengthParity.EVEN),
        length_excess(source, LengthParity.ODD),
    )
    assert all(shows(value, text) for value, text in zip(found, row[1:], strict=True))
    assert star_excess(source, LengthParity.ODD).overlaps(type_excess(source, LengthParity.ODD))
    assert length_excess(source, LengthParity.ODD).overlaps(query_excess(source, LengthParity.ODD))


def test_optima_of_brackets_to_the_digits_printed() -> None:
    assert shows(optimum(Brackets(Fraction(1, 4))), ".735622")
    assert shows(optimum(Brackets(Fraction(2, 5))), ".950271")


@pytest.mark.sweep(1)
@pytest.mark.parametrize("p", [Fraction(1, 4), Fraction(2, 5)])
def test_floors_stand_in_order_and_tend_to_their_limits(p: Fraction) -> None:
    source = Brackets(p)
    for n in (4, 64, 512, LengthParity.EVEN):
        assert type_excess(source, n) < star_excess(source, n) < last_symbol_excess(source, n)
        assert last_symbol_excess(source, n) < length_excess(source, n)
    for of in (type_excess, star_excess, last_symbol_excess, length_excess, query_excess):
        for limit, early, late in ((LengthParity.EVEN, 128, 1024), (LengthParity.ODD, 129, 1025)):
            missing = [abs(of(source, n) - of(source, limit)) for n in (early, late)]
            assert missing[1].contains(0) or missing[1] < missing[0] / 3


def test_floors_fall_to_nothing_as_changes_grow() -> None:
    source = Brackets(Fraction(2, 5))
    assert star_excess(source, 64, Fraction(1), Fraction(0)) < star_excess(source, 64)
    assert star_excess(source, 64, Fraction(1), Fraction(1)) < star_excess(
        source, 64, Fraction(1), Fraction(0)
    )
    assert abs(star_excess(source, 64, Fraction(300), Fraction(300))) < ball(Fraction(1, 10**30))
    assert abs(query_excess(source, 64, Fraction(300))) < ball(Fraction(1, 10**30))


@pytest.mark.parametrize("eps", [Fraction(0), Fraction(1, 3), Fraction(5)])
def test_floors_with_a_change_are_the_least_mean_of_two_losses(eps: Fraction) -> None:
    source = Brackets(Fraction(2, 5))
    for n in (9, 16):
        with precision(128):
            least = (1 + (-ball(eps) / 2).exp()).log()
            assert type_excess(source, n, eps).overlaps(ball(source.q * closing(source, n)) * least)
            assert query_excess(source, n, eps).overlaps(ball(source.q * (1 - balanced(source, n))) * least)


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(9, 20)])
def test_what_is_left_of_the_series_of_stars_is_bounded(monkeypatch: pytest.MonkeyPatch, p: Fraction) -> None:
    """However few terms are added up, the sum of all is in the ball."""
    source = Brackets(p)
    whole = star_excess(source, LengthParity.EVEN)
    assert whole.rad() < ball(Fraction(1, 2**100))
    for terms in (2, 3, 8, 40):
        monkeypatch.setattr(bracket_levels, "BLOCKS", terms)
        found = star_excess(source, LengthParity.EVEN)
        assert found.contains(whole)
        assert found.rad() < ball(Fraction(terms**2 + 4 * terms + 6, 2 ** (terms + 1)))


def test_savings_of_a_pair_to_the_digits_printed() -> None:
    half = Fraction(1, 2)
    assert shows(gain(half, Fraction(1, 3)), ".219512")
    assert shows(gain(half, Fraction(2, 3)), ".174416")
    none, best = last_symbols(Parity(half, odd=False), 0), optimum(Parity(half, odd=False))
    assert gain(half, half).overlaps(none - best)


@pytest.mark.parametrize("name", NAMES)
def test_bits_are_nats_over_ln_two(name: str) -> None:
    best = optimum(source_named(name, Fraction(1, 3)))
    with precision(128):
        assert (in_bits(best) * ball(Fraction(2)).log()).overlaps(best)


def test_a_thousand_last_symbols_have_a_level() -> None:
    half = Parity(Fraction(1, 2), odd=True)
    assert abs(last_symbols(half, 1000) - optimum(half)) < ball(Fraction(1, 10**12))


@pytest.mark.parametrize("k", [-1, 1001, 2.0, True])
def test_numbers_of_symbols_that_are_none_are_refused(k: int) -> None:
    with pytest.raises(OptionError, match="is no number of last symbols from 0 to 1,000"):
        last_symbols(Parity(Fraction(1, 2), odd=False), k)
