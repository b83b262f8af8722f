"""What rounding does to a feed-forward layer: a second reading of FORMAT.md, and runs in real formats."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import flint
import pytest
import torch

from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import Unit, UnitGroup
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.rounding import feed_forward
from attemper.checker.rounding.arithmetic import EXACT, ZERO, Arithmetic, BeyondError, Lengths, Off
from attemper.checker.rounding.feed_forward import (
    NOTHING,
    Case,
    Effect,
    Factor,
    Gate,
    Gates,
    Read,
    Writing,
    whole,
    written,
)
from attemper.checker.values import ResidualValues, Value
from attemper.exact.balls import ball, precision
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FloatFormat
from attemper.networks.layers import LinearForm, Masking
from tests.support.judges.rounding import off_of

ALL = (FLOAT64, FLOAT32, BFLOAT16)
BITS = 400
NONE = Fraction(0)


@pytest.fixture(autouse=True)
def fine_balls() -> Iterator[None]:
    """So many bits that balls are rationals for all these tests ask."""
    with precision(BITS):
        yield


def same(found: flint.arb, expected: Fraction | int) -> bool:
    """Whether a ball is this number, up to the last bits of the precision."""
    exact = ball(Fraction(expected))
    return bool(abs(found - exact) <= abs(exact) * flint.arb(2) ** (60 - BITS))


def arb(number: Fraction | int | str) -> flint.arb:
    return ball(Fraction(number))


def units_of(*pairs: tuple[Fraction | int | str, Fraction | int | str]) -> tuple[Unit, ...]:
    """Units by bias and factor."""
    return tuple((Fraction(bias), Fraction(factor)) for bias, factor in pairs)


def constant_case(
    value: Fraction | int | str, terms: int = 1, size: Fraction | None = None, grid: Fraction | int = 0
) -> Case:
    """A case without averages, its terms multiples of a grid, if that is not 0."""
    number = Fraction(value)
    return Case(
        Affine(number), terms, abs(number) if size is None else size, averages=False, grid=Fraction(grid)
    )


def read_of(
    constant: Fraction | int | str = 0,
    terms: int = 1,
    murky: int = 0,
    weights: bool = True,
    average: Fraction | int | str = 0,
) -> Read:
    """What a gate reads: a form of so many terms, with this error."""
    return Read(terms, arb(constant), arb(average), murky, weights, ZERO, ZERO)


# A second reading ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ByHand:
    """An effect as rationals, by FORMAT.md."""

    off: Fraction
    terms: int
    size: Fraction
    result: Fraction
    grid: Fraction | None
    is_alone_exact: bool

    def is_of(self, found: Effect) -> bool:
        """Whether the checker finds the same."""
        sizes = ((found.off, self.off), (found.size, self.size), (found.result, self.result))
        rest = found.terms, found.grid, found.is_alone_exact
        return all(same(*pair) for pair in sizes) and rest == (self.terms, self.grid, self.is_alone_exact)


SILENT = ByHand(NONE, 0, NONE, NONE, Fraction(2**60), is_alone_exact=True)


def grid_of(*numbers: Fraction) -> Fraction | None:
    """The greatest power of two, up to 2^60, of which all numbers are multiples."""
    scale = math.lcm(*(number.denominator for number in numbers))
    common = math.gcd(*(int(number * scale) for number in numbers))
    return None if scale & (scale - 1) else min(Fraction(2**60), Fraction(common & -common or 2**60, scale))


def fits(form: FloatFormat, size: Fraction, grid: Fraction | None) -> bool:
    """Whether the format holds all multiples of the grid up to the size, within its range."""
    return grid is not None and size * form.roundoff <= grid and size < form.range and grid * form.range >= 1


def sum_loss(form: FloatFormat, terms: int, size: Fraction, total: Fraction) -> Fraction:
    """What adding so many terms of a size to at most a total loses."""
    if terms <= 1:
        return NONE
    inner = Fraction(8, 7) * (terms - 1) * form.sum_roundoff * size
    return inner + (2 * form.roundoff * (total + inner) if form is BFLOAT16 else NONE)


def relu_sum(units: tuple[Unit, ...], value: Fraction) -> Fraction:
    return sum((factor * max(NONE, value + bias) for bias, factor in units), NONE)


def swing(units: tuple[Unit, ...], value: Fraction, error: Fraction) -> Fraction:
    """The largest change of the units' sum on [value - error, value + error]."""
    points = {value - error, value + error} | {-bias for bias, _ in units if abs(value + bias) <= error}
    return max(abs(relu_sum(units, point) - relu_sum(units, value)) for point in points)


def exact_by_hand(form: FloatFormat, units: tuple[Unit, ...], case: Case) -> ByHand | None:
    """Rule 2: sums, products and their sum are numbers of the format on one grid."""
    biases, factors = [bias for bias, _ in units], [factor for _, factor in units]
    if not all(fits(form, abs(number), grid_of(number)) for number in (*biases, *factors)) or not case.grid:
        return None
    of_biases, of_factors = grid_of(*biases), grid_of(*factors)
    assert of_biases is not None
    assert of_factors is not None
    grid = min(case.grid, of_biases)
    inputs = [(case.value.constant + bias, abs(factor)) for bias, factor in units]
    products = [value * factor for value, factor in inputs if value > 0]
    size = sum(products, NONE)
    if not fits(form, case.size + max(map(abs, biases)), grid) or not fits(form, size, grid * of_factors):
        return None
    return ByHand(NONE, len(products), size, size, grid * of_factors, is_alone_exact=True)


def step_grid(form: FloatFormat, units: list[Unit], low: Fraction, high: Fraction) -> Fraction | None:
    """Rule 3, for two units and sums from `low` to `high`: the grid of their products; None if it fails."""
    if len(units) != 2:
        return None
    (bias, factor), (other_bias, other_factor) = units
    grid, of_factor = grid_of(bias, other_bias), grid_of(factor)
    if factor + other_factor or of_factor != abs(factor) or grid is None or max(bias, other_bias) >= 0:
        return None
    greater = max(-bias, -other_bias)
    if not greater <= low or not fits(form, 4 * high, grid):
        return None
    spacing = next(s for e in range(-200, 200) if (s := Fraction(2) ** e) * 2 / form.roundoff / 2 > greater)
    return abs(factor) * min(grid, spacing)


