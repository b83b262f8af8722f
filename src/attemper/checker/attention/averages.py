"""Averages in scores: which one a query is a multiple of, and which sums over positions several of them are.

A mean over j <= i times i is a sum over j <= i; one over j >= i times (n - i + 1) is a sum over j >= i.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from typing import final

from attemper.checker.attention.bounds import constant
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Mean, Names, UnprovenError
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.networks.layers import Masking


def single(
    names: Names, value: Value, where: Diagram, what: str = "an average"
) -> tuple[int | None, laurent.Laurent]:
    """The number of the average or integer of which a value is a multiple (None: of 1), and the factor.

    That need be so only where a bit holds. Raises `UnprovenError`, naming `what` it is not, for other values.
    """
    numbers: set[int | None] = set()
    factor: laurent.Laurent = {}
    for powers, diagram in value.items():
        inner = names.values(names.diagrams.constrain(diagram, where, names.false))
        if len(inner) != 1 or len(inner[0].parts) + (inner[0].constant != 0) != 1:
            raise UnprovenError(f"its query is not a multiple of {what}")
        ((number, own),) = inner[0].parts or ((None, inner[0].constant),)
        numbers.add(number)
        factor = laurent.plus(factor, laurent.monomial(*powers, own))
    if len(numbers) != 1:
        raise UnprovenError(f"its query is not a multiple of {what}")
    return numbers.pop(), factor


def single_mean(names: Names, value: Value, masking: Masking) -> tuple[Mean | None, laurent.Laurent]:
    """The average of which a value is a multiple (None: of 1), and the factor, where i sees several."""
    number, factor = single(names, value, names.negation(names.edge(masking)))
    return None if number is None else names.average(number), factor


def common_divisor(names: Names, diagrams: tuple[Diagram, ...]) -> Fraction:
    """The greatest common divisor of all values, a positive rational."""
    values = [v for diagram in diagrams for v in names.constants(diagram, "a count")]
    denominator = lcm(*(v.denominator for v in values))
    common = gcd(*(int(v * denominator) for v in values))
    if not common:
        raise UnprovenError("the sum whose sign it reads is 0")
    return Fraction(common, denominator)


# Sums on both sides ------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class TwoSided:
    """The sum over j <= i of `left`, over j >= i of `right`, and `own` at i."""

    left: Diagram
    right: Diagram
    own: Diagram


@final
@dataclass(frozen=True)
class _Parts:
    """by_i i + by_n n + by_1 where i > 1; start_n n + start_1 at i = 1, where there are other positions."""

    by_i: Diagram
    by_n: Diagram
    by_1: Diagram
    start_n: Diagram
    start_1: Diagram


def two_sided(names: Names, slope: Diagram, fixed: Diagram, by_length: Diagram) -> TwoSided:
    """The sum of A1 j + A0 at the two middle positions, A1 = slope, A0 = fixed + n by_length.

    Raises `UnprovenError` if the sum is another one.
    """
    parts = _parts(names, slope, fixed, by_length)
    left = right = names.false
    for number in sorted(_means_in(names, (slope, fixed, by_length))):
        mean = names.average(number)
        summand, masking = mean.summand, mean.masking
        by_i, by_n, by_1 = (_factor(names, d, number) for d in (parts.by_i, parts.by_n, parts.by_1))
        starts = parts.start_n, parts.start_1
        if masking is Masking.FUTURE and by_n == by_1 == 0:
            left = names.plus(left, names.scaled(summand, by_i))
            at_start = summand
        elif masking is Masking.PAST and by_n == by_1 == -by_i:
            right = names.plus(right, names.scaled(summand, by_n))
            if [_factor(names, d, number) for d in starts] != [by_n, 0]:
                raise UnprovenError("its scores at i = 1 are those of another sum")
            at_start = names.false
        else:
            raise UnprovenError("its scores are not those of a sum over positions")
        start_n, start_1 = (names.replace_mean(d, number, at_start) for d in starts)
        parts = _Parts(parts.by_i, parts.by_n, parts.by_1, start_n, start_1)
    return _with_constants(names, left, right, parts)


def _parts(names: Names, slope: Diagram, fixed: Diagram, by_length: Diagram) -> _Parts:
    """(2i - 1) A1 + 2 A0 for i > 1, 3 A1 + 2 A0 for i = 1."""
    later = names.negation(names.first)
    starting = names.both(names.first, names.negation(names.only))
    per_position, per_length = (names.scaled(part, 2) for part in (slope, by_length))
    rest = names.plus(names.scaled(slope, -1), names.scaled(fixed, 2))
    start = names.plus(names.scaled(slope, 3), names.scaled(fixed, 2))
    inside = (names.diagrams.constrain(part, later, names.false) for part in (per_position, per_length, rest))
    at_start = (names.diagrams.constrain(part, starting, names.false) for part in (per_length, start))
    return _Parts(*inside, *at_start)


def _with_constants(names: Names, left: Diagram, right: Diagram, parts: _Parts) -> TwoSided:
    """The sums, and what no average is part of.

    by_i i + by_n n = sum over j <= i of (by_i + by_n) + sum over j >= i of by_n - by_n
    """
    by_i, by_n = (constant(names, names.constant_part(part)) for part in (parts.by_i, parts.by_n))
    starting = names.both(names.first, names.negation(names.only))
    if names.diagrams.constrain(parts.start_n, starting, names.false) != names.number(by_n):
        raise UnprovenError("its scores at i = 1 are those of another sum")
    own_start = names.plus(parts.start_1, names.scaled(names.plus(left, names.number(by_i)), -1))
    own = names.choose(names.first, own_start, names.constant_part(parts.by_1))
    return TwoSided(
        names.plus(left, names.number(by_i + by_n)),
        names.plus(right, names.number(by_n)),
        names.plus(own, names.number(-by_n)),
    )


def _means_in(names: Names, diagrams: tuple[Diagram, ...]) -> set[int]:
    return {number for d in diagrams for value in names.values(d) for number, _ in value.parts}


def _factor(names: Names, diagram: Diagram, number: int) -> Fraction:
    """The factor of a mean, which must be the same everywhere."""
    found = {dict(value.parts).get(number, Fraction(0)) for value in names.values(diagram)}
    if len(found) != 1:
        raise UnprovenError("an average is weighed differently at different positions")
    return found.pop()
