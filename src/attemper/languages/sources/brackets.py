"""The law of 2DYCK's prefixes of n symbols, exactly: heights, closing brackets, blocks; and its limits.

A prefix's *height* is the number of its open brackets that nothing closes. Given |w| >= n and the height
after n symbols, all sequences of heights have the same probability, whatever p is: they are ballot paths.
(Hahn 2020, section 6, takes the stationary law of a chain that is absorbed at height 0; what holds is the law
given survival.)
"""

from __future__ import annotations

from fractions import Fraction
from math import comb

from attemper.errors import OptionError
from attemper.languages.sources.values import Brackets, require_length

LONGEST = 4096
"""No longer prefixes: their weights are rationals with as many digits as symbols."""


def height_masses(source: Brackets, n: int) -> list[tuple[int, int]]:
    """Each height of n's parity, from n down, with f_n(h) d^n, an integer; d is p's denominator; n >= 0.

    f_n(h) = P(|w| >= n, height h after n symbols) = (h+1)/(o+1) C(n, c) p^o q^c with o = (n+h)/2 opening and
    c = (n-h)/2 closing brackets (the ballot theorem). Raises `OptionError` if n is negative or beyond
    `LONGEST`.

    >>> height_masses(Brackets(Fraction(1, 2)), 4)
    [(4, 1), (2, 3), (0, 2)]
    """
    require_length(n, 0)
    _require_short(n)
    opens, closes = source.p.numerator, source.p.denominator - source.p.numerator
    found = []
    ways, power = 1, opens**n
    for closed in range(n // 2 + 1):
        height = n - 2 * closed
        found.append((height, (height + 1) * ways // (n - closed + 1) * power))
        ways = ways * (n - closed) // (closed + 1)
        power = power // opens * closes
    return found


def balanced(source: Brackets, n: int) -> Fraction:
    """b_n = P(height 0 after n symbols, given |w| >= n); n >= 1.

    Raises `OptionError` if n is below 1 or beyond `LONGEST`.

    >>> print(balanced(Brackets(Fraction(1, 2)), 4))
    1/3
    """
    require_length(n)
    masses = height_masses(source, n)
    height, least = masses[-1]
    return Fraction(0) if height else Fraction(least, sum(mass for _, mass in masses))


def closing(source: Brackets, n: int) -> Fraction:
    """P_0(n) = P(x_n closes, and the height is above 0, given |w| >= n); n >= 1.

    q times the sum of f_{n-1}(h) over h >= 2, over the sum of f_n. Raises `OptionError` as `balanced` does.

    >>> print(float(closing(Brackets(Fraction(2, 5)), 4)))
    0.15
    """
    require_length(n)
    before = sum(mass for height, mass in height_masses(source, n - 1) if height >= 2)
    now = sum(mass for _, mass in height_masses(source, n))
    return Fraction((source.p.denominator - source.p.numerator) * before, now)


def block_law(n: int) -> dict[int, Fraction]:
    """P(N top-level blocks, given |w| >= n and height 0 after n symbols), n even; N = 1, ..., n/2.

    N/(2m-N) C(2m-N, m)/Cat(m), m = n/2, whatever p is: all balanced prefixes have the same weight. It tends
    to N 2^-(N+1). Raises `OptionError` if n is odd, below 1 or beyond `LONGEST`.

    >>> print(*block_law(6).items())
    (1, Fraction(2, 5)) (2, Fraction(2, 5)) (3, Fraction(1, 5))
    """
    require_length(n)
    _require_short(n)
    half, rest = divmod(n, 2)
    if rest:
        raise OptionError(
            f"n={n} is odd, and a prefix of so many symbols is never balanced: choose an even n",
            options=("n",),
        )
    catalan = comb(n, half) // (half + 1)
    paths = comb(n - 1, half)
    law = {}
    for blocks in range(1, half + 1):
        law[blocks] = Fraction(blocks * paths, (n - blocks) * catalan)
        # C(2m-N-1, m) = C(2m-N, m) (m-N) / (2m-N)
        paths = paths * (half - blocks) // (n - blocks)
    return law


def closing_limit(source: Brackets, *, odd: bool) -> Fraction:
    """The limit of P_0(n) over even or odd n.

    p(2-3p)/q over even n and (3-4p)/(4q) over odd n, if p <= 1/2: heights tend to the law proportional to
    (h+1) (p/q)^(h/2) on the heights of n's parity. For p > 1/2 it is q: heights grow without bound.

    >>> print(*(closing_limit(Brackets(Fraction(2, 5)), odd=odd) for odd in (False, True)))
    8/15 7/12
    """
    p, q = source.p, source.q
    if 2 * p > 1:
        return q
    return (3 - 4 * p) / (4 * q) if odd else p * (2 - 3 * p) / q


def balanced_limit(source: Brackets, *, odd: bool) -> Fraction:
    """The limit b of b_n over even n, (1-2p)^2/q if p < 1/2; else, and over odd n, it is 0.

    >>> print(balanced_limit(Brackets(Fraction(2, 5)), odd=False))
    1/15
    """
    p = source.p
    return Fraction(0) if odd or 2 * p >= 1 else (1 - 2 * p) ** 2 / source.q


def _require_short(n: int) -> None:
    if n > LONGEST:
        raise OptionError(
            f"n={n} is beyond the {LONGEST:,} symbols to which dyck2 is computed exactly", options=("n",)
        )
