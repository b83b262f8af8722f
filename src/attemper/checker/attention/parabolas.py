"""Scores that are a parabola in whole numbers: G (2 K K' - K'^2 - b) + T t(j), read off the rows of a head.

K is a whole number at i, K' one at j, K'^2 its square, b a bit at j, and t(j) is j. K can be a position, too:
i, n - i + 1 or n; and K' can be j. So a score can be read in several ways, and each is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import final

from attemper.checker import whole_numbers
from attemper.checker.attention.averages import single
from attemper.checker.attention.bounds import VISIBLE
from attemper.checker.attention.contests import leveled
from attemper.checker.attention.scores import ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Clamped, Names, UnprovenError, Whole
from attemper.checker.values import magnitude_of, multiply
from attemper.exact import laurent
from attemper.exact.monomials import ZERO, Monomial
from attemper.networks.layers import Masking

BOTH = Monomial(Fraction(2))
"""Two positions are compared, and each has the error."""


@final
@dataclass
class ScoreParts:
    """What a score adds up, but for what does not depend on j.

    `products` has the factors of (a whole number at i, or None for 1) times a whole number at j: j itself and
    its square are such. `others` has those of diagrams at j without averages.
    """

    products: dict[tuple[int | None, int], laurent.Laurent]
    others: dict[Diagram, laurent.Laurent]


def parts_of(head: ReadHead) -> ScoreParts:
    """The score, row by row. Raises `UnprovenError` for rows that make something else of integers."""
    names, parts = head.names, ScoreParts({}, {})
    for row, key in head.rows:
        at_i, query = single(names, multiply(names, row, head.coldness), names.true, "an integer")
        for (power, length), diagram in key.items():
            factor = laurent.times(query, laurent.monomial(0, length))
            for number, own in integers_of(names, power, diagram).items():
                product = parts.products.get((at_i, number), {})
                parts.products[at_i, number] = laurent.plus(product, laurent.times(factor, own))
            fixed = names.constant_part(diagram)
            if power or names.diagrams.is_constant(fixed):
                continue
            if at_i is not None:
                raise UnprovenError("its query multiplies an integer with what is none")
            parts.others[fixed] = laurent.plus(parts.others.get(fixed, {}), factor)
    return parts


def integers_of(names: Names, power: int, diagram: Diagram) -> dict[int, Fraction]:
    """The whole numbers in a key, with their factors, which must be the same everywhere."""
    values = names.values(diagram)
    if power:
        if power not in {1, 2} or len(values) != 1 or values[0].parts:
            raise UnprovenError("a key multiplies a position with what is no number")
        return {_position(names, power): values[0].constant}
    found = dict(values[0].parts)
    if any(dict(value.parts) != found for value in values):
        raise UnprovenError("an integer is weighed differently at different positions")
    if any(not isinstance(names.quantities[number], Whole) for number in found):
        raise UnprovenError("a key depends on an average")
    return found


def _position(names: Names, power: int, side: Masking = Masking.FUTURE) -> int:
    """The number of the whole number that counts all positions on a side: of j itself, if it sees j' <= j."""
    ((number, _),) = whole_numbers.clamped(names, side, names.true, power).parts
    return number


@final
@dataclass(frozen=True)
class ScoreShape:
    """What a score is about: the numbers of K and K', G, and T."""

    query: int
    key: int
    push: laurent.Laurent
    tie: laurent.Laurent


def readings_of(names: Names, parts: ScoreParts) -> Iterator[ScoreShape]:
    """Each way to read the score. Raises `UnprovenError` unless there is one square in it."""
    found = {name: form for name, form in parts.products.items() if form}
    squares = [at_j for at_i, at_j in found if at_i is None and _clamped(names, at_j).power == 2]
    if len(squares) != 1:
        raise UnprovenError("its scores have not one square")
    push, square = laurent.times(found.pop((None, squares[0])), -1), _clamped(names, squares[0])
    ((key, _),) = whole_numbers.clamped(names, square.masking, square.summand, 1).parts
    for at_i, query, whole in _queries(names, found):
        twice = laurent.times(laurent.times(push, whole), -2)
        others = {**found, (at_i, key): laurent.plus(found.get((at_i, key), {}), twice)}
        left = {name: form for name, form in others.items() if form}
        if set(left) == {(None, _position(names, 1))}:
            yield ScoreShape(query, key, push, left[None, _position(names, 1)])


def _queries(
    names: Names, products: dict[tuple[int | None, int], laurent.Laurent]
) -> Iterator[tuple[int | None, int, laurent.Laurent]]:
    """What K can be: what stands at i in the products, its number, and its factor where that is 1."""
    integers = {at_i for at_i, _ in products if at_i is not None}
    for at_i in integers:
        if _clamped(names, at_i).power == 1:
            yield at_i, at_i, laurent.constant(1)
    if not integers:
        yield from ((None, _position(names, 1, side), shown) for side, shown in VISIBLE.items())


def _clamped(names: Names, number: int) -> Clamped:
    whole = names.quantities[number]
    if not isinstance(whole, Clamped):
        raise UnprovenError("its parabola is not about integers of two counts")
    return whole


def where_of(head: ReadHead, parts: ScoreParts, push: laurent.Laurent) -> Diagram:
    """Where b is 0. Raises `UnprovenError` unless what is taken away from a position is G or nothing."""
    levels = leveled(head, parts.others.items())
    apart = [laurent.plus(one, laurent.times(worse, -1)) for one, worse in pairwise(levels.forms)]
    if apart not in ([], [push]):
        raise UnprovenError("it is not pushed away from positions by a bit")
    return levels.bits[0]


def noise_of(head: ReadHead) -> Fraction:
    """What errors of rows can change the difference of two scores by, at every length."""
    total, cold = ZERO, magnitude_of(head.names, head.coldness)
    for (row, key), (of_query, of_key) in zip(head.rows, head.errors, strict=True):
        query, keys = magnitude_of(head.names, row).times(cold), magnitude_of(head.names, key)
        off = of_query.times(cold)
        total = total.plus(BOTH.times(off.times(keys)))
        total = total.plus(BOTH.times(query.plus(off).times(of_key)))
    if total.power > 0:
        raise UnprovenError("its integers are off by too much in longer words")
    return total.factor
