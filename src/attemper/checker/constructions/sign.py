"""Sign: the parity whose sign is that of D = T / (number visible), T an odd multiple of a constant. (Ours.)

Form: kappa D sigma_j or kappa D j sigma_j, where sigma_j is (-1)^j, kappa > 0 depends on i and n, and D is an
average over the same visible positions: what an earlier head with the same mask has written.
Side conditions: of the numbers that D averages, divided by their common divisor u, just the one at the marked
position is odd, so T is an odd multiple of u; the value depends on j's parity alone.
Bound: |D| is at least u / (number visible), and there are at most twice as many positions of the wrong
parity: 2 e^-2 gap. With keys j sigma_j two geometric series are compared: 1/(e^gap - e^(gap/3)).
Output: the value at even j if T > 0, at odd j if T < 0; at i where only i is visible.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.attention.averages import common_divisor, single_mean
from attemper.checker.attention.bounds import DOMAINS, VISIBLE, positive, proved
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.parities import by_parity, waves_of
from attemper.checker.attention.scores import ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.exact import laurent
from attemper.networks.layers import Masking, Sign


def sign(head: ReadHead) -> HeadFact:
    """The rule for a sign. Raises `UnprovenError`, naming the side condition that is not shown."""
    names, masking, waves = head.names, head.masking, waves_of(head)
    if len(waves) != 1 or next(iter(waves)) not in {(0, True), (1, True)}:
        raise UnprovenError("its scores are not (-1)^j times a number of i")
    (((power, _), value),) = waves.items()
    mean, factor = single_mean(names, value, masking)
    if mean is None or mean.masking is not masking:
        raise UnprovenError("it does not see the positions that its query averages")
    unit = _odd_unit(names, masking, mean.summand)
    visible = VISIBLE[masking] if power == 0 else laurent.constant(1)
    score_gap = laurent.most(laurent.times(factor, unit), visible, DOMAINS[masking])
    gap = positive(proved(score_gap, "both parities are as likely"))
    is_positive = names.positions.sum_at_least(masking, names.scaled(mean.summand, 1 / unit), 1)
    outputs = head.outputs(lambda value: by_parity(head, is_positive, value))
    # Right positions score x and wrong ones -x. Or the last right one, at j, scores x_j, and a wrong one at k
    # -x_k: they are x_j / j times j + k apart, which is no less than the number visible, as of the last two
    # visible positions one is right.
    behind = (Trail(2 * gap),) * 2 if power == 0 else (Trail(gap, gap * 2 / 3),)
    return HeadFact((Rule(Sign, behind, said=unit),), outputs)


def _odd_unit(names: Names, masking: Masking, summand: Diagram) -> Fraction:
    """A unit of which the sum over the visible positions is an odd multiple: only one summand is odd."""
    unit = common_divisor(names, (summand,))
    mark = names.mark(masking)
    marked, others = (
        names.constants(names.diagrams.constrain(summand, bit, names.false), "a count")
        for bit in (mark, names.negation(mark))
    )
    if any(v / unit % 2 != 1 for v in marked) or any(v / unit % 2 for v in others):
        raise UnprovenError("the sum whose sign it reads may be 0")
    return unit
