"""Permutation groups: orders, membership, derived series and a non-abelian factor, without listing elements.

A permutation of {0, ..., k-1} is the tuple of its values. Products are read from left to right, as words are.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, lcm
from typing import final

from attemper.errors import UnsupportedError

Permutation = tuple[int, ...]

LISTED = 5_000
"""The order up to which the elements of a group are listed."""

SIFTED = 100_000
"""How many Schreier generators are examined before a group is refused."""

TRIES = 200
"""How many random elements are drawn to recognise an alternating group."""

NAMES_OF_SIMPLE_GROUPS = {
    60: "A5",
    168: "PSL(2,7)",
    360: "A6",
    504: "PSL(2,8)",
    660: "PSL(2,11)",
    1092: "PSL(2,13)",
    2448: "PSL(2,17)",
    2520: "A7",
}
"""All non-abelian simple groups of order at most 3,000, by their order."""


def identity(degree: int) -> Permutation:
    """The permutation that moves nothing."""
    return tuple(range(degree))


def compose(first: Permutation, second: Permutation) -> Permutation:
    """First the first, then the second.

    >>> compose((1, 0, 2), (0, 2, 1))
    (2, 0, 1)
    """
    return tuple(map(second.__getitem__, first))


def inverse(permutation: Permutation) -> Permutation:
    """The permutation that undoes it."""
    undone = [0] * len(permutation)
    for point, image in enumerate(permutation):
        undone[image] = point
    return tuple(undone)


def cycles(permutation: Permutation) -> tuple[tuple[int, ...], ...]:
    """Its cycles of two points or more, each from its least point on.

    >>> cycles((2, 1, 3, 0, 5, 4))
    ((0, 2, 3), (4, 5))
    """
    found, seen = [], set[int]()
    for point in range(len(permutation)):
        cycle = []
        while point not in seen:
            seen.add(point)
            cycle.append(point)
            point = permutation[point]
        if len(cycle) > 1:
            found.append(tuple(cycle))
    return tuple(found)


def order_of(permutation: Permutation) -> int:
    """The least positive power that is the identity."""
    return lcm(*(len(cycle) for cycle in cycles(permutation)))


def is_odd(permutation: Permutation) -> bool:
    """Whether it is a product of an odd number of transpositions."""
    return sum(len(cycle) - 1 for cycle in cycles(permutation)) % 2 == 1


def power(permutation: Permutation, exponent: int) -> Permutation:
    """The permutation applied `exponent` times; the inverse applied -`exponent` times if that is negative."""
    result = list(range(len(permutation)))
    for cycle in cycles(permutation):
        for place, point in enumerate(cycle):
            result[point] = cycle[(place + exponent) % len(cycle)]
    return tuple(result)


def orbits(degree: int, generators: Sequence[Permutation]) -> tuple[tuple[int, ...], ...]:
    """The orbits of two points or more of the group that the permutations generate, each sorted."""
    found, seen = [], set[int]()
    for point in range(degree):
        if point in seen:
            continue
        orbit = [point]
        seen.add(point)
        for member in orbit:
            for image in [generator[member] for generator in generators]:
                if image not in seen:
                    seen.add(image)
                    orbit.append(image)
        if len(orbit) > 1:
            found.append(tuple(sorted(orbit)))
    return tuple(found)


class _Chain:
    """A stabiliser chain that grows (Schreier and Sims): the group, and below it the stabiliser of `point`.

    `transversal[x]` is an element of the group that takes `point` to x. Invariant: the chain below
    has all elements transversal[x] g transversal[g(x)]^-1 for the generators g, that is the stabiliser.
    """

    def __init__(self, degree: int, budget: list[int]) -> None:
        self.budget = budget
        self.unit = identity(degree)
        self.point = -1
        self.generators: list[Permutation] = []
        self.transversal: dict[int, Permutation] = {}
        self.undoing: dict[int, Permutation] = {}
        self.below: _Chain | None = None

    def levels(self) -> Iterator[_Chain]:
        """The chain from here down to the last level that stabilises something."""
        chain: _Chain | None = self
        while chain is not None and chain.generators:
            yield chain
            chain = chain.below

    def has(self, element: Permutation) -> bool:
        for level in self.levels():
            image = element[level.point]
            if image not in level.transversal:
                return False
            element = compose(element, level.undoing[image])
        return element == self.unit

    def add(self, element: Permutation) -> bool:
        """Makes the group have the element; whether it did not have it before."""
        if self.has(element):
            return False
        if self.below is None:
            self.point = next(point for point, image in enumerate(element) if point != image)
            self.transversal = {self.point: self.unit}
            self.undoing = {self.point: self.unit}
            self.below = _Chain(len(self.unit), self.budget)
        self.generators.append(element)
        waiting = [(point, element) for point in self.transversal]
        while waiting:
            point, generator = waiting.pop()
            reached = compose(self.transversal[point], generator)
            image = generator[point]
            if image in self.transversal:
                self._spend()
                self.below.add(compose(reached, self.undoing[image]))
            else:
                self.transversal[image] = reached
                self.undoing[image] = inverse(reached)
                waiting.extend((image, other) for other in self.generators)
        return True

    def _spend(self) -> None:
        self.budget[0] -= 1
        if self.budget[0] < 0:
            raise UnsupportedError(
                f"a permutation group of the automaton, on {len(self.unit)} states, is too large to examine: "
                f"more than {SIFTED} Schreier generators, the cap; split the language into simpler ones"
            )


@final
@dataclass(frozen=True)
class Group:
    """The group of permutations of {0, ..., degree-1} that some permutations generate.

    >>> Group(3, ((1, 2, 0), (1, 0, 2))).order
    6
    """

    degree: int
    generators: tuple[Permutation, ...]

    @cached_property
    def _chain(self) -> _Chain:
        chain = _Chain(self.degree, [SIFTED])
        for generator in self.generators:
            chain.add(generator)
        return chain

    @cached_property
    def order(self) -> int:
        """How many elements it has. Raises `UnsupportedError` beyond the cap `SIFTED`."""
        whole = orbits(self.degree, self.generators) == (identity(self.degree),)
        if whole and is_giant(self):
            return factorial(self.degree) // (1 if any(map(is_odd, self.generators)) else 2)
        product = 1
        for level in self._chain.levels():
            product *= len(level.transversal)
        return product

    def __contains__(self, element: Permutation) -> bool:
        return self._chain.has(element)

    @cached_property
    def irredundant(self) -> tuple[Permutation, ...]:
        """Those of its generators that the earlier ones do not generate."""
        return tuple(self._chain.generators)

    @cached_property
    def is_abelian(self) -> bool:
        """Whether all its elements commute."""
        few = self.irredundant
        return all(compose(g, h) == compose(h, g) for k, g in enumerate(few) for h in few[:k])

    @cached_property
    def elements(self) -> tuple[Permutation, ...]:
        """All elements, sorted: the identity is the first. Raises `UnsupportedError` beyond `LISTED`."""
        if self.order > LISTED:
            raise UnsupportedError(
                f"a permutation group of order {self.order} has more than {LISTED} elements, "
                f"the cap on listing them; split the language into simpler ones"
            )
        found = [identity(self.degree)]
        for level in reversed(list(self._chain.levels())):
            found = [compose(below, step) for below in found for step in level.transversal.values()]
        return tuple(sorted(found))


def normal_closure(group: Group, seeds: Sequence[Permutation]) -> Group:
    """The least normal subgroup of a group that has the elements given."""
    chain = _Chain(group.degree, [SIFTED])
    waiting = list(reversed(seeds))
    found = []
    while waiting:
        element = waiting.pop()
        if chain.add(element):
            found.append(element)
            waiting.extend(compose(compose(inverse(g), element), g) for g in group.irredundant)
    return Group(group.degree, tuple(found))


def derived_subgroup(group: Group) -> Group:
    """The least normal subgroup with an abelian quotient: that of the generators' commutators."""
    few = group.irredundant
    pairs = [(g, h) for k, g in enumerate(few) for h in few[:k]]
    commutators = [compose(compose(inverse(g), inverse(h)), compose(g, h)) for g, h in pairs]
    return normal_closure(group, commutators)


