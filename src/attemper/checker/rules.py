"""What is proved of a head, whichever construction it is.

A rule holds what was proved of the scores in real arithmetic. Its `stray(loss, noise)` bounds the mass off
the right position if every lead is smaller by the relative `loss`, and the weights of two positions,
compared with each other, are off by the factor `noise`: 0 and 1 in real arithmetic. With r = e^-gap the
weights of the others, relative to the winner's, sum to W and the mass is W / (1 + W). FORMAT.md has the
lemmas.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final

import flint

from attemper.checker.attention.scores import Output
from attemper.exact.balls import ball


class Rule(Protocol):
    """What was proved of the scores: nearer positions lead by `gap` per step."""

    @property
    def gap(self) -> Fraction: ...

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb: ...


@final
@dataclass(frozen=True)
class HeadFact:
    """What was proved of one head: by which rule it attends, and what it adds where."""

    rule: Rule
    outputs: tuple[Output, ...]


def weight(lead: Fraction, loss: flint.arb) -> flint.arb:
    """The weight, relative to the winner's, of what is behind by so much, less the loss."""
    return (-ball(lead) * (1 - loss)).exp()


def far_weight(far: tuple[Fraction, Fraction] | None, loss: flint.arb) -> flint.arb:
    """The weight of all that `for_losses` bounds, without and with a loss of up to 1/2."""
    return flint.arb(0) if far is None else (-ball(far[0 if loss == 0 else 1])).exp()


def mass(total: flint.arb) -> flint.arb:
    """The part of all attention that weights have whose sum, relative to the winner's, is `total`."""
    return total / (1 + total)
