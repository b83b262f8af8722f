"""The scores of a class as a polynomial of the position: alpha(i) + b(i) g + a(i) g^2.

g is j, or 1/j. The coefficients are sums over the rows of a query's number times a number of the key, which
is the same for all members of the class: exact in rationals, and rounded once. Parabolas in j of several
classes are written in j - o, o a position at their top: there the large terms cancel, so that these
coefficients are formed in twice float64's precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import torch
from torch import Tensor

from attemper.running.engines.scan.exact_sums import FloatPair, added, multiplied, two_product
from attemper.running.engines.scan.past import ClassName, UnfitError
from attemper.running.engines.scan.shapes import KeyRow

KeyNumbers = Sequence[Sequence[float | Tensor]]
"""For each row the key's numbers of a class: constant, times g, and times g^2."""


@final
@dataclass(frozen=True)
class Scale:
    """Which powers of the position the keys have."""

    is_inverse: bool
    """g is 1/j, not j."""
    degree: int
    by_parity: bool


def scale_of(rows: Sequence[KeyRow]) -> Scale:
    """The powers in the keys of all rows. Raises `UnfitError` for others than 0, 1, 2 or 0, -1, -2."""
    powers = {p for row in rows for p, _ in row.waves}
    if not (powers <= {0, 1, 2} or powers <= {0, -1, -2}):
        raise UnfitError("its keys have powers of the position that are no parabola", of_all_words=True)
    by_parity = any(odd for row in rows for _, odd in row.waves)
    return Scale(min(powers, default=0) < 0, max(map(abs, powers), default=0), by_parity)


def class_numbers(rows: Sequence[KeyRow], name: ClassName) -> tuple[tuple[float, ...], ...]:
    """The numbers of a class, each the exact one, rounded once."""
    odd, content = name
    left = iter(content)
    found = []
    for row in rows:
        parts = [Fraction(0), Fraction(0), Fraction(0)]
        if row.content:
            parts[0] = Fraction(next(left))
        for (power, alternates), factor in row.waves.items():
            parts[abs(power)] += -factor if alternates and odd else factor
        found.append((float(parts[0]), float(parts[1]), float(parts[2])))
    return tuple(found)


@final
@dataclass(frozen=True)
class Polynomial:
    """One class's scores for some queries: alpha + b g + a g^2; no `a` for scores that are linear.

    `origin` is what is taken from j first, in parabolas in j of several classes; `alpha` is known for these
    alone, as only their scores are computed from the coefficients.
    """

    b: Tensor
    a: Tensor | None
    is_inverse: bool
    origin: Tensor | None = None
    alpha: Tensor | None = None

    def at(self, positions: Tensor) -> Tensor:
        """The scores at these positions, of a parabola with an origin."""
        assert self.a is not None
        assert self.alpha is not None
        g = self._g(positions)
        return self.alpha + (self.b + self.a * g) * g

    def difference(self, positions: Tensor, peak: Tensor) -> tuple[Tensor, Tensor]:
        """(score - score at the peak, what the difference is rounded of), without large squares."""
        between = positions - peak
        step = -between / (positions * peak) if self.is_inverse else between
        if self.a is None:
            found = self.b * step
            return found, found
        curved = self.a * (self._g(positions) + self._g(peak))
        return step * (curved + self.b), step.abs() * (curved.abs() + self.b.abs())

    def vertex(self) -> Tensor:
        """The position of the parabola's top; infinite where scores only rise or fall."""
        assert self.a is not None
        far = torch.full_like(self.b, float("inf"))
        ends = torch.where((self.b > 0) == self.is_inverse, -far, far)
        if self.is_inverse:
            curved = torch.where(self.b > 0, -2 * self.a / self.b, far)
        else:
            curved = -self.b / (2 * self.a)
            curved = curved if self.origin is None else curved + self.origin
        return torch.where(self.a < 0, curved, ends)

    def of(self, some: Tensor) -> Polynomial:
        """The same for some of the queries."""
        a, origin = (None if part is None else part.take(some) for part in (self.a, self.origin))
        return Polynomial(self.b.take(some), a, self.is_inverse, origin)

    def _g(self, positions: Tensor) -> Tensor:
        if self.is_inverse:
            return positions.reciprocal()
        return positions if self.origin is None else positions - self.origin


def polynomial(
    queries: Sequence[Tensor], numbers: KeyNumbers, scale: Scale, last: Tensor | None
) -> Polynomial:
    """The scores of a class from the rows' queries [query] and the class's numbers by row and power.

    `last`: the last position of each word, for parabolas written in j - o. Raises `UnfitError` where a
    parabola opens upwards, or a coefficient is no number.
    """
    if last is not None:
        return _checked(_shifted(queries, numbers, last))
    b = _sum(queries, [row[1] for row in numbers])
    a = _sum(queries, [row[2] for row in numbers]) if scale.degree > 1 else None
    return _checked(Polynomial(b, a, scale.is_inverse))


def constant(queries: Sequence[Tensor], numbers: KeyNumbers) -> Tensor:
    """The scores of a class whose keys have no power of the position."""
    return _sum(queries, [row[0] for row in numbers])


def score_at(queries: Sequence[Tensor], numbers: KeyNumbers, positions: Tensor, scale: Scale) -> Tensor:
    """The scores at these positions, each key formed first: integers that tie stay tied, as when dense."""
    g = positions.reciprocal() if scale.is_inverse else positions
    keys = [alpha + (b + a * g if scale.degree > 1 else b) * g for alpha, b, a in numbers]
    return _sum(queries, keys)


def _sum(queries: Sequence[Tensor], factors: Sequence[float | Tensor]) -> Tensor:
    total: Tensor | None = None
    for query, factor in zip(queries, factors, strict=True):
        if isinstance(factor, float) and factor == 0:
            continue
        own = query if isinstance(factor, float) and factor == 1 else query * factor
        total = own if total is None else total + own
    return torch.zeros_like(queries[0]) if total is None else total


def _shifted(queries: Sequence[Tensor], numbers: KeyNumbers, last: Tensor) -> Polynomial:
    """alpha + b o + a o^2 and b + 2 a o, with the coefficients in twice the precision."""
    alpha, b, a = (_long_sum(queries, [row[power] for row in numbers]) for power in range(3))
    origin = (-b[0] / (2 * a[0])).nan_to_num(nan=1.0).round()
    origin = torch.minimum(origin.clamp(min=1), last)
    moved = multiplied(a, origin)
    alpha = added(alpha, multiplied(added(b, moved), origin))
    b = added(b, added(moved, moved))
    return Polynomial(b[0], a[0], False, origin, alpha[0])


def _long_sum(queries: Sequence[Tensor], factors: Sequence[float | Tensor]) -> FloatPair:
    zero = torch.zeros_like(queries[0])
    total = zero, zero
    for query, factor in zip(queries, factors, strict=True):
        if not (isinstance(factor, float) and factor == 0):
            total = added(total, two_product(query, factor))
    return total


def _checked(found: Polynomial) -> Polynomial:
    parts = (found.alpha, found.b, found.a)
    if not all(part is None or bool(part.isfinite().all()) for part in parts):
        raise UnfitError("its scores leave the range of float64")
    if found.a is not None and bool((found.a > 0).any()):
        raise UnfitError("its scores are parabolas that open upwards")
    return found
