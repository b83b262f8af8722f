"""Laurent polynomials in the position i and the length n, and their least ratios over all positions.

A statement "for all 1 <= i <= n" is proved by a substitution i = i0 + x, n = i + d + y with x, y >= 0: a
polynomial without negative coefficients in x and y is least at x = y = 0. Nothing is sampled.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

Laurent = dict[tuple[int, int], Fraction]
"""The sum of coefficient * i^a n^b by (a, b); coefficients are not 0."""

Domain = tuple[tuple[int, int], ...]
"""Its parts {i >= i0, n >= i + d} as pairs (i0, d)."""

AFTER_FIRST: Domain = ((2, 0),)
"""2 <= i <= n."""
BEFORE_LAST: Domain = ((1, 1),)
"""1 <= i <= n - 1."""
LONGER_THAN_ONE: Domain = ((2, 0), (1, 1))
"""1 <= i <= n, n >= 2."""


def constant(value: int | Fraction) -> Laurent:
    """A constant polynomial."""
    return {(0, 0): Fraction(value)} if value else {}


def monomial(position: int, length: int, factor: int | Fraction = 1) -> Laurent:
    """factor * i^position * n^length."""
    return {(position, length): Fraction(factor)} if factor else {}


def plus(*polynomials: Laurent) -> Laurent:
    """The sum."""
    total: Laurent = {}
    for polynomial in polynomials:
        for powers, factor in polynomial.items():
            total[powers] = total.get(powers, Fraction(0)) + factor
    return {powers: factor for powers, factor in total.items() if factor}


def times(left: Laurent, right: Laurent | int | Fraction) -> Laurent:
    """The product."""
    other = right if isinstance(right, dict) else constant(right)
    return plus(*(monomial(a + c, b + d, x * y) for (a, b), x in left.items() for (c, d), y in other.items()))


def at(polynomial: Laurent, position: int, length: int) -> Fraction:
    """The value at one i and n."""
    return sum(
        (x * Fraction(position) ** a * Fraction(length) ** b for (a, b), x in polynomial.items()), _ZERO
    )


def least_ratio(over: Laurent, under: Laurent, domain: Domain) -> Fraction | None:
    """The greatest c found with over >= c * under on the whole domain, `under` being positive there.

    None means that nothing was proved, not that there is no such c.
    """
    corners = [(i0, i0 + d) for i0, d in domain]
    ratio = min(at(over, i, n) / at(under, i, n) for i, n in corners)
    difference = plus(over, times(under, -ratio))
    return ratio if all(_never_negative(difference, *part) for part in domain) else None


def least(polynomial: Laurent, domain: Domain) -> Fraction | None:
    """The least value on the domain, if it can be proved to lie at a corner."""
    return least_ratio(polynomial, constant(1), domain)


def most_times(over: Laurent, power: tuple[int, int], domain: Domain) -> Fraction | None:
    """The greatest c > 0 found with over >= c * i^a n^b on the whole domain, (a, b) being the power.

    In x and y every coefficient of `over` must be at least c times that of the monomial: unlike the least
    ratio, c need not be attained at a corner, and is the limit for long words where that is less. None means
    that nothing was proved.

    >>> most_times({(1, 0): Fraction(4), (0, 0): Fraction(4)}, (1, 0), AFTER_FIRST)
    Fraction(4, 1)
    """
    found: list[Fraction] = []
    for part in domain:
        low = tuple(min(power[k], *(powers[k] for powers in over)) for k in (0, 1)) if over else power
        ours, theirs = _shifted(over, low, *part), _shifted({power: Fraction(1)}, low, *part)
        if any(factor < 0 for factor in ours.values()):
            return None
        found += [ours.get(place, _ZERO) / factor for place, factor in theirs.items()]
    least_found = min(found)
    return least_found if least_found > 0 else None


def _never_negative(polynomial: Laurent, i0: int, d: int) -> bool:
    """Whether, denominators cleared, no coefficient in x and y is negative: i = i0 + x, n = i + d + y."""
    if not polynomial:
        return True
    low = tuple(min(powers[k] for powers in polynomial) for k in (0, 1))
    return all(factor >= 0 for factor in _shifted(polynomial, low, i0, d).values())


def _shifted(polynomial: Laurent, low: tuple[int, ...], i0: int, d: int) -> Laurent:
    """The polynomial times i^-low n^-low in x and y, where i = i0 + x and n = i + d + y."""
    shifted: Laurent = {}
    for (a, b), factor in polynomial.items():
        for (px, py), own in _expanded(a - low[0], b - low[1], i0, i0 + d).items():
            shifted[px, py] = shifted.get((px, py), _ZERO) + factor * own
    return shifted


def _expanded(a: int, b: int, i0: int, n0: int) -> dict[tuple[int, int], int]:
    """(i0 + x)^a (n0 + x + y)^b as coefficients of x^p y^q."""
    found: dict[tuple[int, int], int] = {}
    for p in range(a + 1):
        of_i = comb(a, p) * i0 ** (a - p)
        for q in range(b + 1):
            for s in range(b - q + 1):
                of_n = comb(b, q) * comb(b - q, s) * n0 ** (b - q - s)
                found[p + s, q] = found.get((p + s, q), 0) + of_i * of_n
    return found


_ZERO = Fraction(0)
