"""Forms: real functions on a box, up to second order, with every rounding of their arithmetic counted.

**Points and noise symbols.** A box has axes; a *point* is one of its places that are of interest, with a
choice of slopes (`rectified`). A *noise symbol* e_k is a function of the point with values in [-1, 1]. Those
of the axes are the coordinates of the place, scaled: 0 in the middle of the box, -1 and 1 at its sides. The
first m axes are *curved*: the symbols after theirs are the products of two of them, 2 e_j^2 - 1 for j = k and
e_j e_k for j < k, in the order (1, 1), (1, 2), ..., (1, m), (2, 2), ... Then come the other axes, and symbols
of units of a feed-forward.

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
products' absolute values, and k 2^-1075. `GAMMA` k = 2^-52 k is more than that factor, as k < 2^50. Nothing
else is assumed: `exponential` is a polynomial, and where a cube root or an index is wanted any number is
right. What overflows is infinite or not a number; both stay so up to the bound, unless a weight 0 is the
factor, and 0 x = 0 for the real number x that the form stands for.
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

Array = NDArray[np.float64]
Times = Callable[[Array, Array], Array]

GAMMA = 2.0**-52
"""Twice the unit roundoff u: k of it bound the relative error of k roundings."""

TINY = 2.0**-900
"""More than the underflow of an operation's products together: fewer than 2^170, each at most 2^-1075."""


def upward(value: Array, terms: int) -> Array:
    """At least the exact value of a sum of up to `terms` products of two numbers >= 0, as numpy computed it.

    The computed sum is at least (1 - u)^(terms + 2) times the exact one, less `terms` 2^-1075, whatever the
    order. Both are made good, the rounding of this very product and sum included.
    """
    return np.asarray(value * (1 + (terms + 5) * GAMMA) + TINY)


