"""What is proved of a head, whichever construction it is, and what rounding can take away from that.

A rule holds what was proved of the scores in real arithmetic. Its `stray(loss, noise)` bounds the mass off
the right position if every score gap is smaller by the relative `loss`, and the weights of two positions,
compared with each other, are off by the factor `noise`: 0 and 1 in real arithmetic. With r = e^-gap the
weights of the others, relative to the winner's, sum to W and the mass is W / (1 + W). FORMAT.md has the
lemmas.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final

import flint

from attemper.checker.attention.scores import Output
from attemper.checker.rounding.arithmetic import Off
from attemper.checker.rounding.attention import RoundedHead, attended
from attemper.exact.balls import ball


class Rule(Protocol):
    """What was proved of the scores of a head: all that anybody asks of a construction."""

    @property
    def gap(self) -> Fraction:
        """The score gap per step; 0 if all visible positions are right ones."""

    @property
    def least_gap(self) -> Fraction:
        """By how much the greatest score leads over every visible position of another value, at least.

        It says something only if it is positive: then all positions of the greatest score have one value.
        """

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """How much attention lies off the right positions, at most."""

    def offs(self, head: RoundedHead) -> list[Off]:
        """How far each output can be off where the head is computed in floats."""


class Peaked(ABC):
    """A rule by which nearly all attention is on right positions, whose values agree."""

    @abstractmethod
    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb: ...

    @abstractmethod
    def loss(self, head: RoundedHead) -> flint.arb:
        """By which part score gaps can be smaller than in real arithmetic; `BeyondError` if nothing is
        known.
        """

    @final
    def offs(self, head: RoundedHead) -> list[Off]:
        loss = flint.arb(0) if head.is_alone else self.loss(head)
        return attended(head, loss, self.stray)


@final
@dataclass(frozen=True)
class HeadFact:
    """What was proved of one head: by which rule it attends, and what it adds where.

    `reads_blocked`: which position wins decides what is read, where nothing matches what a selection seeks.
    """

    rule: Rule
    outputs: tuple[Output, ...]
    reads_blocked: bool = False


def weight(score_gap: Fraction, loss: flint.arb) -> flint.arb:
    """The weight, relative to the winner's, of what is behind by so much, less the loss."""
    return (-ball(score_gap) * (1 - loss)).exp()


def far_weight(far: tuple[Fraction, Fraction] | None, loss: flint.arb) -> flint.arb:
    """The weight of all that `for_losses` bounds, without and with a loss of up to 1/2."""
    return flint.arb(0) if far is None else (-ball(far[0 if loss == 0 else 1])).exp()


def mass(total: flint.arb) -> flint.arb:
    """The part of all attention that weights have whose sum, relative to the winner's, is `total`."""
    return total / (1 + total)