def derived_series(group: Group) -> tuple[Group, ...]:
    """The group, its derived subgroup, that one's, and so on as long as they get smaller.

    The last one has order 1 if and only if the group is solvable; otherwise it is its own derived subgroup.

    >>> [g.order for g in derived_series(Group(4, ((1, 2, 3, 0), (1, 0, 2, 3))))]
    [24, 12, 4, 1]
    """
    series = [group]
    while True:
        smaller = derived_subgroup(series[-1])
        if smaller.order == series[-1].order:
            return tuple(series)
        series.append(smaller)


def restricted(generators: Sequence[Permutation], points: Sequence[int]) -> Group:
    """The action on a union of orbits, whose points are numbered in the order given."""
    number = {point: k for k, point in enumerate(points)}
    actions = [tuple(number[generator[point]] for point in points) for generator in generators]
    return Group(len(points), tuple(dict.fromkeys(actions)))


def is_giant(group: Group) -> bool:
    """Whether a transitive group of degree n >= 8 is shown to have all even permutations, by a lucky element.

    (Jordan: it is enough to have an element with a cycle of prime length p, n/2 < p < n - 2: a power of it
    moves these p points only, and blocks of imprimitivity would be too small for it.) False says nothing.
    """
    n = group.degree
    primes = {p for p in range(n // 2 + 1, n - 2) if all(p % k for k in range(2, p))}
    if not primes or not group.generators:
        return False
    draw = random.Random(n)
    pool = list(group.generators) * (1 + 10 // len(group.generators))
    for _ in range(TRIES):
        i, j = draw.sample(range(len(pool)), 2)
        pool[i] = compose(pool[i], pool[j])
        if any(len(cycle) in primes for cycle in cycles(pool[i])):
            return True
    return False


def nonabelian_factor(group: Group) -> str | None:
    """A non-abelian composition factor, in words; None if and only if the group is solvable."""
    for orbit in orbits(group.degree, group.generators):
        action: Group | None = restricted(group.generators, orbit)
        while action is not None:
            if is_giant(action):
                return f"A{action.degree}"
            action = _on_blocks(action)
    last = derived_series(group)[-1]
    return None if last.order == 1 else _factor_of_perfect(last)


def _factor_of_perfect(group: Group) -> str:
    """A non-abelian composition factor of a non-trivial group that is its own derived subgroup.

    All its non-trivial quotients are of this kind, too: first the action on an orbit, then on blocks.
    """
    group = restricted(group.generators, orbits(group.degree, group.generators)[0])
    while (smaller := _on_blocks(group)) is not None:
        group = smaller
    if group.order == factorial(group.degree) // 2:
        return f"A{group.degree}"
    if group.order > LISTED:
        return f"a non-abelian simple factor of a perfect group of order {group.order}"
    normal = _normal_subgroup(group)
    if normal is None:
        return NAMES_OF_SIMPLE_GROUPS.get(group.order, f"a simple group of order {group.order}")
    return nonabelian_factor(normal) or _factor_of_perfect(derived_series(_stabiliser(group))[-1])


def _stabiliser(group: Group) -> Group:
    """The stabiliser of a point: isomorphic to the quotient by a regular normal subgroup, if there is one.

    A primitive group with a solvable normal subgroup has a regular abelian one.
    """
    point = next(point for point, image in enumerate(group.irredundant[0]) if point != image)
    return Group(group.degree, tuple(element for element in group.elements if element[point] == point))


def _normal_subgroup(group: Group) -> Group | None:
    """A normal subgroup that is neither trivial nor all; None if the group is simple."""
    seen = {identity(group.degree)}
    for element in group.elements:
        if element in seen:
            continue
        closure = normal_closure(group, [element])
        if closure.order < group.order:
            return closure
        waiting = [element]
        while waiting:
            conjugate = waiting.pop()
            if conjugate not in seen:
                seen.add(conjugate)
                waiting.extend(compose(compose(inverse(g), conjugate), g) for g in group.irredundant)
    return None


def _on_blocks(group: Group) -> Group | None:
    """The action of a transitive group on least blocks of imprimitivity; None if it is primitive."""
    for other in range(1, group.degree):
        leader = list(range(group.degree))
        waiting = [(0, other)]
        while waiting:
            p, q = (_find(leader, point) for point in waiting.pop())
            if p != q:
                leader[max(p, q)] = min(p, q)
                waiting.extend((g[p], g[q]) for g in group.generators)
        block = [_find(leader, point) for point in range(group.degree)]
        first = [point for point in range(group.degree) if block[point] == point]
        if len(first) > 1:
            number = {point: k for k, point in enumerate(first)}
            actions = [tuple(number[block[g[point]]] for point in first) for g in group.generators]
            return Group(len(first), tuple(dict.fromkeys(actions)))
    return None


def _find(leader: list[int], point: int) -> int:
    while leader[point] != point:
        point = leader[point]
    return point


def name_of(group: Group) -> str:
    """A name such as Z6, S3 or A5 where order and simple properties settle it, else the order in words."""
    order = group.order
    for orbit in orbits(group.degree, group.generators):
        if len(orbit) >= 4 and order in (factorial(len(orbit)), factorial(len(orbit)) // 2):
            faithful = restricted(group.generators, orbit).order == order
            if faithful:
                return f"{'S' if order == factorial(len(orbit)) else 'A'}{len(orbit)}"
    if order == 1:
        return "trivial"
    if group.is_abelian:
        return _name_of_abelian(group)
    return _name_by_order(group) or f"of order {order}"


def _name_of_abelian(group: Group) -> str:
    exponent = lcm(*(order_of(g) for g in group.irredundant))
    if exponent == group.order:
        return f"Z{exponent}"
    if all(exponent % k for k in range(2, exponent)):
        return f"Z{exponent}^{next(k for k in range(group.order) if exponent**k == group.order)}"
    return f"abelian of order {group.order}"


def _name_by_order(group: Group) -> str | None:
    """The groups that are alone in having their order and the property looked at."""
    match group.order:
        case 6:
            return "S3"
        case 8:
            return "Q8" if sum(order_of(g) == 2 for g in group.elements) == 1 else "D4"
        case 12 | 24 | 120 if _has_centre(group):
            return None
        case 12:
            return "A4"
        case 24:
            return "S4"
        case 60 | 168 | 360 | 504 | 660 | 1092 | 2448 | 2520 if _normal_subgroup(group) is None:
            return NAMES_OF_SIMPLE_GROUPS[group.order]
        case 120 if (even := derived_subgroup(group)).order == 60 and _normal_subgroup(even) is None:
            return "S5"
        case _:
            return None


def _has_centre(group: Group) -> bool:
    """Whether some element besides the identity commutes with all."""
    few = group.irredundant
    return any(all(compose(e, g) == compose(g, e) for g in few) for e in group.elements[1:])
