"""Forms: polynomials and noise that enclose real functions on a box, with every rounding counted.

**Points and noise symbols.** A box has axes; a *point* is one of its places that are of interest, with a
choice of slopes (`rectified`). A *noise symbol* e_k is a function of the point with values in [-1, 1]. Those
of the axes are the coordinates of the place, scaled: 0 in the middle of the box, -1 and 1 at its sides. The
first m axes are *curved*, and all products of their symbols up to some degree are symbols, too (a `Frame`
says m, the degree, and their order). Then come the other axes, and symbols of units of a feed-forward.

**Forms.** A form has a *centre* c, a coefficient a_k for each noise symbol, and a *rest* r >= 0. It *stands
for* a real function x of the point if

    |x - (c + sum_k a_k e_k)| <= r        at every point.

All are arrays: `parts` has the shape (1 + G, ...), c first and then a_1 to a_G, and `rest` the shape (...).
Forms with fewer symbols have coefficients 0 for the others. By |e_k| <= 1, x is within its *radius*
sum_k |a_k| + r of c, and at most its *magnitude* |c| + radius.

**What is proved.** If forms stand for functions x, y at the same points, the form that an operation gives
stands for the operation's result, in real numbers. Each docstring says why.

**Arithmetic.** Additions, products, quotients and square roots of float64 are IEEE operations, to nearest.
Each result is (1 + d) times the exact one, |d| <= u = 2^-53, and a product or quotient can be off by 2^-1075
more. A sum of k products, in any order, fused or not, is off by at most k u / (1 - k u) times the sum of the
products' absolute values, and k 2^-1075. k `GAMMA` is more than that factor, as k < 2^32. Nothing
else is assumed: `exponential` is a polynomial, and where a cube root or an index is wanted any number is
right. What overflows is infinite or not a number; both stay so up to the bound (also where the centre
alone is, as every way to a bound takes magnitudes), unless a weight 0 is the factor, and 0 x = 0 for the real
number x that the form stands for. An infinite divisor would end that: what divides, or bounds from below, is
made from `least`, which is finite, -infinity or not a number, never infinity. A processor may take results
below 2^-1022 for 0: that is within the 2^-900 that every rest is given, and no weight is so small
(`encoders.wellformed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial
from typing import final

import flint
import numpy as np
from numpy.typing import NDArray

from attemper.exact.balls import precision
from attemper.models.arrays import Floats

Times = Callable[[Floats, Floats], Floats]

GAMMA = 2.0**-53 * (1 + 2.0**-20)
"""A little more than the unit roundoff u: k of it bound the relative error of k roundings, k < 2^32."""

TINY = 2.0**-900
"""More than the underflow of an operation's products together: fewer than 2^170, each at most 2^-1075."""


def upward(value: Floats, terms: int) -> Floats:
    """At least the exact value of a sum of up to `terms` products of two numbers >= 0, as numpy computed it.

    The computed sum is at least (1 - u)^(terms + 2) times the exact one, less `terms` 2^-1075, whatever the
    order. Both are made good; so are the three roundings of the factor, the product and the sum here.
    """
    return np.asarray(value * (1 + (terms + 7) * GAMMA) + TINY)


@final
@dataclass(frozen=True)
class Frame:
    """How many axes are curved, and up to which degree products of their symbols are symbols.

    The symbols of a form begin with these products: those of degree 1 (the axes), of degree 2, and so on.

    >>> Frame(2, 2).monomials
    [(1, 0), (0, 1), (2, 0), (1, 1), (0, 2)]
    """

    curved: int
    degree: int

    @cached_property
    def monomials(self) -> list[tuple[int, ...]]:
        """The exponents of the products."""
        axes = range(self.curved)
        return [
            tuple(chosen.count(axis) for axis in axes)
            for degree in range(1, self.degree + 1)
            for chosen in combinations_with_replacement(axes, degree)
        ]

    @cached_property
    def sizes(self) -> list[int]:
        """How many products there are of each degree."""
        degrees = [sum(exponents) for exponents in self.monomials]
        return [degrees.count(degree) for degree in range(1, self.degree + 1)]

    @cached_property
    def products(self) -> list[tuple[int, list[int], list[int]]]:
        """For each row of a product the rows that it can be multiplied with, and those of the results."""
        rows = {exponents: row for row, exponents in enumerate(self.monomials, 1)}
        found = []
        for exponents, row in rows.items():
            sums = {other: tuple(map(sum, zip(exponents, other, strict=True))) for other in rows}
            kept = [(rows[other], rows[result]) for other, result in sums.items() if result in rows]
            if kept:
                found.append((row, [other for other, _ in kept], [result for _, result in kept]))
        return found


