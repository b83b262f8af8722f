"""Laurent polynomials in positions and the length, and how much one is of another wherever an order holds.

A statement "for all 1 <= j < w <= i <= n" is proved by a substitution: j = 1 + x, w = j + 1 + y, i = w + z
and so on with x, y, z >= 0. A polynomial without negative coefficients in these is nowhere negative. Nothing
is sampled.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

VariablePowers = tuple[int, ...]
"""The exponents of i and n; in a statement about two positions those of i, n, j and w."""

Laurent = dict[VariablePowers, Fraction]
"""The sum of coefficient * i^a n^b by (a, b), and so with j and w; coefficients are not 0."""


class Next(NamedTuple):
    """A variable that is `gap` or more beyond the one before it, the first beyond 0; or just so much."""

    variable: int
    gap: int
    or_more: bool = True


VariableOrder = tuple[Next, ...]
"""Variables, the least first."""

Domain = tuple[VariableOrder, ...]
"""Its parts: in each of them an order holds."""

I, N, J, W = range(4)  # noqa: E741 - i, n, j and w, as everywhere
"""Where a variable stands among the exponents."""

AFTER_FIRST: Domain = ((Next(I, 2), Next(N, 0)),)
"""2 <= i <= n."""
BEFORE_LAST: Domain = ((Next(I, 1), Next(N, 1)),)
"""1 <= i <= n - 1."""
LONGER_THAN_ONE: Domain = (*AFTER_FIRST, *BEFORE_LAST)
"""1 <= i <= n, n >= 2."""


def constant(value: int | Fraction) -> Laurent:
    """A constant polynomial in i and n."""
    return monomial(0, 0, value)


def monomial(position: int, length: int, factor: int | Fraction = 1) -> Laurent:
    """factor * i^position * n^length."""
    return {(position, length): Fraction(factor)} if factor else {}


def plus(*polynomials: Laurent) -> Laurent:
    """The sum."""
    return _collected(pair for polynomial in polynomials for pair in polynomial.items())


def times(left: Laurent, right: Laurent | int | Fraction) -> Laurent:
    """The product."""
    if not isinstance(right, dict):
        return {powers: factor * right for powers, factor in left.items() if right}
    pairs = (
        (tuple(map(sum, zip(p, q, strict=True))), x * y) for p, x in left.items() for q, y in right.items()
    )
    return _collected(pairs)


def at(polynomial: Laurent, *place: int) -> Fraction:
    """The value at one i and n, and so on."""
    total = Fraction(0)
    for powers, factor in polynomial.items():
        for value, power in zip(place, powers, strict=True):
            factor *= Fraction(value) ** power
        total += factor
    return total


def most(over: Laurent, under: Laurent, domain: Domain) -> Fraction | None:
    """The greatest c found with over >= c * under on the whole domain, where `under` is nowhere negative.

    Denominators cleared, no coefficient of `over` may be less than c times that of `under`, which has none
    below 0. So c need not be attained: it is the limit for long words where that is less. None means that
    nothing was proved, not that there is no such c.

    >>> most({(1, 0): Fraction(4), (0, 0): Fraction(4)}, {(1, 0): Fraction(1)}, AFTER_FIRST)
    Fraction(4, 1)
    """
    found: list[Fraction] = []
    for order in domain:
        low = tuple(map(min, zip(*over, *under, strict=True)))
        ours, theirs = (_in_distances(polynomial, low, order) for polynomial in (over, under))
        if min((*theirs.values(), *(ours[place] for place in ours.keys() - theirs.keys())), default=-1) < 0:
            return None
        found += [ours.get(place, Fraction(0)) / factor for place, factor in theirs.items()]
    return min(found, default=None)


def _in_distances(polynomial: Laurent, low: VariablePowers, order: VariableOrder) -> Laurent:
    """The polynomial, its denominators cleared, in the distances of an order beyond the least ones."""
    return _collected(
        (place, factor * own)
        for powers, factor in polynomial.items()
        for place, own in _expanded(tuple(a - b for a, b in zip(powers, low, strict=True)), order).items()
    )


@lru_cache(maxsize=1 << 14)
def _expanded(powers: VariablePowers, order: VariableOrder) -> Laurent:
    """The product of natural powers of the variables."""
    if not any(powers):
        return {(0,) * len(powers): Fraction(1)}
    first = next(variable for variable, power in enumerate(powers) if power)
    less = tuple(power - (variable == first) for variable, power in enumerate(powers))
    value: Laurent = {}
    for variable, gap, or_more in order:
        distance = tuple(int(own == variable) for own in range(len(powers)))
        value = plus(value, {distance: Fraction(or_more)}, {(0,) * len(powers): Fraction(gap)})
        if variable == first:
            break
    return times(_expanded(less, order), value)


def _collected(pairs: Iterable[tuple[VariablePowers, Fraction]]) -> Laurent:
    total: Laurent = {}
    for powers, factor in pairs:
        total[powers] = total.get(powers, Fraction(0)) + factor
    return {powers: factor for powers, factor in total.items() if factor}