def by_hand(
    form: FloatFormat, units: tuple[Unit, ...], case: Case, ends: tuple[Fraction, Fraction], read: Read
) -> ByHand:
    """What the units of a gate add in a case, by FORMAT.md, section 6."""
    u, value = form.roundoff, case.value.constant
    error = rational(read.average if case.averages else read.constant)
    if not error and not case.averages and read.weights and (exact := exact_by_hand(form, units, case)):
        return exact
    size = case.size + error
    if 2 * (size + max(abs(bias) for bias, _ in units)) >= form.range:
        raise BeyondError("beyond")
    count = min(case.terms + read.murky, read.terms)
    lost = sum_loss(form, count, size, max(map(abs, ends)) + error) + (NONE if read.weights else 3 * u * size)
    is_shared = count <= 2 and read.weights
    loud = [(bias, factor) for bias, factor in units if ends[1] + bias + error + lost > 0]
    if not loud:
        return SILENT
    delta = error + (lost if is_shared else NONE)
    reach = max(abs(end + bias) for bias, _ in loud for end in ends) + error + lost
    factors = sum(abs(factor) for _, factor in loud)
    if case.value.parts:
        shared = factors * delta
    else:
        shared = swing(units, value, delta)
        grid = step_grid(form, loud, value - delta, value + delta) if is_shared else None
        if grid is not None:
            result = abs(relu_sum(units, value)) + shared
            return ByHand(shared, 2, factors * reach, result, grid, is_alone_exact=True)
    own = (NONE if is_shared else lost) + 2 * u * reach + Fraction(1, form.range)
    own += sum((u * abs(bias) for bias, _ in loud if not fits(form, abs(bias), grid_of(bias))), NONE)
    size = factors * (reach + own)
    off = shared + factors * own + Fraction(1, form.range)
    if any(grid_of(factor) != abs(factor) for _, factor in loud):
        off += 3 * u * size
    result = size + off if case.value.parts else abs(relu_sum(units, value)) + off
    return ByHand(off, len(loud), size, result, None, is_alone_exact=len(loud) == 1)


def rational(number: flint.arb) -> Fraction:
    found = number.mid().fmpq()
    return Fraction(int(found.p), int(found.q))


@dataclass(frozen=True)
class Trial:
    """A gate's units and cases, with what it reads."""

    units: tuple[Unit, ...]
    cases: tuple[Case, ...]
    read: Read


BIASES = [Fraction(k, q) for k in (0, -1, -1, -2, -3, 1, 5) for q in (1, 2, 4)] + [
    Fraction(-1, 3),
    Fraction(-257, 256),
    Fraction(-(2**24) - 1, 2**24),
]
FACTORS = [Fraction(k) for k in (1, -1, 2, -2, 4, 3, -3)] + [Fraction(1, 2), Fraction(-1, 3), Fraction(257)]


def draw(terms: Names, form: FloatFormat, rng: random.Random) -> Trial:
    """A random gate; often a pair as in Lemma 9."""
    count = rng.randint(1, 4)
    units = tuple((rng.choice(BIASES), rng.choice(FACTORS)) for _ in range(count))
    if rng.random() < 0.5:
        low, factor = rng.choice(BIASES[:-3]), rng.choice(FACTORS)
        units = ((low, factor), (low - rng.choice([Fraction(1), Fraction(1, 4)]), -factor))
        units += rng.choice([(), (), ((Fraction(-9), Fraction(1)),)])
    cases = []
    for _ in range(rng.randint(1, 3)):
        value = rng.choice([Fraction(k, 4) for k in range(-8, 17)])
        size = abs(value) + rng.choice([NONE, NONE, Fraction(1), Fraction(4)])
        grid = rng.choice([NONE, Fraction(1, 4), Fraction(1, 4), Fraction(1, 64)])
        parts: tuple[tuple[int, Fraction], ...] = ()
        is_average = rng.random() < 0.25
        if is_average and rng.random() < 0.7:
            parts = ((0, rng.choice([Fraction(1), Fraction(-2), Fraction(1, 2)])),)
            size += 4
        cases.append(
            Case(Affine(value, parts), rng.randint(0, 4), size, is_average, NONE if is_average else grid)
        )
    u = form.roundoff
    errors = [
        NONE,
        NONE,
        NONE,
        u,
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(1, 8),
        40 * u,
        Fraction(2),
        Fraction(1, 2**80),
    ]
    constant, average = rng.choice(errors), rng.choice(errors)
    terms, errors_ = rng.randint(1, 5), (ball(constant), ball(average))
    read = Read(terms, *errors_, rng.choice([0, 0, 1, 2]), rng.random() < 0.8, ZERO, ZERO)
    return Trial(units, tuple(cases), read)


def arithmetic_with_mean(form: FloatFormat) -> Arithmetic:
    """A format; mean number 0 is from -1 to 3/2."""
    terms = Formulas(("a", "b")).names
    terms.mean(
        Masking.FUTURE, terms.choose(terms.letter("a"), terms.number(-1), terms.number(Fraction(3, 2)))
    )
    return Arithmetic(terms, form)


def ends_of(case: Case) -> tuple[Fraction, Fraction]:
    """The least and the greatest value: mean number 0 is from -1 to 3/2."""
    low = high = case.value.constant
    for _, factor in case.value.parts:
        low, high = low + min(-factor, factor * Fraction(3, 2)), high + max(-factor, factor * Fraction(3, 2))
    return low, high


def at_ends(units: tuple[Unit, ...], case: Case) -> list[Case]:
    """The case; its ends in its place, where the units' sum is one number from the one to the other."""
    low, high = ends_of(case)
    points = {low, high, *(-bias for bias, _ in units if low < -bias < high)}
    is_flat = points == {low, high} and len({relu_sum(units, point) for point in points}) == 1
    return [replace(case, value=Affine(end)) for end in sorted(points)] if is_flat else [case]


def whole_by_hand(form: FloatFormat, effects: list[ByHand]) -> Fraction:
    """How far the sum of everything that is written can be off."""
    off = sum((effect.off for effect in effects), NONE)
    present = [effect for effect in effects if effect.terms]
    size = sum((effect.size for effect in present), NONE)
    if 2 * size >= form.range:
        raise BeyondError("beyond")
    if len(present) == 1 and present[0].is_alone_exact:
        return off
    if all(effect.grid is not None and fits(form, size, effect.grid) for effect in present):
        return off
    result = sum((effect.result for effect in present), NONE)
    return off + sum_loss(form, sum(effect.terms for effect in present), size, result)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("form", ALL)
