"""The search for horizons: exact, whatever leads it, and in few evaluations."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from random import Random
from statistics import median
from typing import Any, cast

import flint
import pytest

import attemper
from attemper.certifying.extrapolation import GrowingErrors
from attemper.certifying.horizons import Horizon, Horizons, _Search, horizon_of
from attemper.certifying.parts import PartRounding, Parts
from attemper.checker.analysis import Analysis
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import LONGEST, Bounds, Rounding, failure_at
from attemper.errors import UnsupportedError
from attemper.exact.formats import FLOAT32, FLOAT64, FORMATS
from attemper.languages.named.zoo import named as entry_named
from attemper.languages.temporal.show import show
from attemper.networks.regime import Regime
from attemper.workbench import demo
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.model import Model
from attemper.workbench.zoo import compile_entry
from tests.support.corpora.certificates import CORPORA
from tests.support.drawn.samples import FormulaSampler
from tests.support.suites import Few

EVALUATIONS = 27
"""What a certificate may cost: three formats with three kernels each."""


def analysis_of(model: Model) -> Analysis:
    return prove(model.network, model.language.definition, model.realisation)


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
    """The horizons are those of a plain search, and the place named has no proof beyond.

    It is the first of several that fail there, unless a part of the network told that one fails.
    """
    analysis = analysis_of(model)
    horizons = Horizons(analysis)
    for form in FORMATS.values():
        for kernel in Kernel:
            found = horizons.of(form, kernel)
            length, place = bisected(analysis, form, kernel)
            assert found.length == length, (form.name, kernel)
            assert found.place == place or (place and order(found.place) > order(place)), (form.name, kernel)


def order(place: str) -> tuple[int, ...]:
    """The layer and the index of a head."""
    found = re.fullmatch(r"layer (\d+), head (\d+)", place)
    assert found is not None, place
    return tuple(map(int, found.groups()))


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


@cache
def three_heads() -> Parts:
    parts = Parts(analysis_of(compile_formula("O a & O b & O c", "abc", at="last")))
    assert all(parts.has(parts.whole, f"layer 0, head {index}") for index in range(3))
    return parts


class Judge:
    """A checker that proves everything up to a length, and says something or other of its lost_shares."""

    def __init__(self, horizon: int, rng: Random) -> None:
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
        lost_shares = {
            f"layer 0, head {k}": (flint.arb(length) / aim) ** power * (1 + self.noise * self.rng.random())
            for k, (aim, power) in enumerate(zip(self.aims, self.powers, strict=True))
        }
        return Bounds([], lost_shares, None if length <= self.horizon else f"beyond {length}")

    def search(self, kernel: Kernel, guess: int, most: int) -> Horizon:
        """What is found by asking this checker."""
        parts = three_heads()
        search = _Search(cast("Rounding", self), kernel, parts, GrowingErrors([], parts))
        return search.run(guess, most)


@pytest.mark.sweep(60)
@pytest.mark.parametrize("seed", range(400))
def test_the_exact_end_is_found_whatever_leads_the_search(seed: int) -> None:
    rng = Random(seed)
    most = rng.choice([1, 2, 5, 1000, 2**21, LONGEST])
    horizon = min(most, rng.choice([0, 1, 2, most, rng.randrange(2000), rng.randrange(most + 1)]))
    judge = Judge(horizon, rng)
    guess = rng.choice([1, most, min(most, max(1, horizon)), rng.randrange(1, most + 1)])
    found = judge.search(rng.choice(list(Kernel)), guess, most)
    assert found.length == horizon
    assert found.place == (f"beyond {horizon + 1}" if horizon < most else "")
    assert len(judge.looked) <= 110


def test_honest_shares_lead_straight_there() -> None:
    for horizon in (12, 908, 15_604_531, 23_162_983):
        judge = Judge(horizon, Random(0))
        judge.aims, judge.powers, judge.noise = [horizon + 0.5] * 3, [2.0] * 3, 0
        assert judge.search(Kernel.NUMERATOR_FIRST, 1, LONGEST).length == horizon
        assert len(judge.looked) <= 8


# Parts ------------------------------------------------------------------------------------------------


def test_a_part_fails_where_the_whole_does_and_the_whole_wherever_the_part_does(few: Few) -> None:
    """And what is off in a part is off by the same in the whole, at the length that it was made for."""
    rng = Random(8)
    smaller = 0
    for seed in few(range(12), 2):
        analysis = analysis_of(compile_formula(large_formula(Random(seed), 12), "abc", at="last"))
        parts = Parts(analysis)
        for form in FORMATS.values():
            whole, kernel = Rounding(analysis, form), rng.choice(list(Kernel))
            length = rng.choice([2**12, 2**20, 2**30])
            bounds = whole.bounds_at(kernel, length)
            if bounds.failure is None:
                continue
            part = parts.behind_failure(bounds)
            smaller += len(part) < len(parts.whole)
            rounding = PartRounding(whole, part)
            again = rounding.bounds_at(kernel, length)
            assert again.failure == bounds.failure
            # Where sums over so many positions have no bound at all, nothing is said of any coordinate.
            assert len(again.offs) == len(bounds.offs)
            for coordinate in part.written if bounds.offs else ():
                assert str(again.offs[coordinate]) == str(bounds.offs[coordinate])
            for shorter in (rng.randrange(1, length) for _ in range(4)):
                if rounding.bounds_at(kernel, shorter).failure is not None:
                    assert whole.bounds_at(kernel, shorter).failure is not None
    assert smaller


def large_formula(rng: Random, operators: int) -> str:
    """A formula with exactly so many operators that rarely simplify away: nested evenly, all of the past."""
    if operators == 0:
        return rng.choice("abc")
    kind = rng.random()
    if operators == 1 or kind < 0.3:
        return f"{rng.choice('YYOH!')} ({large_formula(rng, operators - 1)})"
    left = rng.randint((operators - 1) // 4, operators - 1 - (operators - 1) // 4)
    sides = large_formula(rng, left), large_formula(rng, operators - 1 - left)
    if kind < 0.85:
        return f" {rng.choice(['S', 'S', 'T', '&', '|', 'xor', '<->'])} ".join(f"({side})" for side in sides)
    return f" {rng.choice(['<=', '<', '=='])} ".join(f"#<[{side}]" for side in sides)


# What a certificate costs ----------------------------------------------------------------------------


def evaluations(model: Model) -> float:
    """How often the network is evaluated, parts of it by their share, for all nine arithmetics."""
    horizons = Horizons(analysis_of(model))
    for form in FORMATS.values():
        for kernel in Kernel:
            horizons.of(form, kernel)
    return horizons.looks + horizons.shares


@pytest.mark.parametrize("formula", ["H (a -> O b)", "O a", "a S b", "Y a", "even(pos)"])
def test_small_networks_are_evaluated_three_times_for_each_arithmetic(formula: str) -> None:
    assert evaluations(compile_formula(formula, "ab")) <= EVALUATIONS


def test_the_whole_is_looked_at_once_where_one_part_limits_all_kernels_alike() -> None:
    """That part fails right behind the horizon of other kernels: the whole is asked there only."""
    formula = "#<[O a] < #<[Y (b | !b) & (#<[Y b] < #<[b])]"
    horizons = Horizons(analysis_of(compile_formula(formula, "abc", at="last")))
    first = horizons.of(FLOAT64, Kernel.NUMERATOR_FIRST)
    for kernel in (Kernel.NORMALISE_FIRST, Kernel.SCAN):
        looks = horizons.looks
        assert horizons.of(FLOAT64, kernel) == first
        assert horizons.looks == looks + 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_so_are_networks_of_200_operators(seed: int) -> None:
    model = compile_formula(large_formula(Random(seed), 200), "abc", at="last")
    assert sum(len(layer.heads) for layer in model.network.layers) > 80
    assert evaluations(model) <= EVALUATIONS


@pytest.mark.sweep(0)
def test_certificates_of_the_demo_cost_few_evaluations() -> None:
    """A search by halves needs about a hundred.

    Where a lead may lose 15/16 a head at the end fails by what it strays, and nothing extrapolates that.
    Until it could lose a half only, 45 and 110 were enough.
    """
    costs = [evaluations(model) for model in demo_models()]
    assert median(costs) <= 50
    assert max(costs) <= 135


# What was proved is proved ----------------------------------------------------------------------------

OLD = json.loads((Path(__file__).parent / "horizons_of_0_10_0.json").read_text(encoding="utf-8"))
"""The nine horizons that 0.10.0 proved: of the demo, of the zoo with all sources, and of saved networks."""


def model_named(name: str) -> Model:
    """The network of a row of these."""
    kind, *rest = name.split(" ")
    if kind == "corpora":
        return attemper.load(CORPORA / rest[0])
    entry = entry_named(rest[0])
    source, regime = entry.sources[int(rest[1])], rest[2]
    if regime == "default":
        return compile_entry(entry, source)
    return compile_entry(entry, source, regime=Regime(regime).value)


def test_no_horizon_is_shorter_than_it_was(few: Few) -> None:
    for name in few(sorted(OLD), 1):
        horizons = Horizons(analysis_of(model_named(name)))
        found = [horizons.of(form, kernel).length for form in FORMATS.values() for kernel in Kernel]
        assert all(new >= old for new, old in zip(found, OLD[name], strict=True)), (name, found)