FLAT = Frame(0, 1)
"""No axis is curved."""


@final
@dataclass(frozen=True, eq=False)
class Form:
    """Arrays that stand for real functions of the point: see the head of this file."""

    parts: Floats
    rest: Floats
    frame: Frame

    @property
    def centre(self) -> Floats:
        return np.asarray(self.parts[0])

    @cached_property
    def by_degree(self) -> list[Floats]:
        """At least the sums of |a_k| over the products of curved axes, for each degree from 1 on."""
        found, first = [], 1
        for size in self.frame.sizes:
            found.append(upward(np.abs(self.parts[first : first + size]).sum(axis=0), size))
            first += size
        return found

    @cached_property
    def bent(self) -> Floats:
        """At least the sum of |a_k| over all products of curved axes."""
        return upward(sum(self.by_degree, np.zeros_like(self.rest)), len(self.by_degree))

    @cached_property
    def straight(self) -> Floats:
        """At least the sum of |a_k| over all other symbols, and the rest."""
        others = self.parts[1 + sum(self.frame.sizes) :]
        return upward(np.abs(others).sum(axis=0) + self.rest, len(others) + 1)

    @cached_property
    def radius(self) -> Floats:
        """At least the distance from the centre to a value."""
        return upward(self.bent + self.straight, 2)

    @cached_property
    def magnitude(self) -> Floats:
        """At least the absolute value."""
        return upward(np.abs(self.centre) + self.radius, 2)

    @property
    def least(self) -> Floats:
        """At most the value: two differences, each off by at most u of its own size."""
        found = self.centre - self.radius
        return found - upward(2 * GAMMA * np.abs(found), 2)

    @property
    def greatest(self) -> Floats:
        """At least the value."""
        found = self.centre + self.radius
        return found + upward(2 * GAMMA * np.abs(found), 2)

    def __iter__(self) -> Iterator[Form]:
        return (self[index] for index in range(len(self.rest)))

    def __getitem__(self, key: object) -> Form:
        """The same functions, other indices."""
        keys = key if isinstance(key, tuple) else (key,)
        return Form(self.parts[(slice(None), *keys)], self.rest[keys], self.frame)

    def reshaped(self, *shape: int) -> Form:
        return Form(self.parts.reshape(len(self.parts), *shape), self.rest.reshape(shape), self.frame)

    def picked(self, index: NDArray[np.int64], axis: int) -> Form:
        """The functions at these places of an axis (counted from the end, so below 0)."""
        found = np.take_along_axis(self.parts, index[None], axis)
        return Form(found, np.take_along_axis(self.rest, index, axis), self.frame)

    def __neg__(self) -> Form:
        return Form(-self.parts, self.rest, self.frame)

    def __add__(self, other: Form) -> Form:
        """x + y, with as many axes: coefficients are added, each sum is off by at most u of itself."""
        _require_alike(self, other)
        longer, shorter = (self, other) if len(self.parts) >= len(other.parts) else (other, self)
        common = np.broadcast_shapes(self.rest.shape, other.rest.shape)
        parts = np.broadcast_to(longer.parts, (len(longer.parts), *common)).copy()
        parts[: len(shorter.parts)] += shorter.parts
        off = GAMMA * np.abs(parts[: len(shorter.parts)]).sum(axis=0)
        return Form(parts, upward(self.rest + other.rest + off, len(shorter.parts) + 2), self.frame)

    def __sub__(self, other: Form) -> Form:
        return self + -other

    def plus(self, constant: Floats | float) -> Form:
        """x + b for exact numbers b: only the centre is rounded."""
        shape = np.broadcast_shapes(self.rest.shape, np.shape(constant))
        parts = np.broadcast_to(self.parts, (len(self.parts), *shape)).copy()
        parts[0] += constant
        return Form(parts, upward(self.rest + GAMMA * np.abs(parts[0]), 2), self.frame)

    def scaled(self, constant: Floats | float) -> Form:
        """x b for exact numbers b: each coefficient is off by at most u of itself, and underflow."""
        off = upward(self.rest + GAMMA * self.magnitude, 2)
        return Form(self.parts * constant, upward(np.abs(constant) * off, 1), self.frame)

    def over(self, constant: float) -> Form:
        """x / b for an exact number b > 0, as `scaled`."""
        off = upward(self.rest + GAMMA * self.magnitude, 2)
        return Form(self.parts / constant, upward(off / constant, 1), self.frame)

    def mapped(self, matrix: Floats) -> Form:
        """W x, along the last axis but two, for an exact matrix W of shape (d', d).

        Coefficients are mapped, each off by at most GAMMA d times |W| of their absolute values; with the rest
        these make |W| (r + GAMMA d magnitude).
        """
        *batch, width, places, boxes = self.parts.shape
        flat = np.matmul(matrix, self.parts.reshape(*batch, width, places * boxes))
        off = upward(self.rest + width * GAMMA * self.magnitude, 2)
        rest = np.matmul(np.abs(matrix), off.reshape(*batch[1:], width, places * boxes))
        shape = (*batch[1:], len(matrix), places, boxes)
        return Form(flat.reshape(batch[0], *shape), upward(rest.reshape(shape), width), self.frame)

    def __mul__(self, other: Form) -> Form:
        """x y, with as many axes: see `_product`."""
        _require_alike(self, other)
        return _product(self, other, np.multiply, 1)

    def chosen(self, where: NDArray[np.bool_], other: Form) -> Form:
        """The other form where the condition is true, this one elsewhere; both must stand for x there."""
        rows = max(len(self.parts), len(other.parts))
        parts = np.where(where, _padded(other.parts, rows), _padded(self.parts, rows))
        return Form(parts, np.where(where, other.rest, self.rest), self.frame)


