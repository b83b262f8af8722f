"""GELU on forms, against its values in balls; and what the tables say of its derivatives."""

from __future__ import annotations

import flint
import numpy as np
import pytest
import torch

from attemper.exact.balls import precision
from attemper.models.arrays import Floats
from attemper.models.enclosures import forms, smooth
from attemper.models.soft.activations import Activation, in_balls, in_floats, series_of
from tests.support.suites import Few

SMOOTH = (Activation.GELU, Activation.GELU_TANH)


@pytest.mark.parametrize("activation", list(Activation))
def test_the_three_ways_to_compute_it_agree_with_pytorch(activation: Activation) -> None:
    places = np.concatenate([np.linspace(-9, 9, 181), [-40.0, 40.0, 1e-300]])
    tensor = torch.tensor(places)
    theirs = {
        Activation.RELU: torch.relu(tensor),
        Activation.GELU: torch.nn.functional.gelu(tensor),
        Activation.GELU_TANH: torch.nn.functional.gelu(tensor, approximate="tanh"),
    }[activation].numpy()
    assert np.allclose(in_floats(activation, places), theirs, rtol=1e-12, atol=1e-15)
    for place, value in zip(places, theirs, strict=True):
        assert float(in_balls(activation, flint.arb(place)).mid()) == pytest.approx(
            value, rel=1e-9, abs=1e-12
        )
        if activation in SMOOTH:
            first, *_ = series_of(activation, flint.arb(place), 3)
            assert first.overlaps(in_balls(activation, flint.arb(place)))


@pytest.mark.parametrize("activation", SMOOTH)
def test_the_second_derivative_is_bounded(activation: Activation) -> None:
    """sup |f''| is its value sqrt(2 / pi) = 0.79788... at 0, on 8,192 balls that cover [-8, 8]."""
    most = 0.0
    with precision(64):
        for k in range(-4096, 4096):
            ball = flint.arb(flint.fmpq(2 * k + 1, 1024), flint.arb(1) / 1024)
            coefficient = abs(2 * series_of(activation, ball, 3)[2])
            most = max(most, float(coefficient.upper()))
    assert 0.797 < most < 0.81


@pytest.mark.parametrize("activation", SMOOTH)
def test_the_table_says_what_is_true(activation: Activation, few: Few) -> None:
    table, rng = smooth.table_of(activation), np.random.default_rng(1)
    borders = np.arange(-255, 257) / 32 - 1 / 64
    places = np.array(few(np.concatenate([rng.uniform(-8, 8, 200), borders, borders + 1 / 64]), 60))
    cells = smooth.cells_of(places)
    for order in range(3):
        found = table.at(order, places, cells)
        for place, value, cell in zip(places, found, cells, strict=True):
            with precision(300):
                exact = series_of(activation, flint.arb(float(place)), 4)
                assert abs(exact[order] - float(value)) <= float(table.errors[order, cell])
                assert abs(exact[3]) <= float(table.bent[cell, cell])
    assert table.errors.max() < 1e-12
    assert 0.17 < table.gaps[0] < 0.1702
    assert table.gaps[-1] < 1e-14


def units_in(low: Floats, high: Floats, weights: Floats, degree: int) -> forms.Form:
    """Units that are weighted sums of the axes of boxes."""
    axes = forms.of_axes(low, high, forms.Frame(len(low), degree))
    parts = np.stack([own.parts for own in axes], axis=1)[:, :, None]
    return forms.Form(parts, np.stack([own.rest for own in axes])[:, None], axes[0].frame).mapped(weights)


@pytest.mark.parametrize("activation", SMOOTH)
def test_forms_have_all_values(activation: Activation, few: Few) -> None:
    """Narrow and wide, near 0 and far from it, across the tables' ends, at corners and inside."""
    for seed in few(range(40), 4):
        rng = np.random.default_rng(seed)
        middle = (
            rng.choice([-9, -8, -1, 0, 1 / 64, 0.5, 8, 30], size=(2, 40)) + rng.normal(size=(2, 40)) * 0.01
        )
        size = 10.0 ** rng.uniform(-12, 1.2, size=(2, 40))
        low, high, weights = middle - size, middle + size, rng.normal(size=(5, 2))
        units = units_in(low, high, weights, degree=1 + seed % 2)
        for most in (0, 2, 64):
            found = smooth.smoothed(units, activation, most)
            assert len(found.parts) == len(units.parts) + min(most, 5)
            for corner in (np.array([[-1.0], [1.0]]), np.array([[1.0], [1.0]]), rng.uniform(-1, 1, (2, 40))):
                place = np.clip((low + high) / 2 + corner * (high - low) / 2, low, high)
                off = 1e-13 * (1 + np.abs(weights @ place))
                value = in_floats(activation, weights @ place)
                assert (found.least[:, 0] - off <= value).all()
                assert (value <= found.greatest[:, 0] + off).all()
                # Beside the units' own symbols the form follows the function: what is left is their weight.
                line = _at(found, units, place, low, high)
                left = np.abs(found.parts[len(units.parts) :]).sum(axis=0)[:, 0] + found.rest[:, 0]
                assert (np.abs(value - line) <= left + off).all()


def _at(found: forms.Form, units: forms.Form, place: Floats, low: Floats, high: Floats) -> Floats:
    """The polynomial of the axes' symbols alone."""
    noise = (place - (low + high) / 2) / np.maximum((high - low) / 2, 1e-300)
    value = found.parts[0, :, 0].copy()
    for row, exponents in enumerate(units.frame.monomials, 1):
        value += found.parts[row, :, 0] * np.prod(noise ** np.array(exponents)[:, None], axis=0)
    return np.asarray(value)


@pytest.mark.parametrize("activation", SMOOTH)
def test_what_is_unknown_stays_unknown(activation: Activation) -> None:
    numbers = np.array([np.nan, np.inf, -np.inf, 1e308, 0.0]).reshape(1, 1, 5)
    rests = np.array([0.0, 0.0, 0.0, 0.0, np.inf]).reshape(1, 1, 5)
    with np.errstate(all="ignore"):
        found = smooth.smoothed(forms.constant(numbers, forms.Frame(1, 1), rests), activation, 4)
        known = np.isfinite(found.magnitude).ravel()
    assert known.tolist() == [False, False, False, True, False]


def test_narrow_forms_are_near_the_function() -> None:
    for radius, off in ((1e-3, 1e-9), (0.1, 2e-4), (0.5, 0.02)):
        for middle in (-3.0, -0.7, 0.0, 1.5, 4.0):
            units = units_in(np.array([[middle - radius]]), np.array([[middle + radius]]), np.ones((1, 1)), 2)
            found = smooth.smoothed(units, Activation.GELU_TANH, 4)
            assert np.abs(found.parts[3:]).sum() + found.rest.sum() < off
