"""Neighbour: position i - 1 (or i + 1), by the other parity, then the nearest. (SHASA Theorems 12, 13.)

Form: -w sigma_i sigma_j + G t(j), where sigma_j is (-1)^j, w and G > 0 depend on i and n. To read i - 1 the
mask shows j <= i and t(j) is j or -1/j; to read i + 1 it shows j >= i and t(j) is the negative of that.
Side conditions: a step costs at least `gap` by G t(j).
Bound: i is behind by `own`: e^-own; the others are in steps of two, i's parity by `parity` more than that:
(r^2 + e^-parity r) / (1 - r^2). Score gaps that are negative are bounds, too.
Output: the value at the neighbour; at i itself where there is none.
Floats: every two places that compete, for each parity of i, each with its score gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import final

import flint

from attemper.checker.attention.bounds import proved, scalar
from attemper.checker.attention.competition import (
    Competition,
    Rival,
    RivalPair,
    ScoreGap,
    if_covered,
    places_of,
    rows_of,
)
from attemper.checker.attention.scores import ReadHead, waves_of
from attemper.checker.attention.tie_breaks import TieBreak, tie_break
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import greatest
from attemper.checker.rounding.attention import RoundedHead
from attemper.checker.rules import HeadFact, Peaked, mass, weight
from attemper.checker.values import multiply
from attemper.exact import laurent
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Masking


@final
@dataclass(frozen=True)
class NeighbourRule(Peaked):
    """The neighbour leads by `gap` per step, by `own` over i itself, by `parity` more over i's parity.

    There is no `competition` if the rows are too mixed for one.
    """

    gap: Fraction
    own: Fraction
    parity: Fraction
    competition: Competition | None = None

    @property
    def least_gap(self) -> Fraction:
        """Over i itself; over the neighbour's parity, two steps off; over i's parity, one step off."""
        return min(self.own, 2 * self.gap, self.gap + self.parity)

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = e^-own + (r^2 + e^-parity r) / (1 - r^2)."""
        step, own, parity = (weight(score_gap, loss) for score_gap in (self.gap, self.own, self.parity))
        return mass((own + (step**2 + parity * step) / (1 - step**2)) * noise)

    def loss(self, head: RoundedHead) -> flint.arb:
        return greatest(head.losses(self.competition))


def neighbour(head: ReadHead) -> HeadFact:
    """The rule for a neighbour. Raises `UnprovenError`, naming the side condition that is not shown."""
    tie, opposite = _form(head)
    gap, _ = tie.bounds()
    # For j = i: 1/(i-1) - 1/i <= 2/i^2.
    back = tie.size if tie.power > 0 else laurent.times(tie.size, laurent.monomial(-2, 0, 2))
    twice = laurent.times(opposite, 2)
    ahead = laurent.plus(twice, laurent.times(back, -1))
    own = proved(laurent.least(ahead, tie.domain), "position i can win")
    parity = proved(laurent.least(twice, tie.domain), "the parity of i can win")
    offset = -1 if tie.is_rising else 1
    outputs = head.outputs(lambda value: head.names.positions.shifted(value, offset, value))
    competition = if_covered(lambda: _competition(head, tie, twice, ahead))
    return HeadFact(NeighbourRule(gap, own, parity, competition), outputs)


def _form(head: ReadHead) -> tuple[TieBreak, laurent.Laurent]:
    """The tie-break, and w."""
    names, waves = head.names, waves_of(head)
    powers = [p for p, wave in waves if not wave]
    if (0, True) not in waves or len(waves) != 2 or len(powers) != 1 or head.masking is Masking.NONE:
        raise UnprovenError("its scores are not those of a neighbour")
    form = scalar(names, waves[powers[0], False])
    opposite = scalar(names, multiply(names, waves[0, True], {(0, 0): names.scaled(names.sign, -1)}))
    tie = tie_break(form, powers[0], head.masking)
    if tie.is_rising != (head.masking is Masking.FUTURE):
        raise UnprovenError("its tie-break points away from the neighbour")
    return tie, opposite


def _competition(
    head: ReadHead, tie: TieBreak, twice: laurent.Laurent, ahead: laurent.Laurent
) -> Competition:
    """For each parity of i, winners stand at positions of the other one."""
    odd = head.names.place(Remainder(2, 1), 1, 0, 0)
    cases = [odd, head.names.negation(odd)]
    rows, keys = rows_of(head.names, head.rows, head.coldness, tie.power, cases)
    level, behind, beside = tie.level(2), ScoreGap(twice, tie.domain), ScoreGap(ahead, tie.domain)
    pairs: list[RivalPair] = []
    for case, (same, different) in enumerate((cases, cases[::-1])):
        winners, others = (places_of(head.names, keys, parity) for parity in (different, same))
        pairs += [RivalPair(case, w, o, Rival.FARTHER, level) for w, o in product(winners, winners)]
        pairs += [RivalPair(case, w, o, Rival.PENALISED, behind) for w, o in product(winners, others)]
        pairs += [RivalPair(case, w, o, Rival.SELF, beside) for w, o in product(winners, others)]
    return tie.competition(2, rows, tuple(pairs))