def constant(values: Floats, frame: Frame, rest: float | Floats = 0.0) -> Form:
    """Numbers that do not depend on the point, known up to the rest."""
    return Form(values[None], np.broadcast_to(np.asarray(rest, dtype=np.float64), values.shape), frame)


def between(low: Floats, high: Floats, frame: Frame) -> Form:
    """Something between two float64 numbers of which nothing else is known.

    The centre is rounded, so the rest is the greater of the distances to both, which are rounded once each.
    Nothing is between a number and a smaller one: such a form is unknown, not more than known.
    """
    centre = low + (high - low) * 0.5
    rest = upward(np.maximum(high - centre, centre - low), 1)
    return _known(constant(centre, frame, rest), low <= high)


def contracted(left: Form, right: Form, subscripts: str) -> Form:
    """Sums of products as `numpy.einsum` names them, as in "da,db->ab": see `_product`."""
    inputs, output = subscripts.split("->")
    first, second = inputs.split(",")
    summed = {
        name: size
        for names, form in ((first, left), (second, right))
        for name, size in zip(names, form.rest.shape, strict=True)
        if name not in output and size != 1
    }
    terms = int(np.prod(list(summed.values()), initial=1.0))
    rows = f"Y{first},Y{second}->Y{output}"
    return _product(left, right, lambda a, b: np.einsum(rows, a, b), terms)


