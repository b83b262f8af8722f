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
        case ["zero"]:
            return value == 0
        case ["non negative"]:
            return value >= 0
        case ["remainder", m, r]:
            return bool((value - r) % m == 0)
        case _:
            raise NothingShownError(f"nothing is known of the predicate {predicate}")


def value_of(form: Form, i: int, n: int) -> Fraction:
    """A closed form at a position of a word of n symbols."""
    match form:
        case ["position"]:
            return Fraction(i)
        case ["length"]:
            return Fraction(n)
        case ["alternating"]:
            return Fraction((-1) ** i)
        case ["number", text]:
            return Fraction(text)
        case ["sum", parts]:
            return sum((value_of(part, i, n) for part in parts), Fraction(0))
        case ["product", parts]:
            product = Fraction(1)
            for part in parts:
                product *= value_of(part, i, n)
            return product
        case ["power", base, exponent]:
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


def has_sense(predicate: Any) -> bool:
    """Whether a predicate asks for a remainder that there is, if for one."""
    match predicate:
        case ["remainder", m, r]:
            return bool(0 <= r < m)
        case _:
            return True


def is_sound(form: Form) -> bool:
    """What the shape of a form does not say: its degree, its powers, whose digits are asked for."""
    try:
        return _degree(form) <= 64
    except NothingShownError:
        return False


def _degree(form: Form) -> int:
    match form:
        case ["sum", parts]:
            return max(map(_degree, parts), default=0)
        case ["product", parts]:
            return sum(map(_degree, parts))
        case ["power", base, exponent] if abs(exponent) <= 16 and (
            exponent >= 0 or base in (["position"], ["length"])
        ):
            return _degree(base) * int(max(abs(exponent), 1))
        case ["digits", inner] if _is_positive_integer(inner):
            return _degree(inner)
        case ["test", predicate, *_] if has_sense(predicate):
            return 1
        case ["number" | "position" | "length" | "alternating", *_]:
            return 1
        case _:
            raise NothingShownError(f"no closed form: {form}")


def _is_positive_integer(form: Form) -> bool:
    match form:
        case ["number", text]:
            return Fraction(text) > 0 and "/" not in text
        case ["sum", parts]:
            return bool(parts) and all(map(_is_positive_integer, parts))
        case ["product", parts]:
            return all(map(_is_positive_integer, parts))
        case ["power", base, exponent]:
            return exponent >= 0 and _is_positive_integer(base)
        case ["position"] | ["length"] | ["digits", _]:
            return True
        case _:
            return False


def leaves(form: Form) -> Iterator[Form]:
    """The parts of a form that have no parts: numbers, i, n, (-1)^i and tests."""
    match form:
        case ["sum" | "product", parts]:
            for part in parts:
                yield from leaves(part)
        case ["power", base, _] | ["digits", base]:
            yield from leaves(base)
        case _:
            yield form
