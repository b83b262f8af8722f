"""Sums of monomials factor * n^power in the length n, from above: factors are not negative, powers rational.

Since n >= 1, n^p <= n^q for p <= q: a sum is at most the sum of its factors times n to the greatest power.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attemper.exact.monomials import Exponent, Monomial, greatest

FractionalPowers = dict[Exponent, Fraction]
"""The sum of factor * n^power by power; factors are more than 0."""


def of(monomial: Monomial) -> FractionalPowers:
    """The monomial as a sum."""
    return {monomial.power: monomial.factor} if monomial.factor else {}


def plus(*sums: FractionalPowers) -> FractionalPowers:
    """The sum."""
    total: FractionalPowers = {}
    for own in sums:
        for power, factor in own.items():
            total[power] = total.get(power, Fraction(0)) + factor
    return total


def times(left: FractionalPowers, right: FractionalPowers | Fraction) -> FractionalPowers:
    """The product."""
    other = right if isinstance(right, dict) else of(Monomial(right))
    total: FractionalPowers = {}
    for p, x in left.items():
        for q, y in other.items():
            total[p + q] = total.get(p + q, Fraction(0)) + x * y
    return total


def collapsed(sums: Iterable[FractionalPowers]) -> Monomial:
    """A monomial that is at least each of the sums at every n >= 1."""
    return greatest(Monomial(sum(own.values(), Fraction(0)), max(own, default=0)) for own in sums)


def is_at_most(own: FractionalPowers, monomial: Monomial) -> bool:
    """Whether the sum is seen to be at most the monomial at every n >= 1."""
    return sum(own.values()) <= monomial.factor and all(power <= monomial.power for power in own)


def ceiling(own: FractionalPowers) -> Fraction | None:
    """The greatest value for all n >= 1, from above; None if the sum may grow."""
    return sum(own.values(), Fraction(0)) if all(power <= 0 for power in own) else None
