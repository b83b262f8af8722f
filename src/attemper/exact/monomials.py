"""A factor times a power of the length n: how large something gets, how far off it is, or how far ahead.

Since n >= 1, n^p <= n^q for p <= q: what is at most several monomials, or their sum, is at most one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, final

from attemper.exact.codec import NotNegative, Within

Exponent = Annotated[int | Fraction, Within(digits=9)]
"""A power of n; files have few digits of it, as it is taken for a root."""


@final
@dataclass(frozen=True)
class Monomial:
    """factor * n^power, n the length of the word; the factor is at least 0."""

    factor: NotNegative
    power: Exponent = 0

    def plus(self, other: Monomial) -> Monomial:
        """What is at least the sum at every n."""
        return total((self, other))

    def times(self, other: Monomial) -> Monomial:
        """The product."""
        return Monomial(self.factor * other.factor, self.power + other.power)


ZERO = Monomial(Fraction(0))


def total(monomials: Iterable[Monomial]) -> Monomial:
    """What is at least the sum at every n.

    >>> total([Monomial(Fraction(3)), Monomial(Fraction(1, 2), 2)])
    Monomial(factor=Fraction(7, 2), power=2)
    """
    found = [own for own in monomials if own.factor]
    return Monomial(
        sum((own.factor for own in found), Fraction(0)), max((own.power for own in found), default=0)
    )


def greatest(monomials: Iterable[Monomial]) -> Monomial:
    """What is at least each of them at every n.

    >>> greatest([Monomial(Fraction(3)), Monomial(Fraction(1, 2), 2)])
    Monomial(factor=Fraction(3, 1), power=2)
    """
    found = tuple(monomials)
    return Monomial(max((own.factor for own in found), default=Fraction(0)), total(found).power)