@final
@dataclass(frozen=True, eq=False)
class Form:
    """Arrays that stand for real functions of the point: see the head of this file."""

    parts: Array
    rest: Array
    curved: int

    @property
    def centre(self) -> Array:
        return np.asarray(self.parts[0])

    @cached_property
    def bent(self) -> Array:
        """At least the sum of |a_k| over the curved axes."""
        return upward(np.abs(self.parts[1 : 1 + self.curved]).sum(axis=0), self.curved)

    @cached_property
    def straight(self) -> Array:
        """At least the sum of |a_k| over all other symbols, and the rest."""
        others = self.parts[1 + self.curved :]
        return upward(np.abs(others).sum(axis=0) + self.rest, len(others) + 1)

    @cached_property
    def radius(self) -> Array:
        """At least the distance from the centre to a value."""
        return upward(self.bent + self.straight, 2)

    @cached_property
    def magnitude(self) -> Array:
        """At least the absolute value."""
        return upward(np.abs(self.centre) + self.radius, 2)

    @property
    def least(self) -> Array:
        """At most the value: the difference is rounded once, by at most u of its own size."""
        found = self.centre - self.radius
        return found - upward(GAMMA * np.abs(found), 1)

    @property
    def greatest(self) -> Array:
        """At least the value."""
        found = self.centre + self.radius
        return found + upward(GAMMA * np.abs(found), 1)

    def __iter__(self) -> Iterator[Form]:
        return (self[index] for index in range(len(self.rest)))

    def __getitem__(self, key: object) -> Form:
        """The same functions, other indices."""
        keys = key if isinstance(key, tuple) else (key,)
        return Form(self.parts[(slice(None), *keys)], self.rest[keys], self.curved)

    def reshaped(self, *shape: int) -> Form:
        return Form(self.parts.reshape(len(self.parts), *shape), self.rest.reshape(shape), self.curved)

    def picked(self, index: NDArray[np.int64], axis: int) -> Form:
        """The functions at these places of an axis (counted from the end, so below 0)."""
        found = np.take_along_axis(self.parts, index[None], axis)
        return Form(found, np.take_along_axis(self.rest, index, axis), self.curved)

    def __neg__(self) -> Form:
        return Form(-self.parts, self.rest, self.curved)

    def __add__(self, other: Form) -> Form:
        """x + y: coefficients are added, each sum is off by at most u of itself; the rests are added."""
        longer, shorter = (self, other) if len(self.parts) >= len(other.parts) else (other, self)
        common = np.broadcast_shapes(self.rest.shape, other.rest.shape)
        parts = np.broadcast_to(longer.parts, (len(longer.parts), *common)).copy()
        parts[: len(shorter.parts)] += shorter.parts
        off = GAMMA * np.abs(parts[: len(shorter.parts)]).sum(axis=0)
        return Form(parts, upward(self.rest + other.rest + off, len(shorter.parts) + 2), self.curved)

    def __sub__(self, other: Form) -> Form:
        return self + -other

    def plus(self, constant: Array | float) -> Form:
        """x + b for exact numbers b: only the centre is rounded."""
        shape = np.broadcast_shapes(self.rest.shape, np.shape(constant))
        parts = np.broadcast_to(self.parts, (len(self.parts), *shape)).copy()
        parts[0] += constant
        return Form(parts, upward(self.rest + GAMMA * np.abs(parts[0]), 2), self.curved)

    def scaled(self, constant: Array | float) -> Form:
        """x b for exact numbers b: each coefficient is off by at most u of itself, and underflow."""
        off = upward(self.rest + GAMMA * self.magnitude, 2)
        return Form(self.parts * constant, upward(np.abs(constant) * off, 1), self.curved)

    def over(self, constant: float) -> Form:
        """x / b for an exact number b > 0, as `scaled`."""
        off = upward(self.rest + GAMMA * self.magnitude, 2)
        return Form(self.parts / constant, upward(off / constant, 1), self.curved)

    def mapped(self, matrix: Array) -> Form:
        """W x, along the last axis but two, for an exact matrix W of shape (d', d).

        Coefficients are mapped, each off by at most GAMMA d times |W| of their absolute values; with the rest
        these make |W| (r + GAMMA d magnitude).
        """
        *batch, width, places, boxes = self.parts.shape
        flat = np.matmul(matrix, self.parts.reshape(*batch, width, places * boxes))
        off = upward(self.rest + width * GAMMA * self.magnitude, 2)
        rest = np.matmul(np.abs(matrix), off.reshape(*batch[1:], width, places * boxes))
        shape = (*batch[1:], len(matrix), places, boxes)
        return Form(flat.reshape(batch[0], *shape), upward(rest.reshape(shape), width), self.curved)

    def __mul__(self, other: Form) -> Form:
        """x y, of forms with as many axes: see `_product`."""
        return _product(self, other, np.multiply, 1)

    def chosen(self, where: NDArray[np.bool_], other: Form) -> Form:
        """The other form where the condition is true, this one elsewhere; both must stand for x there."""
        rows = max(len(self.parts), len(other.parts))
        parts = np.where(where, _padded(other.parts, rows), _padded(self.parts, rows))
        return Form(parts, np.where(where, other.rest, self.rest), self.curved)


def constant(values: Array, curved: int, rest: float | Array = 0.0) -> Form:
    """Numbers that do not depend on the point, known up to the rest."""
    return Form(values[None], np.broadcast_to(np.asarray(rest, dtype=np.float64), values.shape), curved)


