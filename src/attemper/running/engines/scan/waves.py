"""Closed forms of the position as sums of waves: c j^p (-1)^(e j), exactly, for words of one length.

That a key is such a sum is all that the scan needs to know of a position embedding.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import assert_never

from attemper.exact import closed_forms
from attemper.exact.predicates import Remainder, holds, periodic

WaveSum = dict[tuple[int, bool], Fraction]
"""The sum of c j^p, times (-1)^j where the flag is set, by (p, flag); no c is 0."""

MOST_WAVES = 16
"""Forms with more are left to the dense way: none of a compiled network has more than three."""

LARGEST_POWER = 8
"""Powers beyond it are left to the dense way, too: scores are parabolas."""


@lru_cache(maxsize=4096)
def waves_of(form: closed_forms.ClosedForm, length: int) -> WaveSum | None:
    """The form at position j of words of that length; None where the form is no such sum.

    Nobody may change what is returned, which is kept.

    >>> from attemper.exact.closed_forms import I, N, over, times
    >>> waves_of(times(3, N, over(I)), 5)
    {(-1, False): Fraction(15, 1)}
    """
    match form:
        case closed_forms.Number(value):
            return _constant(value)
        case closed_forms.Position():
            return {(1, False): Fraction(1)}
        case closed_forms.Length():
            return _constant(Fraction(length))
        case closed_forms.Alternating():
            return {(0, True): Fraction(1)}
        case closed_forms.Test():
            return _of_test(form, length)
        case closed_forms.Sum(parts):
            return _sum(waves_of(part, length) for part in parts)
        case closed_forms.Product(parts):
            return _product(waves_of(part, length) for part in parts)
        case closed_forms.Power(base, exponent):
            return _power(waves_of(base, length), exponent)
        case closed_forms.Digits(inner):
            number = waves_of(inner, length)
            if number is None or set(number) != {(0, False)}:
                return None
            return _constant(
                closed_forms.evaluate(closed_forms.Digits(closed_forms.Number(number[0, False])), 1, length)
            )
        case _:
            assert_never(form)


def _constant(value: Fraction) -> WaveSum:
    return {(0, False): value} if value else {}


def _of_test(form: closed_forms.Test, length: int) -> WaveSum | None:
    """A test that says the same of all positions, or of all positions of one parity."""
    shift = form.per_length * length + form.shift
    if form.per_position == 0:
        return _constant(Fraction(holds(form.predicate, shift)))
    predicate = periodic(form.predicate)
    if not isinstance(predicate, Remainder) or predicate.modulus > 2:
        return None
    even, odd = (holds(form.predicate, form.per_position * j + shift) for j in (0, 1))
    half = Fraction(1, 2)
    return _without_zeros({(0, False): half * (even + odd), (0, True): half * (even - odd)})


def _sum(parts: Iterable[WaveSum | None]) -> WaveSum | None:
    total: WaveSum = {}
    for part in parts:
        if part is None:
            return None
        for name, factor in part.items():
            total[name] = total.get(name, Fraction(0)) + factor
    return _without_zeros(total)


def _product(parts: Iterable[WaveSum | None]) -> WaveSum | None:
    total: WaveSum = {(0, False): Fraction(1)}
    for part in parts:
        if part is None:
            return None
        found: WaveSum = {}
        for (p, e), factor in total.items():
            for (q, f), other in part.items():
                name = p + q, e is not f
                found[name] = found.get(name, Fraction(0)) + factor * other
        total = _without_zeros(found)
        if len(total) > MOST_WAVES or any(abs(p) > LARGEST_POWER for p, _ in total):
            return None
    return total


def _power(base: WaveSum | None, exponent: int) -> WaveSum | None:
    if base is None or abs(exponent) > LARGEST_POWER:
        return None
    if exponent >= 0:
        return _product([base] * exponent)
    if len(base) != 1:
        return None
    (((p, e), factor),) = base.items()
    return _product([{(-p, e): 1 / factor}] * -exponent)


def _without_zeros(waves: WaveSum) -> WaveSum:
    return {name: factor for name, factor in waves.items() if factor}