def test_a_second_reading_of_gates_finds_the_same(form: FloatFormat) -> None:
    known, rng = arithmetic_with_mean(form), random.Random(form.name)
    seen = Counter[tuple[int, bool, bool, bool]]()
    several = 0
    for _ in range(220):
        trial = draw(known.names, form, rng)
        gate = Gate(known, trial.units, frozenset(trial.cases))
        found = {}
        has_error = bool(trial.read.constant != 0)
        for case in set(trial.cases):
            owns = Gate(known, trial.units, frozenset([case])).cases
            ends = at_ends(trial.units, case)
            for own, end in zip(owns, ends, strict=True):
                expected = by_hand(form, trial.units, end, ends_of(end), trial.read)
                assert expected.is_of(own.effect(trial.read)), (trial, end, expected, own.effect(trial.read))
                is_active = bool(end.value.parts) or bool(relu_sum(trial.units, end.value.constant))
                found[case, end] = is_active, expected
                seen[expected.terms, expected.is_alone_exact, expected.grid is None, has_error] += 1
            several += len(ends) > 1
        wrote = gate.written(trial.read)
        assert gate.written(trial.read) is wrote, "it is kept"
        for which, bound in ((False, wrote.quiet), (True, wrote.active)):
            offs = [
                whole_by_hand(form, [effect]) for is_active, effect in found.values() if is_active is which
            ]
            assert same(bound, max(offs, default=NONE))
        assert wrote.is_silent == (
            not any(effect.terms for is_active, effect in found.values() if not is_active)
        )
        assert worst_by_hand([effect for _, effect in found.values()]).is_of(wrote.effect)
    steps = sum(count for (terms, *rest, error), count in seen.items() if rest == [True, False] and error)
    assert len(seen) > 9
    assert steps > 5
    assert several > 5


def worst_by_hand(effects: list[ByHand]) -> ByHand:
    """One effect that stands for any of several."""
    present = [effect for effect in effects if effect.terms]
    if not present:
        return SILENT
    grids = [effect.grid for effect in present]
    return ByHand(
        max(effect.off for effect in present),
        max(effect.terms for effect in present),
        max(effect.size for effect in present),
        max(effect.result for effect in present),
        None if None in grids else min(grid for grid in grids if grid is not None),
        all(effect.is_alone_exact for effect in present),
    )


# Places where a rule just holds --------------------------------------------------------------------------


def effect_of(known: Arithmetic, units: tuple[Unit, ...], case: Case, read: Read) -> Effect:
    """What the units add in one case; the second reading must agree."""
    owns, ends = Gate(known, units, frozenset([case])).cases, at_ends(units, case)
    for own, end in zip(owns, ends, strict=True):
        assert by_hand(known.form, units, end, ends_of(end), read).is_of(own.effect(read))
    return Gate(known, units, frozenset([case])).written(read).effect


PAIR = units_of((-1, 1), (-2, -1))


def test_a_pair_is_exact_from_its_greater_threshold_on() -> None:
    """Lemma 9 where the least value that the pair may read is just 2, or a bit less."""
    known = arithmetic_with_mean(FLOAT32)
    for value, error, is_exact in (
        (3, 1, True),
        ("9/4", "1/4", True),
        ("11/4", "3/4", True),
        ("11/4", "13/16", False),
    ):
        case = replace(constant_case(value), grid=NONE)
        found = effect_of(known, PAIR, case, read_of(error))
        assert (found.grid is not None) == is_exact
        assert bool(found.off == 0) == is_exact
        assert is_exact or found.off >= arb(Fraction(1, 16)), "S may be 2 - 1/16"


