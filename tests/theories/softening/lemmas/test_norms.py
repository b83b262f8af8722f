"""The recursion of norms: its value, and that its temperature is cold enough and not much too cold."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp

import numpy as np
import pytest

from attemper.exact.balls import ball, precision
from attemper.networks.layers import Network
from attemper.theories.softening.check.enumeration import examine
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.measured import measured
from attemper.theories.softening.lemmas.norms import (
    PRECISION,
    Lead,
    Published,
    coldness_by_norms,
    edelman,
    own_sizes,
    recursion,
)
from attemper.theories.softening.search.soften import constant
from attemper.theories.softening.search.temperatures import softened
from tests.support.drawn.tieless_networks import DrawnNetwork, Matrix, tieless
from tests.support.drawn.typed_networks import last_a, two_into_one, uniform_only

HUNDREDTH = Fraction(1, 100)
SEEDS = (0, 3, 4, 6, 11, 17)


def least_gap(network: Network, length: int) -> Fraction:
    gaps = [gap for layer in examine(network, length).gaps for gap in layer if gap is not None]
    return min(gaps, default=Fraction(1))


def coldness(network: Network, length: int, epsilon: Fraction = HUNDREDTH) -> Fraction:
    sizes, gap = examine(network, length).magnitudes, least_gap(network, length)
    found = coldness_by_norms(network, uniform_heads(network), sizes, gap, length, epsilon)
    assert found is not None
    return found


def bound_at(network: Network, length: int, cold: Fraction) -> Fraction | None:
    """What the recursion says of the error behind the last layer, to 20 digits."""
    lead = Lead(least_gap(network, length), ball(cold))
    leads = [[None if alone else lead for alone in layer] for layer in uniform_heads(network)]
    sizes = [ball(size) for size in examine(network, length).magnitudes]
    *_, last = recursion(own_sizes(network), leads, sizes, length)
    return None if last.after is None else Fraction(last.after.upper().str(20, radius=False))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [2, 4])
def test_its_temperature_is_cold_enough_and_one_ten_times_as_warm_is_not_by_its_own_bound(seed, length):
    network = tieless(seed, length).network
    cold = coldness(network, length)
    soft = softened(network, constant(uniform_heads(network), cold))
    with precision(PRECISION):
        assert measured(network, soft, product("ab", repeat=length))[-1].after <= ball(HUNDREDTH)
        warmer = bound_at(network, length, cold / 10)
        assert warmer is None or warmer > HUNDREDTH
        own = bound_at(network, length, cold)
        assert own is not None
        assert own <= HUNDREDTH


def plain(rows: Matrix) -> np.ndarray:
    return np.array([[float(value) for value in row] for row in rows])


def plain_error(drawn: DrawnNetwork, sizes: list[float], gap: float, length: int, cold: float) -> float:
    """The recursion in floats, from the matrices: the written form, |A|_1, largest row sums."""
    error = 0.0
    for layer, size in zip(drawn.layers, sizes, strict=True):
        behind = error
        for head in layer.heads:
            query, key, value = map(plain, (head.query, head.key, head.value))
            spread = np.abs(query.T @ key / 2).sum() * (2 * size * error + error**2)
            if query.any() and 2 * spread >= gap:
                return float("inf")
            stray = (length - 1) * exp(-(gap - 2 * spread) * cold) if query.any() else 0.0
            behind += np.abs(value).sum(axis=1).max() * (error + 2 * size * stray)
        inner, outer = plain(layer.inner), plain(layer.outer)
        error = (1 + np.abs(inner).sum(axis=1).max() * np.abs(outer).sum(axis=1).max()) * behind
    return float(error)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("seed", SEEDS)
def test_its_value_is_that_of_the_recursion_in_floats_from_plain_matrices(seed):
    length, drawn = 4, tieless(seed, 4)
    found = coldness(drawn.network, length)
    sizes = [float(size) for size in examine(drawn.network, length).magnitudes]
    gap = float(least_gap(drawn.network, length))
    assert plain_error(drawn, sizes, gap, length, float(found)) <= 0.01
    assert plain_error(drawn, sizes, gap, length, float(found) * 31 / 32) > 0.01


def test_its_value_on_a_network_that_is_worked_out_by_hand():
    """One head, |W_V| = 1, X = 1, a gap of 1/n, and nothing else: 2 (n - 1) e^(-cold / n) <= 1/100."""
    found = coldness(last_a(), 4)
    assert 2 * 3 * exp(-float(found) / 4) <= 0.01 < 2 * 3 * exp(-float(found) * 31 / 32 / 4)


def test_where_nothing_can_be_off_every_temperature_will_do():
    network = uniform_only()
    assert coldness(network, 3) <= Fraction(1, 2**150)


def test_theorem_26_asks_for_far_colder_heads_than_the_weights_own_sizes():
    for network in (last_a(), two_into_one()):
        paper = Published.of(network)
        with precision(PRECISION):
            asked = paper.coldness(1, 4, ball(Fraction(1)), Fraction(1, 4), HUNDREDTH)
            assert asked > 4 * ball(coldness(network, 4))


def test_theorem_26_is_its_formula():
    """d = p = 1, one layer and head: K1 = 4, K2 = 4, G = 1, kappa = 6, and min is g / (12 X)."""
    paper = Published(1, Fraction(1), 1)
    with precision(PRECISION):
        found = paper.coldness(1, 10, ball(Fraction(1)), Fraction(1, 2), HUNDREDTH)
        expected = 4 * (ball(Fraction(4 * 10 * 6)) / ball(Fraction(1, 2) / (12 * 6))).log()
        assert abs(found - expected) < ball(Fraction(1, 2**200))
        assert paper.kappa == 6
        assert paper.read(2, ball(Fraction(1, 3))) == 36


@pytest.mark.parametrize(("visible", "tied"), [(2, 1), (5, 1), (5, 2), (7, 6), (4, 4)])
def test_the_bound_of_edelman_et_al_holds_and_is_nearly_attained(visible, tied):
    cold = Fraction(3)
    with precision(PRECISION):
        for gap in (Fraction(1, 6), Fraction(1), Fraction(9)):
            power = (-ball(gap * cold)).exp()
            whole = tied + (visible - tied) * power
            off = tied * abs(1 / whole - ball(Fraction(1, tied))) + (visible - tied) * power / whole
            bound = edelman(Lead(gap, ball(cold)), visible, tied)
            assert off < bound or (visible == tied and bound == 0 == off)
            assert off >= ball(Fraction(9, 10)) * bound or gap < 9
