"""Weights near the ends of float64: what overflows or underflows on the way never makes a bound too small."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest

from attemper.exact.balls import precision
from attemper.models.arrays import Floats
from attemper.models.enclosures import tails
from attemper.models.enclosures.forms import FLAT, GAMMA, TINY, constant
from attemper.models.soft.weights import Encoder, EncoderNorm, Mask
from attemper.theories.influence.check import many_layers, one_layer, tables
from attemper.theories.influence.check.one_layer import HeadBounds
from attemper.theories.influence.check.tables import change_bound
from tests.support.drawn.extreme_encoders import PRECISION, averaging, norm_of, real_change


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def require_above(encoder: Encoder) -> float:
    """The proved change for n = 2, which must not be below what the two words show."""
    bound = change_bound(encoder, 2, [1]).change
    assert real_change(encoder) <= flint.arb(bound)
    return bound


ROOMY = norm_of(2.0**20, 2.0**40)
"""A second LayerNorm that leaves small differences: its deviation is at least 2^20."""


@pytest.mark.parametrize("mask", Mask)
@pytest.mark.parametrize("power", [0, 255, 256, 508])
def test_a_variance_whose_square_overflows(power: int, mask: Mask) -> None:
    """(k u)^2 is a fourth power of the stream: from 2^256 on, 1 / sqrt(variance) must not become 0.

    The bound is that of small embeddings, which the scale is nothing to.
    """
    rows = np.array([[1.0, -1, 0], [2, 2, -4], [0, 0, 0]]) * 2.0**power
    encoder = replace(averaging(rows.tolist(), (norm_of(1.0, 1e-5), ROOMY)), mask=mask)
    assert require_above(encoder) < 2.0**28


@pytest.mark.parametrize("epsilon", [1e-5, 1.79e308])
@pytest.mark.parametrize("power", [0, 510, 511.2, 512, 515])
def test_a_deviation_whose_square_overflows(power: float, epsilon: float) -> None:
    """In a stack: finite changes over an infinite deviation would be nothing."""
    rows = np.array([[1.0, -1, 0], [1, 1, -2], [0, 1, -1]]) * 2.0**power
    norms = (norm_of(1.0, epsilon), ROOMY)
    assert require_above(averaging(rows.tolist(), norms, written=2.0**-8, readout=2.0**19, layers=2)) > 0


@pytest.mark.parametrize(
    ("power", "gain", "epsilon"), [(0, 0, -10), (-440, -600, -880), (-449, -640, -899), (-449, -700, -899)]
)
def test_a_gain_that_underflows_before_a_small_deviation(power: int, gain: int, epsilon: int) -> None:
    rows = np.array([[1.0, -1, 0], [1, 1, -2], [0, 0, 0]]) * 2.0**power
    norms = (norm_of(2.0**gain, 2.0**epsilon), norm_of(1.0, 1.0))
    require_above(averaging(rows.tolist(), norms, readout=2.0**-gain, layers=2))


def random_norm(random: np.random.Generator) -> EncoderNorm:
    return EncoderNorm(
        random.normal(size=3) * 2.0 ** random.uniform(-1000, 1000),
        np.zeros(3),
        2.0 ** random.choice([random.uniform(-899, 1023), -899, 1023]),
    )


def random_box(random: np.random.Generator) -> tuple[Floats, Floats]:
    """A centre and a radius around it, from far below to far above the roots of the least and greatest."""
    scale = 2.0 ** random.choice([random.uniform(-1000, 1015), random.uniform(505, 515)])
    centre = random.integers(-4, 5, 3) * scale
    return centre, random.random(3) * scale * 2.0 ** random.uniform(-60, 2)


def in_balls(norm: EncoderNorm, place: Floats) -> list[flint.arb]:
    """LayerNorm without its bias, by the definition."""
    values = [flint.arb(float(value)) for value in place]
    centred = [value - sum(values, flint.arb(0)) / 3 for value in values]
    squares = sum((value * value for value in centred), flint.arb(0))
    deviation = (squares / 3 + flint.arb(norm.epsilon)).sqrt()
    return [
        value / deviation * flint.arb(float(gain)) for value, gain in zip(centred, norm.gain, strict=True)
    ]


def test_layer_norm_of_any_scale_is_in_its_form_and_changes_by_no_more_than_is_said() -> None:
    random, finite = np.random.default_rng(1), 0
    for _ in range(250):
        norm, (centre, wide) = random_norm(random), random_box(random)
        box = constant(centre[:, None, None], FLAT, wide[:, None, None])
        form = tails.normed(norm, box)[0]
        places = np.clip(centre + wide * random.choice([-1, -0.5, 0, 0.5, 1], (2, 3)), *sides(centre, wide))
        change = np.nextafter(np.abs(places[0] - places[1]), np.inf)
        moved = tails.layer_norm_change(norm, box, change[:, None, None])[:, 0, 0]
        with precision(PRECISION):
            first, second = (in_balls(norm, place) for place in places)
            for k in range(3):
                assert not first[k] > exact(form.greatest[k, 0, 0])
                assert not first[k] < exact(form.least[k, 0, 0])
                assert not abs(first[k] - second[k]) > exact(moved[k])
        finite += bool(np.isfinite(moved).all() and np.isfinite(form.rest).all())
    assert finite > 120


def test_a_constant_by_coordinates_that_underflows_is_above_the_real_one() -> None:
    """Neither 0 nor a number that a processor takes for 0, as changes by 2^1000 are multiplied with it."""
    norm = EncoderNorm(np.full(3, 2.0**-1000), np.zeros(3), 2.0**200)
    assert tails.layer_norm_slope_by_coordinates(norm) >= TINY


@pytest.mark.parametrize("value", [-1.0, -np.inf, np.nan, np.inf])
def test_what_bounds_no_absolute_value_is_no_bound(value: float) -> None:
    assert tables._number(value) == np.inf


def test_a_weight_of_which_nothing_is_known_is_at_most_one() -> None:
    low, high = np.array([[[np.nan], [1.0]]]), np.array([[[np.nan], [0.0]]])
    assert many_layers._greatest_weights(low, high).ravel().tolist() == [1.0, 0.0]


def test_what_a_word_weighs_is_never_below_though_quotients_underflow() -> None:
    """Boxes are dropped where sums of these are negative: e (k v - low) and e (high - k v) over all e's."""
    random = np.random.default_rng(2)
    low = 2.0 ** random.uniform(-200, -100, (40, 2))
    high = low.copy()
    high[0, 0] = 2.0**900
    value = random.normal(size=(1, 40, 2)) * 2.0**1000
    head = HeadBounds(low, high, constant(value, FLAT), np.eye(1))
    ends = np.array([-(2.0**999)]), np.array([2.0**999])
    terms = one_layer._side_terms(head, *ends)
    total = Fraction(float(high.sum()))
    for j, t in np.ndindex(low.shape):
        for found, end, sign in zip(terms, ends, (1, -1), strict=True):
            away = sign * (Fraction(float(value[0, j, t])) - Fraction(float(end[0])))
            real = max(away * Fraction(float(power[j, t])) for power in (low, high)) / total
            seen = Fraction(float(found[j, t, 0]))
            assert real <= seen + 4 * abs(seen) * Fraction(GAMMA) + Fraction(TINY)


def sides(centre: Floats, wide: Floats) -> tuple[Floats, Floats]:
    """Float64 numbers inside the box."""
    low, high = np.nextafter(centre - wide, np.inf), np.nextafter(centre + wide, -np.inf)
    return np.minimum(low, centre), np.maximum(high, centre)


def exact(value: float) -> flint.arb:
    return flint.arb(float(value))
