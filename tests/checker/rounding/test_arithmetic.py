"""Bounds on rounded numbers against definitions: runs in real formats, brute force, a second reading."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import permutations, product

import flint
import numpy as np
import pytest
import torch

from attemper.checker.analysis import analyse
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.rounding.arithmetic import (
    COARSEST,
    EXACT,
    UNKNOWN,
    ZERO,
    Arithmetic,
    BeyondError,
    Inexact,
    Lengths,
    Off,
    OnGrid,
    Rounded,
    common_grid,
    greatest,
    is_exact,
    is_power_of_two,
    key_of,
)
from attemper.checker.rounding.network import Rounding
from attemper.checker.values import Value
from attemper.exact.balls import ball, precision
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FloatFormat
from attemper.networks.layers import Layer, Masking
from tests.support.judges.rounding import grid_of as exact_grid
from tests.support.judges.rounding import off_of
from tests.support.mutants.attacks import hidden, network_of
from tests.support.suites import Few

ALL = (FLOAT64, FLOAT32, BFLOAT16)
BITS = 400


@pytest.fixture(autouse=True)
def fine_balls() -> Iterator[None]:
    """So many bits that balls are rationals for all these tests ask."""
    with precision(BITS):
        yield


def same(found: flint.arb, expected: Fraction | int) -> bool:
    """Whether a ball is this number, up to the last bits of the precision."""
    exact = ball(Fraction(expected))
    return bool(abs(found - exact) <= abs(exact) * flint.arb(2) ** (60 - BITS))


def arithmetic(form: FloatFormat = FLOAT32, symbols: str = "abcd") -> Arithmetic:
    """A format, with nothing known about any network."""
    return Arithmetic(Formulas(tuple(symbols)).names, form)


def lengths(form: FloatFormat = FLOAT32, length: int = 10) -> Lengths:
    """A format and a length."""
    return Lengths(arithmetic(form), length)


def by_letter(terms: Names, *values: Diagram) -> Diagram:
    """The diagram that has these values at the first symbols, and the last one at all others."""
    found = values[-1]
    for symbol, value in zip(terms.symbols, values[:-1], strict=False):
        found = terms.choose(terms.letter(symbol), value, found)
    return found


def constants(terms: Names, *values: Fraction | int | str) -> Diagram:
    """The diagram that has these numbers at the first symbols, and the last one at all others."""
    return by_letter(terms, *(terms.number(Fraction(value)) for value in values))


def arb(number: Fraction | int | str) -> flint.arb:
    return ball(Fraction(number))


# Numbers of a format -----------------------------------------------------------------------------------


def test_the_constants_are_what_the_format_of_certificates_says() -> None:
    assert ZERO == 0
    assert COARSEST == 2**60
    assert all(error == 0 for error in (EXACT.at_zero, EXACT.elsewhere, EXACT.average, EXACT.relative))
    assert flint.arb(2) ** 960 < UNKNOWN, "no weight brings it back into the range of float64"


def test_grids_are_the_greatest_powers_of_two() -> None:
    for numbers in product((Fraction(k, 8) for k in (-20, -8, -3, 0, 1, 2, 6, 8, 12, 40)), repeat=2):
        grid = common_grid([Affine(number) for number in numbers])
        found = [g for g in (Fraction(2) ** e for e in range(-5, 61)) if not any(n % g for n in numbers)]
        assert grid == max(found)
    assert common_grid([]) == 2**60
    assert common_grid([Affine(Fraction(2**61))]) == 2**60
    assert common_grid([Affine(Fraction(2**59))]) == 2**59


@pytest.mark.parametrize("number", ["1/3", "1/6", "5/7", "1/12"])
def test_numbers_that_are_no_dyadic_ones_have_no_grid(number: str) -> None:
    assert common_grid([Affine(Fraction(number))]) is None
    assert common_grid([Affine(Fraction(1)), Affine(Fraction(number))]) is None
    assert not arithmetic().holds(Fraction(number))


def test_averages_have_no_grid() -> None:
    assert common_grid([Affine(Fraction(1), ((0, Fraction(1)),))]) is None
    assert common_grid([Affine(Fraction(0), ((0, Fraction(1)),))]) is None


def test_powers_of_two_are_those_with_one_bit() -> None:
    powers = {sign * Fraction(2) ** e for sign in (1, -1) for e in range(-8, 9)}
    numbers = {Fraction(p, q) for p in range(-70, 71) for q in range(1, 40) if p}
    assert all(is_power_of_two(number) == (number in powers) for number in numbers)


def test_only_what_has_no_error_at_all_is_exact() -> None:
    assert is_exact(off_of())
    for size in (Fraction(1, 2**80), Fraction(1), Fraction(-1)):
        for name in ("at_zero", "elsewhere", "average", "relative"):
            assert not is_exact(off_of(**{name: ball(size)}))


def test_the_error_of_a_constant_is_that_of_zeros_or_of_other_constants() -> None:
    assert off_of(arb(1), arb(2), arb(9), arb(9)).constant == 2
    assert off_of(arb(2), arb(1), arb(9), arb(9)).constant == 2


def test_the_greatest_of_some_errors_is_found() -> None:
    assert greatest([]) == 0
    assert greatest([arb(1), arb(3), arb(2)]) == 3
    assert greatest([arb(3), arb(1)]) == 3


def test_multiples_of_a_grid_fit_up_to_where_the_format_has_them_all() -> None:
    """bfloat16 by looking at each multiple: it has 8 bits."""
    known = arithmetic(BFLOAT16)
    for grid in (Fraction(1), Fraction(1, 4), Fraction(8)):
        is_held = [
            float(torch.tensor(float(k * grid)).to(torch.bfloat16)) == float(k * grid) for k in range(300)
        ]
        for most in range(300):
            assert known.fits(ball(most * grid), grid) == all(is_held[: most + 1])


@pytest.mark.parametrize(
    ("form", "bits", "exponent"), [(FLOAT64, 53, 900), (FLOAT32, 24, 100), (BFLOAT16, 8, 100)]
)
def test_what_fits_into_a_format(form: FloatFormat, bits: int, exponent: int) -> None:
    known = arithmetic(form)
    assert known.fits(arb(2**bits), Fraction(1))
    assert not known.fits(arb(2**bits + 1), Fraction(1))
    assert not known.fits(arb(1), None)
    below, beyond = arb(2**exponent - 2 ** (exponent - bits)), arb(2**exponent)
    assert known.fits(below, Fraction(2 ** (exponent - 2)))
    assert not known.fits(beyond, Fraction(2 ** (exponent - 2))), "sizes stay below the range"
    assert known.fits(arb(0), Fraction(1, 2**exponent))
    assert not known.fits(arb(0), Fraction(1, 2 ** (exponent + 1))), "and inverses up to it"
    assert known.fits(arb(0), Fraction(1, 2**exponent)), "also when they are asked for again"


def test_a_number_is_held_if_it_is_one_of_the_format() -> None:
    known = arithmetic(FLOAT32)
    for k in range(2**24 - 40, 2**24 + 40):
        assert known.holds(Fraction(k, 2**30)) == (float(np.float32(k)) == k)
        assert known.holds(Fraction(-k)) == (float(np.float32(k)) == k)
    assert known.holds(Fraction(0))


def test_spacing_is_the_distance_to_the_next_number() -> None:
    rng = random.Random(5)
    numbers = [Fraction(rng.randint(1, 10**6), rng.randint(1, 10**6)) for _ in range(200)]
    numbers += [Fraction(2) ** e for e in range(-20, 20)] + [Fraction(3, 4), Fraction(5), Fraction(1, 3)]
    double, single = arithmetic(FLOAT64), arithmetic(FLOAT32)
    for number in numbers:
        floor = Fraction(2) ** (math.frexp(number)[1] - 1)
        assert floor <= number < 2 * floor
        assert double.spacing(number) == Fraction(math.ulp(float(floor)))
        assert single.spacing(number) == Fraction(float(np.spacing(np.float32(float(floor)))))
    assert arithmetic(BFLOAT16).spacing(Fraction(200)) == 1


# Sums ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ALL)
def test_what_a_sum_loses_is_what_the_format_of_certificates_says(form: FloatFormat) -> None:
    known = arithmetic(form)
    for terms, size, total in product(range(7), (0, 1, 10), (0, 1, 7)):
        inner = Fraction(8, 7) * max(terms - 1, 0) * form.sum_roundoff * size
        last = 2 * form.roundoff * (total + inner) if form is BFLOAT16 and terms > 1 else Fraction(0)
        assert same(known.summed(terms, arb(size), arb(total)), inner + last)


@pytest.mark.parametrize("terms", [2, 3, 4])
def test_no_order_of_adding_loses_more_than_the_bound(terms: int) -> None:
    """float32 by itself, and bfloat16 by way of float32: all orders of random terms."""
    rng, both = random.Random(terms), (arithmetic(FLOAT32), arithmetic(BFLOAT16))
    worst = 0.0
    for _ in range(20):
        numbers = [
            np.float32(rng.choice([-1, 1]) * rng.uniform(1, 2) * 2 ** rng.randint(-2, 2))
            for _ in range(terms)
        ]
        exact = sum(Fraction(float(number)) for number in numbers)
        size, total = sum(abs(Fraction(float(number))) for number in numbers), abs(exact)
        bounds = [known.summed(terms, ball(size), ball(total)) for known in both]
        for order in permutations(numbers):
            single = reduce(lambda a, b: np.float32(a + b), order)
            once = torch.tensor(float(single)).to(torch.bfloat16)
            for bound, found in zip(bounds, (float(single), float(once)), strict=True):
                off = ball(abs(Fraction(found) - exact))
                assert off <= bound
                worst = max(worst, float(off.mid()) / float(bound.mid()))
    assert worst > 0.2, "the bound is not far from what happens"


def test_sums_over_positions_count_two_roundings_for_each() -> None:
    assert same(lengths(FLOAT32, 5).long, Fraction(10, 2**24))
    assert same(lengths(FLOAT64, 7).long, Fraction(14, 2**53))
    assert same(lengths(BFLOAT16, 3).long, Fraction(6, 2**24)), "they are formed in float32"


def test_what_is_lost_to_underflow_is_the_inverse_of_the_range() -> None:
    assert same(lengths(FLOAT32).tiny, Fraction(1, 2**100))
    assert same(lengths(FLOAT64).tiny, Fraction(1, 2**900))


# Sizes and inverses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [1, 2, 5])
def test_sizes_and_inverses_of_monomials_are_the_greatest_over_all_places(length: int) -> None:
    known = lengths(length=length)
    places = [(i, n) for n in range(1, length + 1) for i in range(1, n + 1)]
    for a, b in product(range(-3, 4), repeat=2):
        powers = [Fraction(i) ** a * Fraction(n) ** b for i, n in places]
        value = {(a, b): constants(known.names, Fraction(-3, 2), Fraction(1, 4), 0)}
        assert same(known.size(value), Fraction(3, 2) * max(1, *powers))
        assert same(known.inverse(value), 4 * max(1, *(1 / power for power in powers)))


def test_sizes_of_sums_of_monomials_are_added() -> None:
    known = lengths(length=10)
    value = {(1, 0): constants(known.names, 3, -4), (0, 2): constants(known.names, Fraction(1, 2), 0)}
    assert same(known.size(value), 4 * 10 + 50)
    assert same(known.size({}), 0)


def test_a_size_is_worked_out_once_and_stays() -> None:
    known = lengths(length=3)
    value = {(0, 0): constants(known.names, 3, -4)}
    assert [same(known.size(value), 4) for _ in range(3)] == [True] * 3


def test_the_size_of_a_zero_is_zero() -> None:
    known = lengths(length=3)
    assert same(known.size({(2, 0): known.names.false}), 0)


def test_inverses_of_sums_are_not_known() -> None:
    known = lengths()
    assert known.inverse({(1, 0): known.names.true, (0, 0): known.names.true}) == UNKNOWN
    assert known.inverse({}) == UNKNOWN


def test_an_inverse_is_at_least_1() -> None:
    known = lengths()
    assert same(known.inverse({(0, 0): constants(known.names, 3, 5)}), 1)
    assert same(known.inverse({(0, 0): constants(known.names, 3, Fraction(1, 5), 1)}), 5)
    assert same(known.inverse({(0, 0): known.names.false}), 1)


def test_the_magnitude_of_a_constant_is_its_size() -> None:
    known = arithmetic()
    assert same(known.magnitude(known.names.false), 0)
    assert same(known.magnitude(known.names.true), 1)


def mean_of(terms: Names, masking: Masking, *values: Fraction | int | str) -> Diagram:
    """The average of what the symbols stand for."""
    return terms.mean(masking, constants(terms, *values))


@pytest.mark.parametrize("masking", [Masking.FUTURE, Masking.PAST, Masking.NONE])
def test_an_average_is_at_least_one_step_over_the_length(masking: Masking) -> None:
    """Averages of all words of up to 4 symbols."""
    known = lengths(length=4)
    values = (Fraction(3, 4), Fraction(-1, 2), Fraction(0), Fraction(5, 4))
    value = {(0, 0): known.names.scaled(mean_of(known.names, masking, *values), Fraction(-3, 2))}
    averages = {
        Fraction(-3, 2) * sum(word) / n
        for n in range(1, 5)
        for word in product(values, repeat=n)
        if sum(word)
    }
    assert same(known.inverse(value), Fraction(4) / Fraction(3, 8))
    assert max(1 / abs(average) for average in averages) == Fraction(4) / Fraction(3, 8)


def test_the_inverse_of_averages_and_constants_is_the_greatest_of_all_of_them() -> None:
    """Whichever of them is the first in the diagram."""
    known = lengths(length=4)
    terms = known.names
    mean, other = mean_of(terms, Masking.FUTURE, 1, 0), mean_of(terms, Masking.PAST, 1, 0)
    small = terms.number(Fraction(1, 2**50))
    for values in permutations((mean, small, terms.scaled(other, Fraction(1, 64)))):
        found = known.inverse({(0, 0): by_letter(terms, *values)})
        assert found >= arb(2**50)
    for values in permutations((mean, terms.scaled(other, Fraction(1, 64)))):
        assert same(known.inverse({(0, 0): by_letter(terms, *values)}), 4 * 64)


def test_an_average_times_a_power_of_the_position_has_both_inverses() -> None:
    known = lengths(length=4)
    mean = mean_of(known.names, Masking.FUTURE, 1, 0)
    assert same(known.inverse({(-1, 0): mean}), 4 * 4)
    assert same(known.inverse({(1, 0): mean}), 4)


def test_nothing_is_known_of_averages_that_may_cancel_or_have_no_grid() -> None:
    known = lengths(length=4)
    terms = known.names
    mean, other = mean_of(terms, Masking.FUTURE, 1, 0), mean_of(terms, Masking.PAST, 1, 0)
    (value,) = terms.values(mean)
    relu = terms.affine(terms.positive_part(Affine(Fraction(-1, 2), value.parts)))
    for unknown in (
        terms.plus(mean, terms.number(Fraction(-1, 2))),
        terms.plus(mean, terms.scaled(other, -1)),
        terms.plus(terms.plus(mean, terms.scaled(other, -1)), terms.number(3)),
        mean_of(terms, Masking.FUTURE, Fraction(1, 3), 0),
        relu,
    ):
        assert known.inverse({(0, 0): unknown}) == UNKNOWN


# Grids and averages ---------------------------------------------------------------------------------------


def test_values_are_multiples_of_their_grid() -> None:
    known = arithmetic()
    terms = known.names
    halves, quarters = constants(terms, Fraction(1, 2), 3), constants(terms, Fraction(3, 4), 1)
    assert known.grid({(0, 0): halves}) == Fraction(1, 2)
    assert known.grid({(0, 0): halves, (1, 0): quarters}) == Fraction(1, 4)
    assert known.grid({(0, 0): quarters, (0, 1): halves}) == Fraction(1, 4)
    assert known.grid({(1, 1): terms.number(12)}) == 4
    assert known.grid({(0, 0): constants(terms, Fraction(1, 3), 1)}) is None
    assert known.grid({(0, 0): halves, (1, 0): constants(terms, Fraction(1, 3), 1)}) is None
    assert known.grid({(0, 0): mean_of(terms, Masking.FUTURE, 1, 0)}) is None
    assert known.grid({}) == 2**60


@pytest.mark.parametrize("powers", [(-1, 0), (0, -1), (-1, 1), (1, -1), (-1, -1), (2, -1)])
def test_a_value_that_is_divided_by_a_place_has_no_grid(powers: tuple[int, int]) -> None:
    known = arithmetic()
    assert known.grid({powers: known.names.true}) is None
    assert known.grid({(0, 0): known.names.true, powers: known.names.true}) is None


def test_a_grid_is_worked_out_once_and_stays() -> None:
    known = arithmetic()
    value = {(0, 0): known.names.number(12)}
    assert [known.grid(value) for _ in range(3)] == [4, 4, 4]


def test_a_value_has_means_if_it_is_an_average_somewhere() -> None:
    known = arithmetic()
    terms = known.names
    mean = mean_of(terms, Masking.FUTURE, 1, 0)
    assert not known.has_means({(0, 0): constants(terms, 1, 2)})
    assert not known.has_means({})
    assert known.has_means({(0, 0): mean})
    assert known.has_means({(0, 0): by_letter(terms, terms.true, mean)})
    assert known.has_means({(0, 0): by_letter(terms, mean, terms.true)})
    assert known.has_means({(1, 0): terms.true, (0, 0): mean})
    assert known.has_means({(1, 0): terms.true, (0, 0): mean})


# Linear forms -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draw:
    """A coordinate for a test: its constants, or i^a n^b, or an average of numbers, and how far it is off."""

    value: Value
    off: Off
    errors: tuple[Fraction, Fraction, Fraction, Fraction]
    size: Fraction
    grid: Fraction | None
    constants: tuple[Fraction, ...] | None
    inverse: Fraction | None
    """The greatest of 1 and 1 / |x|; None if it is not known."""
    is_mean: bool


GRIDS = [Fraction(2) ** e for e in range(-12, 12)]


def grid_of(*numbers: Fraction) -> Fraction | None:
    """The greatest of some powers of two of which all numbers are multiples."""
    return max((g for g in GRIDS if not any(number % g for number in numbers)), default=None)


def draw(known: Lengths, rng: random.Random) -> Draw:
    """A random coordinate."""
    some = [Fraction(0)] * 3 + [Fraction(1, 2**k) for k in (5, 7, 20, 40)]
    errors = (rng.choice(some), rng.choice(some), rng.choice(some), rng.choice(some))
    if rng.random() < 0.4:
        errors = (Fraction(0),) * 4
    off, terms = off_of(*map(ball, errors)), known.names
    pool = [Fraction(k, q) for k in (0, 0, 1, 1, 2, 3, 5, 7, -1, -3) for q in (1, 1, 1, 2, 4, 3)]
    kind = rng.choice(["constants", "constants", "constants", "monomial", "mean", "sum"])
    if kind == "constants":
        values = tuple({rng.choice(pool) for _ in range(rng.randint(1, 3))})
        least = min((abs(v) for v in values if v), default=Fraction(1))
        return Draw(
            {(0, 0): constants(terms, *values)} if any(values) else {},
            off,
            errors,
            max(map(abs, values)),
            grid_of(*values) if any(values) else Fraction(2**60),
            values,
            max(Fraction(1), 1 / least) if any(values) else None,
            is_mean=False,
        )
    n = known.length
    if kind == "monomial":
        a, b = rng.choice([(1, 0), (2, 0), (0, 1), (-1, 0), (-2, 0), (1, -1), (1, 1), (0, -1)])
        least, most = min(Fraction(i) ** a * Fraction(m) ** b for m in (1, n) for i in (1, m)), Fraction(1)
        most = max(Fraction(i) ** a * Fraction(m) ** b for m in (1, n) for i in (1, m))
        whole = Fraction(1) if min(a, b) >= 0 else None
        return Draw({(a, b): terms.true}, off, errors, most, whole, None, 1 / least, is_mean=False)
    if kind == "sum":
        value = {(1, 0): terms.number(3), (0, 0): terms.number(Fraction(1, 2))}
        return Draw(value, off, errors, 3 * n + Fraction(1, 2), Fraction(1, 2), None, None, is_mean=False)
    masking, factor = rng.choice([Masking.FUTURE, Masking.PAST]), rng.choice([1, -1, Fraction(3, 2)])
    value = {(0, 0): terms.scaled(mean_of(terms, masking, Fraction(1, 2), -1), factor)}
    return Draw(
        value, off, errors, abs(Fraction(factor)), None, None, 2 * n / abs(Fraction(factor)), is_mean=True
    )


def linear_by_hand(draws: list[Draw], factors: list[Fraction], form: FloatFormat) -> list[Fraction | None]:
    """Size, inverse, grid, errors everywhere, at 0, and relatively: from FORMAT.md; None if not known."""
    u, zero = form.roundoff, Fraction(0)
    size, absolute, grid = zero, zero, Fraction(2**60)
    for own, factor in zip(draws, factors, strict=True):
        of_factor, weight = grid_of(factor), abs(factor)
        exact = not any(own.errors) and own.grid is not None and of_factor is not None
        exact = exact and weight * u <= of_factor and bool(grid)
        grid = min(grid, own.grid * of_factor) if exact else zero
        size += weight * own.size
        error = max(own.errors[0], own.errors[1])
        if own.is_mean:
            error = max(error, own.errors[2] + own.errors[3] * own.size)
        absolute += weight * error
        if not is_single_bit(factor) and not (grid and weight * own.size * u <= grid):
            absolute += 3 * u * weight * (own.size + error)
    if grid and size * u <= grid:
        return [size, 1 / grid, grid, zero, zero, zero]
    if len(factors) > 1:
        inner = Fraction(8, 7) * (len(factors) - 1) * form.sum_roundoff * (size + absolute)
        absolute += inner + (2 * u * (size + absolute + inner) if form is BFLOAT16 else 0)
    absolute += Fraction(1, form.range)
    if len(factors) == 1:
        ((own, factor),) = zip(draws, factors, strict=True)
        relative = own.errors[3]
        if own.constants is not None or own.is_mean:
            least = min((abs(v) for v in own.constants or () if v), default=Fraction(1))
            relative += own.errors[1] / least if own.value else 0
        if not is_single_bit(factor):
            relative += 3 * u * (1 + relative)
        inverse = None if own.inverse is None else own.inverse / abs(factor)
        at_zero = abs(factor) * own.errors[0] * (1 + 3 * u)
        at_zero += Fraction(1, form.range) if at_zero else 0
        return [size, inverse, None, absolute, at_zero, None if inverse is None else relative]
    values = [f * v for own, f in zip(draws, factors, strict=True) for v in own.constants or () if v]
    if any(own.constants is None for own in draws) or not values or min(values) < 0 < max(values):
        return [size, None, None, absolute, absolute, None]
    least = min(map(abs, values))
    at_zero = absolute if any(own.errors[0] for own in draws) else zero
    return [size, 1 / least, None, absolute, at_zero, absolute / least]


def is_single_bit(factor: Fraction) -> bool:
    return abs(factor) in GRIDS


@pytest.mark.parametrize("form", ALL)
def test_a_second_reading_of_linear_forms_finds_the_same(form: FloatFormat, few: Few) -> None:
    rng, known = random.Random(form.name), lengths(form, 6)
    pool = [Fraction(sign * p, q) for sign in (1, -1) for p in (1, 1, 2, 3, 200) for q in (1, 2, 3, 8)]
    pool += [Fraction(2**30 + 1), Fraction(2**9 + 1)]
    seen = set()
    for _ in few(range(250), 120):
        draws = [draw(known, rng) for _ in range(rng.choice([1, 1, 1, 2, 2, 3, 4]))]
        factors = [rng.choice(pool) for _ in draws]
        weighted = tuple(enumerate(factors))
        found = known.linear(weighted, [own.value for own in draws], [own.off for own in draws])
        expected = linear_by_hand(draws, factors, form)
        sizes = [found.size, found.inverse, None, found.absolute, found.at_zero, found.relative]
        assert exact_grid(found) == expected[2]
        for number, (one, other) in enumerate(zip(sizes, expected, strict=True)):
            if number == 2:
                continue
            assert one is not None
            assert same(one, other) if other is not None else one > flint.arb(2) ** 900, (
                number,
                draws,
                factors,
            )
        seen.add((len(draws) > 1, exact_grid(found) is None, expected[5] is None))
    assert len(seen) == 6


def test_an_empty_form_is_exactly_zero() -> None:
    found = lengths().linear((), [], [])
    assert same(found.size, 0)
    assert same(found.absolute, 0)
    assert exact_grid(found) == 2**60


def test_a_form_is_exact_if_the_format_holds_all_partial_sums() -> None:
    """257 is no number of bfloat16, so a sum of 255 and 2 is off; 254 + 2 is not."""
    known = lengths(BFLOAT16)
    one, exact = {(0, 0): known.names.true}, [EXACT, EXACT]
    for first, is_held in ((254, True), (255, False)):
        found = known.linear(((0, Fraction(first)), (1, Fraction(2))), [one, one], exact)
        assert isinstance(found, OnGrid) == is_held
        assert (found.absolute == 0) == is_held
        if is_held:
            assert same(found.inverse, 1 / found.grid)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_one_term_that_is_not_exact_makes_the_form_so(at: int) -> None:
    known = lengths()
    one = {(0, 0): known.names.true}
    offs = [off_of(average=arb(0), at_zero=arb(1)) if k == at else EXACT for k in range(3)]
    found = known.linear(tuple((k, Fraction(1)) for k in range(3)), [one] * 3, offs)
    assert isinstance(found, Inexact)


def test_errors_at_zero_count_where_any_term_has_them() -> None:
    """Where a sum of numbers of one sign is 0 all its terms are; then it is off only if one of those is."""
    known = lengths()
    bit = {(0, 0): constants(known.names, 1, 0)}
    form = ((0, Fraction(1)), (1, Fraction(1, 2)))
    tenth = arb(Fraction(1, 8))
    for zeros in product((False, True), repeat=2):
        offs = [off_of(at_zero=tenth if zero else ZERO, elsewhere=tenth) for zero in zeros]
        found = known.linear(form, [bit, bit], offs)
        assert (found.at_zero == 0) == (not any(zeros))
        assert found.at_zero == 0 or bool(found.at_zero >= arb(Fraction(1, 16)))
    negative = known.linear(form, [bit, bit], [off_of(at_zero=arb(1)), off_of(at_zero=arb(-1))])
    assert negative.at_zero != 0
    single = known.linear(
        form, [bit, bit], [off_of(at_zero=arb(1), elsewhere=arb(1)), off_of(at_zero=arb(1), elsewhere=arb(1))]
    )
    assert single.at_zero != 0


@pytest.mark.parametrize(
    ("values", "factors", "least"),
    [
        (((1, 2), (3, 4)), (1, 1), 1),
        (((1, 2), (3, 4)), (-1, -5), 1),
        (((1, 2), (-3, 4)), (1, 1), None),
        (((1, 2), (3, 4)), (1, -1), None),
        (((0, 2), (0, 4)), (1, 1), 2),
        (((0, 2), (0, 4)), (-1, "-1/4"), 1),
        (((0, "1/2"), (0, "-1/2")), (1, 1), None),
        (((0, "1/2"), (0, "1/4")), ("1/2", 1), "1/4"),
        (((0,), (0,)), (1, 1), None),
        (((0,), (0, 3)), (1, 1), 3),
    ],
)
def test_the_least_size_of_sums_that_do_not_cancel(
    values: tuple[tuple[int, ...], ...], factors: tuple[int | str, ...], least: int | str | None
) -> None:
    known = lengths()
    form = tuple((k, Fraction(factor)) for k, factor in enumerate(factors))
    found = known.linear(
        form, [{(0, 0): constants(known.names, *own)} for own in values], [off_of(elsewhere=arb(1))] * 2
    )
    assert same(found.inverse, 1 / Fraction(least)) if least is not None else found.inverse == UNKNOWN


def test_sums_with_places_or_averages_may_cancel() -> None:
    known = lengths()
    one, off = {(0, 0): known.names.true}, [off_of(elsewhere=arb(1))] * 2
    mean = mean_of(known.names, Masking.FUTURE, 1, 0)
    both = by_letter(known.names, known.names.true, mean)
    for value in (
        {(1, 0): known.names.true},
        {(0, 1): known.names.true},
        {(-1, 0): known.names.true},
        {(0, -1): known.names.true},
        {(0, 0): mean},
        {(0, 0): both},
        {(0, 0): known.names.true, (1, 0): known.names.true},
    ):
        for values in ([one, value], [value, one], [value, value]):
            assert known.linear(((0, Fraction(1)), (1, Fraction(1))), values, off).inverse == UNKNOWN


@pytest.mark.parametrize("form", ALL)
def test_a_linear_form_must_stay_in_half_of_the_range(form: FloatFormat) -> None:
    """Its size and its error together."""
    known = lengths(form)
    unit, one = Fraction(form.range), {(0, 0): known.names.true}

    def at(size: Fraction, off: Fraction) -> Rounded:
        value = {(0, 0): known.names.number(size)}
        return known.linear(((0, Fraction(1)),), [value], [off_of(at_zero=ball(off), average=arb(1))])

    for size, off in ((unit / 2, Fraction(0)), (unit / 4, unit / 4), (unit / 8, 3 * unit / 8)):
        with pytest.raises(BeyondError):
            at(size, off)
    for size, off in ((3 * unit / 8, Fraction(0)), (unit / 8, unit / 4), (Fraction(1), Fraction(0))):
        assert same(at(size, off).absolute, off + 1 / unit)
    assert exact_grid(known.linear(((0, Fraction(3)),), [one], [EXACT])) == 1


def test_what_is_too_close_to_zero_is_not_known_relatively() -> None:
    """1 / |x| must stay below 2^100 in float32, and the weight counts."""
    known = lengths()
    off = [off_of(elsewhere=ball(Fraction(1, 2**200)))]
    for exponent, factor, is_known in (
        (99, 1, True),
        (100, 1, False),
        (101, 1, False),
        (100, 2, True),
        (101, 2, False),
        (99, Fraction(1, 2), False),
        (98, Fraction(1, 2), True),
    ):
        value = {(0, 0): known.names.number(Fraction(1, 2**exponent))}
        found = known.linear(((0, Fraction(factor)),), [value], off)
        assert (found.relative < 1) == is_known
        assert is_known or found.relative == UNKNOWN


def test_the_error_of_averages_is_that_of_constants_or_of_the_average() -> None:
    known = lengths()
    value = {(0, 0): mean_of(known.names, Masking.FUTURE, 3, 0)}
    assert same(known.of_mean(value, off_of(arb(1), arb(2), arb(5), arb(4))), 5 + 4 * 3)
    assert same(known.of_mean(value, off_of(arb(1), arb(20), arb(5), arb(4))), 20)
    assert same(known.of_mean(value, off_of(arb(30), arb(20), arb(5), arb(4))), 30)


@pytest.mark.parametrize("form", ALL)
def test_no_order_of_a_linear_form_is_farther_off_than_the_bound(form: FloatFormat) -> None:
    """Runs in the format itself: inputs off by up to their error, weights and products rounded."""
    kind = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}[form.name]
    inner = torch.float32 if form is BFLOAT16 else kind
    rng, known = random.Random(3), lengths(form)
    worst = 0.0
    for _ in range(40):
        count = rng.randint(1, 4)
        exact = [Fraction(rng.randint(-9, 9), rng.choice([1, 2, 4])) for _ in range(count)]
        weights = [Fraction(rng.randint(1, 99), rng.choice([1, 3, 7, 64])) for _ in range(count)]
        errors = [rng.choice([Fraction(0), form.roundoff * 3]) for _ in range(count)]
        inputs = [
            torch.tensor(float(x + rng.choice([-1, 1]) * e), dtype=torch.float64).to(kind)
            for x, e in zip(exact, errors, strict=True)
        ]
        offs = [abs(Fraction(float(x)) - y) for x, y in zip(inputs, exact, strict=True)]
        values = [{(0, 0): known.names.number(x)} if x else {} for x in exact]
        found = known.linear(tuple(enumerate(weights)), values, [off_of(ball(e), ball(e)) for e in offs])
        whole = sum((w * x for w, x in zip(weights, exact, strict=True)), Fraction(0))
        products = [
            (torch.tensor(float(w), dtype=torch.float64).to(kind).to(inner) * x.to(inner))
            for w, x in zip(weights, inputs, strict=True)
        ]
        for order in permutations(products):
            computed = reduce(torch.add, order).to(kind)
            off = abs(Fraction(float(computed)) - whole)
            assert not (ball(off) > found.absolute)
            if found.absolute > 0:
                worst = max(worst, float(ball(off).mid()) / float(found.absolute.mid()))
    assert worst > 0.1, "the bound is not far from what happens"


# Products ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ALL)
def test_a_second_reading_of_products_finds_the_same(form: FloatFormat) -> None:
    rng, known, u = random.Random(8), lengths(form), form.roundoff
    some = [Fraction(0), Fraction(1, 4), Fraction(1, 2**9), Fraction(2), Fraction(1, 3)]
    for _ in range(60):
        one, other = ([rng.choice(some[1:]), rng.choice(some[1:]), *rng.choices(some, k=3)] for _ in range(2))
        rounded = [Inexact(*map(arb, (s, v, a, z, r))) for s, v, a, z, r in (one, other)]
        found = known.product(*rounded)
        assert isinstance(found, Inexact)
        most = [size + absolute for size, _, absolute, _, _ in (one, other)]
        assert same(found.size, one[0] * other[0])
        assert same(found.inverse, one[1] * other[1])
        assert same(found.absolute, most[0] * most[1] * (1 + u) - one[0] * other[0] + Fraction(1, form.range))
        at_zero = max(one[3] * most[1], other[3] * most[0]) * (1 + u)
        assert same(found.at_zero, at_zero + (Fraction(1, form.range) if at_zero else 0))
        assert same(found.relative, (1 + one[4]) * (1 + other[4]) * (1 + u) - 1)


@pytest.mark.parametrize("form", ALL)
def test_a_product_is_exact_if_the_format_holds_it(form: FloatFormat) -> None:
    known, bits = lengths(form), {"float64": 53, "float32": 24, "bfloat16": 8}[form.name]

    def exact(size: int, grid: Fraction | None) -> Rounded:
        return Inexact(arb(size), arb(2), ZERO, ZERO, ZERO) if grid is None else OnGrid(arb(size), grid)

    half = Fraction(1, 2)
    found = known.product(exact(2 ** (bits - 3), half), exact(2, half))
    assert exact_grid(found) == Fraction(1, 4)
    assert same(found.size, 2 ** (bits - 2))
    assert same(found.inverse, 4)
    assert found.absolute == found.at_zero == found.relative == 0
    for left, right in (
        (exact(2 ** (bits - 2), half), exact(2, half)),
        (exact(1, None), exact(1, half)),
        (exact(1, half), exact(1, None)),
    ):
        found = known.product(left, right)
        assert isinstance(found, Inexact)
        assert same(found.relative, form.roundoff)


def test_a_product_too_close_to_zero_is_not_known_relatively() -> None:
    known = lengths()
    for exponent, is_known in ((49, True), (50, False), (51, False)):
        number = Inexact(arb(1), arb(2**exponent), ZERO, ZERO, ZERO)
        assert (known.product(number, number).relative == UNKNOWN) != is_known


# Weights ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weight", "is_taken"),
    [
        (2**40, True),
        (2**40 + 1, False),
        (Fraction(1, 2**40), True),
        (Fraction(2**40 + 1, 2**80), True),
        (Fraction(2**40 - 1, 2**80), False),
        (1, True),
    ],
)
def test_weights_lie_in_two_to_the_forty_and_its_inverse(weight: int | Fraction, is_taken: bool) -> None:
    network = network_of(2, [[(0, 1)], []], {}, [Layer((), (hidden([(0, 1)], 0, 1, weight),), ())], 1)
    analysis = analyse(network)
    if is_taken:
        Rounding(analysis, FLOAT32)
        return
    with pytest.raises(UnprovenError, match="weights"):
        Rounding(analysis, FLOAT32)


def test_balls_are_told_apart_by_all_that_is_known_of_them() -> None:
    assert key_of(arb(1)) == key_of(arb(1))
    assert key_of(arb(1)) != key_of(arb(2))
    third = arb("1/3")
    assert key_of(third) == key_of(arb("1/3")) != key_of(third.mid())
    unknown = flint.arb(1) / flint.arb(0)
    assert key_of(unknown) != key_of(unknown)
