"""Closed forms as FORMAT.md section 0 writes them, evaluated exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Form = Any


class NothingShownError(Exception):
    """Why nothing is shown."""


def holds(predicate: Any, value: Fraction) -> bool:
    """Whether a predicate holds of a number. A user's predicate is not known here."""
    match predicate:
        case "zero":
            return value == 0
        case "nonnegative":
            return value >= 0
        case ["mod", m, r]:
            return bool((value - r) % m == 0)
        case _:
            raise NothingShownError(f"nothing is known of the predicate {predicate}")


def value_of(form: Form, i: int, n: int) -> Fraction:
    """A closed form at a position of a word of n symbols."""
    match form:
        case "i":
            return Fraction(i)
        case "n":
            return Fraction(n)
        case "sign":
            return Fraction((-1) ** i)
        case str():
            return Fraction(form)
        case ["+", *parts]:
            return sum((value_of(part, i, n) for part in parts), Fraction(0))
        case ["*", *parts]:
            product = Fraction(1)
            for part in parts:
                product *= value_of(part, i, n)
            return product
        case ["^", base, exponent]:
            number = value_of(base, i, n)
            if number == 0 and exponent < 0:
                raise NothingShownError("a form has no value")
            return Fraction(number**exponent)
        case ["test", predicate, a, b, c]:
            return Fraction(holds(predicate, Fraction(a * i + b * n + c)))
        case ["digits", inner]:
            digits = 1
            while 2**digits <= value_of(inner, i, n):
                digits += 1
            return Fraction(digits)
        case _:
            raise NothingShownError(f"no closed form: {form}")


def leaves(form: Form) -> Iterator[Form]:
    """The parts of a form that have no parts: numbers, i, n, sign and tests."""
    match form:
        case ["+" | "*", *parts]:
            for part in parts:
                yield from leaves(part)
        case ["^", base, _] | ["digits", base]:
            yield from leaves(base)
        case _:
            yield form
