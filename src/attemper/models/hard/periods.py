"""From which position on a closed form in i repeats, and with which period."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import assert_never

from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, NonNegative, Remainder, Zero, periodic


def places_of(form: closed_forms.ClosedForm) -> tuple[int, int]:
    """Prefix and period of a closed form: its value at i > prefix is that at i + period.

    Raises `UnsupportedError` where n, i itself, or a predicate without a period occurs.

    >>> from attemper.exact.closed_forms import SIGN, FIRST, plus
    >>> places_of(SIGN), places_of(FIRST), places_of(plus(SIGN, FIRST))
    ((0, 2), (1, 1), (1, 2))
    """
    match form:
        case closed_forms.Number():
            return (0, 1)
        case closed_forms.Alternating():
            return (0, 2)
        case closed_forms.Position() | closed_forms.Length():
            raise _not_periodic(form)
        case closed_forms.Test():
            return _of_test(form)
        case closed_forms.Sum(parts) | closed_forms.Product(parts):
            return _in_parts(form, parts)
        case closed_forms.Power(base, _) | closed_forms.Digits(base):
            return _in_parts(form, (base,))
        case _:
            assert_never(form)


def _in_parts(form: closed_forms.ClosedForm, parts: Sequence[closed_forms.ClosedForm]) -> tuple[int, int]:
    try:
        return joined([places_of(part) for part in parts])
    except UnsupportedError:
        raise _not_periodic(form) from None


def _of_test(test: closed_forms.Test) -> tuple[int, int]:
    """A test of a i + c: true at one i, from some i on, up to some i, or in a period."""
    if test.per_length:
        raise _not_periodic(test)
    if not test.per_position:
        return (0, 1)
    edge = -test.shift // test.per_position
    match periodic(test.predicate):
        case Remainder(modulus, _):
            return (0, modulus)
        case Zero() | NonNegative():
            # At i = edge the number a i + c may be 0; behind it, it has passed 0 for good.
            return (max(0, edge), 1)
        case Named():
            raise _not_periodic(test)
        case _:
            assert_never(test.predicate)


def joined(places: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Prefix and period of several things together.

    >>> joined([(2, 3), (0, 2)]), joined([])
    ((2, 6), (0, 1))
    """
    return max((prefix for prefix, _ in places), default=0), lcm(*(period for _, period in places))


def _not_periodic(form: closed_forms.ClosedForm) -> UnsupportedError:
    return UnsupportedError(
        f"the position embedding {closed_forms.show_form(form)[:80]} is not periodic in i: the network has "
        "infinitely many places, or other ones at each length"
    )