def _product(left: Form, right: Form, times: Times, terms: int) -> Form:
    """A bilinear operation: sums of up to `terms` products x y.

    With x = c + B + S, B the part of the curved axes and S all others (|S| <= `straight`), and y likewise,

        x y = c c' + c B' + c' B + B B' + c S' + c' S + (B S' + S (B' + S')).

    Coefficients are those of the products of polynomials, up to the frame's degree, and of c S' + c' S. The
    rest has |c| r' + |c'| r, bent straight' + straight radius', and products of coefficients whose degrees
    add up to more than the frame's. Rounding: the centre is a sum of `terms` products; with M products of
    curved axes another coefficient is one of at most `terms` (M + 2), and the absolute values of all these
    products, of all other coefficients, add up to at most |c| radius' + radius magnitude'.
    """
    frame = left.frame
    parts = _padded(times(left.parts[:1], right.parts), len(left.parts))
    parts[1 : len(left.parts)] += times(left.parts[1:], right.parts[:1])
    rest = _both(times, np.abs(left.centre), right.rest) + _both(times, left.rest, np.abs(right.centre))
    rest += _both(times, left.bent, right.straight) + _both(times, left.straight, right.radius)
    if min(len(left.parts), len(right.parts)) > 1:
        for row, others, results in frame.products:
            parts[results] += times(left.parts[row : row + 1], right.parts[others])
        for degree, bent in enumerate(left.by_degree, 1):
            beyond = sum(right.by_degree[frame.degree - degree :], np.zeros_like(right.rest))
            rest += _both(times, bent, beyond)
    size = np.abs(left.centre)
    rest += (terms + 1) * GAMMA * _both(times, size, np.abs(right.centre))
    changes = _both(times, size, right.radius) + _both(times, left.radius, right.magnitude)
    rest += (terms * (sum(frame.sizes) + 3) + 1) * GAMMA * changes
    return Form(parts, upward(rest, terms + 2 * frame.degree + 12), frame)


def _require_alike(left: Form, right: Form) -> None:
    """Raises ValueError for numbers of axes or frames that differ: rows would be mistaken for others."""
    if left.rest.ndim != right.rest.ndim or left.frame != right.frame:
        raise ValueError("forms with other axes or another frame")


def _both(times: Times, left: Floats, right: Floats) -> Floats:
    """The operation on arrays without the axis of symbols."""
    return np.asarray(times(left[None], right[None])[0])


def _padded(parts: Floats, rows: int) -> Floats:
    """The same coefficients, with zeros up to so many rows."""
    if len(parts) >= rows:
        return parts
    return np.concatenate([parts, np.zeros((rows - len(parts), *parts.shape[1:]))])


def of_axes(low: Floats, high: Floats, frame: Frame) -> list[Form]:
    """One form for each axis of B boxes, from arrays (axes, B) of their sides: the place's coordinate.

    The coordinate is c + a e by the definition of the axis' symbol e = (x - c) / a, if a is at least the
    distance from c to both sides. That is rounded twice. (a = 0 only where both sides are c.)
    """
    axes, boxes = low.shape
    centre = low + (high - low) * 0.5
    reach = np.maximum(high - centre, centre - low)
    reach = reach + upward(2 * GAMMA * reach, 2) * (reach > 0)
    products = sum(frame.sizes) - frame.curved
    made = []
    for axis in range(axes):
        parts = np.zeros((1 + axes + products, boxes))
        parts[0] = centre[axis]
        parts[1 + axis if axis < frame.curved else 1 + axis + products] = reach[axis]
        made.append(Form(parts, np.zeros(boxes), frame))
    return made


WIDE = 0.5
"""From this radius on a function is enclosed by its values at both ends, not by its series."""


