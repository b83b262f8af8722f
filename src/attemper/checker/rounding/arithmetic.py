"""Rounded numbers: how large a quantity gets up to a length, and how far its computed value can be."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from functools import cache
from math import ceil
from typing import assert_never, final

import flint

from attemper.checker.diagrams import Diagram
from attemper.checker.names import (
    Affine,
    Clamped,
    LengthDigits,
    Mean,
    Names,
    NearestKey,
    PositivePart,
    Range,
    Whole,
)
from attemper.checker.values import Value, magnitude_of
from attemper.exact.balls import ball
from attemper.exact.formats import FloatFormat
from attemper.networks.layers import LinearForm

ZERO = flint.arb(0)
UNKNOWN = flint.arb(2) ** 1000
"""An error bound that no proof survives."""

COARSEST = Fraction(2**60)

WEIGHTS = 2**40
"""Weights that are not 0 must lie between 2^-40 and 2^40."""


class Kernel(StrEnum):
    """How a kernel divides: once, after summing e_j v_j, or each weight before it meets its value.

    A scan divides once, too; inside a head it computes in float64, and no scores but those of peaks.
    """

    NUMERATOR_FIRST = "numerator-first"
    NORMALISE_FIRST = "normalise-first"
    SCAN = "scan"


class BeyondError(Exception):
    """Some bound fails at this length; the text says where."""


PowersOfN = dict[int, flint.arb]
"""The sum of arb * n^power by power: a size, or an error, in words of length n."""


@final
@dataclass(frozen=True, eq=False)
class OfNumber:
    """Bounds the error of a number by what it is: 0, another constant, or an average of several positions.

    One is equal to itself alone. An average is off by `average` and by `relative` to itself; multiples of
    i^a n^b by `relative`. `apart` bounds how far this and a coordinate that holds its negative are from being
    opposite; None: by twice what each is off.
    """

    at_zero: flint.arb
    elsewhere: flint.arb
    average: flint.arb
    relative: flint.arb
    apart: flint.arb | None = None

    @property
    def constant(self) -> flint.arb:
        """Where the value is a constant."""
        return self.at_zero.max(self.elsewhere)


@final
@dataclass(frozen=True, eq=False)
class OfInteger:
    """Bounds the error of an integer at each length n by `growth`, which a number's bound cannot say.

    A nearest key is off by `per_step` for each step from its query, of at least one: so is any integer by
    `growth`. `as_number` bounds the same error at all lengths up to the greatest.
    """

    growth: PowersOfN
    per_step: PowersOfN
    as_number: OfNumber


@final
@dataclass(frozen=True, eq=False)
class Normalised:
    """Bounds the error of what is read through a normalisation by `of`, and by what it shares with others.

    All of a position is off by one relative error of at most `shared`, which is in none of the others. Both
    coordinates of a pair have something so large as `common_mode`, which is not in their difference.
    Multiples of i^a n^b are off by `absolute_part` beside `of.relative`; it is 0 of what is no multiple.
    """

    of: OfNumber | OfInteger
    shared: flint.arb
    common_mode: flint.arb
    absolute_part: flint.arb


Off = OfNumber | OfInteger | Normalised
"""How far a computed coordinate can be from its exact value: of the stream, or as a sublayer reads it."""

EXACT = OfNumber(ZERO, ZERO, ZERO, ZERO)


@final
@dataclass(frozen=True, eq=False)
class OnGrid:
    """A quantity that is computed as it is: up to that size, and a multiple of `grid`, a power of two.

    One is equal to itself alone.
    """

    size: flint.arb
    grid: Fraction
    absolute = at_zero = relative = relative_part = absolute_part = ZERO

    @property
    def inverse(self) -> flint.arb:
        """A bound on 1 / |x| where it is not 0."""
        return 1 / ball(self.grid)


@final
@dataclass(frozen=True, eq=False)
class Inexact:
    """A quantity up to that size, and its errors: `absolute` everywhere, `at_zero` where its value is 0.

    One is equal to itself alone. Where the value is not 0 it is off by `relative_part` of it, and by
    `absolute_part` besides. `inverse` bounds 1 / |x| there if the former is known: nothing else may rest on
    it.
    """

    size: flint.arb
    inverse: flint.arb
    absolute: flint.arb
    at_zero: flint.arb
    relative_part: flint.arb
    absolute_part: flint.arb = ZERO

    @property
    def relative(self) -> flint.arb:
        """Both parts together, relative to the value."""
        besides = self.absolute_part
        return self.relative_part if besides == 0 else self.relative_part + besides * self.inverse


Rounded = OnGrid | Inexact
"""What is computed of a quantity."""


@final
class Arithmetic:
    """Everything that depends on the network and the format, but on no length: it is worked out once.

    All of it must be used at one precision. `halves` is 2 where each term of a linear form is two products,
    of opposite numbers behind a normalisation, no product of which is exact; else 1.
    """

    def __init__(self, names: Names, form: FloatFormat, halves: int = 1) -> None:
        self.names = names
        self.form = form
        self.halves = halves
        self.u = ball(form.roundoff)
        self.is_real = form.roundoff == 0
        self.tiny = ball(Fraction(1, form.range))
        self._range = ball(Fraction(form.range))
        self._steps: dict[Fraction, flint.arb | None] = {}
        self._losses: dict[int, flint.arb] = {}
        # What is asked for often is worked out once for each diagram.
        self.magnitude = cache(self._magnitude)
        self.has_integers = cache(self._has_integers)
        self._grid = cache(self._grid_of)
        self._is_mean = cache(self._is_mean_somewhere)
        self._numbers = cache(self._numbers_of)

    def kind(self, value: Value) -> Hashable:
        """Equal for values that take the same numbers: no bound of this file asks for more."""
        return tuple((powers, self._numbers(diagram)) for powers, diagram in value.items())

    def _numbers_of(self, diagram: Diagram) -> frozenset[Affine]:
        """The numbers that a diagram takes."""
        return frozenset(self.names.values(diagram))

    def _magnitude(self, diagram: Diagram) -> flint.arb:
        """The greatest absolute value of a diagram."""
        return ball(max(abs(end) for v in self.names.values(diagram) for end in self.names.bounds(v)))

    def growth(self, diagram: Diagram) -> PowersOfN:
        """The greatest absolute value of a diagram in words of length n."""
        if not any(v.parts for v in self.names.values(diagram)):
            return {0: self.magnitude(diagram)}
        bound = magnitude_of(self.names, {(0, 0): diagram})
        return {ceil(bound.power): ball(bound.factor)}

    def grid(self, value: Value) -> Fraction | None:
        """A power of two of which the value is always a multiple; None if there is none."""
        if any(a < 0 or b < 0 for a, b in value):
            return None
        grid = COARSEST
        for diagram in value.values():
            own = self._grid(diagram)
            if own is None:
                return None
            grid = min(grid, own)
        return grid

    def _grid_of(self, diagram: Diagram) -> Fraction | None:
        """A power of two of which all values of a diagram are multiples: digits are integers."""
        found: list[Affine] = []
        for value in self.names.values(diagram):
            if any(self.names.quantities[number] != LengthDigits() for number, _ in value.parts):
                return None
            found += [Affine(value.constant), *(Affine(factor) for _, factor in value.parts)]
        return common_grid(found)

    def _has_integers(self, diagram: Diagram) -> bool:
        """Whether a whole number, which no number bounds, is a part of it somewhere."""
        values = self.names.values(diagram)
        return any(isinstance(self.names.quantities[n], Whole) for v in values for n, _ in v.parts)

    def has_means(self, value: Value) -> bool:
        """Whether the value is an average somewhere."""
        return any(self._is_mean(diagram) for diagram in value.values())

    def _is_mean_somewhere(self, diagram: Diagram) -> bool:
        return any(v.parts for v in self.names.values(diagram))

    def fits(self, size: flint.arb, grid: Fraction | None) -> bool:
        """Whether the format holds all multiples of the grid up to that size."""
        if grid is None:
            return False
        if grid not in self._steps:
            self._steps[grid] = None if grid * self.form.range < 1 else ball(grid)
        step = self._steps[grid]
        return step is not None and bool(size * self.u <= step) and bool(size < self._range)

    def holds(self, number: Fraction) -> bool:
        """Whether the format holds a number exactly."""
        return self.is_real or self.fits(ball(abs(number)), common_grid([Affine(number)]))

    def is_exact_factor(self, factor: Fraction) -> bool:
        """Whether multiplying by a weight never rounds, whatever is read."""
        return self.halves == 1 and is_power_of_two(factor)

    @property
    def pair(self) -> flint.arb:
        """What one term of a form loses, relative to the sizes of its two products; nothing if it is one."""
        if self.halves == 1:
            return ZERO
        one = flint.arb(1)
        return (1 + 3 * self.u) * (1 + self.summed(self.halves, one, one)) - 1

    def spacing(self, number: Fraction) -> Fraction:
        """The distance between the numbers of the format from the last power of two up to a number on."""
        exponent = number.numerator.bit_length() - number.denominator.bit_length()
        below = Fraction(2) ** exponent
        return 2 * self.form.roundoff * (below if below <= number else below / 2)

    def summed(self, terms: int, size: flint.arb, total: flint.arb) -> flint.arb:
        """What adding so many terms of that size together to at most `total` can lose.

        Where sums are formed in a wider format, the total is rounded once more.
        """
        if terms <= 1:
            return ZERO
        loss = self._losses.get(terms)
        if loss is None:
            # k u / (1 - k u) <= (8/7) k u for all sums over coordinates: they have far fewer than 2^20 terms.
            loss = ball(Fraction(8, 7)) * (terms - 1) * ball(self.form.sum_roundoff)
            self._losses[terms] = loss
        inner = loss * size
        if self.form.sum_roundoff == self.form.roundoff:
            return inner
        return inner + 2 * self.u * (total + inner)


@final
class Lengths:
    """Everything that depends on the greatest length N."""

    def __init__(self, arithmetic: Arithmetic, length: int) -> None:
        self.arithmetic = arithmetic
        self.names = arithmetic.names
        self.form = arithmetic.form
        self.length = length
        self.u = arithmetic.u
        self.tiny = arithmetic.tiny
        self.long = 2 * length * ball(self.form.sum_roundoff)
        self._linear: dict[Hashable, Rounded] = {}
        self._offs: dict[Hashable, OfNumber] = {}

    def size(self, value: Value) -> flint.arb:
        """The greatest absolute value; i^a n^b is at most N^(a+b), or N^b if a < 0."""
        total = ZERO
        for (a, b), diagram in value.items():
            total += self.magnitude(diagram) * self.length ** max(a + b if a >= 0 else b, 0)
        return total

    def magnitude(self, diagram: Diagram) -> flint.arb:
        """The greatest absolute value of a diagram in words of up to N symbols."""
        if not self.arithmetic.has_integers(diagram):
            return self.arithmetic.magnitude(diagram)
        return greatest(self._most(value) for value in self.names.values(diagram))

    def _most(self, value: Affine) -> flint.arb:
        """The greatest size of an affine value."""
        total = ball(abs(value.constant))
        for number, factor in value.parts:
            match self.names.quantities[number]:
                case Mean() | PositivePart() | Range():
                    ends = self.names.bounds(Affine(Fraction(0), ((number, factor),)))
                    total += ball(max(map(abs, ends)))
                case LengthDigits():
                    total += ball(abs(factor)) * self.length.bit_length()
                case Clamped(power=power):
                    total += ball(abs(factor)) * self.length**power
                case NearestKey():
                    total += ball(abs(factor)) * self.length
                case other:
                    assert_never(other)
        return total

    def inverse(self, value: Value) -> flint.arb:
        """A bound on 1, and on 1 / |value| where it is not 0, for monomials and averages; else unknown."""
        if len(value) != 1:
            return UNKNOWN
        (((a, b), diagram),) = value.items()
        least = min(Fraction(1), *map(self._least_size, self.names.values(diagram)))
        if not least:
            return UNKNOWN
        power = max(-b, -(a + b), 0) + self.arithmetic.has_means(value)
        return flint.arb(self.length) ** power / ball(least)

    def _least_size(self, value: Affine) -> Fraction:
        """The least size of a constant, or of an average times N, if it is not 0; 0 if nothing is known."""
        if not value.parts:
            return abs(value.constant) or COARSEST
        if len(value.parts) != 1 or value.constant:
            return Fraction(0)
        ((number, factor),) = value.parts
        own = self.names.quantities[number]
        if not isinstance(own, Mean):
            return Fraction(0)
        grid = common_grid(self.names.values(own.summand))
        return Fraction(0) if grid is None else grid * abs(factor)

    def off_by(self, at_zero: flint.arb, elsewhere: flint.arb) -> OfNumber:
        """One error for all coordinates that are off by the same: what is read of them is worked out once."""
        found = OfNumber(at_zero, elsewhere, ZERO, ZERO)
        return self._offs.setdefault((key_of(at_zero), key_of(elsewhere)), found)

    def linear(self, form: LinearForm, values: list[Value], offs: list[Off]) -> Rounded:
        """A linear form of the residual stream, its products added in any order.

        It follows from its terms' factors, the numbers that their coordinates take, and how far these are
        off, in this order: two forms that agree in that are one quantity.
        """
        terms = tuple((factor, self.arithmetic.kind(values[c]), offs[c]) for c, factor in form)
        if terms not in self._linear:
            self._linear[terms] = self._sum(form, values, offs)
        return self._linear[terms]

    def _sum(self, form: LinearForm, values: list[Value], offs: list[Off]) -> Rounded:
        size, error, grid = self._products(form, values, offs)
        if self.arithmetic.fits(size, grid):
            assert grid is not None
            return OnGrid(size, grid)
        shared, common_mode = self.shared(form, offs), self.common_mode(form, offs)
        most = size + shared * size + error
        if not (2 * most < self.form.range):
            raise BeyondError("a linear form (it leaves the range of the format)")
        terms = self.arithmetic.halves * len(form)
        error += self.arithmetic.summed(terms, most + common_mode, most) + self.tiny
        absolute = error + shared * size
        if len(form) == 1:
            ((coordinate, factor),) = form
            return self._multiple(factor, values[coordinate], offs[coordinate], size, absolute)
        least = self._least(form, values)
        if least is None:
            return Inexact(size, UNKNOWN, absolute, error, UNKNOWN)
        # Where the sum is 0 all its terms are.
        exact = all(bool(as_number(offs[coordinate]).at_zero == 0) for coordinate, _ in form)
        return Inexact(size, 1 / ball(least), absolute, ZERO if exact else error, absolute / ball(least))

    def _products(
        self, form: LinearForm, values: list[Value], offs: list[Off]
    ) -> tuple[flint.arb, flint.arb, Fraction | None]:
        """The sum of the terms' sizes, that of their errors, and their grid if all are exact."""
        size, absolute = ZERO, ZERO
        grid: Fraction | None = COARSEST
        for coordinate, factor in form:
            off, value, weight = offs[coordinate], values[coordinate], ball(abs(factor))
            own_size = self.size(value)
            own = self.arithmetic.grid(value) if is_exact(off) else None
            factor_grid = common_grid([Affine(factor)])
            if own is None or not self.arithmetic.fits(weight, factor_grid) or factor_grid is None:
                grid = None
            elif grid is not None:
                grid = min(grid, own * factor_grid)
            size += weight * own_size
            error = self.of_mean(value, off) if self.arithmetic.has_means(value) else as_number(off).constant
            exact = self.arithmetic.is_exact_factor(factor) or self.arithmetic.fits(weight * own_size, grid)
            relative, in_pair = common(off)
            most = own_size + relative * own_size + error + in_pair
            absolute += weight * error + (ZERO if exact else 3 * self.u * weight * most)
        return size, absolute, grid

    def shared(self, form: LinearForm, offs: list[Off]) -> flint.arb:
        """The relative error of the sum that all terms of a form share."""
        return ZERO if self.arithmetic.halves == 1 else greatest(common(offs[c])[0] for c, _ in form)

    def common_mode(self, form: LinearForm, offs: list[Off]) -> flint.arb:
        """The sizes that cancel within the terms of a form."""
        if self.arithmetic.halves == 1:
            return ZERO
        return sum((ball(abs(factor)) * common(offs[c])[1] for c, factor in form), ZERO)

    def _multiple(
        self, factor: Fraction, value: Value, off: Off, size: flint.arb, absolute: flint.arb
    ) -> Rounded:
        """A multiple of one coordinate, of that size and error."""
        weight = ball(abs(factor))
        inverse = self.inverse(value) / weight
        relative = self._relative(value, off)
        if isinstance(off, Normalised):
            return self._pair(weight, off, Inexact(size, inverse, absolute, ZERO, relative))
        relative += ZERO if is_power_of_two(factor) else 3 * self.u * (1 + relative)
        if not (inverse < self.form.range):
            relative = UNKNOWN
        # The weight and the product may be rounded, too.
        at_zero = self._lost(weight * as_number(off).at_zero * (1 + 3 * self.u))
        return Inexact(size, inverse, absolute, at_zero, relative)

    def _pair(self, weight: flint.arb, off: Normalised, known: Inexact) -> Inexact:
        """A multiple of a coordinate that is read as the difference from its partner."""
        lost = self.arithmetic.pair
        relative = (1 + known.relative_part) * (1 + off.shared) * (1 + lost) - 1
        return replace(
            known,
            at_zero=weight * (as_number(off).at_zero * (1 + lost) + off.common_mode * lost),
            relative_part=relative if known.inverse < self.form.range else UNKNOWN,
            absolute_part=weight * (off.absolute_part * (1 + lost) + off.common_mode * lost),
        )

    def _least(self, form: LinearForm, values: list[Value]) -> Fraction | None:
        """The least size but 0 of a sum of constants that do not cancel; None for other sums."""
        found: list[Fraction] = []
        for coordinate, factor in form:
            value = values[coordinate]
            if set(value) - {(0, 0)} or self.arithmetic.has_means(value):
                return None
            found += [factor * v.constant for diagram in value.values() for v in self.names.values(diagram)]
        found = [value for value in found if value]
        if not found or min(found) < 0 < max(found):
            return None
        return min(map(abs, found))

    def of_mean(self, value: Value, off: Off) -> flint.arb:
        """How far a computed coordinate can be off, averages included."""
        found = as_number(off)
        return found.constant.max(found.average + found.relative * self.size(value))

    def _relative(self, value: Value, off: Off) -> flint.arb:
        match off:
            case OfInteger() | Normalised(of=OfInteger()):
                return UNKNOWN
            case OfNumber() | Normalised():
                found = as_number(off)
            case _:
                assert_never(off)
        if set(value) != {(0, 0)}:
            return found.relative
        sizes = [
            abs(v.constant)
            for diagram in value.values()
            for v in self.names.values(diagram)
            if v.constant and not v.parts
        ]
        return found.relative + found.elsewhere / ball(min(sizes, default=Fraction(1)))

    def product(self, left: Rounded, right: Rounded) -> Rounded:
        """left * right, rounded once."""
        size, inverse = left.size * right.size, left.inverse * right.inverse
        if isinstance(left, OnGrid) and isinstance(right, OnGrid):
            grid = left.grid * right.grid
            if self.arithmetic.fits(size, grid):
                return OnGrid(size, grid)
        most_left, most_right = left.size + left.absolute, right.size + right.absolute
        relative = (1 + left.relative) * (1 + right.relative) * (1 + self.u) - 1
        return Inexact(
            size,
            inverse,
            most_left * most_right * (1 + self.u) - size + self.tiny,
            self._lost((left.at_zero * most_right).max(right.at_zero * most_left) * (1 + self.u)),
            relative if inverse < self.form.range else UNKNOWN,
        )

    def _lost(self, at_zero: flint.arb) -> flint.arb:
        """The error of a product that should be 0, with what underflows; what is exactly 0 does not."""
        return ZERO if at_zero == 0 else at_zero + self.tiny


