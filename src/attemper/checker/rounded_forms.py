"""Rounded numbers: how large a quantity gets up to a length, and how far its computed value can be off."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.terms import Affine, Terms
from attemper.checker.values import Value
from attemper.exact.balls import ball
from attemper.exact.formats import FloatFormat
from attemper.networks.layers import LinearForm

ZERO = flint.arb(0)
UNKNOWN = flint.arb(2) ** 1000
"""An error bound that no proof survives."""

COARSEST = Fraction(2**60)


class BeyondError(Exception):
    """Some bound fails at this length; the text says where."""


@final
@dataclass(frozen=True)
class Off:
    """How far a computed coordinate can be from its exact value.

    `zero` where that value is 0, `other` where it is another constant, `mean` where it is an average of
    several positions (then also `relative` to the average).
    """

    zero: flint.arb = ZERO
    other: flint.arb = ZERO
    mean: flint.arb = ZERO
    relative: flint.arb = ZERO

    @property
    def constant(self) -> flint.arb:
        """Where the value is a constant."""
        return self.zero.max(self.other)


EXACT = Off()


@final
@dataclass(frozen=True)
class Rounded:
    """A quantity: its greatest size, the grid of whose multiples it is if it is exact, and its errors.

    `absolute` holds everywhere, `zero` where the value is 0, `relative` where it is not.
    """

    size: flint.arb
    grid: Fraction | None
    absolute: flint.arb
    zero: flint.arb
    relative: flint.arb


@final
class Lengths:
    """Everything that depends on the format and the greatest length N."""

    def __init__(self, terms: Terms, form: FloatFormat, length: int) -> None:
        self.terms = terms
        self.form = form
        self.length = length
        self.u = ball(form.roundoff)
        self.long = 2 * length * ball(form.sum_roundoff)

    def size(self, value: Value) -> flint.arb:
        """The greatest absolute value; i^a n^b is at most N^(a+b), or N^b if a < 0."""
        total = ZERO
        for (a, b), diagram in value.items():
            total += ball(self.peak(diagram)) * self.length ** max(a + b if a >= 0 else b, 0)
        return total

    def peak(self, diagram: int) -> Fraction:
        """The greatest absolute value of a diagram."""
        return max(abs(end) for v in self.terms.values(diagram) for end in self.terms.bounds(v))

    def grid(self, value: Value) -> Fraction | None:
        """A power of two of which the value is always a multiple; None if there is none."""
        if any(a < 0 or b < 0 for a, b in value):
            return None
        return common_grid([v for diagram in value.values() for v in self.terms.values(diagram)])

    def fits(self, size: flint.arb, grid: Fraction | None) -> bool:
        """Whether the format holds all multiples of the grid up to that size."""
        return grid is not None and bool(size * self.u <= ball(grid))

    def closed_form(self, value: Value) -> Rounded:
        """A closed form, evaluated in float64 with one rounding per operation, then rounded to the format."""
        size, grid = self.size(value), self.grid(value)
        if not (size < self.form.range) or any(
            self.length ** (abs(a) + abs(b)) >= self.form.range for a, b in value
        ):
            raise BeyondError("position embeddings or temperatures leave the range of the format")
        if self.fits(size, grid):
            return Rounded(size, grid, ZERO, ZERO, ZERO)
        operations = sum(2 + abs(a) + abs(b) for a, b in value)
        relative = self.u + ball(Fraction(operations, 2**53))
        return Rounded(size, None, relative * size, ZERO, relative if len(value) == 1 else UNKNOWN)

    def linear(self, form: LinearForm, values: list[Value], offs: list[Off]) -> Rounded:
        """A linear form of the residual stream, its products added in any order."""
        size, absolute = ZERO, ZERO
        grid: Fraction | None = COARSEST
        for coordinate, factor in form:
            off, value, weight = offs[coordinate], values[coordinate], ball(abs(factor))
            own_size = self.size(value)
            own = self.grid(value) if is_exact(off) else None
            factor_grid = common_grid([Affine(factor)])
            grid = (
                grid if grid is None or own is None or factor_grid is None else min(grid, own * factor_grid)
            )
            grid = None if own is None or factor_grid is None else grid
            size += weight * own_size
            absolute += weight * (self.of_mean(value, off) if self.has_means(value) else off.constant)
            absolute += ZERO if is_power_of_two(factor) else self.u * weight * own_size * 2
        if self.fits(size, grid):
            return Rounded(size, grid, ZERO, ZERO, ZERO)
        absolute += self.summed(len(form), size + absolute, size + absolute)
        if len(form) != 1:
            return Rounded(size, None, absolute, absolute, UNKNOWN)
        ((coordinate, factor),) = form
        relative = self._relative(values[coordinate], offs[coordinate])
        relative += ZERO if is_power_of_two(factor) else 2 * self.u
        return Rounded(size, None, absolute, ball(abs(factor)) * offs[coordinate].zero, relative)

    def has_means(self, value: Value) -> bool:
        """Whether the value is an average somewhere."""
        return any(v.parts for diagram in value.values() for v in self.terms.values(diagram))

    def of_mean(self, value: Value, off: Off) -> flint.arb:
        """How far a computed coordinate can be off, averages included."""
        return off.constant.max(off.mean + off.relative * self.size(value))

    def summed(self, terms: int, size: flint.arb, total: flint.arb) -> flint.arb:
        """What adding so many terms of that size together to at most `total` can lose.

        Where sums are formed in a wider format, the total is rounded once more.
        """
        if terms <= 1:
            return ZERO
        inner = 2 * (terms - 1) * ball(self.form.sum_roundoff) * size
        if self.form.sum_roundoff == self.form.roundoff:
            return inner
        return inner + 2 * self.u * (total + inner)

    def _relative(self, value: Value, off: Off) -> flint.arb:
        if set(value) != {(0, 0)}:
            return off.relative
        sizes = [
            abs(v.constant)
            for diagram in value.values()
            for v in self.terms.values(diagram)
            if v.constant and not v.parts
        ]
        return off.relative + off.other / ball(min(sizes, default=Fraction(1)))

    def product(self, left: Rounded, right: Rounded) -> Rounded:
        """left * right, rounded once."""
        size = left.size * right.size
        grid = left.grid * right.grid if left.grid is not None and right.grid is not None else None
        if self.fits(size, grid):
            return Rounded(size, grid, ZERO, ZERO, ZERO)
        most_left, most_right = left.size + left.absolute, right.size + right.absolute
        return Rounded(
            size,
            None,
            most_left * most_right * (1 + self.u) - size,
            (left.zero * most_right).max(right.zero * most_left) * (1 + self.u),
            (1 + left.relative) * (1 + right.relative) * (1 + self.u) - 1,
        )


def common_grid(values: list[Affine]) -> Fraction | None:
    """The greatest power of two, up to 2^60, of which all values are multiples; None if there is none."""
    grid = COARSEST
    for value in values:
        numerator, denominator = value.constant.numerator, value.constant.denominator
        if value.parts or denominator & (denominator - 1):
            return None
        if numerator:
            grid = min(grid, Fraction(numerator & -numerator, denominator))
    return grid


def is_exact(off: Off) -> bool:
    """Whether no error is possible."""
    return all(bool(error == 0) for error in (off.zero, off.other, off.mean, off.relative))


def is_power_of_two(factor: Fraction) -> bool:
    """Whether multiplying by the factor never rounds."""
    p, q = abs(factor.numerator), factor.denominator
    return p & (p - 1) == 0 and q & (q - 1) == 0
