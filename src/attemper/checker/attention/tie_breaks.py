"""The part of a score that prefers nearer positions: a positive form times j or -1/j, or its negative."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.checker.attention.bounds import DOMAINS, REACH, VISIBLE, is_positive, positive, proved
from attemper.checker.attention.competition import Competition, RivalPair, ScoreGap, ScoreTerm
from attemper.checker.names import UnprovenError
from attemper.exact import laurent
from attemper.networks.layers import Masking


@final
@dataclass(frozen=True)
class TieBreak:
    """`size` * j^power or its negative; `is_rising` if larger j win. The mask shows i itself."""

    size: laurent.Laurent
    power: int
    is_rising: bool
    masking: Masking

    @property
    def domain(self) -> laurent.Domain:
        """Where there is more than one position."""
        return DOMAINS[self.masking]

    def bounds(self) -> tuple[Fraction, laurent.Laurent]:
        """The score gap per step, and how much a position further off can gain."""
        if self.power == 1:
            gap = proved(laurent.least(self.size, self.domain), "the tie-break fades")
            others = laurent.plus(VISIBLE[self.masking], laurent.constant(-1))
            return positive(gap), laurent.times(self.size, others)
        if self.power == -1:
            reach = REACH[self.masking]
            squared = laurent.times(reach, reach)
            gap = proved(laurent.least_ratio(self.size, squared, self.domain), "the tie-break fades")
            inverse = {(-a, -b): x for (a, b), x in reach.items()}
            farthest = laurent.times(laurent.times(self.size, inverse), -1)
            return positive(gap), laurent.plus(self.size, farthest)
        raise UnprovenError("its tie-break is neither in j nor in 1/j")

    def level(self, steps: int) -> ScoreGap:
        """The least score gap between two positions at least so many steps apart, where only this decides.

        |1/j - 1/k| = |j - k| / (j k), and both are at most the greatest visible position.
        """
        closest = self.size
        if self.power < 0:
            inverse = {(-2 * a, -2 * b): x for (a, b), x in REACH[self.masking].items()}
            closest = laurent.times(closest, inverse)
        return ScoreGap(laurent.times(closest, steps), self.domain)

    def competition(
        self, steps: int, rows: tuple[ScoreTerm, ...], pairs: tuple[RivalPair, ...]
    ) -> Competition:
        """A competition that ends with this tie-break."""
        return Competition(
            self.power, ScoreGap(self.size, self.domain), REACH[self.masking], steps, rows, pairs
        )


def tie_break(form: laurent.Laurent, power: int, masking: Masking) -> TieBreak:
    """form * j^power, whichever sign the form has."""
    is_up = is_positive(form, DOMAINS[masking])
    size = form if is_up else laurent.times(form, -1)
    return TieBreak(size, power, is_up == (power > 0), masking)