@pytest.mark.parametrize(("form", "most"), [(FLOAT32, 2**22), (BFLOAT16, 2**6)])
def test_a_pair_is_exact_up_to_a_quarter_of_what_the_format_holds(form: FloatFormat, most: int) -> None:
    """4 (S + d) is a multiple of the thresholds' grid, 1, up to 2^24, or 2^8."""
    known = arithmetic_with_mean(form)
    for value, error, is_exact in (
        (most - 1, 1, True),
        (most - 1, 2, False),
        (most, 1, False),
        (most // 2 + 1, most // 2 - 1, True),
    ):
        found = effect_of(known, PAIR, constant_case(value), read_of(error))
        assert (found.grid is not None) == is_exact, (value, error)


@pytest.mark.parametrize(
    ("units", "is_step"),
    [
        (units_of((-1, 1), (-2, -1)), True),
        (units_of((-2, "-1/2"), (-1, "1/2")), True),
        (units_of((-1, 3), (-2, -3)), False),
        (units_of((-1, 1), (-2, 1)), False),
        (units_of((-1, 1), (-2, -2)), False),
        (units_of((-1, 2), (-2, -1)), False),
        (units_of((0, 1), (-2, -1)), False),
        (units_of((-2, 1), (0, -1)), False),
        (units_of((1, 1), (-2, -1)), False),
        (units_of(("-1/2", 1), ("-3/4", -1)), True),
        (units_of(("-1/3", 1), (-2, -1)), False),
        (units_of((-1, 1)), False),
        (units_of((-1, 1), (-2, -1), (-1, 1)), False),
        (units_of((-1, 1), (-2, -1), (-9, 7)), True),
        (units_of((-9, 7), (-1, 1), (-2, -1)), True),
    ],
)
def test_which_units_are_a_pair(units: tuple[Unit, ...], is_step: bool) -> None:
    """Two that may not be 0, with opposite powers of two and positive thresholds."""
    found = effect_of(arithmetic_with_mean(FLOAT32), units, constant_case(3), read_of("1/8"))
    assert (found.grid is not None) == is_step
    assert bool(found.off == 0) == is_step


def is_of_bfloat16(number: Fraction) -> bool:
    return float(torch.tensor(float(number)).to(torch.bfloat16)) == float(number)


def test_what_a_pair_computes_is_exact_and_on_the_grid_of_its_products() -> None:
    """All numbers of bfloat16 that the pair may read: both inputs, both products and their difference."""
    known = arithmetic_with_mean(BFLOAT16)
    for low, high, factor in (
        ("1", "2", "1"),
        ("1/2", "3/4", "2"),
        ("5/4", "7/2", "1/4"),
        ("3", "40", "8"),
        ("31/16", "2", "1"),
        ("2", "2", "1"),
    ):
        units = units_of((-Fraction(low), factor), (-Fraction(high), -Fraction(factor)))
        grid = grid_of(Fraction(low), Fraction(high))
        assert grid is not None
        most = grid * 2**8 / 4
        middle, half = (most + Fraction(high)) / 2, (most - Fraction(high)) / 2
        found = effect_of(known, units, constant_case(middle, size=middle), read_of(half))
        assert found.grid is not None
        assert same(found.result, Fraction(factor) * (Fraction(high) - Fraction(low)))
        sums = [
            s
            for e in range(-4, 12)
            for k in range(128, 256)
            if Fraction(high) <= (s := Fraction(k) * Fraction(2) ** (e - 7)) <= most
        ]
        assert sums
        for number in sums:
            inputs = [number - Fraction(low), number - Fraction(high)]
            products = [Fraction(factor) * one for one in inputs]
            assert all(map(is_of_bfloat16, (*inputs, *products, products[0] - products[1])))
            assert all(one % found.grid == 0 for one in products)


@pytest.mark.parametrize("form", ALL)
def test_a_layer_is_exact_up_to_where_the_format_holds_sums_and_products(form: FloatFormat) -> None:
    known, most = arithmetic_with_mean(form), int(1 / form.roundoff)
    for units, case, is_exact in (
        (units_of((1, 1)), constant_case(most - 1, grid=1), True),
        (units_of((1, 1)), constant_case(most, grid=1), False),
        (units_of((2, 1)), constant_case(most - 2, grid=2), True),
        (units_of((1, 1)), constant_case(most - 2, grid=2), True),
        (units_of((1, 1)), constant_case(most, grid=2), False),
        (units_of((0, 1)), constant_case(most, grid=1), True),
        (units_of((0, 1)), constant_case(1, size=Fraction(most + 1), grid=1), False),
        (units_of((0, 3)), constant_case(most // 4, grid=1), True),
        (units_of((0, 3), (0, 3)), constant_case(most // 4, grid=1), False),
        (units_of((0, 3), (0, 1)), constant_case(most // 4, grid=1), True),
        (units_of((0, 3), (0, "5/4")), constant_case(most // 17, grid=1), True),
        (units_of((0, 3), (0, "5/4")), constant_case(most // 17 + 1, grid=1), False),
        (units_of((0, 1), (0, "1/3")), constant_case(1, grid=1), False),
        (units_of((0, 1), (1, most + 1)), constant_case(1, grid=1), False),
        (units_of((0, 1), ("1/3", 1)), constant_case(1, grid=1), False),
        (units_of((0, 1), (Fraction(1, most) + 1, 1)), constant_case(1, grid=Fraction(1, most)), False),
        (units_of((0, 1)), constant_case("1/3", grid=0), False),
    ):
        found = effect_of(known, units, case, read_of(0))
        assert (found.off == 0) == is_exact, (units, case)
        if is_exact:
            assert (found.terms, found.is_alone_exact) == (len(units), True)
            assert same(
                found.size,
                found.result.mid().fmpq()
                and relu_sum(tuple((b, abs(f)) for b, f in units), case.value.constant),
            )


def test_a_unit_counts_from_the_least_input_on_that_may_be_positive() -> None:
    known = arithmetic_with_mean(FLOAT32)
    for error, terms in ((0, 0), ("1/2", 0), ("33/64", 1), (1, 1)):
        found = effect_of(known, units_of((-1, 1)), constant_case("1/2"), read_of(error))
        assert found.terms == terms
    exact = effect_of(known, units_of((-1, 1), (-2, 1), (-3, 1)), constant_case(2, grid=1), read_of(0))
    assert exact.terms == 1, "the second unit reads exactly 0"


@pytest.mark.parametrize("form", ALL)
def test_a_form_and_its_biases_must_stay_in_half_of_the_range(form: FloatFormat) -> None:
    known, most = arithmetic_with_mean(form), Fraction(form.range)
    for size, bias, error, is_inside in (
        (most / 4, most / 8, most / 16, True),
        (3 * most / 8, NONE, NONE, True),
        (most / 2, NONE, NONE, False),
        (NONE, most / 2, NONE, False),
        (NONE, -most / 2, NONE, False),
        (NONE, NONE, most / 2, False),
        (most / 4, most / 8, most / 8, False),
        (most / 4, most / 4, most / 8, False),
        (Fraction(1), NONE, NONE, True),
    ):
        units, case = ((bias, Fraction(1)), (NONE, Fraction(1))), constant_case(0, size=size)
        [own] = Gate(known, units, frozenset([case])).cases
        if is_inside:
            effect_of(known, units, case, read_of(error))
            continue
        with pytest.raises(BeyondError):
            own.effect(read_of(error))


@pytest.mark.parametrize("form", ALL)
def test_sums_of_two_terms_are_the_same_for_all_units(form: FloatFormat) -> None:
    """The count is of terms that are not 0 in this case, and of those that are 0 only up to an error."""
    known = arithmetic_with_mean(form)
    for terms, murky, most, is_shared in (
        (0, 0, 9, True),
        (1, 0, 9, True),
        (2, 0, 9, True),
        (3, 0, 9, False),
        (1, 1, 9, True),
        (2, 1, 9, False),
        (1, 2, 9, False),
        (0, 3, 9, False),
        (3, 2, 2, True),
        (3, 2, 3, False),
        (9, 9, 1, True),
    ):
        case = constant_case(3, terms=terms)
        found = effect_of(known, PAIR, case, read_of("1/8", most, murky))
        assert (found.grid is not None) == is_shared, (terms, murky, most)
    unfit = effect_of(known, PAIR, constant_case(3), read_of("1/8", weights=False))
    assert unfit.grid is None


def test_the_rounding_of_two_terms_counts_to_the_error_of_the_sum() -> None:
    """A pair whose sum of two terms may fall below its threshold, but of one term may not."""
    known = arithmetic_with_mean(FLOAT32)
    for terms, is_exact in ((1, True), (2, False)):
        found = effect_of(known, PAIR, constant_case("17/8", terms=terms), read_of("1/8", terms=2))
        assert (found.grid is not None) == is_exact


@pytest.mark.parametrize(
    ("value", "part", "error", "off"),
    [
        (3, 0, "1/8", 0),
        (3, 0, "5/4", "1/4"),
        (4, 1, "1/2", 0),
        (3, 1, 0, 0),
        (3, 1, "1/8", "1/8"),
        (0, "1/2", "1/8", 0),
        (0, 1, "1/8", "1/8"),
        (0, 2, "1/8", "1/4"),
        ("-1/2", 1, 0, 0),
        ("-1/2", 1, "1/8", "1/8"),
    ],
)
def test_an_average_counts_at_its_ends_if_the_units_are_flat_between(
    value: int | str, part: int | str, error: int | str, off: int | str
) -> None:
    """The mean is from -1 to 3/2, and the pair's sum rises from 0 at 1 to 1 at 2."""
    known = arithmetic_with_mean(FLOAT32)
    parts = ((0, Fraction(part)),) if Fraction(part) else ()
    case = Case(Affine(Fraction(value), parts), 2, Fraction(8), averages=True, grid=NONE)
    found = effect_of(known, PAIR, case, read_of(0, terms=2, average=error))
    assert arb(Fraction(off)) <= found.off < arb(Fraction(off)) + arb(Fraction(1, 2**18))


# What the whole sum loses ----------------------------------------------------------------------------------


def effect(
    off: Fraction | int,
    terms: int,
    size: Fraction | int,
    result: Fraction | int = 1,
    grid: Fraction | int | None = None,
    *,
    alone: bool = False,
) -> tuple[Effect, ByHand]:
    """An effect, for the checker and for the second reading."""
    place = None if grid is None else Fraction(grid)
    mine = ByHand(Fraction(off), terms, Fraction(size), Fraction(result), place, is_alone_exact=alone)
    return Effect(arb(off), terms, arb(size), arb(result), place, alone), mine


NOT_HERE = (NOTHING, SILENT)


@pytest.mark.parametrize("form", ALL)
def test_a_second_reading_of_the_whole_sum_finds_the_same(form: FloatFormat) -> None:
    known, most = arithmetic_with_mean(form), int(1 / form.roundoff)
    eighth = Fraction(1, 8)
    some = [
        NOT_HERE,
        effect(eighth, 1, 3, 2, alone=True),
        effect(eighth, 3, 3, 2, alone=True),
        effect(0, 2, 5, 1, Fraction(1, most), alone=True),
        effect(0, 2, 3, 1, 1, alone=True),
        effect(0, 2, most - 3, 1, 1, alone=True),
        effect(0, 2, 2 * (most - 3), 1, 2, alone=True),
        effect(eighth, 2, 7, 3),
        effect(eighth, 1, 7, 3),
        effect(eighth, 4, 7, 3, 1),
        effect(0, 3, most + 1, 3, 1),
    ]
    for count in range(4):
        for chosen in product(some, repeat=count):
            found = whole(known, [one for one, _ in chosen])
            assert same(found, whole_by_hand(form, [mine for _, mine in chosen])), chosen


@pytest.mark.parametrize("form", ALL)
def test_the_whole_sum_must_stay_in_half_of_the_range(form: FloatFormat) -> None:
    known, most = arithmetic_with_mean(form), Fraction(form.range)
    for sizes, is_inside in (
        ([most / 2], False),
        ([most / 4, most / 4], False),
        ([3 * most / 8], True),
        ([most / 4, most / 8], True),
        ([Fraction(1)], True),
    ):
        chosen = [effect(0, 1, size, alone=True)[0] for size in sizes]
        if is_inside:
            assert whole(known, chosen) >= 0
            continue
        with pytest.raises(BeyondError):
            whole(known, chosen)


def test_one_effect_stands_for_the_worst_of_several() -> None:
    some = [
        NOT_HERE,
        effect(1, 1, 3, 2, 4, alone=True),
        effect(2, 3, 2, 1, 2, alone=True),
        effect(0, 2, 5, 9, None, alone=False),
    ]
    for count in range(4):
        for chosen in product(some, repeat=count):
            found = feed_forward._worst([one for one, _ in chosen])
            assert worst_by_hand([mine for _, mine in chosen]).is_of(found)
    assert SILENT.is_of(NOTHING)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("error", ["0", "1/8", "1/2", "1", "2", "5"])
def test_the_deviation_of_a_sum_is_its_greatest_change(error: str) -> None:
    """Looked for on a fine grid, in which all corners are."""
    known, off = arithmetic_with_mean(FLOAT32), Fraction(error)
    for units in (
        PAIR,
        units_of((-1, 1)),
        units_of((-1, 1), (-2, -2), (-3, 1)),
        units_of((1, 2), (0, -3), ("-3/2", 1)),
        units_of((-1, 1), (-2, -1), (-3, -1), (-4, 1)),
        units_of((-1, 1), (0, -1)),
    ):
        for value in (Fraction(k, 4) for k in range(-6, 20)):
            case = constant_case(value)
            gate = Gate(known, units, frozenset([case]))
            points = [value + off * k / 8 for k in range(-8, 9)] + [
                -bias for bias, _ in units if abs(value + bias) <= off
            ]
            change = max(abs(relu_sum(units, point) - relu_sum(units, value)) for point in points)
            assert same(gate.shared_deviation(gate.cases[0], ball(off)), change)


# Writings --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bits:
    """Coordinates by symbol: the numbers that each holds at each symbol."""

    terms: Names
    numbers: tuple[tuple[Fraction, ...], ...]

    def diagram(self, numbers: tuple[Fraction, ...]) -> Diagram:
        found = self.terms.false
        for symbol, number in zip(self.terms.symbols, numbers, strict=True):
            found = self.terms.choose(self.terms.letter(symbol), self.terms.number(number), found)
        return found

    def value(self, numbers: tuple[Fraction, ...]) -> Value:
        return {(0, 0): self.diagram(numbers)} if any(numbers) else {}

    def stream(self, *more: tuple[Fraction, ...]) -> ResidualValues:
        return ResidualValues([self.value(numbers) for numbers in (*self.numbers, *more)])


def numbers_of(*numbers: Fraction | int | str) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def form_of(*factors: Fraction | int | str) -> LinearForm:
    return tuple((k, Fraction(factor)) for k, factor in enumerate(factors) if Fraction(factor))


def test_cases_are_all_combinations_that_there_are() -> None:
    terms = Formulas(("a", "b", "c")).names
    bits = Bits(terms, (numbers_of(1, 0, 1), numbers_of(1, 1, 0), numbers_of("1/4", "-3", "1/3")))
    before, middle = bits.stream(NONE_OF_THREE), bits.stream(NONE_OF_THREE)
    form = form_of(3, "-1/2", 2)
    group = UnitGroup(form, -1, {3: PAIR})
    [writing] = Gates(Arithmetic(terms, FLOAT32)).writings_of(
        (group,), before, middle, bits.stream(numbers_of(1, 0, 1))
    )
    [(factors, gate)] = writing.parts
    assert writing.target == 3
    found = {(case.terms, rational(case.size), rational(case.value), case.averages) for case in gate.cases}
    sizes = [Fraction(3) + Fraction(1, 2) + Fraction(1, 2), Fraction(1, 2) + 6, Fraction(3) + Fraction(2, 3)]
    values = [Fraction(3), Fraction(-13, 2), Fraction(11, 3)]
    expected = set(zip((3, 2, 2), sizes, values, (False,) * 3, strict=True))
    assert {(a, b.limit_denominator(99), c.limit_denominator(99), d) for a, b, c, d in found} == expected
    assert {case.grid for case in gate.cases} == {Fraction(1, 2), None}
    assert [(f.coordinate, f.factor, f.fits, f.is_power) for f in factors] == [
        (0, 3, True, False),
        (1, Fraction(-1, 2), True, True),
        (2, 2, True, True),
    ]
    assert [rational(f.size) for f in factors] == [3, Fraction(1, 2), 2]


NONE_OF_THREE = numbers_of(0, 0, 0)


def gates_of(terms: Names, form: LinearForm, values: list[Value], fresh: set[int]) -> frozenset[Case]:
    """The cases of a linear form, where some coordinates were written in this layer."""
    gates = Gates(Arithmetic(terms, FLOAT32))
    middle = ResidualValues([*values, {}])
    before = ResidualValues([{} if k in fresh else value for k, value in enumerate(middle.values)])
    group = UnitGroup(form, -1, {len(values): PAIR})
    after = ResidualValues([*values, {(0, 0): terms.true}])
    [writing] = gates.writings_of((group,), before, middle, after)
    [again] = gates.writings_of((group,), before, middle, after)
    assert writing.parts[0][1] is again.parts[0][1], "gates of one shape are one object"
    return gates._cases(form, {c: gates._read(values[c]) for c, _ in form}, fresh)


def test_what_a_head_just_wrote_counts_where_it_is_zero() -> None:
    terms = Formulas(("a", "b")).names
    bits = Bits(terms, (numbers_of(1, 0), numbers_of(0, 1)))
    values = bits.stream().values
    for fresh, counts in ((set(), {1}), ({0}, {1, 2}), ({0, 1}, {2})):
        cases = gates_of(terms, form_of(1, 1), values, fresh)
        assert {case.terms for case in cases} == counts
    assert {case.grid for case in cases} == {1}
    assert {(case.value.constant, case.size) for case in gates_of(terms, form_of(1, -2), values, set())} == {
        (1, 1),
        (-2, 2),
    }


def test_sizes_of_terms_that_cancel_are_added() -> None:
    terms = Formulas(("a", "b")).names
    values = Bits(terms, (numbers_of(1, 0), numbers_of(1, 0))).stream().values
    found = {
        (c.value.constant, c.size, c.terms, c.grid)
        for c in gates_of(terms, form_of("3/2", "-5/4"), values, set())
    }
    assert found == {(Fraction(1, 4), Fraction(11, 4), 2, Fraction(1, 4)), (0, 0, 0, 2**60)}
    found = {
        (c.value.constant, c.size, c.terms, c.grid)
        for c in gates_of(terms, form_of("3/2", "1/3"), values, set())
    }
    assert found == {(Fraction(11, 6), Fraction(11, 6), 2, 0), (0, 0, 0, 2**60)}


def test_the_size_of_an_average_is_that_of_its_farther_end() -> None:
    terms = Formulas(("a", "b")).names
    mean = terms.mean(Masking.FUTURE, terms.choose(terms.letter("a"), terms.number(-3), terms.number(1)))
    bit = Bits(terms, ()).value(numbers_of(1, 0))
    found = {
        (c.value.constant, bool(c.value.parts), c.size, c.terms, c.averages, c.grid)
        for c in gates_of(terms, form_of(2, 1), [{(0, 0): mean}, bit], set())
    }
    assert found == {
        (0, True, 6, 1, True, 0),
        (1, True, 7, 2, True, 0),
        (2, False, 2, 1, False, 2),
        (-5, False, 7, 2, False, 1),
    }
    gates = Gates(Arithmetic(terms, FLOAT32))
    [own] = [c for c in gates._cases(form_of(2, 1), {0: mean, 1: terms.false}, set()) if c.averages]
    gate = Gate(gates.arithmetic, PAIR, frozenset([own]))
    assert (gate.averages, gate.cases[0].is_active, gate.cases[0].is_step) == (True, True, False)
    mixed = Gate(gates.arithmetic, PAIR, frozenset([own, constant_case(0)]))
    assert mixed.averages


def test_hidden_units_cannot_read_unbounded_positions() -> None:
    terms = Formulas(("a", "b")).names
    with pytest.raises(UnprovenError):
        gates_of(terms, form_of(1), [{(1, 0): terms.true}], set())


@pytest.mark.parametrize(
    ("outputs", "before", "is_disjoint"),
    [
        ([(1, 0, 0), (0, 1, 0)], (0, 0, 0), True),
        ([(1, 0, 0)], (0, 0, 0), True),
        ([(1, 0, 0), (0, 0, 0)], (0, 0, 0), True),
        ([(1, 0, 0), (1, 0, 0)], (0, 0, 0), False),
        ([(2, 0, 0), (-1, 0, 0)], (0, 0, 0), False),
        ([(0, 1, 0), (0, 0, 2)], (0, 0, 0), True),
        ([(0, 1, 0), (0, 0, -1)], (0, 0, 0), True),
        ([(0, 2, 0), (0, 2, 2)], (0, 0, 0), False),
        ([(0, 3, 0), (0, 0, 2)], (1, 0, 0), False),
        ([(1, 0, 0)], (0, 1, 0), False),
        ([(2, 0, 0)], (-1, 0, 0), False),
    ],
)
def test_writings_are_disjoint_if_at_most_one_gate_adds_something_to_nothing(
    outputs: list[tuple[int, ...]], before: tuple[int, ...], is_disjoint: bool
) -> None:
    """Each gate adds numbers by symbol: factor * ReLU(symbol - 0) for each symbol that it reads."""
    terms = Formulas(("a", "b", "c")).names
    letters = [numbers_of(*(int(k == j) for j in range(3))) for k in range(3)]
    bits = Bits(terms, (*letters, *(numbers_of(*(1 if n else 0 for n in own)) for own in outputs)))
    middle = bits.stream(numbers_of(*before))
    target = len(middle.values) - 1
    total = numbers_of(*(sum(column) for column in zip(before, *outputs, strict=True)))
    after = bits.stream(total)
    groups = tuple(
        UnitGroup(
            ((3 + k, Fraction(1)),),
            bits.diagram(numbers_of(*(1 if n else 0 for n in own))),
            {target: units_of((0, next((n for n in own if n), 1)))},
        )
        for k, own in enumerate(outputs)
    )
    [writing] = Gates(Arithmetic(terms, FLOAT32)).writings_of(groups, middle, middle, after)
    assert writing.disjoint == is_disjoint


def gate_and_factors(
    known: Arithmetic, units: tuple[Unit, ...], *cases: Case, factor: int = 1
) -> tuple[tuple[Factor, ...], Gate]:
    """A gate that reads coordinate 0."""
    weight = Factor(0, Fraction(factor), arb(abs(factor)), fits=True, is_power=True)
    return (weight,), Gate(known, units, frozenset(cases))


def test_what_is_written_is_off_by_its_quiet_and_its_active_cases() -> None:
    """Alone a gate's units are the sum; with others only if it and they are silent where they add nothing."""
    known = arithmetic_with_mean(FLOAT32)
    lengths, middle = Lengths(known, 5), ResidualValues([{(0, 0): known.names.true}])
    offs = [off_of(arb("1/8"), arb("1/8"))]
    silent = gate_and_factors(known, units_of((-1, 1), (-2, -1)), constant_case("1/2"), constant_case("7/4"))
    other = gate_and_factors(known, units_of((-1, 1)), constant_case("1/4"), constant_case(2))
    loud = gate_and_factors(known, units_of((-1, 1)), constant_case("15/16"), constant_case(2))
    read = read_of("1/8", murky=1)
    wrote = {
        name: gate[1].written(read) for name, gate in (("silent", silent), ("other", other), ("loud", loud))
    }
    assert [own.is_silent for own in wrote.values()] == [True, True, False]
    assert wrote["silent"].quiet == 0
    assert wrote["loud"].quiet > 0
    assert wrote["loud"].active > wrote["loud"].quiet

    def off(disjoint: bool, *parts: tuple[tuple[Factor, ...], Gate]) -> Off:
        return written(lengths, Writing(7, parts, disjoint, ()), middle, offs)

    def is_off(found: Off, zero: flint.arb, other: flint.arb, mean: flint.arb) -> bool:
        pairs = (found.at_zero, zero), (found.elsewhere, other), (found.average, mean), (found.relative, ZERO)
        return all(same(one, rational(bound)) for one, bound in pairs)

    alone = off(True, loud)
    assert is_off(alone, wrote["loud"].quiet, wrote["loud"].active, ZERO)
    assert is_off(off(True, silent), ZERO, wrote["silent"].active, ZERO)
    most = wrote["silent"].active.max(wrote["other"].active)
    assert is_off(off(True, silent, other), ZERO, most, ZERO)
    assert is_off(off(True, other, silent), ZERO, most, ZERO)
    for parts in ((silent, loud), (loud, silent), (loud, loud), (silent, loud, other)):
        effects = [gate.written(read).effect for _, gate in parts]
        total = whole(known, effects)
        assert is_off(off(True, *parts), total, total, total)
        assert is_off(off(False, *parts), total, total, total)
    both = wrote["loud"].active
    assert is_off(off(False, loud), both, both, both)
    mixed = gate_and_factors(known, units_of((-1, 1), (-2, -1)), constant_case(2), constant_case(1000))
    found = mixed[1].written(read)
    assert whole(known, [found.effect]) > found.active, (
        "the worst of each case together is worse than any case"
    )
    assert is_off(off(False, mixed), found.active, found.active, found.active)
    murky = gate_and_factors(known, units_of((-1, 1), (0, "1/64")), constant_case("-1/16"))
    quiet = murky[1].written(read).quiet
    assert quiet > 0
    assert is_off(off(False, murky), quiet, quiet, quiet), "also where it adds nothing"


# What a gate reads -----------------------------------------------------------------------------------------


def read_by(
    known: Arithmetic, form: tuple[Factor, ...], values: list[Value], offs: list[Off], averages: bool = False
) -> Read:
    case = Case(Affine(Fraction(1)), 1, Fraction(1), averages, NONE)
    gate = Gate(known, PAIR, frozenset([case]))
    return feed_forward._read(Lengths(known, 5), form, gate, ResidualValues(values), offs)


def factor_at(known: Arithmetic, coordinate: int, factor: Fraction | int | str) -> Factor:
    return Gates(known)._factor(coordinate, Fraction(factor))


def test_what_a_gate_reads_is_off_by_its_inputs_times_their_factors() -> None:
    known = arithmetic_with_mean(FLOAT32)
    terms = known.names
    mean = {(0, 0): terms.scaled(terms.affine(Affine(NONE, ((0, Fraction(1)),))), 2)}
    form = (factor_at(known, 0, 4), factor_at(known, 1, "-1/2"))
    offs = [off_of(arb("1/8"), arb("1/4")), off_of(arb(0), arb("1/16"), arb("1/2"), arb("1/4"))]
    found = read_by(known, form, [{(0, 0): terms.true}, mean], offs)
    assert found.terms == 2
    assert same(found.constant, Fraction(1) + Fraction(1, 32))
    assert same(found.average, 0)
    assert found.murky == 1
    assert found.weights
    found = read_by(known, form, [{(0, 0): terms.true}, mean], offs, averages=True)
    assert same(found.average, 1 + (Fraction(1, 2) + Fraction(3, 4)) / 2)


@pytest.mark.parametrize(
    ("zeros", "murky"), [((0, 0), 0), ((0, 1), 1), (("1/8", 0), 1), (("1/8", 1), 2), ((1, 1), 2)]
)
def test_a_zero_with_an_error_is_a_term_like_others(zeros: tuple[int | str, ...], murky: int) -> None:
    known = arithmetic_with_mean(FLOAT32)
    form = (factor_at(known, 0, 1), factor_at(known, 1, 1))
    one = {(0, 0): known.names.true}
    assert read_by(known, form, [one, one], [off_of(at_zero=arb(zero)) for zero in zeros]).murky == murky


@pytest.mark.parametrize("form", ALL)
def test_products_are_exact_by_powers_of_two_or_where_the_format_holds_them(form: FloatFormat) -> None:
    known, most = arithmetic_with_mean(form), int(1 / form.roundoff)
    terms = known.names
    off = off_of(elsewhere=arb(Fraction(1, 2**60)))
    mean = terms.affine(Affine(NONE, ((0, Fraction(1)),)))
    for factor, value, error, is_exact in (
        (2, terms.true, off, True),
        (3, terms.true, EXACT, True),
        (3, terms.true, off, False),
        (3, terms.true, off_of(relative=arb(1)), False),
        (3, terms.number(most // 4), EXACT, True),
        (3, terms.number(most // 2 + 1), EXACT, False),
        (3, terms.number(Fraction(most // 2 + 1, 4)), EXACT, False),
        (3, terms.number(Fraction(most // 4, 4)), EXACT, True),
        ("3/4", terms.number(4 * (most // 4)), EXACT, True),
        ("3/4", terms.number(Fraction(1, 4)), EXACT, True),
        (3, terms.number(Fraction(1, 3)), EXACT, False),
        (3, mean, EXACT, False),
        (most - 1, terms.number(1), EXACT, True),
        (most - 1, terms.number(2), EXACT, True),
        (most - 1, terms.number(3), EXACT, False),
        (most + 1, terms.true, EXACT, False),
        (most + 1, terms.false, EXACT, False),
        ("1/3", terms.true, EXACT, False),
        ("1/3", terms.number(3), EXACT, False),
        (Fraction(1, 2**60), terms.true, off, True),
    ):
        term, power = factor_at(known, 0, factor), factor_at(known, 1, 2)
        one = {(0, 0): value}
        assert read_by(known, (term,), [one], [error]).weights == is_exact, (factor, value)
        assert read_by(known, (term, power), [one, one], [error, error]).weights == is_exact
        assert (
            read_by(known, (power, replace(term, coordinate=0)), [one, one], [error, error]).weights
            == is_exact
        )


def test_a_product_with_a_number_or_a_factor_without_grid_is_not_exact() -> None:
    known = arithmetic_with_mean(FLOAT32)
    lengths, terms = Lengths(known, 5), known.names
    for value, factor, is_exact in (
        (terms.true, Fraction(3), True),
        (terms.true, Fraction(1, 3), False),
        (terms.number(Fraction(1, 3)), Fraction(3), False),
        (terms.number(Fraction(1, 3)), Fraction(1, 3), False),
        (terms.number(2**12 + 1), Fraction(2**12 - 1), True),
        (terms.number(2**12 + 1), Fraction(2**12 + 1), False),
        (terms.number(Fraction(2**12 - 1, 2**50)), Fraction(2**12 - 1, 2**50), True),
        (terms.number(Fraction(2**12 - 1, 2**50)), Fraction(2**12 - 1, 2**51), False),
    ):
        assert feed_forward._exact_product(lengths, {(0, 0): value}, factor) == is_exact
    assert feed_forward._exact_product(lengths, {(1, 0): terms.true}, Fraction(3))
    assert not feed_forward._exact_product(Lengths(known, 2**23), {(1, 0): terms.true}, Fraction(3))


# Runs ------------------------------------------------------------------------------------------------------

KINDS = {"float64": torch.float64, "float32": torch.float32, "bfloat16": torch.bfloat16}


def rounded(number: Fraction, form: FloatFormat) -> torch.Tensor:
    return torch.tensor(float(number), dtype=torch.float64).to(KINDS[form.name])


def added(numbers: list[torch.Tensor], form: FloatFormat, rng: random.Random) -> torch.Tensor:
    """The sum in a random order and with random brackets, in float32 if the format is smaller."""
    inner = torch.float32 if form is BFLOAT16 else KINDS[form.name]
    parts = [number.to(inner) for number in numbers]
    rng.shuffle(parts)
    while len(parts) > 1:
        k = rng.randrange(len(parts) - 1)
        parts[k : k + 2] = [parts[k] + parts[k + 1]]
    return (parts[0] if parts else torch.zeros((), dtype=inner)).to(KINDS[form.name])


def multiplied(left: torch.Tensor, right: torch.Tensor, form: FloatFormat) -> torch.Tensor:
    return left.float() * right.float() if form is BFLOAT16 else left * right


def run_layer(form: FloatFormat, rng: random.Random) -> tuple[flint.arb, Fraction]:
    """A random layer: the bound at one symbol, and how far off it is there, at most, in a few orders."""
    terms, count = Formulas(("a", "b")).names, rng.randint(1, 4)
    pool = [NONE, NONE, Fraction(1), Fraction(1), Fraction(2), Fraction(-1), Fraction(3, 4)]
    bits = Bits(terms, tuple((rng.choice(pool), rng.choice(pool)) for _ in range(count)))
    u = form.roundoff
    inputs, offs = [], []
    for numbers in bits.numbers:
        error = rng.choice([NONE, NONE, u, 20 * u, Fraction(1, 16)])
        computed = [rounded(n + rng.choice([-1, 0, 1]) * error, form) for n in numbers]
        found = [abs(Fraction(float(c)) - n) for c, n in zip(computed, numbers, strict=True)]
        zeros, others = (
            [f for f, n in zip(found, numbers, strict=True) if bool(n) is which] for which in (False, True)
        )
        inputs.append(computed)
        offs.append(off_of(ball(max(zeros, default=NONE)), ball(max(others, default=NONE))))
    factors = [Fraction(1), Fraction(1), Fraction(-1), Fraction(2), Fraction(3), Fraction(1, 3)]
    groups = []
    for form_now in {
        form_of(*(rng.choice([NONE, *factors]) for _ in range(count))) for _ in range(rng.randint(1, 2))
    }:
        if not form_now:
            continue
        low, size = (
            rng.choice([Fraction(1, 4), Fraction(1, 2), NONE, Fraction(1, 3)]),
            rng.choice([Fraction(1), Fraction(2), Fraction(3)]),
        )
        pair = ((-low, size), (-low - rng.choice([Fraction(1, 2), Fraction(1)]), -size))
        more = tuple(
            (Fraction(rng.randint(-2, 1)), rng.choice(factors)) for _ in range(rng.choice([0, 0, 1]))
        )
        read = tuple(sum((f * bits.numbers[c][k] for c, f in form_now), NONE) for k in range(2))
        groups.append(UnitGroup(form_now, bits.diagram(read), {count: pair + more}))
    exact = [NONE, NONE]
    for k in range(2):
        for group in groups:
            value = sum((f * bits.numbers[c][k] for c, f in group.form), NONE)
            exact[k] += relu_sum(group.outputs[count], value)
    middle, after = bits.stream((NONE, NONE)), bits.stream(tuple(exact))
    if not groups:
        return ZERO, NONE
    known = Arithmetic(terms, form)
    [writing] = Gates(known).writings_of(tuple(groups), middle, middle, after)
    found_off = written(Lengths(known, 5), writing, middle, [*offs, EXACT])
    k, worst = rng.randrange(2), NONE
    for _ in range(4):
        products = []
        for group in groups:
            sums = [
                multiplied(rounded(f, form), inputs[c][k], form).to(KINDS[form.name]) for c, f in group.form
            ]
            for bias, factor in group.outputs[count]:
                unit = torch.relu(added(sums, form, rng) + rounded(bias, form))
                products.append(multiplied(unit, rounded(factor, form), form))
        off = abs(Fraction(float(added(products, form, rng))) - exact[k])
        worst = max(worst, off)
    return found_off.elsewhere if exact[k] else found_off.at_zero, worst


@pytest.mark.sweep(1)
@pytest.mark.parametrize("form", ALL)
def test_no_run_is_farther_off_than_the_bound(form: FloatFormat) -> None:
    rng, exact, nearest = random.Random(form.name), 0, NONE
    for _ in range(100):
        bound, off = run_layer(form, rng)
        assert not (ball(off) > bound)
        exact += bool(bound == 0)
        nearest = max(nearest, off / rational(bound) if bound > 0 else NONE)
    assert exact > 20
    assert nearest > Fraction(1, 4), "the bound is not far from what happens"
