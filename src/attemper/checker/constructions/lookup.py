"""Lookup: position c, the number of positions with a bit. (SHASA Lemma 7, Theorems 20, 21.)

Form: a parabola in j or in 1/j with its top at c, as in `attention.counts`.
Side conditions: the head sees position c; c counts a bit; kappa >= gap V, or bounded kappa >= gap i^4.
Bound: position j is behind by gap (j - c)^2, whichever the form: 2 (r + r^4 / (1 - r^5)), r = e^-gap.
Output: the value, a function of the position, at j = c; at j = 1 if c = 0.
"""

from __future__ import annotations

from attemper.checker.attention.counts import at_count
from attemper.checker.attention.scores import ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.networks.layers import Lookup


def lookup(head: ReadHead) -> HeadFact:
    """The rule for a lookup. Raises `UnprovenError`, naming the side condition that is not shown."""
    names, found = head.names, at_count(head)
    if not names.is_bit(found.counted):
        raise UnprovenError("its query is not a count over the visible positions")
    some = names.positions.sum_at_least(found.side, found.counted, 1)

    def read(value: Diagram) -> Diagram:
        there = names.positions.looked_up(found.side, found.counted, value)
        return names.choose(some, there, names.at_position_one(value))

    return HeadFact((Rule(Lookup, found.margin.trails()),), head.outputs(read))
