"""The arithmetic of chains of errors: sums of powers, fading exponentials, flat pieces."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from attemper.checker.verdict import Status
from attemper.exact.balls import precision
from attemper.exact.closed_forms import Digits, Length, N, times
from attemper.exact.monomials import Monomial
from attemper.networks.files import digest_of
from attemper.theories.softening.ask import soften
from attemper.theories.softening.check import powers
from attemper.theories.softening.check.claims import check_approximation
from attemper.theories.softening.check.closed_form import _fading, _is_flat
from attemper.theories.softening.check.given import compare, shown
from attemper.theories.softening.search.temperatures import softened
from tests.support.drawn.typed_networks import last_a
from tests.support.judges.chain_judge import arb, at

RATES = [
    Fraction(p, q) for p, q in ((0, 1), (1, 1), (2, 1), (3, 1), (1, 2), (7, 10), (693, 1000), (9, 8), (40, 1))
]


@pytest.mark.parametrize("rate", [*RATES, Fraction(1023, 1024), Fraction(2, 3), Fraction(25, 36)])
def test_exponentials_of_digits_are_less_than_powers_of_the_length(rate: Fraction) -> None:
    """At all n to 5,000, and where digits change up to 2^200: e^(-x D) <= f n^-y."""
    with precision(128):
        power, factor = _fading(rate)
        assert power >= rate
        lengths = [*range(2, 5000), *(2**d - 1 for d in range(13, 200)), *(2**d for d in range(13, 200))]
        for n in lengths:
            bound = factor * (-flint.arb(n).log() * arb(power)).exp()
            assert not (-arb(rate) * n.bit_length()).exp() > bound


def test_powers_are_rounded_up_to_whole_numbers_where_that_is_allowed() -> None:
    assert _fading(Fraction(1))[0] == 1
    assert _fading(Fraction(1023, 1024))[0] == 1
    assert _fading(Fraction(25, 36))[0] == 1
    assert _fading(Fraction(25, 36) - Fraction(1, 1024))[0] == Fraction(25, 36) - Fraction(1, 1024)
    assert _fading(Fraction(0))[0] == 0


SUMS: list[powers.FractionalPowers] = [
    {},
    {Fraction(0): Fraction(3)},
    {Fraction(-1): Fraction(1, 2), Fraction(1, 3): Fraction(2)},
    {Fraction(2): Fraction(1, 7), Fraction(-5, 2): Fraction(9)},
]


def value(own: powers.FractionalPowers, n: int) -> flint.arb:
    return sum((at(Monomial(factor, power), n) for power, factor in own.items()), flint.arb(0))


@pytest.mark.parametrize("left", SUMS)
@pytest.mark.parametrize("right", SUMS)
def test_sums_of_powers_are_added_multiplied_and_compared(
    left: powers.FractionalPowers, right: powers.FractionalPowers
) -> None:
    with precision(128):
        for n in (1, 2, 3, 10, 1000):
            assert value(powers.plus(left, right), n).overlaps(value(left, n) + value(right, n))
            assert value(powers.times(left, right), n).overlaps(value(left, n) * value(right, n))
            most = powers.collapsed([left, right])
            assert not at(most, n) < value(left, n)
            assert not at(most, n) < value(right, n)
            high = powers.ceiling(left)
            assert high is None or not arb(high) < value(left, n)
    assert powers.is_at_most(left, powers.collapsed([left, right]))
    most = powers.collapsed([left])
    if left:
        assert not powers.is_at_most(left, Monomial(most.factor * Fraction(999, 1000), most.power))
        assert not powers.is_at_most(left, Monomial(most.factor, most.power - Fraction(1, 1000)))


def test_a_sum_that_grows_has_no_greatest_value() -> None:
    assert powers.ceiling({Fraction(1, 1000): Fraction(1)}) is None
    assert powers.ceiling({Fraction(0): Fraction(1), Fraction(-1): Fraction(2)}) == 3


@pytest.mark.parametrize(
    ("monomial", "n", "number", "sign"),
    [
        (Monomial(Fraction(1, 2), Fraction(-1)), 3, Fraction(1, 6), 0),
        (Monomial(Fraction(2), Fraction(1, 2)), 9, Fraction(6), 0),
        (Monomial(Fraction(2), Fraction(1, 2)), 2, Fraction(3), -1),
        (Monomial(Fraction(2), Fraction(3, 2)), 2, Fraction(5), 1),
        (Monomial(Fraction(0), Fraction(5)), 2, Fraction(0), 0),
        (Monomial(Fraction(0)), 2, Fraction(1), -1),
        (Monomial(Fraction(1)), 2, Fraction(0), 1),
        (Monomial(Fraction(1), Fraction(-64, 63)), 20, Fraction(1, 20), -1),
    ],
)
def test_monomials_are_compared_exactly(monomial: Monomial, n: int, number: Fraction, sign: int) -> None:
    assert compare(monomial, n, number) == sign


def test_monomials_are_shown() -> None:
    pairs = [(3, 0), (1, 1), (1, 0), (0, 2), (Fraction(1, 2), Fraction(-1, 3)), (Fraction(1, 3**60), 2)]
    texts = [shown(Monomial(Fraction(factor), Fraction(power))) for factor, power in pairs]
    assert texts == ["3", "n", "1", "0", "1/2 n^-1/3", "2.36e-29 n^2"]


def test_a_clamp_is_flat_around_bits_up_to_a_quarter() -> None:
    clamp = ((Fraction(-1, 4), Fraction(2)), (Fraction(-3, 4), Fraction(-2)))
    for bit in (Fraction(0), Fraction(1)):
        assert _is_flat(clamp, bit, Fraction(1, 4))
        assert not _is_flat(clamp, bit, Fraction(1, 4) + Fraction(1, 10**9))
    # A tent is as high at both ends.
    tent = ((Fraction(1), Fraction(1)), (Fraction(0), Fraction(-2)), (Fraction(-1), Fraction(1)))
    assert not _is_flat(tent, Fraction(0), Fraction(2))


def test_colder_than_cold_is_cold_enough() -> None:
    """A rate of 10^40 digits fades as fast as is counted: nothing overflows."""
    found = soften(last_a(), epsilon="1/100")
    colder = softened(found.network, [[times(10**40, N, Digits(Length()))]])
    digest = digest_of(colder, found.source)
    verdict = check_approximation(colder, digest, replace(found.certificate, network=digest))
    assert verdict.status is Status.PROVED
