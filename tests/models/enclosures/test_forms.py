"""Forms contain what they stand for: agreement with Arb balls at 113 bits, at points of random boxes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import flint
import numpy as np
import pytest

from attemper.exact.balls import precision
from attemper.models.enclosures import forms
from attemper.models.enclosures.forms import FLAT, Form, Frame

BITS = 113
BOXES = 1000
AXES = 3

Numbers = list[flint.arb]

CUBIC = Frame(2, 3)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with np.errstate(all="ignore"), precision(BITS):
        yield


def exact(value: float) -> flint.arb:
    return flint.arb(float(value))


class Sample:
    """Random boxes of three axes, two of them curved, and a point in each: a corner, or anywhere."""

    def __init__(self, seed: int, boxes: int = BOXES, frame: Frame = CUBIC, centre: float = 1.0) -> None:
        random = np.random.default_rng(seed)
        middle = random.normal(size=(AXES, boxes)) * centre
        width = 2.0 ** random.uniform(-40, 1, (AXES, boxes))
        self.low, self.high = middle - width, middle + width
        place = np.where(random.random((AXES, boxes)) < 0.3, random.integers(0, 2, (AXES, boxes)), 0.5)
        place = np.where(random.random((AXES, boxes)) < 0.5, random.random((AXES, boxes)), place)
        self.place = np.clip(self.low + place * (self.high - self.low), self.low, self.high)
        self.forms = forms.of_axes(self.low, self.high, frame)
        self.frame = frame

    def values(self, axis: int) -> Numbers:
        return [exact(value) for value in self.place[axis]]

    def symbols(self, box: int) -> Numbers:
        """The values of the noise symbols at the point, by their definition."""
        products = sum(self.frame.sizes) - self.frame.curved
        found = []
        for axis, form in enumerate(self.forms):
            row = 1 + axis if axis < self.frame.curved else 1 + axis + products
            found.append(
                (exact(self.place[axis, box]) - exact(form.centre[box])) / exact(form.parts[row, box])
            )
        monomials = []
        for exponents in self.frame.monomials:
            value = exact(1)
            for symbol, exponent in zip(found, exponents, strict=False):
                value *= symbol**exponent
            monomials.append(value)
        return [*monomials, *found[self.frame.curved :]]

    def require(self, form: Form, wanted: Numbers) -> None:
        """The form, at the point's symbols, is within its rest of what is wanted; so are its bounds."""
        finite = 0
        for box, value in enumerate(wanted):
            if not np.isfinite(form.rest[box]):
                continue
            finite += 1
            parts = [exact(part) for part in form.parts[:, box]]
            said = sum((a * e for a, e in zip(parts[1:], self.symbols(box), strict=False)), parts[0])
            assert not abs(value - said) > exact(form.rest[box]), box
            assert not value > exact(form.greatest[box])
            assert not value < exact(form.least[box])
        assert finite > len(wanted) // 3


def test_sums_products_and_constants() -> None:
    sample = Sample(1)
    x, y, z = sample.forms
    a, b, c = (sample.values(axis) for axis in range(AXES))
    rows = list(zip(a, b, c, strict=True))
    sample.require(x + y - z, [p + q - r for p, q, r in rows])
    sample.require(x * y, [p * q for p, q, _ in rows])
    sample.require(x * x, [p * p for p, _, _ in rows])
    sample.require((x * y + z) * (y - x), [(p * q + r) * (q - p) for p, q, r in rows])
    sample.require(((x + z) * (y * y)) * (x * y), [(p + r) * q * q * p * q for p, q, r in rows])
    sample.require(
        (x * y).scaled(0.1).plus(0.3).over(7.0), [(p * q * exact(0.1) + exact(0.3)) / 7 for p, q, _ in rows]
    )


