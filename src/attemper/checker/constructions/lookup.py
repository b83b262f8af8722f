"""Lookup: position c, the number of positions with a bit. (SHASA Lemma 7, Theorems 20, 21.)

Form: kappa (2 c j - j^2) / V, or bounded kappa (2 / j - c / j^2) / V, where kappa > 0 depends on i and n,
c / V is the average of a bit over the V positions that some mask shows at i, and 1 / V that of its mark.
Side conditions: the head sees position c; bounded, its mask shows j <= i.
Bound: position j is behind by gap (j - c)^2, whichever the form: 2 (r + r^4 / (1 - r^5)); bounded, at c = 0
where position 1 is read, the others weigh at most e^-zero together.
Output: the value, a function of the position, at j = c; at j = 1 if c = 0.
Floats: an error of the queries, common to all positions, counts by (3 c + j) / |j - c| <= 4 N, all others by
(3 c^2 + 2 c j + j^2) / (j - c)^2 <= 6 N^2; bounded, at c = 0 half of the score gap may be lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.averages import single_mean
from attemper.checker.attention.bounds import DOMAINS, HALF, VISIBLE, for_losses, positive, proved
from attemper.checker.attention.scores import ReadHead, Waves, waves_of
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rounding.arithmetic import ZERO, greatest
from attemper.checker.rounding.attention import RoundedHead
from attemper.checker.rounding.score_gaps import sum_rate
from attemper.checker.rules import HeadFact, Peaked, far_weight, mass, weight
from attemper.checker.values import Value
from attemper.exact import laurent
from attemper.networks.layers import Masking


@final
@dataclass(frozen=True)
class LookupRule(Peaked):
    """Position j is behind position c by gap (j - c)^2; at count 0 the others weigh at most e^-zero."""

    gap: Fraction
    zero: tuple[Fraction, Fraction] | None

    @property
    def least_gap(self) -> Fraction:
        """One step off. At count 0 position j is behind position 1 by more: by (j^2 - 1) gap, or, bounded, by
        2 (1 - 1/j) kappa / i >= kappa / i >= gap.
        """
        return self.gap

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = 2 (r + r^4 / (1 - r^5)), and e^-zero."""
        r = weight(self.gap, loss)
        return mass((2 * (r + r**4 / (1 - r**5)) + far_weight(self.zero, loss)) * noise)

    def loss(self, head: RoundedHead) -> flint.arb:
        loss = lost(head)
        if self.zero is not None:
            head.require_half(loss)
        return loss


def lookup(head: ReadHead) -> HeadFact:
    """The rule for a lookup. Raises `UnprovenError`, naming the side condition that is not shown."""
    names, masking, waves = head.names, head.masking, waves_of(head)
    bounded = _is_bounded(waves)
    side, scale = _scale(head, waves, bounded)
    counted = _counted(head, waves, bounded, side, scale)
    if masking is not Masking.NONE and (side is not Masking.FUTURE or masking is not side):
        raise UnprovenError("it may not see the position that it looks for")
    if bounded and masking is not Masking.FUTURE:
        raise UnprovenError("bounded lookups are future-masked")
    domain, zero = DOMAINS[masking], None
    under = laurent.monomial(4, 0) if bounded else VISIBLE[side]
    gap = proved(laurent.least_ratio(scale, under, domain), "other positions can win")
    if bounded:
        alone = laurent.times(scale, laurent.monomial(-1, 0))
        others = laurent.plus(laurent.monomial(1, 0, -1), laurent.constant(2))
        zero = for_losses(alone, others, domain, "other positions can win at count 0")
    some = names.positions.sum_at_least(side, counted, 1)

    def read(value: Diagram) -> Diagram:
        found = names.positions.looked_up(side, counted, value)
        return names.choose(some, found, names.at_position_one(value))

    return HeadFact(LookupRule(positive(gap), zero), head.outputs(read))


def _is_bounded(waves: Waves) -> bool:
    """Whether the keys are 1/j and 1/j^2, not j and j^2."""
    powers = {p for p, _ in waves}
    bounded = -1 in powers
    top, other = (-1, -2) if bounded else (2, 1)
    if any(wave for _, wave in waves) or not {top} <= powers <= {top, other}:
        raise UnprovenError("its scores are not those of a lookup")
    return bounded


def _scale(head: ReadHead, waves: Waves, bounded: bool) -> tuple[Masking, laurent.Laurent]:
    """The side over which the query averages, and kappa."""
    names = head.names
    marking, factor = single_mean(names, waves[-1 if bounded else 2, False], head.masking)
    if marking is None or marking.summand != names.mark(marking.masking):
        raise UnprovenError("its query does not carry 1 / (number visible)")
    return marking.masking, laurent.times(factor, HALF if bounded else -1)


def _counted(head: ReadHead, waves: Waves, bounded: bool, side: Masking, scale: laurent.Laurent) -> Diagram:
    """The bit that c counts: none if nothing stands for c, all if 1 does."""
    names, at = head.names, (-2 if bounded else 1, False)
    if at not in waves:
        return names.false
    counting, factor = single_mean(names, waves[at], head.masking)
    counted = names.true if counting is None else counting.summand
    if laurent.times(scale, -1 if bounded else 2) != factor:
        raise UnprovenError("its parabola does not have its top at the count")
    if not names.is_bit(counted) or (counting is not None and counting.masking is not side):
        raise UnprovenError("its query is not a count over the visible positions")
    return counted


def lost(head: RoundedHead) -> flint.arb:
    """By which part score gaps can be smaller, with at most one row for each power of j; `BeyondError` for
    others.

    Also where c is less than 1 or more than n, and the right position is 1 or n.
    """
    if not _one_of_each_power(head.names, [row.key for row in head.rows]):
        raise head.uncovered()
    lengths, cold, n = head.lengths, head.cold, head.lengths.length
    query = greatest(row.scored.query.relative for row in head.rows)
    key = greatest(row.scored.key.relative for row in head.rows)
    rate = sum_rate(lengths, len(head.rows), cold)
    each = (1 + key) * (1 + lengths.u) ** cold.roundings * (1 + rate) - 1
    if head.is_one_class and all(map(head.is_known_relatively, head.rows)):
        # The right position is the peak, and no square is in what others are behind that.
        return (4 * n + 1) * ((1 + query) * (1 + each) - 1)
    of_means = sum((head.mean_off(row) for row in head.rows), ZERO) * (1 + query)
    return 4 * n * query + 6 * n**2 * each * (1 + query) + (2 * n**2 + 4 * n**3 * each) * of_means


def _one_of_each_power(names: Names, keys: list[Value]) -> bool:
    """Whether the keys are multiples of j and j^2, or of 1/j and 1/j^2, one each: nothing cancels."""
    powers = [power for key in keys for power, _ in key]
    alone = all(len(key) == 1 and all(map(names.diagrams.is_constant, key.values())) for key in keys)
    of_two = set(powers) <= {1, 2} or set(powers) <= {-1, -2}
    return alone and of_two and len(set(powers)) == len(powers)
