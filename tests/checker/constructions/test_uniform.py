"""Uniform heads: what is derived is what they compute, and how far their averages are off in floats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from attemper.checker.rounding.arithmetic import (
    BeyondError,
    Kernel,
    as_number,
)
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rules import HeadFact, Rule
from attemper.exact.closed_forms import ONE
from attemper.exact.formats import FLOAT32, FLOAT64, FloatFormat
from attemper.networks.layers import (
    Layer,
    Network,
    Uniform,
)
from tests.support.drawn.head_cases import (
    UNIFORM,
    Case,
    palette,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT
from tests.support.judges.rounding import (
    NORMALISE,
    NUMERATOR,
    SUMS,
    THIRD,
    U,
    each_format,
    each_kernel,
    finely,
    fraction,
    is_same,
    one_by_one,
    rounded_at,
    run_at,
    selecting,
    sums_at,
)
from tests.support.mutants.attacks import Part, form, head, network_of

prepare = palette
UNIFORMS = [
    Case(UNIFORM, masking, rows, value, gap=lambda i, n: 0)
    for masking in (LEFT, RIGHT, ALL)
    for rows, value in (
        ([], {"a": 2, "1": -1}),
        ([({"i": 3, "a": 1}, {"1": 2}), ({"i": 1}, {"n": 1})], {"sign": 1}),
        ([({"i": 2}, {"a": 1}), ({"i": -2}, {"a": 1})], {"1": 5}),
    )
]


@pytest.mark.parametrize("case", UNIFORMS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    fact = require_what_is_computed(case)
    assert fact.rules == (Rule(Uniform),)
    assert fact.stray_mass == 0


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(UNIFORMS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
    "uniform by letters": ("not all equal", Case(UNIFORM, LEFT, [({"1": 1}, {"a": 1})], {"a": 1})),
    "uniform by places": ("not all equal", Case(UNIFORM, LEFT, [({"1": 1}, {"i": 1})], {"a": 1})),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


# Floats --------------------------------------------------------------------------------------------


def mean_of(letters: Sequence[int], has_third: bool = False) -> Network:
    """The output is the average of a number for each letter, and of 1/3 if asked for."""
    value = form((0, 1), (1, 1)) if has_third else form((0, 1))
    average = head(Uniform(), ONE, [], [(value, 2)])
    embedding: list[list[Part]] = [[(0, size)] for size in letters]
    return network_of(3, embedding, {1: THIRD}, [Layer((average,), (), ())], 2)


@finely
@each_format
@each_kernel
@pytest.mark.parametrize(
    ("letters", "has_third"), [((8, 1), False), ((8, 8), False), ((8, 2), True), ((8, 8), True)]
)
def test_what_an_average_is_off_by(
    format_: FloatFormat, kernel: Kernel, letters: tuple[int, int], has_third: bool
) -> None:
    """A scan sums in float64; what is rounded afterwards is not the rule's."""
    name = "float64" if kernel is Kernel.SCAN else format_.name
    network, u = mean_of(letters, has_third), U[name]
    largest = max(letters) + (Fraction(1, 3) if has_third else 0)
    is_constant = letters[0] == letters[1]
    for length in (1, 2, 1000, 2**20, 2**20 + 1):
        run, analysis = run_at(network, format_, length, kernel)
        [own], [fact] = network.layers[0].heads, analysis.layers[0].heads
        off = as_number(*offs_of(fact, rounded_at(run, analysis)))
        computed = run.heads.lengths.linear(own.values[0], analysis.layers[0].before.values, run.offs)
        error = fraction(computed.absolute)
        assert (error > 0) is has_third
        assert is_same(off.relative, 4 * u)
        is_exact = 2 * length * SUMS[name] * largest <= (8 if is_constant else 1) and not has_third
        if kernel is not NORMALISE and is_exact:
            assert off.average == off.at_zero == 0
            assert is_same(off.elsewhere, 4 * u * largest if is_constant else Fraction(0))
        else:
            mean = error + (largest + error) * sums_at(name, length)
            assert is_same(off.average, mean)
            assert is_same(off.at_zero, mean if is_constant else error)
            assert is_same(off.elsewhere, mean if is_constant else error)


@each_kernel
def test_averages_in_float32_are_off_by_no_more_than_the_bound(kernel: Kernel) -> None:
    """All orders of summation, with a division or a rounded reciprocal; scans sum in float64, and round."""
    rng = np.random.default_rng(1)
    network, length = mean_of((7, 3)), 300
    run, analysis = run_at(network, FLOAT32, length, kernel)
    [fact] = analysis.layers[0].heads
    computed = rounded_at(run, analysis)
    off = as_number(*run.heads.written(computed, offs_of(fact, computed)))
    for n in (1, 2, 3, 7, 41, 49, 299, 300):
        values = rng.choice([np.float32(7), np.float32(3)], size=n)
        exact = Fraction(int(values.sum()), n)
        allowed = fraction(off.average) + fraction(off.relative) * exact
        ones = np.ones(n, np.float32)
        total = one_by_one(ones)
        if kernel is Kernel.SCAN:
            whole = values.astype(np.float64)
            found = [np.float32(whole.cumsum()[-1] / n), np.float32(whole.sum() * (1 / n))]
        elif kernel is NUMERATOR:
            found = [one_by_one(values) / total, one_by_one(values) * (np.float32(1) / total)]
        else:
            found = [one_by_one(values * (ones / total)), one_by_one(values * (np.float32(1) / total))]
        assert all(abs(Fraction(float(one)) - exact) <= allowed for one in found)
        if n == 1:
            assert fraction(off.constant) == 0
            assert all(one == values[0] for one in found)


def test_an_average_whose_scores_cancel_has_no_bound() -> None:
    run, analysis = run_at(selecting(), FLOAT64, 3)
    with pytest.raises(BeyondError, match="no rule for rounding covers its rows"):
        offs_of(HeadFact((Rule(Uniform),), ()), rounded_at(run, analysis))
