"""Uniform: the average over all visible positions.

Form: no term of the score depends on j.
Side conditions: none.
Bound: every visible position is a right one; nothing is stray.
Output: the mean of the value over the visible positions.
"""

from __future__ import annotations

from attemper.checker.attention.scores import ReadHead
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.networks.layers import Uniform


def uniform(head: ReadHead) -> HeadFact:
    """Raises `UnprovenError` if some score differs from another."""
    if head.scores:
        raise UnprovenError("its scores are not all equal")
    return HeadFact((Rule(Uniform),), head.outputs(lambda value: head.names.mean(head.masking, value)))
