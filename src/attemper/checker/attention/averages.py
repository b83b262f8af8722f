"""Queries that are averages: which one, by which factor, and of what a sum over positions is a multiple."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.exact.laurent import Laurent
from attemper.networks.layers import Masking


def single_mean(names: Names, value: Value, masking: Masking) -> tuple[int | None, Laurent]:
    """The mean of which a value is a multiple (None: of 1), and the factor, where i sees several."""
    several = names.negation(names.edge(masking))
    numbers: set[int | None] = set()
    factor: Laurent = {}
    for powers, diagram in value.items():
        inner = names.values(names.diagrams.constrain(diagram, several, names.false))
        if len(inner) != 1 or len(inner[0].parts) + (inner[0].constant != 0) != 1:
            raise UnprovenError("its query is not a multiple of an average")
        ((number, own),) = inner[0].parts or ((None, inner[0].constant),)
        numbers.add(number)
        factor = laurent.plus(factor, laurent.monomial(*powers, own))
    if len(numbers) != 1:
        raise UnprovenError("its query is not a multiple of an average")
    return numbers.pop(), factor


def common_divisor(names: Names, diagrams: tuple[Diagram, ...]) -> Fraction:
    """The greatest common divisor of all values, a positive rational."""
    values = [v for diagram in diagrams for v in names.constants(diagram, "a count")]
    denominator = lcm(*(v.denominator for v in values))
    common = gcd(*(int(v * denominator) for v in values))
    if not common:
        raise UnprovenError("the sum whose sign it reads is 0")
    return Fraction(common, denominator)
