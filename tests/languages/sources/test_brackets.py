"""2DYCK's laws of heights, closing brackets and blocks: enumeration, limits, and the stars that part it."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import flint
import pytest

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.bracket_levels import star_excess, type_excess
from attemper.languages.sources.brackets import (
    LONGEST,
    balanced,
    balanced_limit,
    block_law,
    closing,
    closing_limit,
    height_masses,
)
from attemper.languages.sources.values import Brackets
from attemper.languages.words import Word
from tests.support.oracles.sources import PAIRS, gathered, law, prefixes, shows, unmatched

SHARES = (Fraction(2, 5), Fraction(1, 2), Fraction(3, 4))
TWO_FIFTHS = Brackets(Fraction(2, 5))


def height(prefix: Word) -> int:
    return len(unmatched(prefix))


def blocks(prefix: Word) -> int:
    return sum(height(prefix[:length]) == 0 for length in range(1, len(prefix) + 1))


@pytest.mark.parametrize("p", SHARES)
def test_heights_and_closing_brackets_equal_enumeration(p: Fraction) -> None:
    source = Brackets(p)
    for n in range(1, 9):
        shares = law(source, n)
        masses = {h: Fraction(mass, p.denominator**n) for h, mass in height_masses(source, n)}
        assert masses == gathered(prefixes(source, n), height)
        assert balanced(source, n) == gathered(shares, height).get(0, 0)
        closes = gathered(shares, lambda prefix: prefix[-1] not in PAIRS and height(prefix) > 0)
        assert closing(source, n) == closes.get(True, 0)


@pytest.mark.parametrize("n", [2, 4, 6, 8])
def test_blocks_equal_enumeration(n: int) -> None:
    shares = {prefix: share for prefix, share in law(TWO_FIFTHS, n).items() if height(prefix) == 0}
    whole = sum(shares.values())
    assert block_law(n) == {number: share / whole for number, share in gathered(shares, blocks).items()}


def test_blocks_tend_to_their_limit() -> None:
    """N 2^-(N+1)."""
    for number, share in list(block_law(2000).items())[:10]:
        assert abs(share * 2 ** (number + 1) / number - 1) < Fraction(1, 20)


def test_the_share_of_closing_brackets_to_the_digits_printed() -> None:
    even = {4: ".15", 16: ".376828", 64: ".479855", 256: ".517037", 512: ".524694"}
    odd = {3: ".375", 17: ".538158", 65: ".568925", 257: ".579046"}
    for n, text in (even | odd).items():
        assert shows(ball(closing(TWO_FIFTHS, n)), text)
    assert closing(TWO_FIFTHS, 3) == Fraction(3, 8)
    assert closing(TWO_FIFTHS, 1) == closing(TWO_FIFTHS, 2) == 0
    assert shows(ball(closing_limit(TWO_FIFTHS, odd=False)), ".53333")
    assert shows(ball(closing_limit(TWO_FIFTHS, odd=True)), ".58333")


@pytest.mark.parametrize("p", [Fraction(1, 10), Fraction(1, 4), Fraction(9, 20), Fraction(3, 5)])
def test_limits_are_approached_like_one_over_n(p: Fraction) -> None:
    source = Brackets(p)
    for n in (256, 257):
        near, far = (
            (
                abs(closing(source, length) - closing_limit(source, odd=n % 2 == 1)),
                abs(balanced(source, length) - balanced_limit(source, odd=n % 2 == 1)),
            )
            for length in (n, 4 * n - 3 * (n % 2))
        )
        assert all(later <= earlier * Fraction(2, 5) for earlier, later in zip(near, far, strict=True))


def test_at_one_half_the_limits_are_both_one_half() -> None:
    """There 1/2 is approached more slowly, like 1/sqrt(n)."""
    source = Brackets(Fraction(1, 2))
    assert closing_limit(source, odd=False) == closing_limit(source, odd=True) == Fraction(1, 2)
    assert balanced_limit(source, odd=False) == 0
    assert abs(closing(source, 2048) - Fraction(1, 2)) < Fraction(1, 50)


def star_of(centre: Word) -> list[Word]:
    """What arises from a balanced prefix when one closing bracket of a block that is not the last opens."""
    ends = [t for t in range(1, len(centre)) if height(centre[:t]) == 0]
    return [(*centre[: t - 1], opening, *centre[t:]) for t in ends for opening in PAIRS]


def test_the_stars_part_the_prefixes_of_height_two_at_eight_symbols() -> None:
    """Every prefix of height 2 that ends with a closing bracket is in one star, of mass W (1 + (N-1) rho)."""
    n, p = 8, Fraction(2, 5)
    rho = p / (1 - p)
    shares = law(TWO_FIFTHS, n)
    centres = [prefix for prefix in shares if height(prefix) == 0]
    partners = [partner for centre in centres for partner in star_of(centre)]
    wanted = {prefix for prefix in shares if height(prefix) == 2 and prefix[-1] not in PAIRS}
    assert len(partners) == len(set(partners))
    assert set(partners) == wanted
    total, closed_form = flint.arb(0), flint.arb(0)
    masses: dict[int, Fraction] = dict.fromkeys(range(1, n // 2 + 1), Fraction(0))
    for centre in centres:
        mass = shares[centre] + sum(shares[partner] for partner in star_of(centre))
        size = 1 + (blocks(centre) - 1) * rho
        assert mass == shares[centre] * size
        masses[blocks(centre)] += mass
        with precision(128):
            total += ball(mass) * binary(shares[centre] / mass)
    half = n // 2
    catalan = Fraction(comb(n, half), half + 1)
    for number, mass in masses.items():
        chance = Fraction(number, n - number) * comb(n - number, half) / catalan
        size = 1 + (number - 1) * rho
        assert mass == balanced(TWO_FIFTHS, n) * chance * size
        with precision(128):
            closed_form += ball(mass) * binary(1 / size)
    with precision(128):
        found = (star_excess(TWO_FIFTHS, n) - type_excess(TWO_FIFTHS, n)) / ball(1 - p)
        assert total.overlaps(closed_form)
        assert total.overlaps(found)
        assert found.rad() < ball(Fraction(1, 2**90))


def binary(u: Fraction) -> flint.arb:
    parts = [share for share in (u, 1 - u) if share]
    return sum((-ball(share) * ball(share).log() for share in parts), flint.arb(0))


@pytest.mark.parametrize("n", [0, -2, 1.0])
def test_lengths_that_are_none_are_refused(n: int) -> None:
    for of in (balanced, closing):
        with pytest.raises(OptionError, match=f"n={n!r} is no length"):
            of(TWO_FIFTHS, n)
    with pytest.raises(OptionError, match="n=-1 is no length here: give a number of symbols from 0 on"):
        height_masses(TWO_FIFTHS, -1)
    with pytest.raises(OptionError, match="n=0 is no length"):
        block_law(0)


def test_what_is_too_long_or_never_balanced_is_refused() -> None:
    assert balanced(Brackets(Fraction(1, 2)), LONGEST) > 0
    for of in (height_masses, balanced, closing):
        with pytest.raises(OptionError, match="is beyond the"):
            of(TWO_FIFTHS, LONGEST + 1)
    with pytest.raises(OptionError, match="is beyond the"):
        block_law(LONGEST + 2)
    with pytest.raises(OptionError, match="n=7 is odd"):
        block_law(7)