def between(low: Array, high: Array, curved: int) -> Form:
    """Something between two float64 numbers of which nothing else is known.

    The centre is rounded, so the rest is the greater of the distances to both, which are rounded once each.
    """
    centre = low + (high - low) * 0.5
    return constant(centre, curved, upward(np.maximum(high - centre, centre - low), 1))


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

        x y = c c' + c B' + c' B + c S' + c' S + B B' + (B S' + S y_0),    y_0 = B' + S' = y - c'.

    Coefficients are those of c y + c' x, and of B B' = sum_j a_j a'_j e_j^2 + sum_{j<k} (a_j a'_k + a_k a'_j)
    e_j e_k, where e_j^2 = (1 + (2 e_j^2 - 1)) / 2 gives one half to the centre. The rest is |c| r' + |c'| r
    + bent straight' + straight radius', and rounding: a coefficient is a sum of at most `terms` (m + 4)
    products and the absolute values of all products, of all coefficients, add up to at most
    magnitude magnitude' (sum over j, k of |a_j a'_k| counts each product once).
    """
    curved = left.curved
    parts = _padded(times(left.parts[:1], right.parts), len(left.parts))
    parts[1 : len(left.parts)] += times(left.parts[1:], right.parts[:1])
    if min(len(left.parts), len(right.parts)) > 1:
        for row, (j, k) in enumerate(_pairs(curved), 1 + curved):
            both = times(left.parts[j : j + 1], right.parts[k : k + 1])[0]
            if j == k:
                parts[0] += both * 0.5
                parts[row] += both * 0.5
            else:
                parts[row] += both + times(left.parts[k : k + 1], right.parts[j : j + 1])[0]
    rest = _both(times, np.abs(left.centre), right.rest) + _both(times, left.rest, np.abs(right.centre))
    rest += _both(times, left.bent, right.straight) + _both(times, left.straight, right.radius)
    rest += (terms * (curved + 4) + 4) * GAMMA * _both(times, left.magnitude, right.magnitude)
    return Form(parts, upward(rest, terms + 6), curved)


def _both(times: Times, left: Array, right: Array) -> Array:
    """The operation on arrays without the axis of symbols."""
    return np.asarray(times(left[None], right[None])[0])


def _pairs(curved: int) -> list[tuple[int, int]]:
    """The pairs of curved axes, numbered from 1, in the order of the symbols of their products."""
    return list(combinations_with_replacement(range(1, 1 + curved), 2))


def _padded(parts: Array, rows: int) -> Array:
    """The same coefficients, with zeros up to so many rows."""
    if len(parts) >= rows:
        return parts
    return np.concatenate([parts, np.zeros((rows - len(parts), *parts.shape[1:]))])


def of_axes(low: Array, high: Array, curved: int) -> list[Form]:
    """One form for each axis of B boxes, from arrays (axes, B) of their sides: the place's coordinate.

    The coordinate is c + a e by the definition of the axis' symbol e = (x - c) / a, if a is at least the
    distance from c to both sides. Each distance is rounded once. (a = 0 only where both sides are c.)
    """
    axes, boxes = low.shape
    centre = low + (high - low) * 0.5
    reach = np.maximum(high - centre, centre - low)
    reach = reach + upward(GAMMA * reach, 1) * (reach > 0)
    pairs = len(_pairs(curved))
    made = []
    for axis in range(axes):
        parts = np.zeros((1 + axes + pairs, boxes))
        parts[0] = centre[axis]
        parts[1 + axis if axis < curved else 1 + axis + pairs] = reach[axis]
        made.append(Form(parts, np.zeros(boxes), curved))
    return made


WIDE = 0.5
"""From this radius on a function is enclosed by its values at both ends, not by its expansion."""


def exponential(form: Form) -> Form:
    """e^x, on radii t < 1/2 as e^c (1 + d + d^2 / 2 + r), d = x - c, |r| <= t^3 / 6 / (1 - t / 4).

    The series' further terms are t^(3+i) / (3+i)! <= t^3 / 6 / 4^i. On wider ones e^x is between 0 and
    e^(c + t). The exponentials of numbers are known as `powers` says.
    """
    reach, away = form.radius, _uncentred(form)
    series = away.plus(1.0) + (away * away).scaled(0.5)
    series = _widened(series, _cube(reach) / (6 - 1.5 * reach))
    value, off = powers(form.centre)
    narrow = series * constant(value, form.curved, off)
    outside = ~(reach < WIDE)
    if not outside.any():
        return narrow
    value, off = powers(form.greatest)
    return narrow.chosen(outside, between(np.zeros_like(value), upward(value + off, 2), form.curved))


def reciprocal(form: Form) -> Form:
    """1 / x where all values are positive, else unknown.

    With d = (x - c) / c and |d| <= t < 1/2, it is (1 / c) (1 - d + d^2 + r), |r| <= t^3 / (1 - t): the next
    terms of the geometric series. On wider ones it is between 1 / greatest and 1 / least.
    """
    inverse = constant(1 / form.centre, form.curved, upward(GAMMA / np.abs(form.centre), 1))
    away, reach = _uncentred(form) * inverse, upward(form.radius / np.abs(form.centre), 1)
    series = _widened((-away).plus(1.0) + away * away, _cube(reach) / (1 - reach))
    outside = ~((reach < WIDE) & (form.least > 0))
    if not outside.any():
        return series * inverse
    low, high = 1 / form.greatest, 1 / form.least
    wide = between(low - upward(GAMMA * low, 1), high + upward(GAMMA * high, 1), form.curved)
    return (series * inverse).chosen(outside, _known(wide, form.least > 0))


def reciprocal_root(form: Form, at_least: float | Array) -> Form:
    """1 / sqrt(x), for functions x that are `at_least` these positive numbers, whatever the form says.

    With d = (x - c) / c and |d| <= t < 1/2, c > 0, it is (1 / sqrt c) (1 - d / 2 + 3 d^2 / 8 + r), and |r| is
    at most 5/16 t^3 (1 - t)^(-7/2) <= t^3 / (2 (1 - t)^4): Lagrange's remainder. On wider ones it is between
    its values at `greatest` and at the least value.
    """
    inverse = constant(1 / form.centre, form.curved, upward(GAMMA / np.abs(form.centre), 1))
    away, reach = _uncentred(form) * inverse, upward(form.radius / np.abs(form.centre), 1)
    square = (1 - reach) * (1 - reach)
    series = away.scaled(-0.5).plus(1.0) + (away * away).scaled(0.375)
    series = _widened(series, _cube(reach) / (2 * (square * square)))
    root = 1 / np.sqrt(form.centre)
    narrow = series * constant(root, form.curved, upward(2 * GAMMA * root, 1))
    outside = ~((reach < WIDE) & (form.centre > 0))
    if not outside.any():
        return narrow
    low, high = 1 / np.sqrt(form.greatest), 1 / np.sqrt(np.maximum(form.least, at_least))
    wide = between(low - upward(2 * GAMMA * low, 1), high + upward(2 * GAMMA * high, 1), form.curved)
    return narrow.chosen(outside, wide)


def _cube(reach: Array) -> Array:
    return reach * reach * reach


def _uncentred(form: Form) -> Form:
    """x - c."""
    parts = form.parts.copy()
    parts[0] = 0
    return Form(parts, form.rest, form.curved)


def _widened(form: Form, more: Array) -> Form:
    """The form with a greater rest; `more` is the result of at most nine roundings."""
    return Form(form.parts, upward(form.rest + more, 10), form.curved)


def _known(form: Form, where: NDArray[np.bool_]) -> Form:
    """The form, with an infinite rest where the condition fails."""
    return Form(form.parts, np.where(where, form.rest, np.inf), form.curved)


def _split_logarithm() -> tuple[float, float]:
    """ln 2 as a sum of two numbers, up to 2^-80; the first has 32 bits after the point."""
    with precision(256):
        logarithm = flint.arb(2).log()
        high = float((logarithm * 2**32).floor().mid()) / 2**32
        return high, float((logarithm - flint.arb(high)).mid())


LN2_HIGH, LN2_LOW = _split_logarithm()
TERMS = [1 / factorial(power) for power in range(13, -1, -1)]
MOST_POWER = 690.0


def powers(exponent: Array) -> tuple[Array, Array]:
    """e^x for float64 numbers x, and what it can be off by; infinite from x = 690 on.

    With an integer k, e^x = 2^k e^s, s = x - k ln 2, and e^s is its series up to s^13 where |s| <= 0.35. (k
    is x / ln 2 to nearest, but any k does for which s is that small.) Relative errors, in units of u = 2^-53:
    k LN2_HIGH is exact (10 and 32 bits), the two differences and the product with LN2_LOW make s wrong by
    less than 1.1, and e^s as much; Horner's 26 roundings and those of the coefficients make
    27 e^0.35 / e^-0.35 < 55; the terms left out are below 0.35^14 / 14! 1.03 e^0.35 < 1. That is less than
    128 u = 2^-46. The product with 2^k, |k| <= 1000, is exact. Below x = -690, 0 < e^x < 2^-990.
    """
    whole = np.clip(np.rint(exponent / (LN2_HIGH + LN2_LOW)), -1000, 1000)
    small = (exponent - whole * LN2_HIGH) - whole * LN2_LOW
    value = np.full_like(small, TERMS[0])
    for term in TERMS[1:]:
        value = value * small + term
    value = value * ((whole.astype(np.int64) + 1023) << 52).view(np.float64)
    value = np.where((np.abs(small) <= 0.35) & (np.abs(exponent) < MOST_POWER), value, np.inf)
    value = np.where(exponent <= -MOST_POWER, 0.0, value)
    return value, upward(2.0**-46 * value, 1)


def rectified(form: Form, change: Form, most: int) -> tuple[Form, Form]:
    """relu(z) and slope(z) dz, for z of shape (d, P, B) and K derivatives dz of shape (K, d, P, B).

    slope(z) is 1 where z > 0, 0 where z < 0, and where z = 0 it may be any number in [0, 1]. Where the sign
    is decided both are exact. Else, with any number a in [0, 1], relu(z) - a z is convex, 0 at z = 0 and
    never below, and at most h = max(-a least, (1 - a) greatest) at the ends, so

        relu(z) = a z + h / 2 + e h / 2,        slope(z) = 1 / 2 + e' / 2,

    with functions e and e' of the point in [-1, 1]: noise symbols of this unit. The `most` units with the
    greatest h in a box get such symbols, numbered after those of both forms. e' is the same for all K, and
    slope(z) dz is linear in it: dz / 2 + (centre of dz) e' / 2 + (dz - centre) e' / 2, the last in the rest.
    For all other units e and e' are in the rest altogether.
    """
    low, high = form.least, form.greatest
    on, off = low >= 0, high <= 0
    undecided = ~(on | off)
    slope = np.where(undecided, high / (high - low), on)
    bend = np.where(undecided, upward(np.maximum(-slope * low, (1 - slope) * high), 2), 0.0) * 0.5
    units = _widest(bend, undecided, most)
    first = max(len(form.parts), len(change.parts))
    value = _with_symbols(form.scaled(slope).plus(bend), bend, units, first)
    half = np.where(undecided, 0.5, 0.0)
    sloped = change.scaled(np.where(undecided, 0.5, on))
    sloped = _with_symbols(sloped, half * change.centre, units, first + len(units))
    return value, _widened(sloped, half * change.radius)


def _widest(bend: Array, undecided: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """The numbers (J, B) of the units, in the flat order of (d, P), with the greatest bends in each box."""
    boxes = bend.shape[-1]
    wanted = min(most, int(undecided.reshape(-1, boxes).sum(axis=0).max(initial=0)))
    return np.argsort(-bend.reshape(-1, boxes), axis=0, kind="stable")[:wanted]


def _with_symbols(form: Form, weight: Array, units: NDArray[np.int64], first: int) -> Form:
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
    return Form(shaped, upward(form.rest + left.reshape(weight.shape), 2), form.curved)