@pytest.mark.parametrize(
    ("function", "meaning", "needs"),
    [
        (forms.exponential, lambda v: v.exp(), "anything"),
        (forms.reciprocal, lambda v: 1 / v, "positive"),
        (lambda form: forms.reciprocal_root(form, 2.0**-30), lambda v: 1 / v.sqrt(), "positive"),
    ],
)
def test_functions(
    function: Callable[[Form], Form], meaning: Callable[[flint.arb], flint.arb], needs: str
) -> None:
    sample = Sample(2)
    x, y, z = sample.forms
    values = [p * q + r for p, q, r in zip(*(sample.values(axis) for axis in range(AXES)), strict=True)]
    form = x * y + z
    if needs == "positive":
        shift = np.maximum(0, -form.least) + 2.0**-20
        form = form.plus(shift)
        values = [value + exact(more) for value, more in zip(values, shift, strict=True)]
    sample.require(function(form), [meaning(value) for value in values])


@pytest.mark.parametrize("frame", [FLAT, Frame(1, 1), Frame(3, 2), Frame(2, 4)])
def test_frames(frame: Frame) -> None:
    sample = Sample(6, boxes=300, frame=frame)
    x, y, z = sample.forms
    values = [
        (p * q + r) * (q - p) for p, q, r in zip(*(sample.values(axis) for axis in range(AXES)), strict=True)
    ]
    form = (x * y + z) * (y - x)
    sample.require(form, values)
    sample.require(forms.exponential(form), [value.exp() for value in values])


def test_functions_of_what_may_be_negative_are_unknown() -> None:
    low, high = np.array([[-1.0, -3.0, 0.0]]), np.array([[1.0, -2.0, 1.0]])
    (form,) = forms.of_axes(low, high, Frame(1, 2))
    assert np.isinf(forms.reciprocal(form).rest).all()
    assert forms.reciprocal_root(form.plus(4.0), 2.0**-4).greatest.max() < 1.25
    assert not np.isfinite(forms.exponential(form.scaled(1000.0)).greatest[[0, 2]]).any()


def test_nothing_is_between_a_number_and_a_smaller_one() -> None:
    low, high = np.array([1.0, 1.0, np.nan, -np.inf]), np.array([0.5, 1.0, 1.0, 1.0])
    rest = forms.between(low, high, FLAT).rest
    assert not np.isfinite(rest[[0, 2, 3]]).any()
    assert 0 <= rest[1] < 2.0**-800


def test_functions_of_what_overflows_are_unknown() -> None:
    """A product may overflow in its centre alone: 1 / infinity or e^-infinity must not be taken for 0."""
    (form,) = forms.of_axes(np.array([[1.0, -2.0]]), np.array([[2.0, -1.0]]), FLAT)
    form = form.scaled(2.0**-60).plus(np.array([2.0**60, -(2.0**60)])).scaled(2.0**1000)
    assert np.isinf(form.centre).all()
    assert np.isfinite(form.radius).all()
    for found in (forms.exponential(form), forms.reciprocal(form), forms.reciprocal_root(form, 2.0**-30)):
        assert not np.isfinite(found.magnitude).any()


def test_powers_are_as_near_as_they_say() -> None:
    random = np.random.default_rng(3)
    exponents = np.concatenate(
        [random.uniform(-700, 700, 3000), random.normal(size=1000), np.arange(-690.0, 690.0)]
    )
    value, off = forms.powers(exponents)
    for x, found, error in zip(exponents, value, off, strict=True):
        if np.isfinite(found):
            assert abs(exact(x).exp() - exact(found)) <= exact(error)
        else:
            assert x >= 690
    assert not np.isfinite(forms.powers(np.array([np.nan, np.inf]))[0]).any()


def test_the_logarithm_is_split_to_eighty_bits() -> None:
    split = exact(forms.LN2_HIGH) + exact(forms.LN2_LOW)
    assert abs(split - flint.arb(2).log()) < flint.arb(2) ** -80
    assert (Fraction(forms.LN2_HIGH) * 2**32).denominator == 1


def test_matrices_and_contractions() -> None:
    sample = Sample(4, boxes=300)
    random = np.random.default_rng(4)
    matrix, other = random.normal(size=(5, 3)), random.normal(size=(4, 3))
    stacked = joined([form * sample.forms[0] for form in sample.forms])
    left, right = stacked.mapped(matrix), stacked.mapped(other)
    dots = forms.contracted(left[:4], right, "dab,dcb->acb")
    columns = [sample.values(axis) for axis in range(AXES)]
    for row, weights in enumerate(matrix):
        wanted = [
            sum((exact(w) * v * p[0] for w, v in zip(weights, p, strict=True)), flint.arb(0))
            for p in zip(*columns, strict=True)
        ]
        sample.require(left[row, 0], wanted)
    wanted = []
    for p in zip(*columns, strict=True):
        one, two = (
            [
                sum((exact(w) * v * p[0] for w, v in zip(weights, p, strict=True)), flint.arb(0))
                for weights in m
            ]
            for m in (matrix, other)
        )
        wanted.append(sum((a * b for a, b in zip(one[:4], two, strict=True)), flint.arb(0)))
    sample.require(dots[0, 0], wanted)


