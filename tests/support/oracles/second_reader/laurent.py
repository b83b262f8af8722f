"""Laurent forms in i and n, and the least values that FORMAT.md section 4 proves ("For all lengths")."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import comb

Laurent = Mapping[tuple[int, int], Fraction]
"""Coefficients by the exponents of i and n, without zeros."""


def constant(value: Fraction | int) -> Laurent:
    return _without_zeros({(0, 0): Fraction(value)})


def monomial(a: int, b: int) -> Laurent:
    return {(a, b): Fraction(1)}


def plus(left: Laurent, right: Laurent) -> Laurent:
    total = dict(left)
    for key, value in right.items():
        total[key] = total.get(key, Fraction(0)) + value
    return _without_zeros(total)


def times(left: Laurent, right: Laurent) -> Laurent:
    total: dict[tuple[int, int], Fraction] = {}
    for (a, b), x in left.items():
        for (c, d), y in right.items():
            total[a + c, b + d] = total.get((a + c, b + d), Fraction(0)) + x * y
    return _without_zeros(total)


def scaled(form: Laurent, factor: Fraction | int) -> Laurent:
    return times(form, constant(factor))


def minus(left: Laurent, right: Laurent) -> Laurent:
    return plus(left, scaled(right, -1))


def least_ratio(form: Laurent, other: Laurent, masking: str) -> Fraction | None:
    """The c of "form >= c other" wherever more than one position is visible, or None."""
    starts = _STARTS[masking]
    ratio = min(_at(form, i0, i0 + d) / _at(other, i0, i0 + d) for i0, d in starts)
    rest = minus(form, scaled(other, ratio))
    negative = any(value < 0 for i0, d in starts for value in _expanded(rest, i0, d).values())
    return None if negative else ratio


_STARTS = {"<=": [(2, 0)], ">=": [(1, 1)], "all": [(2, 0), (1, 1)]}


def _at(form: Laurent, i: int, n: int) -> Fraction:
    return sum((value * Fraction(i) ** a * Fraction(n) ** b for (a, b), value in form.items()), Fraction(0))


def _expanded(form: Laurent, i0: int, d: int) -> dict[tuple[int, int], Fraction]:
    """The coefficients in x and y of i = i0 + x, n = i0 + d + x + y; least powers divided out."""
    lowest = (min((a for a, _ in form), default=0), min((b for _, b in form), default=0))
    total: dict[tuple[int, int], Fraction] = {}
    for (a, b), value in form.items():
        a, b = a - lowest[0], b - lowest[1]
        for x1 in range(a + 1):
            for x2 in range(b + 1):
                for y in range(b - x2 + 1):
                    part = (
                        comb(a, x1)
                        * i0 ** (a - x1)
                        * comb(b, x2)
                        * comb(b - x2, y)
                        * (i0 + d) ** (b - x2 - y)
                    )
                    key = (x1 + x2, y)
                    total[key] = total.get(key, Fraction(0)) + value * part
    return total


def _without_zeros(form: Mapping[tuple[int, int], Fraction]) -> Laurent:
    return {key: value for key, value in form.items() if value}
