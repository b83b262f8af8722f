"""Coordinates of finite abelian groups, for counting in them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod
from typing import TypeVar, final

Element = TypeVar("Element", bound=Hashable)


@final
@dataclass(frozen=True)
class Tally:
    """Counts the increments whose coordinate number `coordinate` is `value`, modulo `modulus`."""

    coordinate: int
    value: int
    modulus: int


def coordinates(
    elements: Sequence[Element], multiply: Callable[[Element, Element], Element], *, primary: bool
) -> tuple[tuple[int, ...], dict[tuple[int, ...], Element]]:
    """The orders of a basis, and the element for each tuple of coordinates.

    The first element must be the neutral one. An element of the greatest order that has no power in common
    with the span of the basis so far, besides the neutral one, extends it. With `primary`, each is then
    replaced by elements of prime power order.
    """
    one = elements[0]

    def powers(element: Element) -> list[Element]:
        found = [one]
        while (following := multiply(found[-1], element)) != one:
            found.append(following)
        return found

    cyclic = sorted((powers(element) for element in elements), key=len, reverse=True)
    basis: list[list[Element]] = []
    span = {one}
    while len(span) < len(elements):
        chosen = next(p for p in cyclic if len(p) > 1 and not span & set(p[1:]))
        basis.append(chosen)
        span = {multiply(a, b) for a in span for b in chosen}
    if primary:
        basis = [powers(p[len(p) // q]) for p in basis for q in _prime_powers(len(p))]
    named: dict[tuple[int, ...], Element] = {}
    for numbers in product(*(range(len(p)) for p in basis)):
        element = one
        for p, k in zip(basis, numbers, strict=True):
            element = multiply(element, p[k])
        named[numbers] = element
    return tuple(len(p) for p in basis), named


def _prime_powers(number: int) -> list[int]:
    """The prime powers whose product is the number.

    >>> _prime_powers(360)
    [8, 9, 5]
    """
    found = []
    factor = 2
    while number > 1:
        part = 1
        while number % factor == 0:
            number //= factor
            part *= factor
        if part > 1:
            found.append(part)
        factor += 1
    return found


def tallies(orders: Sequence[int], increments: Iterable[tuple[int, ...]]) -> tuple[Tally, ...]:
    """What to count so that the sum of increments with these coordinates is known."""
    values = sorted({(j, value) for numbers in increments for j, value in enumerate(numbers) if value})
    return tuple(Tally(j, value, orders[j] // gcd(value, orders[j])) for j, value in values)


def total(orders: Sequence[int], counted: Mapping[Tally, int]) -> tuple[int, ...]:
    """The coordinates of the sum, from the counts."""
    sums = [0] * len(orders)
    for tally, count in counted.items():
        sums[tally.coordinate] += tally.value * count
    return tuple(value % order for value, order in zip(sums, orders, strict=True))


def residues(counts: Sequence[Tally]) -> int:
    """How many combinations of counts there are."""
    return prod(tally.modulus for tally in counts)
