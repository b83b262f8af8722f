"""How much attention a head gives to other positions than the one it is for, rule by rule.

Each rule holds what was proved of the scores in real arithmetic. `stray(loss, noise)` bounds the mass off
the right position if every lead is smaller by the relative `loss`, and the weights of two positions, compared
with each other, are off by the factor `noise`: 0 and 1 in real arithmetic. With r = e^-gap the weights of
the others, relative to the winner's, sum to W and the mass is W / (1 + W). FORMAT.md has the lemmas.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.exact.balls import ball

HALF = Fraction(1, 2)


@final
@dataclass(frozen=True)
class UniformRule:
    """All visible scores are equal."""

    gap: Fraction = Fraction(0)

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """0: there is no right position."""
        return flint.arb(0)


@final
@dataclass(frozen=True)
class TieBreakRule:
    """Nearer positions lead by `gap` per step; blocked ones beyond are at most e^-far together.

    `far` holds for a loss of 0 and for any loss up to 1/2. A loss is that of what leads per step: blocked
    positions beyond may lose 1/2 of their lead whenever it is not 0.
    """

    gap: Fraction
    far: tuple[Fraction, Fraction] | None

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = r/(1-r) + e^-far."""
        near = _power(self.gap, loss)
        total = near / (1 - near)
        if self.far is not None:
            total += (-ball(self.far[0 if loss == 0 else 1])).exp()
        return _mass(total * noise)


@final
@dataclass(frozen=True)
class ShiftRule:
    """The neighbour leads by `gap` per step, by `own` over i itself, by `parity` more over i's parity."""

    gap: Fraction
    own: Fraction
    parity: Fraction

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = e^-own + (r^2 + e^-parity r) / (1 - r^2)."""
        step, own, parity = (_power(lead, loss) for lead in (self.gap, self.own, self.parity))
        return _mass((own + (step**2 + parity * step) / (1 - step**2)) * noise)


@final
@dataclass(frozen=True)
class SignRule:
    """Logits x_j (-1)^j with the sign of D: x_j >= gap if `level`, else x_j >= j gap / (number visible)."""

    gap: Fraction
    level: bool

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = 2 r^2, or 1/(e^gap - e^(gap/3))."""
        lead = ball(self.gap) * (1 - loss)
        total = 2 * (-2 * lead).exp() if self.level else 1 / (lead.exp() - (lead / 3).exp())
        return _mass(total * noise)


@final
@dataclass(frozen=True)
class LocalSignRule:
    """The pair in the middle differs by 2 gap |T|, others fall behind by gap t (1 + t)."""

    gap: Fraction

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = 3 r^2 + 2 r^6 / (1 - r^6)."""
        r = _power(self.gap, loss)
        return _mass((3 * r**2 + 2 * r**6 / (1 - r**6)) * noise)


@final
@dataclass(frozen=True)
class LookupRule:
    """Position j is behind position c by gap (j - c)^2; at count 0 the others weigh at most e^-zero."""

    gap: Fraction
    zero: tuple[Fraction, Fraction] | None

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = 2 (r + r^4 / (1 - r^5))."""
        r = _power(self.gap, loss)
        total = 2 * (r + r**4 / (1 - r**5))
        if self.zero is not None:
            total += (-ball(self.zero[0 if loss == 0 else 1])).exp()
        return _mass(total * noise)


Rule = UniformRule | TieBreakRule | ShiftRule | SignRule | LocalSignRule | LookupRule


def _power(lead: Fraction, loss: flint.arb) -> flint.arb:
    return (-ball(lead) * (1 - loss)).exp()


def _mass(total: flint.arb) -> flint.arb:
    return total / (1 + total)
