"""The search for horizons: exact, whatever leads it, and in few evaluations."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from statistics import median
from types import SimpleNamespace
from typing import Any, cast

import flint
import pytest

from attemper.certifying.horizons import Horizons, _Search, horizon_of
from attemper.checker.analysis import Analysis
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import LONGEST, Bounds, Rounding, failure_at
from attemper.compiling.regimes import Regime
from attemper.errors import UnsupportedError
from attemper.exact.formats import FLOAT32, FORMATS
from attemper.languages.temporal.show import show
from attemper.workbench import demo
from attemper.workbench.model import Model
from attemper.workbench.model import compile as compile_formula
from attemper.workbench.zoo import compile_entry
from tests.support.samples import FormulaSampler
from tests.support.suites import Few

EVALUATIONS = 56
"""What a certificate may cost: three formats with three kernels each."""


def analysis_of(model: Model) -> Analysis:
    return prove(model.network, model.language, model.realisation)


def bisected(analysis: Analysis, form: Any, kernel: Kernel) -> tuple[int, str]:
    """The horizon and its place, by nothing but the checker's verdict on one length at a time."""
    rounding = Rounding(analysis, form)
    if (place := rounding.bounds_at(kernel, LONGEST).failure) is None:
        return LONGEST, ""
    good, bad = 0, LONGEST
    while bad - good > 1:
        middle = (good + bad) // 2
        failure = rounding.bounds_at(kernel, middle).failure
        good, bad, place = (middle, bad, place) if failure is None else (good, middle, failure)
    return good, str(place)


def require_exact(model: Model) -> None:
    analysis = analysis_of(model)
    horizons = Horizons(analysis)
    for form in FORMATS.values():
        for kernel in Kernel:
            found = horizons.of(form, kernel)
            assert (found.length, found.place) == bisected(analysis, form, kernel), (form.name, kernel)


def demo_models() -> list[Model]:
    found = []
    for entry, source in demo.SHOWN:
        for regime in Regime:
            try:
                found.append(compile_entry(entry, source, regime=regime.value))
            except UnsupportedError:
                continue
    return found


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", list(Regime))
@pytest.mark.parametrize("formula", ["#<[a] <= #<[b]", "even(#<[a])", "a S Y b", "Y Y a", "even(pos)"])
def test_horizons_are_those_of_a_plain_search(formula: str, regime: Regime) -> None:
    require_exact(compile_formula(formula, "ab", regime=regime.value))


def test_horizons_of_random_formulas_are_those_of_a_plain_search(few: Few) -> None:
    rng = Random(5)
    for _ in few(range(12), 2):
        regime = rng.choice(list(Regime))
        formula = FormulaSampler(rng, ("a", "b"), past_only=regime is Regime.DECODER).formula(3)
        require_exact(compile_formula(show(formula), "ab", at="last", regime=regime.value))


@pytest.mark.slow
def test_all_horizons_of_the_demo_are_those_of_a_plain_search() -> None:
    for model in demo_models():
        require_exact(model)


def test_a_search_may_end_early() -> None:
    analysis = analysis_of(compile_formula("even(#<[a])", "ab"))
    horizon, _ = horizon_of(analysis, FLOAT32, Kernel.NUMERATOR_FIRST)
    for most in (1, 2, horizon - 1, horizon):
        assert horizon_of(analysis, FLOAT32, Kernel.NUMERATOR_FIRST, most) == (most, "")
    for most in (horizon + 1, 2 * horizon, LONGEST, 2 * LONGEST):
        place = failure_at(analysis, FLOAT32, Kernel.NUMERATOR_FIRST, horizon + 1)
        assert horizon_of(analysis, FLOAT32, Kernel.NUMERATOR_FIRST, most) == (horizon, place)


# Whatever leads it -----------------------------------------------------------------------------------


class Judge:
    """A checker that proves everything up to a length, and says something or other of its strains."""

    def __init__(self, horizon: int, rng: Random) -> None:
        self.analysis = SimpleNamespace(network=SimpleNamespace(outputs=(0,)))
        self.form = FLOAT32
        self.horizon = horizon
        self.aims = [max(1.0, horizon * rng.choice([1, 1.0001, 0.7, 1.5, 100])) for _ in range(3)]
        self.powers = [rng.choice([0.01, 0.5, 1, 2, 3, 40]) for _ in range(3)]
        self.noise = rng.choice([0, 0, 0.1, 1])
        self.rng = rng
        self.looked: list[int] = []

    def bounds_at(self, kernel: Kernel, length: int) -> Bounds:
        assert length not in self.looked
        self.looked.append(length)
        strains = {
            (f"head {k}", Fraction(1)): (flint.arb(length) / aim) ** power
            * (1 + self.noise * self.rng.random())
            for k, (aim, power) in enumerate(zip(self.aims, self.powers, strict=True))
        }
        return Bounds([], strains, None if length <= self.horizon else f"beyond {length}")


@pytest.mark.parametrize("seed", range(400))
def test_the_exact_end_is_found_whatever_leads_the_search(seed: int) -> None:
    rng = Random(seed)
    most = rng.choice([1, 2, 5, 1000, 2**21, LONGEST])
    horizon = min(most, rng.choice([0, 1, 2, most, rng.randrange(2000), rng.randrange(most + 1)]))
    judge = Judge(horizon, rng)
    guess = rng.choice([1, most, min(most, max(1, horizon)), rng.randrange(1, most + 1)])
    kernel = rng.choice(list(Kernel))
    found = _Search(cast("Rounding", judge), [], kernel, most).run(guess)
    assert found.length == horizon
    assert found.place == (f"beyond {horizon + 1}" if horizon < most else "")
    assert len(judge.looked) <= 110


def test_honest_strains_lead_straight_there() -> None:
    for horizon in (12, 908, 15_604_531, 23_162_983):
        judge = Judge(horizon, Random(0))
        judge.aims, judge.powers, judge.noise = [horizon + 0.5] * 3, [2.0] * 3, 0
        assert _Search(cast("Rounding", judge), [], Kernel.NUMERATOR_FIRST, LONGEST).run(1).length == horizon
        assert len(judge.looked) <= 8


# What a certificate costs ----------------------------------------------------------------------------


def evaluations(model: Model) -> int:
    horizons = Horizons(analysis_of(model))
    for form in FORMATS.values():
        for kernel in Kernel:
            horizons.of(form, kernel)
    return horizons.looks


@pytest.mark.sweep(0)
def test_certificates_of_the_demo_cost_few_evaluations() -> None:
    """A search by halves needs about a hundred."""
    costs = [evaluations(model) for model in demo_models()]
    assert median(costs) <= 45
    assert max(costs) <= 104
    assert sum(cost > EVALUATIONS for cost in costs) <= 10
