"""Margins that grow with the word: base + digits * (the number of binary digits of n).

With D binary digits, 2^(D-1) <= n < 2^D, so that n e^-D <= (2^D - 1) e^-D, which is greatest at D = 2:
3 e^-2. So e^-(base + digits D) <= e^-base (3 e^-2)^digits n^-digits at every n.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import final

import flint

from attemper.checker.attention.bounds import positive, proved
from attemper.checker.names import LengthDigits, Names, UnprovenError
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.exact.balls import ball


@final
@dataclass(frozen=True)
class Growing:
    """fixed + per_digit * (the number of binary digits of n), for forms in i and n."""

    fixed: laurent.Laurent
    per_digit: laurent.Laurent

    def times(self, other: Growing) -> Growing:
        """The product, one of whose factors has no digits. Raises `UnprovenError` for others."""
        if self.per_digit and other.per_digit:
            raise UnprovenError("digits are multiplied with digits")
        left = laurent.times(self.fixed, other.per_digit)
        right = laurent.times(self.per_digit, other.fixed)
        return Growing(laurent.times(self.fixed, other.fixed), laurent.plus(left, right))

    def plus(self, other: Growing) -> Growing:
        """The sum."""
        return Growing(laurent.plus(self.fixed, other.fixed), laurent.plus(self.per_digit, other.per_digit))


def growing(names: Names, value: Value) -> Growing:
    """A value that is the same for all words. Raises `UnprovenError` for one that is not."""
    fixed: laurent.Laurent = {}
    per_digit: laurent.Laurent = {}
    for powers, diagram in value.items():
        values = names.values(diagram)
        digits = [number for number, _ in values[0].parts]
        if len(values) != 1 or any(names.quantities[number] != LengthDigits() for number in digits):
            raise UnprovenError("a factor of its scores depends on the word")
        fixed = laurent.plus(fixed, laurent.monomial(*powers, values[0].constant))
        for _, factor in values[0].parts:
            per_digit = laurent.plus(per_digit, laurent.monomial(*powers, factor))
    return Growing(fixed, per_digit)


@final
@dataclass(frozen=True)
class Margin:
    """base + digits * (the number of binary digits of n): the base is positive, the digits not negative."""

    base: Fraction
    digits: int

    def weight(self) -> flint.arb:
        """w such that e^-margin <= w n^-digits at every n."""
        return (-ball(self.base)).exp() * (3 * flint.arb(-2).exp()) ** self.digits


def margin_of(form: Growing, under: laurent.Laurent, domain: laurent.Domain, what: str) -> Margin:
    """The greatest margin found such that form >= margin * under on the whole domain."""
    base = positive(proved(laurent.least_ratio(form.fixed, under, domain), what))
    if not form.per_digit:
        return Margin(base, 0)
    digits = floor(proved(laurent.least_ratio(form.per_digit, under, domain), what))
    if digits < 0:
        raise UnprovenError(f"not proved for all lengths: {what}")
    return Margin(base, digits)