def joined(parts: list[Form]) -> Form:
    """Forms of shape (B,) as one of shape (len, 1, B)."""
    rows = max(len(form.parts) for form in parts)
    padded = [np.concatenate([f.parts, np.zeros((rows - len(f.parts), *f.rest.shape))]) for f in parts]
    return Form(np.stack(padded, 1)[:, :, None], np.stack([f.rest for f in parts])[:, None], parts[0].frame)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("most", [0, 1, 4])
def test_rectified_units_and_their_slopes(most: int) -> None:
    """Symbols of units are free: the form at the point's other symbols is within their part and the rest."""
    sample = Sample(5, centre=0.3)
    random = np.random.default_rng(5)
    units, changes = random.normal(size=(6, 3)), random.normal(size=(6, 3))
    x = joined(sample.forms).mapped(units)
    change = joined([form * sample.forms[1] for form in sample.forms]).mapped(changes)
    _, signs = forms.signs_by_cases(x, np.arange(BOXES), 1)
    value, sloped = forms.rectified(x, Form(change.parts[:, None], change.rest[None], CUBIC), signs, most)
    shared = len(x.parts)
    assert len(value.parts) == shared + most or most == 4
    weights = random.normal(size=6)
    for form, meaning in (
        (value, lambda z, dz: max(z, exact(0))),
        (sloped[0], lambda z, dz: dz if z > 0 else exact(0)),
    ):
        total = form.mapped(weights[None])[0, 0]
        loose = Form(
            total.parts[:shared],
            forms.upward(total.rest + np.abs(total.parts[shared:]).sum(axis=0), 20),
            CUBIC,
        )
        wanted = []
        for box in range(BOXES):
            p = [exact(v) for v in sample.place[:, box]]
            rows = [
                [sum((exact(w) * v for w, v in zip(r, q, strict=True)), flint.arb(0)) for r in m]
                for m, q in ((units, p), (changes, [v * p[1] for v in p]))
            ]
            wanted.append(
                sum(
                    (exact(w) * meaning(z, dz) for w, z, dz in zip(weights, *rows, strict=True)), flint.arb(0)
                )
            )
        sample.require(loose, wanted)


def test_cases_cover_every_point() -> None:
    """Every point is in a case whose signs are right; no box has more cases than are wanted."""
    sample = Sample(8, boxes=300, centre=0.3)
    units = np.random.default_rng(8).normal(size=(4, 3))
    form = joined(sample.forms).mapped(units)
    columns, signs = forms.signs_by_cases(form, np.arange(300), 8)
    assert len(columns) > 300
    assert np.bincount(columns).max() <= 8
    covered = set()
    for column, box in enumerate(columns):
        place = [exact(value) for value in sample.place[:, box]]
        found = [sum((exact(w) * v for w, v in zip(row, place, strict=True)), exact(0)) for row in units]
        on, off = signs.on[:, 0, column], signs.off[:, 0, column]
        if all((z >= 0 or not a) and (z <= 0 or not b) for z, a, b in zip(found, on, off, strict=True)):
            covered.add(int(box))
    assert covered == set(range(300))
    again, _ = forms.signs_by_cases(form[..., columns], columns, 8)
    assert np.bincount(columns[again]).max() <= 8


def test_forms_that_do_not_fit_are_refused() -> None:
    one, other = Sample(9, boxes=2), Sample(9, boxes=2, frame=FLAT)
    for left, right in ((one.forms[0], other.forms[0]), (one.forms[0], one.forms[1][None])):
        with pytest.raises(ValueError, match="axes"):
            left + right
        with pytest.raises(ValueError, match="axes"):
            left * right
