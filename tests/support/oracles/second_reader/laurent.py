"""Laurent forms in i and n, or in i, n, j and w, and what FORMAT.md section 4 proves of them.

That is "For all lengths", and the lemma of heads that choose.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import exp

Laurent = Mapping[tuple[int, ...], Fraction]
"""Coefficients by the exponents of i and n, or of i, n, j and w, without zeros."""

Order = tuple[tuple[int, int], ...]
"""Variables, by the place of their exponents, each with its least distance from the one before, or from 0."""

I, N, J, W = range(4)  # noqa: E741 - as the text writes them

LARGEST_POWERS = 16


def constant(value: Fraction | int) -> Laurent:
    return _without_zeros({(0, 0): Fraction(value)})


def monomial(a: int, b: int) -> Laurent:
    return {(a, b): Fraction(1)}


def plus(*forms: Laurent) -> Laurent:
    total: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for form in forms:
        for key, value in form.items():
            total[key] += value
    return _without_zeros(total)


def times(left: Laurent, right: Laurent) -> Laurent:
    return plus(
        *(
            {tuple(a + b for a, b in zip(one, other, strict=True)): x * y}
            for one, x in left.items()
            for other, y in right.items()
        )
    )


def scaled(form: Laurent, factor: Fraction | int) -> Laurent:
    return {key: value * factor for key, value in form.items()} if factor else {}


def minus(left: Laurent, right: Laurent) -> Laurent:
    return plus(left, scaled(right, -1))


def at_shortest(form: Laurent, masking: str) -> Fraction:
    """A form of i and n in the shortest word in which two positions are visible."""
    i, n = {"<=": (2, 2), ">=": (1, 2), "all": (2, 2)}[masking]
    return sum((x * Fraction(i) ** a * Fraction(n) ** b for (a, b), x in form.items()), Fraction(0))


def least_ratio(form: Laurent, other: Laurent, masking: str) -> Fraction | None:
    """The c of "form >= c other" wherever more than one position is visible, or None."""
    return _largest(form, other, STARTS[masking])


STARTS: dict[str, list[Order]] = {
    "<=": [((I, 2), (N, 0))],
    ">=": [((I, 1), (N, 1))],
    "all": [((I, 2), (N, 0)), ((I, 1), (N, 1))],
}
"""i = i0 + x and n = i + d + y."""


@dataclass(frozen=True)
class Lead:
    """What the lemma says: who is first is behind by `start`, and each further one by `step` more."""

    start: Fraction
    step: Fraction

    @property
    def weight(self) -> float:
        """All of them together, of the winner."""
        return exp(-self.start) / (1 - exp(-self.step))


def lead(difference: Laurent, masking: str, *, low: int, apart: int = 1) -> Lead | None:
    """Start and step of a difference of scores, a form of four, where `low` is J or W; None without them."""
    every = [*difference, (0, 0, 0, 0)]
    cleared = (max(powers[k] for powers in every) - min(powers[k] for powers in every) for k in range(4))
    if sum(cleared) > LARGEST_POWERS:
        return None
    high = J if low == W else W
    left_of_i: Order = ((low, 1), (high, apart), (I, 0), (N, 0))
    right_of_i: Order = ((I, 1), (low, 0), (high, apart), (N, 0))
    orders = {
        "<=": [left_of_i],
        ">=": [right_of_i],
        "all": [left_of_i, right_of_i, ((low, 1), (I, 1), (high, 1), (N, 0))],
    }[masking]
    one: Laurent = {(0, 0, 0, 0): Fraction(1)}
    start = _largest(difference, one, orders)
    if start is None:
        return None
    further = minus(minus(variable(high), variable(low)), scaled(one, apart))
    step = _largest(minus(difference, scaled(one, start)), further, orders)
    return None if step is None or step <= 0 else Lead(start, step)


def worst(leads: Sequence[Lead]) -> Lead:
    """The least start and the least step of all."""
    return Lead(min(own.start for own in leads), min(own.step for own in leads))


def variable(place: int, power: int = 1) -> Laurent:
    """i, n, j or w to a power, as a form of four."""
    return {tuple(power if own == place else 0 for own in range(4)): Fraction(1)}


def of_four(form: Laurent) -> Laurent:
    """A form of i and n as one of i, n, j and w."""
    return {(*powers, 0, 0): value for powers, value in form.items()}


def tie_difference(tie: Laurent, power: int) -> Laurent:
    """T (t(w) - t(j)), t being j or 1/j."""
    return times(of_four(tie), minus(variable(W, power), variable(J, power)))


def _largest(form: Laurent, other: Laurent, orders: Sequence[Order]) -> Fraction | None:
    """The largest c such that form - c other has no negative coefficient in any of the orders, if other has
    none.
    """
    found: list[Fraction] = []
    for order in orders:
        above, below = in_distances((form, other), order)
        if any(value < 0 for value in below.values()):
            return None
        for place in {*above, *below}:
            if place in below:
                found.append(above.get(place, Fraction(0)) / below[place])
            elif above[place] < 0:
                return None
    return min(found, default=None)


def in_distances(forms: Sequence[Laurent], order: Order) -> list[Laurent]:
    """The coefficients in what each variable is beyond its least distance; all divided by least powers."""
    every = [powers for form in forms for powers in form]
    least = tuple(map(min, zip(*every, strict=True)))
    found = []
    for form in forms:
        total: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for powers, value in form.items():
            rest = tuple(a - b for a, b in zip(powers, least, strict=True))
            for key, c in _monomial_in_distances(rest, order):
                total[key] += value * c
        found.append(_without_zeros(total))
    return found


@cache
def _monomial_in_distances(powers: tuple[int, ...], order: Order) -> tuple[tuple[tuple[int, ...], int], ...]:
    """A product of powers that are not negative, as a sum."""
    total: dict[tuple[int, ...], int] = {(0,) * len(order): 1}
    nearest = 0
    for k, (place, distance) in enumerate(order):
        nearest += distance
        for _ in range(powers[place]):
            more: defaultdict[tuple[int, ...], int] = defaultdict(int)
            for key, c in total.items():
                more[key] += nearest * c
                for m in range(k + 1):
                    more[(*key[:m], key[m] + 1, *key[m + 1 :])] += c
            total = more
    return tuple(total.items())


def _without_zeros(form: Mapping[tuple[int, ...], Fraction]) -> Laurent:
    return {key: value for key, value in form.items() if value}