def exponential(form: Form) -> Form:
    """e^x, on radii t < 1/2 as e^c (1 + d + d^2 / 2 + ... + d^n / n! + r), d = x - c: see `_series` for r.

    On wider ones e^x is between 0 and e^(c + t). The exponentials of numbers are known as `powers` says.
    """
    ratios = [(1, k) for k in range(1, _order(form) + 2)]
    value, off = powers(form.centre)
    narrow = _series(uncentred(form), form.radius, ratios) * constant(value, form.frame, off)
    outside = ~(form.radius < WIDE)
    if not outside.any():
        return narrow
    value, off = powers(form.greatest)
    return narrow.chosen(outside, between(np.zeros_like(value), upward(value + off, 2), form.frame))


def reciprocal(form: Form) -> Form:
    """1 / x where all values are positive, else unknown.

    With d = (x - c) / c and |d| <= t < 1/2 it is (1 / c) (1 - d + d^2 - ...), see `_series`. On wider ones
    it is between 1 / greatest and 1 / least.
    """
    inverse = constant(1 / form.centre, form.frame, upward(GAMMA / np.abs(form.centre), 1))
    reach = upward(form.radius / np.abs(form.centre), 1)
    series = _series(uncentred(form) * inverse, reach, [(-1, 1)] * (_order(form) + 1))
    narrow = series * inverse
    outside = ~((reach < WIDE) & (form.least > 0))
    if not outside.any():
        return narrow
    low, high = 1 / form.greatest, 1 / form.least
    wide = between(low - upward(2 * GAMMA * low, 2), high + upward(2 * GAMMA * high, 2), form.frame)
    return narrow.chosen(outside, _known(wide, form.least > 0))


def reciprocal_root(form: Form, at_least: float | Floats) -> Form:
    """1 / sqrt(x), for functions x that are `at_least` these positive numbers, whatever the form says.

    With d = (x - c) / c and |d| <= t < 1/2, x > 0, it is 1 / sqrt c times the binomial series of
    (1 + d)^(-1/2), b_k = -b_(k-1) (2k - 1) / (2k): see `_series`. On wider ones it is between its values at
    `greatest` and at the least value. `at_least` must be finite, even where it overflows.
    """
    inverse = constant(1 / form.centre, form.frame, upward(GAMMA / np.abs(form.centre), 1))
    reach = upward(form.radius / np.abs(form.centre), 1)
    ratios = [(1 - 2 * k, 2 * k) for k in range(1, _order(form) + 2)]
    root = 1 / np.sqrt(form.centre)
    series = _series(uncentred(form) * inverse, reach, ratios)
    narrow = series * constant(root, form.frame, upward(2 * GAMMA * root, 1))
    outside = ~((reach < WIDE) & (form.least > 0))
    if not outside.any():
        return narrow
    low, high = 1 / np.sqrt(form.greatest), 1 / np.sqrt(np.maximum(form.least, at_least))
    wide = between(low - upward(4 * GAMMA * low, 2), high + upward(4 * GAMMA * high, 2), form.frame)
    return narrow.chosen(outside, wide)


def _order(form: Form) -> int:
    """The degree n of the polynomials by which functions are enclosed."""
    return max(2, form.frame.degree)


def _series(away: Form, reach: Floats, ratios: list[tuple[int, int]]) -> Form:
    """sum_k b_k d^k, where b_0 = 1 and b_k = b_(k-1) p_k / q_k, |p_k| <= q_k, for |d| <= reach < 1.

    The polynomial of degree n is computed by Horner's rule, with n ratios p_k / q_k; there is one more: as
    |b_k| does not grow, all terms after that of d^n are together at most

        |b_(n + 1)| reach^(n + 1) / (1 - reach),        computed with 3 n + 5 roundings.
    """
    *kept, (above, below) = ratios
    value = away.scaled(float(kept[-1][0])).over(float(kept[-1][1])).plus(1.0)
    for first, second in reversed(kept[:-1]):
        value = (away * value).scaled(float(first)).over(float(second)).plus(1.0)
    left = reach * abs(above) / below / (1 - reach)
    for first, second in kept:
        left = left * reach * abs(first) / second
    return Form(value.parts, upward(value.rest + left, 3 * len(ratios) + 6), value.frame)


