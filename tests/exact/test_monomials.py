"""Monomials in n bound sums and maxima at every length, and multiply exactly."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from attemper.exact import monomials
from attemper.exact.monomials import ZERO, Monomial

LENGTHS = (1, 2, 3, 10, 1000)


def at(own: Monomial, length: int) -> Fraction:
    assert isinstance(own.power, int)
    return own.factor * Fraction(length) ** own.power


def drawn(rng: random.Random) -> Monomial:
    return Monomial(Fraction(rng.choice([0, 0, 1, 2, 5]), rng.randint(1, 4)), rng.randint(-3, 3))


@pytest.mark.parametrize("seed", range(40))
def test_sums_maxima_and_products_at_every_length(seed: int) -> None:
    rng = random.Random(seed)
    some = [drawn(rng) for _ in range(rng.randint(0, 4))]
    one, other = drawn(rng), drawn(rng)
    for length in LENGTHS:
        own = [at(each, length) for each in some]
        assert at(monomials.total(some), length) >= sum(own)
        assert at(monomials.greatest(some), length) >= max(own, default=0)
        assert at(one.plus(other), length) >= at(one, length) + at(other, length)
        assert at(one.times(other), length) == at(one, length) * at(other, length)


def test_bounds_are_attained_at_length_one_and_no_higher_power_is_taken() -> None:
    some = [Monomial(Fraction(1, 2), -1), Monomial(Fraction(3), 2), Monomial(Fraction(0), 9)]
    assert monomials.total(some) == Monomial(Fraction(7, 2), 2)
    assert monomials.greatest(some) == Monomial(Fraction(3), 2)
    assert some[0].plus(some[2]) == some[0]


def test_nothing_is_zero() -> None:
    assert monomials.total([]) == monomials.greatest([]) == ZERO == Monomial(Fraction(0), 0)
    assert monomials.total([Monomial(Fraction(0), -4)]) == ZERO


def test_powers_may_be_fractions() -> None:
    half = Monomial(Fraction(2), Fraction(1, 2))
    assert half.times(half) == Monomial(Fraction(4), 1)
    assert half.plus(Monomial(Fraction(1))) == Monomial(Fraction(3), Fraction(1, 2))
