"""What is proved of a head, whichever construction it is: who is behind the right position, by how much.

The weights of all others, relative to the winner's, sum to W, and W / (1 + W) of the attention strays.
FORMAT.md has the lemmas. What floats can take away from a rule is for `rounding` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, final

import flint

from attemper.checker.attention.leads import Trail
from attemper.checker.attention.scores import Output
from attemper.networks.layers import Construction


@final
@dataclass(frozen=True)
class Rule:
    """The right position leads over those who fall `behind`, and over those `ahead` of it in a tie-break.

    `said` is what more its construction knows of the scores, which floats ask for.
    """

    construction: type[Construction]
    behind: tuple[Trail, ...] = ()
    ahead: tuple[Trail, ...] = ()
    said: Any = None

    def others(self, loss: flint.arb, loss_ahead: flint.arb | None = None) -> flint.arb:
        """W, if each lead is less by the relative `loss`; of those ahead another one can be known."""
        ahead = loss if loss_ahead is None else loss_ahead
        weights = (*(own.weight(loss) for own in self.behind), *(own.weight(ahead) for own in self.ahead))
        return sum(weights, flint.arb(0))


@final
@dataclass(frozen=True)
class HeadFact:
    """What was proved of one head: at every i one of the rules holds, and what it adds where."""

    rules: tuple[Rule, ...]
    outputs: tuple[Output, ...]

    @property
    def least_gap(self) -> Fraction:
        """By how much the greatest score leads over every visible position of another value, at least.

        It says something only if it is positive: then all positions of the greatest score have one value.
        """
        return min(
            (trail.start for rule in self.rules for trail in (*rule.behind, *rule.ahead)), default=Fraction(0)
        )

    @property
    def stray_mass(self) -> flint.arb:
        """The part of all attention that others have at most."""
        return reduce(flint.arb.max, (stray_mass(rule.others(flint.arb(0))) for rule in self.rules))


def stray_mass(others: flint.arb) -> flint.arb:
    """The part of all attention that weights have whose sum, relative to the winner's, is this."""
    return others / (1 + others)