def uncentred(form: Form) -> Form:
    """x - c."""
    parts = form.parts.copy()
    parts[0] = 0
    return Form(parts, form.rest, form.frame)


def _widened(form: Form, more: Floats) -> Form:
    """The form with a greater rest; `more` is the result of at most nine roundings."""
    return Form(form.parts, upward(form.rest + more, 10), form.frame)


def _known(form: Form, where: NDArray[np.bool_]) -> Form:
    """The form, with an infinite rest where the condition fails."""
    return Form(form.parts, np.where(where, form.rest, np.inf), form.frame)


def _split_logarithm() -> tuple[float, float]:
    """ln 2 as a sum of two numbers, up to 2^-80; the first has 32 bits after the point."""
    with precision(256):
        logarithm = flint.arb(2).log()
        high = float((logarithm * 2**32).floor().mid()) / 2**32
        return high, float((logarithm - flint.arb(high)).mid())


LN2_HIGH, LN2_LOW = _split_logarithm()
TERMS = [1 / factorial(power) for power in range(13, -1, -1)]
MOST_POWER = 690.0


def powers(exponent: Floats) -> tuple[Floats, Floats]:
    """e^x for float64 numbers x, and what it can be off by; infinite from x = 690 on.

    With an integer k, e^x = 2^k e^s, s = x - k ln 2, and e^s is its series up to s^13 where |s| <= 0.35. (k
    is x / ln 2 to nearest, but any k does for which s is that small.) Relative errors, in units of u = 2^-53:
    k LN2_HIGH is exact (10 and 32 bits), the two differences and the product with LN2_LOW make s wrong by
    less than 1.1, and e^s as much; Horner's 26 roundings and those of the coefficients make
    27 e^0.35 / e^-0.35 < 55; the terms left out are below 0.35^14 / 14! 1.03 e^0.35 < 1. That is less than
    64 u = 2^-47. The product with 2^k, |k| <= 1000, is exact. Below x = -690, 0 < e^x < 2^-990.
    """
    whole = np.clip(np.rint(exponent / (LN2_HIGH + LN2_LOW)), -1000, 1000)
    small = (exponent - whole * LN2_HIGH) - whole * LN2_LOW
    value = np.full_like(small, TERMS[0])
    for term in TERMS[1:]:
        value = value * small + term
    value = value * ((whole.astype(np.int64) + 1023) << 52).view(np.float64)
    value = np.where((np.abs(small) <= 0.35) & (np.abs(exponent) < MOST_POWER), value, np.inf)
    value = np.where(exponent <= -MOST_POWER, 0.0, value)
    return value, upward(2.0**-47 * value, 1)


@final
@dataclass(frozen=True, eq=False)
class Signs:
    """Which of the units (d, P, B) are at least 0, and which at most 0, at all points of a column."""

    on: NDArray[np.bool_]
    off: NDArray[np.bool_]


