"""Laurent polynomials against their values: sums, products, and bounds on a grid of positions and lengths."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import lcm, prod

import pytest

from attemper.exact import laurent
from attemper.exact.laurent import Domain, I, J, Laurent, N, Next, VariableOrder, W
from tests.support.suites import Few

GRID = [(i, n) for n in range(1, 10) for i in range(1, n + 1)]

INSIDE = {
    "AFTER_FIRST": lambda i, n: i >= 2,
    "BEFORE_LAST": lambda i, n: i <= n - 1,
    "LONGER_THAN_ONE": lambda i, n: n >= 2,
}
"""The domains, and which positions of words they are said to hold."""

LEFT_OF_I: VariableOrder = (Next(J, 1), Next(W, 2), Next(I, 0), Next(N, 0))
RIGHT_OF_I: VariableOrder = (Next(I, 1), Next(W, 0), Next(J, 1), Next(N, 0))
ON_BOTH_SIDES: VariableOrder = (Next(W, 1), Next(I, 1), Next(J, 1), Next(N, 0))
NEXT_TO_I: VariableOrder = (Next(W, 1), Next(I, 1, or_more=False), Next(N, 0))
THREE_APART: VariableOrder = (Next(J, 2), Next(W, 3, or_more=False), Next(I, 1), Next(N, 1, or_more=False))
ALL_OF_TWO: Domain = ((Next(J, 1), Next(W, 1), Next(I, 0), Next(N, 0)), RIGHT_OF_I, ON_BOTH_SIDES)

DOMAINS: dict[str, Domain] = {
    **{name: getattr(laurent, name) for name in INSIDE},
    "i and n, one part": ((Next(I, 3), Next(N, 2)),),
    "i = 3": ((Next(I, 3, or_more=False), Next(N, 0)),),
    "i = n - 1": ((Next(I, 2), Next(N, 1, or_more=False)),),
    "one place": ((Next(I, 2, or_more=False), Next(N, 3, or_more=False)),),
    "left of i": (LEFT_OF_I,),
    "right of i": (RIGHT_OF_I,),
    "on both sides": (ON_BOTH_SIDES,),
    "next to i": (NEXT_TO_I,),
    "three apart": (THREE_APART,),
    "wherever two stand": ALL_OF_TWO,
}
"""Orders of two variables, and of four."""


def variables_of(domain: Domain) -> list[int]:
    return sorted(own.variable for own in domain[0])


def size_of(domain: Domain) -> int:
    """How many exponents its polynomials have."""
    return 2 if max(variables_of(domain)) == N else 4


def holds(order: VariableOrder, place: tuple[int, ...]) -> bool:
    """Whether every variable is as far beyond the one before it as the order says."""
    before = 0
    for variable, gap, or_more in order:
        distance, before = place[variable] - before, place[variable]
        if distance < gap or (distance > gap and not or_more):
            return False
    return True


@cache
def points(domain: Domain) -> list[tuple[int, ...]]:
    places = GRID if size_of(domain) == 2 else product(range(1, 8), repeat=4)
    return [place for place in places if any(holds(order, place) for order in domain)]


def value(polynomial: Laurent, *place: int) -> Fraction:
    total = Fraction(0)
    for powers, factor in polynomial.items():
        own = [x**p if p >= 0 else 1 / Fraction(x**-p) for x, p in zip(place, powers, strict=True)]
        total += factor * prod(own)
    return total


def of_distances(
    polynomial: Laurent, low: tuple[int, ...], order: VariableOrder
) -> dict[tuple[int, ...], Fraction]:
    """The coefficients in the distances of an order: from values on a grid, by divided differences.

    Before that the polynomial is divided by the power `low` of its variables, and made one of whole numbers.
    """
    unit = lcm(*(x.denominator for x in polynomial.values()))
    whole = {
        tuple(a - b for a, b in zip(powers, low, strict=True)): int(x * unit)
        for powers, x in polynomial.items()
    }
    highest = [max((powers[k] for powers in whole), default=0) for k in range(len(low))]
    # A distance is in its own variable and in all that come after.
    degrees = [
        sum(highest[own.variable] for own in order[k:]) if order[k].or_more else 0 for k in range(len(order))
    ]
    found: dict[tuple[int, ...], int] = {}
    for distances in product(*(range(degree + 1) for degree in degrees)):
        place, before = [1] * len(low), 0
        for (variable, gap, _), distance in zip(order, distances, strict=True):
            before += gap + distance
            place[variable] = before
        found[distances] = sum(
            x * prod(v**p for v, p in zip(place, powers, strict=True)) for powers, x in whole.items()
        )
    for axis, degree in enumerate(degrees):
        found = interpolated(found, axis, degree)
    return {place: Fraction(factor, unit) for place, factor in found.items() if factor}


def interpolated(values: dict[tuple[int, ...], int], axis: int, degree: int) -> dict[tuple[int, ...], int]:
    """Coefficients along one axis, in place of the values at 0, ..., degree."""
    found: dict[tuple[int, ...], int] = {}
    for start in [place for place in values if place[axis] == 0]:
        line = [(*start[:axis], k, *start[axis + 1 :]) for k in range(degree + 1)]
        differences = [values[place] for place in line]
        for k in range(1, degree + 1):
            pairs = [divmod(differences[m] - differences[m - 1], k) for m in range(k, degree + 1)]
            assert not any(rest for _, rest in pairs)
            differences[k:] = [own for own, _ in pairs]
        coefficients = [0] * (degree + 1)
        for k in range(degree, -1, -1):  # times (x - k), plus the k-th difference
            moved = [0, *coefficients[:-1]]
            coefficients = [up - k * own for up, own in zip(moved, coefficients, strict=True)]
            coefficients[0] += differences[k]
        found |= dict(zip(line, coefficients, strict=True))
    return found


def greatest(over: Laurent, under: Laurent, domain: Domain) -> Fraction | None:
    """The greatest c such that over - c under has no coefficient below 0, if `under` has none."""
    if not under:
        return None
    found: list[Fraction] = []
    low = tuple(min(powers[k] for powers in (*over, *under)) for k in range(size_of(domain)))
    for order in domain:
        ours, theirs = of_distances(over, low, order), of_distances(under, low, order)
        if any(x < 0 for x in theirs.values()) or any(x < 0 for k, x in ours.items() if k not in theirs):
            return None
        found += [ours.get(place, Fraction(0)) / factor for place, factor in theirs.items()]
    return min(found)


def sample(rng: random.Random, domain: Domain | None = None, positive: bool = False) -> Laurent:
    """Some terms with small powers and factors."""
    variables, size = ([I, N], 2) if domain is None else (variables_of(domain), size_of(domain))
    most = 2 if size == 2 else 1
    powers = {
        tuple(rng.randint(-most, most) if own in variables else 0 for own in range(size))
        for _ in range(rng.randint(1, 4))
    }
    least = 1 if positive else -6
    found = {p: Fraction(rng.randint(least, 6), rng.randint(1, 3)) for p in powers}
    return {powers: factor for powers, factor in found.items() if factor}


def distance(domain: Domain, variable: int, before: int | None, gap: int) -> Laurent:
    """variable - before - gap, before = None for 0."""
    size = size_of(domain)
    unit = [{tuple(int(k == own) for k in range(size)): Fraction(1)} for own in range(size)]
    one = {(0,) * size: Fraction(1)}
    less = {} if before is None else laurent.times(unit[before], -1)
    return laurent.plus(unit[variable], less, laurent.times(one, -gap))


def power(base: Laurent, exponent: int) -> Laurent:
    found = {(0,) * len(next(iter(base), (0, 0))): Fraction(1)}
    for _ in range(exponent):
        found = laurent.times(found, base)
    return found


@pytest.mark.parametrize("name", INSIDE)
def test_a_domain_holds_the_positions_that_it_is_said_to_hold(name: str) -> None:
    assert points(DOMAINS[name]) == [(i, n) for i, n in GRID if INSIDE[name](i, n)]


def test_constants_and_monomials() -> None:
    assert laurent.constant(0) == laurent.monomial(3, 4, 0) == {}
    assert laurent.constant(7) == {(0, 0): 7}
    assert laurent.monomial(2, -1) == {(2, -1): 1}
    assert laurent.monomial(2, -1, Fraction(3, 2)) == {(2, -1): Fraction(3, 2)}


@pytest.mark.parametrize("domain", [None, ALL_OF_TWO], ids=["two", "four"])
@pytest.mark.parametrize("seed", range(20))
def test_values_of_sums_and_products_are_those_of_their_parts(seed: int, domain: Domain | None) -> None:
    rng = random.Random(seed)
    parts = [sample(rng, domain) for _ in range(3)]
    total, product_of_two = laurent.plus(*parts), laurent.times(parts[0], parts[1])
    factor = Fraction(rng.randint(-3, 3), 2)
    scaled = laurent.times(parts[0], factor)
    for place in GRID[::3] if domain is None else points(domain)[::40]:
        first, second, third = (value(part, *place) for part in parts)
        assert laurent.at(parts[0], *place) == first
        assert value(total, *place) == first + second + third
        assert value(product_of_two, *place) == first * second
        assert value(scaled, *place) == factor * first
    assert all(factor for found in (total, product_of_two, scaled) for factor in found.values())
    assert laurent.plus(total, laurent.times(total, -1)) == {}
    assert laurent.plus() == {}
    assert laurent.at({}, 2, 3) == 0


@pytest.mark.parametrize("name", DOMAINS)
def test_what_is_found_is_the_greatest_and_holds_on_the_grid(name: str, few: Few) -> None:
    """By coefficients that are interpolated, and by values."""
    domain, counts = DOMAINS[name], Counter[str]()
    for seed in few(range(30), 12) if size_of(domain) == 2 else few(range(8), 6):
        rng = random.Random(seed)
        for _ in range(4):
            under = sample(rng, domain, positive=rng.random() < 0.8)
            ratio = Fraction(rng.randint(-4, 4), rng.randint(1, 3))
            rest = sample(rng, domain, positive=rng.random() < 0.6)
            over = laurent.plus(laurent.times(under, ratio), laurent.times(rest, rng.randint(0, 1)))
            found = laurent.most(over, under, domain)
            assert found == greatest(over, under, domain)
            counts["none" if found is None else "less" if found < 0 else "some"] += 1
            if found is not None:
                for at in points(domain)[:: size_of(domain) // 2]:
                    below = value(under, *at)
                    assert below >= 0
                    assert value(over, *at) >= found * below
    assert min(counts[kind] for kind in ("none", "less", "some")) >= 4 or name == "one place", counts


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.parametrize("seed", range(12))
def test_a_bound_is_that_of_arbitrary_polynomials(seed: int, name: str) -> None:
    """None where nothing is shown; else nowhere on the grid is the ratio less."""
    domain = DOMAINS[name]
    rng = random.Random(seed)
    for _ in range(8):
        over, under = sample(rng), sample(rng, positive=True)
        ratio = laurent.most(over, under, domain)
        least = min(value(over, *at) / value(under, *at) for at in points(domain))
        assert ratio is None or ratio <= least
        bound = laurent.most(over, laurent.constant(1), domain)
        assert bound is None or bound <= min(value(over, *at) for at in points(domain))
        assert (ratio, bound) == (
            greatest(over, under, domain),
            greatest(over, laurent.constant(1), domain),
        )


@pytest.mark.parametrize(
    "domain",
    [
        laurent.AFTER_FIRST,
        laurent.BEFORE_LAST,
        laurent.LONGER_THAN_ONE,
        ((Next(I, 3), Next(N, 2)),),
        ((Next(I, 2), Next(N, 3, or_more=False)),),
        (LEFT_OF_I,),
        (NEXT_TO_I,),
        (THREE_APART,),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", range(30))
def test_what_only_grows_from_the_nearest_place_is_found(seed: int, domain: Domain) -> None:
    """The ratio, plus products of the distances of the orders, over powers: so the ratio is attained."""
    rng = random.Random(seed)
    under = sample(rng, domain, positive=True)
    ratio = Fraction(rng.randint(-4, 4), rng.randint(1, 3))
    growth: Laurent = {(0,) * size_of(domain): Fraction(rng.randint(1, 4))}
    if len(domain) > 1:  # distances of one part are below 0 in the others: n - 2 is so in none of them
        assert domain == laurent.LONGER_THAN_ONE
        growth = laurent.times(growth, power(distance(domain, N, None, 2), rng.randint(1, 5)))
    else:
        before: int | None = None
        free: list[Laurent] = []
        for variable, gap, or_more in domain[0]:
            free += [distance(domain, variable, before, gap)] if or_more else []
            before = variable
        for own in free[:-1]:
            growth = laurent.times(growth, power(own, rng.randint(0, 2)))
        growth = laurent.times(growth, power(free[-1], rng.randint(1, 2)))
    lowered = tuple(-rng.randint(0, 2) * (own in variables_of(domain)) for own in range(size_of(domain)))
    growth = laurent.times(growth, {lowered: Fraction(1)})
    over = laurent.plus(laurent.times(under, ratio), growth)
    assert laurent.most(over, under, domain) == ratio
    assert any(value(over, *at) == ratio * value(under, *at) for at in points(domain))


@pytest.mark.parametrize("name", INSIDE)
def test_what_falls_somewhere_has_no_bound(name: str) -> None:
    for falling in (
        laurent.monomial(1, 0, -1),
        laurent.monomial(0, 1, -1),
        laurent.plus(laurent.monomial(2, 0), laurent.monomial(1, 0, -7)),
    ):
        assert laurent.most(falling, laurent.constant(1), DOMAINS[name]) is None
        assert laurent.most(falling, laurent.monomial(0, -1), DOMAINS[name]) is None


@pytest.mark.parametrize("name", INSIDE)
def test_what_fades_is_bound_by_its_limit(name: str) -> None:
    """1 / i is less than every number above 0, somewhere; of 1 / n it is 1."""
    over_i, over_n = laurent.monomial(-1, 0), laurent.monomial(0, -1)
    for fading in (over_i, over_n):
        assert laurent.most(fading, laurent.constant(1), DOMAINS[name]) == 0
        assert laurent.most(laurent.times(fading, -1), laurent.constant(1), DOMAINS[name]) is not None
        both = laurent.plus(fading, laurent.constant(-3))
        assert laurent.most(both, laurent.constant(1), DOMAINS[name]) == -3
    assert laurent.most(over_i, over_n, DOMAINS[name]) == 1


def test_nothing_is_sampled() -> None:
    """x^2 - x + 1 is positive and x (x - 1) is never negative at integers: neither is seen."""
    x, one = laurent.plus(laurent.monomial(1, 0), laurent.constant(-2)), laurent.constant(1)
    square = laurent.times(x, x)
    for polynomial in (square, laurent.plus(square, x)):
        assert laurent.most(polynomial, one, laurent.AFTER_FIRST) == 0
    for polynomial in (
        laurent.plus(square, laurent.times(x, -1)),
        laurent.plus(square, laurent.times(x, -1), one),
    ):
        assert laurent.most(polynomial, one, laurent.AFTER_FIRST) is None


def test_a_divisor_that_may_be_negative_has_no_bound() -> None:
    """i - 3 is below 0 at i = 2, and x^2 - x nowhere: neither is divided by, whatever is divided."""
    x = laurent.plus(laurent.monomial(1, 0), laurent.constant(-2))
    less = laurent.plus(x, laurent.constant(-1))
    for under in (less, laurent.plus(laurent.times(x, x), laurent.times(x, -1))):
        for over in (under, laurent.monomial(3, 0), {}):
            assert laurent.most(over, under, laurent.AFTER_FIRST) is None
    # Where i is 3 or more the first is never below 0, and where it is just 3 it is 0.
    assert laurent.most(laurent.times(x, 2), less, ((Next(I, 3), Next(N, 0)),)) == 2
    assert laurent.most(laurent.times(x, 2), less, DOMAINS["i = 3"]) is None


def test_of_nothing_there_is_no_part() -> None:
    for over in ({}, laurent.constant(1), laurent.monomial(1, 0)):
        assert laurent.most(over, {}, laurent.LONGER_THAN_ONE) is None


def test_a_part_where_both_are_nothing_says_nothing() -> None:
    """i - 3 is 0 where i is 3, and is itself wherever i is more."""
    less = laurent.plus(laurent.monomial(1, 0), laurent.constant(-3))
    fixed, free = Next(I, 3, or_more=False), Next(I, 3)
    assert laurent.most(less, less, ((free, Next(N, 0)),)) == 1
    assert laurent.most(less, less, ((free, Next(N, 0)), (fixed, Next(N, 0)))) is None


def test_a_bound_of_every_domain_by_hand() -> None:
    """2 i / n is least for large n, so not at the nearest place; i + 2 n is least there."""
    one = laurent.constant(1)
    growing = laurent.plus(laurent.monomial(1, 0), laurent.monomial(0, 1, 2))
    assert laurent.most(growing, one, laurent.AFTER_FIRST) == 6
    assert laurent.most(growing, one, laurent.BEFORE_LAST) == 5
    assert laurent.most(growing, one, laurent.LONGER_THAN_ONE) == 5
    assert laurent.most(laurent.monomial(1, -1, 2), one, laurent.AFTER_FIRST) == 0
    assert laurent.most(laurent.monomial(2, 1), laurent.monomial(1, 1), laurent.AFTER_FIRST) == 2
    assert laurent.most(laurent.monomial(1, 0, 2), one, laurent.LONGER_THAN_ONE) == 2
    assert laurent.most({}, one, laurent.LONGER_THAN_ONE) == 0


def test_the_ratio_for_long_words_counts_where_it_is_less() -> None:
    """(4 i + 4) / i falls from 6 to 4, which it never is; (4 i - 4) / i rises from 2."""
    i = laurent.monomial(1, 0)
    falling, rising = (laurent.plus(laurent.times(i, 4), laurent.constant(x)) for x in (4, -4))
    assert laurent.most(falling, i, laurent.AFTER_FIRST) == 4
    assert laurent.most(rising, i, laurent.AFTER_FIRST) == 2
    assert laurent.most(laurent.times(rising, -1), i, laurent.AFTER_FIRST) == -4
    assert laurent.most(laurent.times(falling, -1), i, laurent.AFTER_FIRST) == -6


def test_every_part_of_a_domain_counts() -> None:
    n, i, one = laurent.monomial(0, 1), laurent.monomial(1, 0), laurent.constant(1)
    rising = laurent.plus(laurent.times(n, 3), laurent.times(i, -2))
    assert laurent.most(rising, one, laurent.LONGER_THAN_ONE) == 2
    # i (n - i - 1) is never negative but at i = n, where it falls for ever.
    falling = laurent.plus(laurent.monomial(1, 1), laurent.monomial(2, 0, -1), laurent.times(i, -1))
    assert laurent.most(falling, one, laurent.BEFORE_LAST) == 0
    assert laurent.most(falling, one, laurent.LONGER_THAN_ONE) is None


def test_a_step_that_is_exact_is_no_variable() -> None:
    """w = i - 1: 4 (i - w) is 4 and no more, and i w is least where w is 1. If i is w + 1 or more, 4 is
    least.
    """
    one: Laurent = {(0, 0, 0, 0): Fraction(1)}
    apart = laurent.plus({(1, 0, 0, 0): Fraction(4)}, {(0, 0, 0, 1): Fraction(-4)})
    free: Domain = ((Next(W, 1), Next(I, 1), Next(N, 0)),)
    for domain in ((NEXT_TO_I,), free):
        assert laurent.most(apart, one, domain) == 4
        assert laurent.most({(1, 0, 0, 1): Fraction(1)}, one, domain) == 2
    assert laurent.most(laurent.times(apart, -1), one, (NEXT_TO_I,)) == -4
    assert laurent.most(laurent.times(apart, -1), one, free) is None


def test_two_positions_are_compared_by_hand() -> None:
    """8 i - 4 (j - w), w < j <= i, is 12 at the least, and 4 more for each step; so on no other side."""
    one: Laurent = {(0, 0, 0, 0): Fraction(1)}
    i, j, w = ({tuple(int(k == own) for k in range(4)): Fraction(1)} for own in (I, J, W))
    lead = laurent.plus(laurent.times(i, 8), laurent.times(j, -4), laurent.times(w, 4))
    order: VariableOrder = (Next(W, 1), Next(J, 1), Next(I, 0), Next(N, 0))
    further = laurent.plus(j, laurent.times(w, -1), laurent.times(one, -1))
    assert laurent.most(lead, one, (order,)) == 12
    assert laurent.most(laurent.plus(lead, laurent.times(one, -12)), further, (order,)) == 4
    for other in (RIGHT_OF_I, ON_BOTH_SIDES):
        assert laurent.most(lead, one, (order, other)) is None
