"""Scores and values that depend on the parity of a position: a diagram that does so alone is a + b (-1)^j."""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.attention.bounds import constant
from attemper.checker.attention.scores import ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import Value, add

HALF = Fraction(1, 2)

Waves = dict[tuple[int, bool], Value]
"""The sum of value(i) * j^p, times (-1)^j if the flag is set, by (p, flag)."""


def waves_of(head: ReadHead) -> Waves:
    """Scores whose diagrams are constants and multiples of (-1)^j."""
    names = head.names
    waves: Waves = {}
    for (power, diagram), value in head.scores.items():
        at_even, at_odd = (constant(names, part) for part in even_and_odd(names, diagram))
        for wave, factor in ((False, (at_even + at_odd) / 2), (True, (at_even - at_odd) / 2)):
            part = {p: names.scaled(d, factor) for p, d in value.items()} if factor else {}
            waves[power, wave] = add(names, waves.get((power, wave), {}), part)
    return {key: value for key, value in waves.items() if value and key != (0, False)}


def by_parity(head: ReadHead, positive: Diagram, value: Diagram) -> Diagram:
    """A value of the parity of j, at even j where `positive`, else at odd j; at i where only i is seen."""
    names = head.names
    at_even, at_odd = even_and_odd(names, value)
    return names.choose(names.edge(head.masking), value, names.choose(positive, at_even, at_odd))


def even_and_odd(names: Names, diagram: Diagram) -> tuple[Diagram, Diagram]:
    """The values at even and at odd positions of a diagram that depends on nothing else."""
    at_even, at_odd = (names.at_fixed(diagram, j) for j in (2, 1))
    half_sum, half_difference = (
        names.scaled(names.plus(at_even, names.scaled(at_odd, sign)), HALF) for sign in (1, -1)
    )
    if names.plus(half_sum, names.product(half_difference, names.sign)) != diagram:
        raise UnprovenError("a key or value depends on more than the parity of its position")
    return at_even, at_odd