def signs_by_cases(form: Form, owner: NDArray[np.int64], most: int) -> tuple[NDArray[np.int64], Signs]:
    """Cases of the units' signs: the columns (of the last axis) that are repeated, and the signs in each.

    A column whose signs are not all decided by the form, but for k units, is repeated 2^k times, once for
    each choice of "at least 0" or "at most 0" for these k. A case has the points of the column where its
    choices are true, and each point is in a case. Columns with the same `owner`, which are cases already, are
    repeated only while there are at most `most` of them; others stay, with signs undecided.
    """
    boxes = form.rest.shape[-1]
    on, off = form.least >= 0, form.greatest <= 0
    undecided = ~(on | off).reshape(-1, boxes)
    number = undecided.sum(axis=0)
    split = (number > 0) & (np.bincount(owner)[owner] * np.exp2(number) <= most)
    repeats = np.left_shift(1, np.where(split, number, 0))
    columns = np.repeat(np.arange(boxes), repeats)
    case = np.arange(len(columns)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    rank = np.where(split, np.cumsum(undecided, axis=0) - 1, 0)[:, columns]
    chosen = undecided[:, columns] & split[columns]
    positive = (chosen & (np.right_shift(case, rank) % 2 == 1)).reshape(*on.shape[:2], -1)
    negative = (chosen & (np.right_shift(case, rank) % 2 == 0)).reshape(*on.shape[:2], -1)
    return columns, Signs(on[..., columns] | positive, off[..., columns] | negative)


def rectified(form: Form, change: Form, signs: Signs, most: int) -> tuple[Form, Form]:
    """relu(z) and slope(z) dz, for z of shape (d, P, B) and K derivatives dz of shape (K, d, P, B).

    slope(z) is 1 where z > 0, 0 where z < 0, and where z = 0 it is one of both (at such a point the
    derivative is that of a piece beside it: see `frequencies`). Where the sign is known both are exact. Else,
    with any number a in [0, 1], relu(z) - a z is convex, 0 at z = 0 and never below, and at most
    h = max(-a least, (1 - a) greatest) at the ends, so

        relu(z) = a z + h / 2 + e h / 2,        slope(z) = 1 / 2 + e' / 2,

    with functions e and e' of the point in [-1, 1]: noise symbols of this unit. The `most` units with the
    greatest h in a box get such symbols, numbered after those of both forms. e' is the same for all K, and
    slope(z) dz is linear in it: dz / 2 + (centre of dz) e' / 2 + (dz - centre) e' / 2, the last in the rest.
    For all other units e and e' are in the rest altogether.
    """
    undecided = ~(signs.on | signs.off)
    slope, bend = lines_at_relu(form, signs)
    units = widest(bend, undecided, most)
    first = max(len(form.parts), len(change.parts), 1 + sum(form.frame.sizes))
    value = with_symbols(form.scaled(slope).plus(bend), bend, units, first)
    half = np.where(undecided, 0.5, 0.0)
    sloped = change.scaled(np.where(undecided, 0.5, signs.on))
    sloped = with_symbols(sloped, half * change.centre, units, first + len(units))
    return value, _widened(sloped, half * change.radius)


def lines_at_relu(form: Form, signs: Signs) -> tuple[Floats, Floats]:
    """Numbers a and h / 2, where relu(z) is within h / 2 of a z + h / 2: see `rectified`."""
    low, high = form.least, form.greatest
    undecided = ~(signs.on | signs.off)
    slope = np.where(undecided, high / (high - low), signs.on)
    bend = np.where(undecided, upward(np.maximum(-slope * low, (1 - slope) * high), 2), 0.0) * 0.5
    return slope, bend


def widest(bend: Floats, undecided: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """The numbers (J, B) of the units, in the flat order of (d, P), with the greatest bends in each box."""
    boxes = bend.shape[-1]
    wanted = min(most, int(undecided.reshape(-1, boxes).sum(axis=0).max(initial=0)))
    return np.argsort(-bend.reshape(-1, boxes), axis=0, kind="stable")[:wanted]


def with_symbols(form: Form, weight: Floats, units: NDArray[np.int64], first: int) -> Form:
    """The form with `weight` e added, |e| <= 1: e is a new symbol for these units, else in the rest.

    The symbols are numbered from `first`; the weights have the form's shape, (d, P, B) or (K, d, P, B).
    """
    flat = weight.reshape(-1, weight.shape[-3] * weight.shape[-2], weight.shape[-1])
    parts = _padded(form.parts, first + len(units)).reshape(-1, *flat.shape).copy()
    places = (np.arange(len(flat))[None, :, None], units[:, None, :], np.arange(flat.shape[-1])[None, None])
    parts[first + np.arange(len(units))[:, None, None], *places] = flat[places]
    left = np.abs(flat)
    left[places] = 0
    shaped = parts.reshape(-1, *weight.shape)
    return Form(shaped, upward(form.rest + left.reshape(weight.shape), 2), form.frame)
