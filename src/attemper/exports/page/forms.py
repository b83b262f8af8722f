"""Closed forms as the page's interpreter reads them: every number the float64 that torch takes it for."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, periodic

Data = str | int | float | bool | None | list["Data"] | dict[str, "Data"]
"""What JSON can hold."""


def form_data(form: closed_forms.ClosedForm) -> Data:
    """The form as JSON data: "i", "n", "sign", a number, or a list that begins with its kind.

    Coefficients of tests are texts, as the integers of JavaScript end at 2^53. Raises `UnsupportedError` for
    a predicate that is a Python function, and for a number beyond all float64.

    >>> from attemper.exact.closed_forms import FIRST, I, over, times
    >>> form_data(times(3, over(I)))
    ['*', 3, ['^', 'i', -1]]
    >>> form_data(FIRST)
    ['test', ['zero'], '1', '0', '-1']
    """
    match form:
        case closed_forms.Number(value):
            return number_data(_nearest(value))
        case closed_forms.Position():
            return "i"
        case closed_forms.Length():
            return "n"
        case closed_forms.Alternating():
            return "sign"
        case closed_forms.Test(predicate, per_position, per_length, shift):
            return ["test", _predicate_data(predicate), *map(str, (per_position, per_length, shift))]
        case closed_forms.Sum(parts):
            return ["+", *map(form_data, parts)]
        case closed_forms.Product(parts):
            return ["*", *map(form_data, parts)]
        case closed_forms.Power(base, exponent):
            return ["^", form_data(base), exponent]
        case closed_forms.Digits(inner):
            return ["digits", form_data(inner)]
        case _:
            assert_never(form)


def number_data(number: float) -> int | float:
    """The number, without a fraction where it has none: JSON that reads back as the same float64."""
    return int(number) if number.is_integer() and abs(number) < 2**53 else number


def _nearest(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        raise UnsupportedError(
            f"a position embedding or a temperature has the number {str(value)[:20]}..., and no float64 is "
            "so large: a page cannot run the network"
        ) from None


def _predicate_data(predicate: Predicate) -> Data:
    match periodic(predicate):
        case Remainder(modulus, remainder):
            return ["remainder", str(modulus), str(remainder)]
        case Zero():
            return ["zero"]
        case NonNegative():
            return ["nonnegative"]
        case Named(name):
            raise UnsupportedError(
                f"the predicate '{name}' is a Python function, which no page can run. "
                "Write it with remainders (pos mod 3 = 1), if it is periodic"
            )
        case _:
            assert_never(predicate)
