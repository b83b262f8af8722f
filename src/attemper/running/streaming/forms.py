"""Closed forms and linear forms as functions of plain floats, for one position at a time.

A tensor's operation costs microseconds, whatever its size; at one symbol a time plain floats are faster.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import frexp, isinf, nan
from operator import itemgetter
from typing import assert_never

from attemper.errors import InternalError
from attemper.exact import closed_forms
from attemper.exact.predicates import Remainder, holds

LinearFunction = Callable[[Sequence[float]], float]
"""A linear form of numbers in a list."""

OfPosition = Callable[[int], float]
"""A number that depends on the position alone."""


def linear_function(factors: Sequence[tuple[int, float]]) -> LinearFunction:
    """The sum of factor * x[place] as a function of x; short sums are spelled out, as they are asked often.

    >>> linear_function(((0, 2.0), (2, -1.0)))([1.0, 5.0, 3.0])
    -1.0
    """
    match tuple(factors):
        case ():
            return lambda _: 0.0
        case ((place, 1.0),):
            return itemgetter(place)
        case ((place, factor),):
            return lambda x: factor * x[place]
        case ((place, factor), (other, its)):
            return lambda x: factor * x[place] + its * x[other]
        case ((place, factor), (other, its), (third, last)):
            return lambda x: factor * x[place] + its * x[other] + last * x[third]
        case several:
            return _long_sum(several)


def _long_sum(factors: tuple[tuple[int, float], ...]) -> LinearFunction:
    def total(x: Sequence[float]) -> float:
        found = 0.0
        for place, factor in factors:
            found += factor * x[place]
        return found

    return total


def position_function(form: closed_forms.ClosedForm) -> OfPosition:
    """A closed form without n as a function of the position: each operation rounds at most once, in float64.

    >>> from attemper.exact.closed_forms import I, over, times
    >>> position_function(times(4, over(I, 2)))(2)
    1.0
    """
    match form:
        case closed_forms.Number(value):
            number = float(value)
            return lambda _: number
        case closed_forms.Position():
            return float
        case closed_forms.Alternating():
            return lambda i: -1.0 if i & 1 else 1.0
        case closed_forms.Test():
            return _test(form)
        case closed_forms.Sum(parts):
            return _sum(tuple(map(position_function, parts)))
        case closed_forms.Product(parts):
            return _product(tuple(map(position_function, parts)))
        case closed_forms.Power(base, exponent):
            return _power(base, exponent)
        case closed_forms.Digits(inner):
            digits_of = position_function(inner)
            return lambda i: _binary_digits(digits_of(i))
        case closed_forms.Length():
            raise InternalError("a stream was made of a network that reads n (please report)")
        case _:
            assert_never(form)


def _test(form: closed_forms.Test) -> OfPosition:
    predicate, factor, shift = form.predicate, form.per_position, form.shift
    if isinstance(predicate, Remainder):
        modulus, remainder = predicate.modulus, predicate.remainder
        return lambda i: 1.0 if (factor * i + shift) % modulus == remainder else 0.0
    return lambda i: 1.0 if holds(predicate, factor * i + shift) else 0.0


def _sum(parts: tuple[OfPosition, ...]) -> OfPosition:
    def total(i: int) -> float:
        found = 0.0
        for part in parts:
            found += part(i)
        return found

    return total


def _product(parts: tuple[OfPosition, ...]) -> OfPosition:
    def product(i: int) -> float:
        found = 1.0
        for part in parts:
            found *= part(i)
        return found

    return product


def _power(base: closed_forms.ClosedForm, exponent: int) -> OfPosition:
    """A repeated product, as in every engine. Raises OverflowError beyond float64."""
    size, of_base = abs(exponent), position_function(base)

    def power(i: int) -> float:
        found, factor = 1.0, of_base(i)
        for _ in range(size):
            found *= factor
        if isinf(found):
            raise OverflowError
        return found if exponent >= 0 else 1.0 / found

    return power


def _binary_digits(x: float) -> float:
    """How many binary digits a positive integer has: e, if x = m 2^e with 1/2 <= m < 1; infinity has none."""
    return nan if isinf(x) else float(frexp(x)[1])
