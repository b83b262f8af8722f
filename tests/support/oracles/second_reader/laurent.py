"""Laurent forms in i and n, and the least values that FORMAT.md section 4 proves ("For all lengths")."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import comb

Laurent = Mapping[tuple[int, int], Fraction]
"""Coefficients by the exponents of i and n, without zeros."""


def constant(value: Fraction | int) -> Laurent:
    return _without_zeros({(0, 0): Fraction(value)})


def monomial(a: int, b: int) -> Laurent:
    return {(a, b): Fraction(1)}


def plus(*forms: Laurent) -> Laurent:
    total: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for form in forms:
        for key, value in form.items():
            total[key] += value
    return _without_zeros(total)


def times(left: Laurent, right: Laurent) -> Laurent:
    return plus(*({(a + c, b + d): x * y} for (a, b), x in left.items() for (c, d), y in right.items()))


def scaled(form: Laurent, factor: Fraction | int) -> Laurent:
    return {key: value * factor for key, value in form.items()} if factor else {}


def minus(left: Laurent, right: Laurent) -> Laurent:
    return plus(left, scaled(right, -1))


def least_ratio(form: Laurent, other: Laurent, masking: str) -> Fraction | None:
    """The c of "form >= c other" wherever more than one position is visible, or None."""
    starts = _STARTS[masking]
    ratio = min(_at(form, i0, i0 + d) / _at(other, i0, i0 + d) for i0, d in starts)
    rest = minus(form, scaled(other, ratio))
    negative = any(value < 0 for start in starts for value in in_steps((rest,), start)[0].values())
    return None if negative else ratio


_STARTS = {"<=": [(2, 0)], ">=": [(1, 1)], "all": [(2, 0), (1, 1)]}


def _at(form: Laurent, i: int, n: int) -> Fraction:
    return sum((value * Fraction(i) ** a * Fraction(n) ** b for (a, b), value in form.items()), Fraction(0))


def in_steps(forms: Sequence[Laurent], start: tuple[int, int]) -> list[Laurent]:
    """The coefficients in x and y of i = i0 + x, n = i0 + d + x + y; all divided by least powers."""
    least_a = min((a for form in forms for a, _ in form), default=0)
    least_b = min((b for form in forms for _, b in form), default=0)
    found = []
    for form in forms:
        total: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for (a, b), value in form.items():
            for key, c in _monomial_in_steps(a - least_a, b - least_b, *start):
                total[key] += value * c
        found.append(_without_zeros(total))
    return found


@cache
def _monomial_in_steps(a: int, b: int, i0: int, d: int) -> tuple[tuple[tuple[int, int], int], ...]:
    """i^a n^b for powers that are not negative, as a sum."""
    return tuple(
        ((p + r, q - r), comb(a, p) * i0 ** (a - p) * comb(b, q) * (i0 + d) ** (b - q) * comb(q, r))
        for p in range(a + 1)
        for q in range(b + 1)
        for r in range(q + 1)
    )


def _without_zeros(form: Mapping[tuple[int, int], Fraction]) -> Laurent:
    return {key: value for key, value in form.items() if value}
