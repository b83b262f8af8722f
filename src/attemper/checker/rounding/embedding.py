"""Rounding of closed forms: position embeddings and temperatures, operation by operation.

They are evaluated in float64 as they are written, and rounded to the format once. So the bounds follow the
tree, not the simplified value: what cancels in real numbers may not cancel in floats.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from itertools import repeat
from typing import assert_never

import flint

from attemper.checker.names import Affine
from attemper.checker.rounding.arithmetic import (
    UNKNOWN,
    ZERO,
    BeyondError,
    Inexact,
    Lengths,
    OnGrid,
    Rounded,
    common_grid,
)
from attemper.checker.values import of_closed_form
from attemper.exact import closed_forms
from attemper.exact.balls import ball
from attemper.exact.formats import FLOAT64

V = ball(FLOAT64.roundoff)
"""The unit round-off of the evaluation."""

UNIT: Rounded = OnGrid(flint.arb(1), Fraction(1))
"""1, and what is no larger: -1, and the values of tests."""

UNDERFLOW = ball(Fraction(1, FLOAT64.range))
"""More than underflow changes a number by. What is known relatively stays far from it; sums need not."""

MAX_TEST = 2**62
"""Arguments of tests are 64-bit integers."""


def rounded_form(lengths: Lengths, form: closed_forms.ClosedForm) -> Rounded:
    """A closed form in the format. Raises `BeyondError` if it may leave the range of the format."""
    found = _evaluated(lengths, form)
    # Along the tree sizes multiply, i (1/n) up to n; the simplified value knows that it is at most 1.
    size = found.size.min(lengths.size(of_closed_form(lengths.names, form)))
    exact = OnGrid(size, found.grid) if isinstance(found, OnGrid) else None
    if lengths.arithmetic.is_real:
        return exact or Inexact(size, found.inverse, ZERO, ZERO, ZERO)
    is_known = bool(found.relative < UNKNOWN)
    absolute = found.absolute.min(found.relative * size) if is_known else found.absolute
    # What cancels in real numbers may be computed as a large number.
    most = size + absolute
    if not (most < lengths.form.range) or not (found.inverse < lengths.form.range):
        raise BeyondError("position embeddings or temperatures leave the range of the format")
    if exact is not None and lengths.arithmetic.fits(size, exact.grid):
        return exact
    tiny = ZERO if is_known else lengths.tiny
    relative = found.relative + lengths.u * (1 + found.relative)
    at_zero = found.at_zero * (1 + lengths.u) + tiny
    return Inexact(size, found.inverse, absolute + lengths.u * most + tiny, at_zero, relative)


def _evaluated(lengths: Lengths, form: closed_forms.ClosedForm) -> Rounded:
    """The form in float64."""
    match form:
        case closed_forms.Number(value):
            return _number(value)
        case closed_forms.Position() | closed_forms.Length():
            return OnGrid(flint.arb(lengths.length), Fraction(1))
        case closed_forms.Alternating():
            return UNIT
        case closed_forms.Test(_, per_position, per_length, shift):
            if (abs(per_position) + abs(per_length)) * lengths.length + abs(shift) >= MAX_TEST:
                raise BeyondError("position embeddings or temperatures leave the range of integers")
            return UNIT
        case closed_forms.Sum(parts):
            return _sum([_evaluated(lengths, part) for part in parts])
        case closed_forms.Product(parts):
            return _product(_evaluated(lengths, part) for part in parts)
        case closed_forms.Power(base, exponent):
            power = _product(repeat(_evaluated(lengths, base), abs(exponent)))
            return power if exponent >= 0 else _reciprocal(power)
        case closed_forms.Digits(closed_forms.Length()):
            return OnGrid(flint.arb(lengths.length.bit_length()), Fraction(1))
        case closed_forms.Digits():
            raise BeyondError("position embeddings or temperatures (digits of something else than n)")
        case _:
            assert_never(form)


def _number(value: Fraction) -> Rounded:
    size = ball(abs(value))
    grid = common_grid([Affine(value)])
    if not value:
        return OnGrid(ZERO, Fraction(1))
    if grid is not None and _held(size, grid):
        return OnGrid(size, grid)
    if not (size < FLOAT64.range) or not (1 / size < FLOAT64.range):
        raise BeyondError("a constant leaves the range of float64")
    return Inexact(size, 1 / size, V * size, ZERO, V)


def _held(size: flint.arb, grid: Fraction) -> bool:
    """Whether float64 holds all multiples of the grid up to that size."""
    return grid * FLOAT64.range >= 1 and bool(size * V <= ball(grid)) and bool(size < FLOAT64.range)


def _sum(parts: list[Rounded]) -> Rounded:
    size = sum((part.size for part in parts), ZERO)
    grids = [part.grid for part in parts if isinstance(part, OnGrid)]
    if len(grids) == len(parts) and _held(size, min(grids, default=Fraction(1))):
        return OnGrid(size, min(grids, default=Fraction(1)))
    if not (size < FLOAT64.range):
        raise BeyondError("position embeddings or temperatures leave the range of float64")
    absolute = sum((part.absolute for part in parts), ZERO)
    absolute += 2 * len(parts) * V * (size + absolute) + UNDERFLOW
    # No relative error is known, so the inverse says nothing.
    return Inexact(size, flint.arb(1), absolute, absolute, UNKNOWN)


def _product(parts: Iterable[Rounded]) -> Rounded:
    """The parts one after the other, starting from 1."""
    return reduce(_times, parts, UNIT)


def _times(left: Rounded, right: Rounded) -> Rounded:
    size, inverse = left.size * right.size, left.inverse * right.inverse
    if not (size < FLOAT64.range) or not (inverse < FLOAT64.range):
        raise BeyondError("position embeddings or temperatures leave the range of float64")
    if isinstance(left, OnGrid) and isinstance(right, OnGrid) and _held(size, left.grid * right.grid):
        return OnGrid(size, left.grid * right.grid)
    most_left, most_right = left.size + left.absolute, right.size + right.absolute
    absolute = most_left * most_right * (1 + V) - size + UNDERFLOW
    at_zero = (left.at_zero * most_right).max(right.at_zero * most_left) * (1 + V)
    at_zero += ZERO if at_zero == 0 else UNDERFLOW
    relative = (1 + left.relative) * (1 + right.relative) * (1 + V) - 1
    return Inexact(size, inverse, absolute, at_zero, relative)


def _reciprocal(number: Rounded) -> Rounded:
    """1 / x, where x is known up to a relative error."""
    if not (2 * number.relative < 1):
        raise BeyondError("a position embedding divides by a number that is not known well enough")
    relative = (1 + 2 * number.relative) * (1 + V) - 1
    return Inexact(number.inverse, number.size, relative * number.inverse, ZERO, relative)
