"""Uniform: the average over all visible positions.

Form: no term of the score depends on j.
Side conditions: none.
Bound: every visible position is a right one; nothing is stray.
Output: the mean of the value over the visible positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.scores import ScoredHead
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact


@final
@dataclass(frozen=True)
class UniformRule:
    """All visible scores are equal."""

    gap: Fraction = Fraction(0)

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """0: there is no right position."""
        return flint.arb(0)


def uniform(head: ScoredHead) -> HeadFact:
    """Raises `UnprovenError` if some score differs from another."""
    if head.scores:
        raise UnprovenError("its scores are not all equal")
    return HeadFact(UniformRule(), head.outputs(lambda value: head.names.mean(head.masking, value)))
