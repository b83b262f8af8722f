"""Laurent polynomials against their values: sums, products, and bounds on a grid of positions and lengths."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from attemper.exact import laurent
from attemper.exact.laurent import Domain, Laurent

GRID = [(i, n) for n in range(1, 10) for i in range(1, n + 1)]

INSIDE = {
    "AFTER_FIRST": lambda i, n: i >= 2,
    "BEFORE_LAST": lambda i, n: i <= n - 1,
    "LONGER_THAN_ONE": lambda i, n: n >= 2,
}
"""The domains, and which positions of words they are said to hold."""


def named(name: str) -> Domain:
    domain: Domain = getattr(laurent, name)
    return domain


def points(domain: Domain) -> list[tuple[int, int]]:
    return [(i, n) for i, n in GRID if any(i >= i0 and n >= i + d for i0, d in domain)]


def value(polynomial: Laurent, i: int, n: int) -> Fraction:
    total = Fraction(0)
    for (a, b), factor in polynomial.items():
        of_i = Fraction(i**a) if a >= 0 else 1 / Fraction(i**-a)
        of_n = Fraction(n**b) if b >= 0 else 1 / Fraction(n**-b)
        total += factor * of_i * of_n
    return total


def sample(rng: random.Random, positive: bool = False) -> Laurent:
    """Some terms with small powers and factors."""
    powers = {(rng.randint(-2, 2), rng.randint(-2, 2)) for _ in range(rng.randint(1, 4))}
    least = 1 if positive else -6
    found = {p: Fraction(rng.randint(least, 6), rng.randint(1, 3)) for p in powers}
    return {powers: factor for powers, factor in found.items() if factor}


def power(base: Laurent, exponent: int) -> Laurent:
    found = {(0, 0): Fraction(1)}
    for _ in range(exponent):
        found = laurent.times(found, base)
    return found


@pytest.mark.parametrize("name", INSIDE)
def test_a_domain_holds_the_positions_that_it_is_said_to_hold(name: str) -> None:
    assert points(named(name)) == [(i, n) for i, n in GRID if INSIDE[name](i, n)]


def test_constants_and_monomials() -> None:
    assert laurent.constant(0) == laurent.monomial(3, 4, 0) == {}
    assert laurent.constant(7) == {(0, 0): 7}
    assert laurent.monomial(2, -1) == {(2, -1): 1}
    assert laurent.monomial(2, -1, Fraction(3, 2)) == {(2, -1): Fraction(3, 2)}


@pytest.mark.parametrize("seed", range(20))
def test_values_of_sums_and_products_are_those_of_their_parts(seed: int) -> None:
    rng = random.Random(seed)
    parts = [sample(rng) for _ in range(3)]
    total, product = laurent.plus(*parts), laurent.times(parts[0], parts[1])
    factor = Fraction(rng.randint(-3, 3), 2)
    scaled = laurent.times(parts[0], factor)
    for i, n in GRID[::3]:
        first, second, third = (value(part, i, n) for part in parts)
        assert laurent.at(parts[0], i, n) == first
        assert value(total, i, n) == first + second + third
        assert value(product, i, n) == first * second
        assert value(scaled, i, n) == factor * first
    assert all(factor for found in (total, product, scaled) for factor in found.values())
    assert laurent.plus(total, laurent.times(total, -1)) == {}
    assert laurent.plus() == {}


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("seed", range(12))
def test_a_ratio_that_is_found_is_the_least_one(seed: int, name: str) -> None:
    domain = named(name)
    rng = random.Random(seed)
    for _ in range(8):
        over, under = sample(rng), sample(rng, positive=True)
        ratio = laurent.least_ratio(over, under, domain)
        least = min(value(over, i, n) / value(under, i, n) for i, n in points(domain))
        assert ratio is None or ratio == least
        bound = laurent.least(over, domain)
        assert bound is None or bound == min(value(over, i, n) for i, n in points(domain))


@pytest.mark.parametrize("domain", [((2, 0),), ((1, 1),), ((2, 0), (1, 1)), ((3, 2),)], ids=str)
@pytest.mark.parametrize("seed", range(30))
def test_what_only_grows_from_the_corners_is_found(seed: int, domain: Domain) -> None:
    """The ratio, plus products of x = i - i0 and y = n - i - d for every part of the domain, over powers."""
    rng = random.Random(seed)
    under = sample(rng, positive=True)
    ratio = Fraction(rng.randint(-4, 4), rng.randint(1, 3))
    growth: Laurent = {(0, 0): Fraction(rng.randint(1, 4))}
    for i0, d in domain:
        x = laurent.plus(laurent.monomial(1, 0), laurent.constant(-i0))
        y = laurent.plus(laurent.monomial(0, 1), laurent.monomial(1, 0, -1), laurent.constant(-d))
        if len(domain) > 1:  # other parts have negative x or y: n - n0 is never negative in any of them
            x, y = (laurent.plus(laurent.monomial(0, 1), laurent.constant(-i0 - d)) for _ in range(2))
        growth = laurent.times(
            growth, laurent.times(power(x, rng.randint(0, 2)), power(y, rng.randint(1, 2)))
        )
    growth = laurent.times(growth, laurent.monomial(-rng.randint(0, 2), -rng.randint(0, 2)))
    over = laurent.plus(laurent.times(under, ratio), growth)
    assert laurent.least_ratio(over, under, domain) == ratio


@pytest.mark.parametrize("name", INSIDE)
def test_what_falls_somewhere_has_no_bound(name: str) -> None:
    for falling in (
        laurent.monomial(1, 0, -1),
        laurent.monomial(0, 1, -1),
        laurent.monomial(-1, 0),
        laurent.monomial(0, -1),
        laurent.plus(laurent.monomial(2, 0), laurent.monomial(1, 0, -7)),
    ):
        assert laurent.least(falling, named(name)) is None


def test_nothing_is_sampled() -> None:
    """x^2 - x + 1 is positive and x (x - 1) is never negative at integers: neither is seen."""
    x = laurent.plus(laurent.monomial(1, 0), laurent.constant(-2))
    square = laurent.times(x, x)
    for polynomial in (square, laurent.plus(square, x)):
        assert laurent.least(polynomial, laurent.AFTER_FIRST) == 0
    assert laurent.least(laurent.plus(square, laurent.times(x, -1)), laurent.AFTER_FIRST) is None


def test_a_bound_of_every_domain_by_hand() -> None:
    """2 i / n has its least value for large n, so not at a corner; i + 2 n has it there."""
    growing = laurent.plus(laurent.monomial(1, 0), laurent.monomial(0, 1, 2))
    assert laurent.least(growing, laurent.AFTER_FIRST) == 6
    assert laurent.least(growing, laurent.BEFORE_LAST) == 5
    assert laurent.least(growing, laurent.LONGER_THAN_ONE) == 5
    assert laurent.least(laurent.monomial(1, -1, 2), laurent.AFTER_FIRST) is None
    assert laurent.least_ratio(laurent.monomial(2, 1), laurent.monomial(1, 1), laurent.AFTER_FIRST) == 2
    assert laurent.least(laurent.monomial(1, 0, 2), laurent.LONGER_THAN_ONE) == 2
    assert laurent.least({}, laurent.LONGER_THAN_ONE) == 0


def test_every_part_of_a_domain_counts() -> None:
    n, i = laurent.monomial(0, 1), laurent.monomial(1, 0)
    assert (
        laurent.least(laurent.plus(laurent.times(n, 3), laurent.times(i, -2)), laurent.LONGER_THAN_ONE) == 2
    )
    # i (n - i - 1) is never negative but at i = n, where it falls for ever.
    falling = laurent.plus(laurent.monomial(1, 1), laurent.monomial(2, 0, -1), laurent.times(i, -1))
    assert laurent.least(falling, laurent.BEFORE_LAST) == 0
    assert laurent.least(falling, laurent.LONGER_THAN_ONE) is None