def greatest(errors: Iterable[flint.arb]) -> flint.arb:
    """The greatest of some numbers from 0 on; 0 if there are none."""
    found = ZERO
    for error in errors:
        found = found.max(error)
    return found


def key_of(error: flint.arb) -> Hashable:
    """Equal only for the same ball."""
    if not error.is_finite():
        return object()
    return error.mid().man_exp(), error.rad().man_exp()


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


def as_number(off: Off) -> OfNumber:
    """The same as of any number, without what is shared with other coordinates."""
    match off:
        case OfNumber():
            return off
        case OfInteger(as_number=found):
            return found
        case Normalised(of=found):
            return as_number(found)
        case _:
            assert_never(off)


def common(off: Off) -> tuple[flint.arb, flint.arb]:
    """(relative, in pair): what a coordinate that is read has in common with its position, and its pair."""
    match off:
        case OfNumber() | OfInteger():
            return ZERO, ZERO
        case Normalised(shared=shared, common_mode=common_mode):
            return shared, common_mode
        case _:
            assert_never(off)


def is_exact(off: Off) -> bool:
    """Whether no error is possible."""
    found, (shared, _) = as_number(off), common(off)
    errors = (found.at_zero, found.elsewhere, found.average, found.relative, shared)
    return all(bool(error == 0) for error in errors)


def is_power_of_two(factor: Fraction) -> bool:
    """Whether multiplying by the factor never rounds."""
    p, q = abs(factor.numerator), factor.denominator
    return p & (p - 1) == 0 and q & (q - 1) == 0
