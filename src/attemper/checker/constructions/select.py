"""Select: the rightmost (or leftmost) visible position with the least b(j). (SHASA Lemmas 6, 8.)

Form: G t(j) - P b(j), where t(j) is j or -1/j (rightmost) or its negative (leftmost), G > 0 and P depend on
i and n, and the least value of b is 0. A strict mask shows what the weak one shows at a neighbour of i.
Side conditions: a step costs at least `gap` by G t(j); a position with a larger b, however near, is behind.
Bound: nearer positions, e^-gap each step: r/(1-r); positions with a larger b on the far side: e^-far.
Output: the value at the winner: at b = 0 if some visible position has that, else at the next larger value.
Loosely, for floats: where b = 0 nowhere, no more than a range: an average of values at larger b.
Floats: every two places that compete, each with its score gap; what is behind on the far side may lose half
of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import final

import flint

from attemper.checker.attention.blocked import Blocked, blocked_of, hopeless_in
from attemper.checker.attention.bounds import VISIBLE, constant, for_losses, scalar
from attemper.checker.attention.competition import (
    Competition,
    Rival,
    RivalPair,
    ScoreGap,
    if_covered,
    places_of,
    rows_of,
)
from attemper.checker.attention.scores import ReadHead, plain_values
from attemper.checker.attention.tie_breaks import TieBreak, tie_break
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.attention import RoundedHead
from attemper.checker.rules import HeadFact, Peaked, far_weight, mass, weight
from attemper.exact import laurent


@final
@dataclass(frozen=True)
class SelectRule(Peaked):
    """Nearer positions lead by `gap` per step; blocked ones beyond are at most e^-far together.

    `far` is for a loss of 0 and for any up to 1/2 of what leads per step: then blocked positions beyond may
    lose 1/2 of their score gap. `competition` is None if the rows are too mixed.
    """

    gap: Fraction
    far: tuple[Fraction, Fraction] | None
    competition: Competition | None = None

    @property
    def least_gap(self) -> Fraction:
        """One step, or who is blocked on the far side: V - 2 >= 0 more than `far`."""
        return self.gap if self.far is None else min(self.gap, self.far[0])

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        """W = r/(1-r) + e^-far."""
        near = weight(self.gap, loss)
        return mass((near / (1 - near) + far_weight(self.far, loss)) * noise)

    def loss(self, head: RoundedHead) -> flint.arb:
        near, far = head.losses(self.competition)
        head.require_half(far)
        return near


def select(head: ReadHead) -> HeadFact:
    """The rule for a selection. Raises `UnprovenError`, naming the side condition that is not shown."""
    tie = _tie(head)
    gap, span = tie.bounds()
    blocked = blocked_of(head, tie.domain)
    outputs = head.outputs(lambda value: _read(head, blocked, not tie.is_rising, value))
    competition = if_covered(lambda: _competition(head, tie, blocked, span))
    reads_blocked = any(len(_values_off(head, blocked, value)) > 1 for value in plain_values(head))
    return HeadFact(SelectRule(gap, _far(blocked, tie, span), competition), outputs, reads_blocked)


def _tie(head: ReadHead) -> TieBreak:
    ties = {key: value for key, value in head.scores.items() if key[0] != 0}
    if len(ties) != 1:
        raise UnprovenError("its scores have no tie-break")
    (((power, one), value),) = ties.items()
    form = laurent.times(scalar(head.names, value), constant(head.names, one))
    return tie_break(form, power, head.masking.weak)


def _far(blocked: Blocked, tie: TieBreak, span: laurent.Laurent) -> tuple[Fraction, Fraction] | None:
    """Two positions are compared, each with what its own level takes away and its own tie-break."""
    if len(blocked.levels) == 1:
        return None
    least_push = laurent.times(blocked.push, min(b - a for a, b in pairwise(blocked.levels)))
    score_gap = laurent.plus(least_push, laurent.times(span, -1))
    others = laurent.plus(VISIBLE[tie.masking], laurent.constant(-1))
    room = laurent.plus(laurent.constant(1), laurent.times(others, -1))
    return for_losses(score_gap, room, tie.domain, "blocked positions can win")


def _read(head: ReadHead, blocked: Blocked, leftmost: bool, value: Diagram) -> Diagram:
    """The value at the winner; with a strict mask at the winner of the neighbour."""
    names, masking = head.names, head.masking.weak
    *nearer, last = blocked.bits
    found, is_known = names.positions.chosen(masking, leftmost, last, value), names.true
    values = _values_off(head, blocked, value)
    if head.is_loose and len(values) > 1:
        nearer, found, is_known = nearer[:1], names.false, names.positions.exists(masking, nearer[0])
    for bit in reversed(nearer):
        here = names.positions.chosen(masking, leftmost, bit, value)
        found = names.choose(names.positions.exists(masking, bit), here, found)
    found = head.seen(found, names.false)
    if is_known == names.true:
        return found
    return names.choose(head.seen(is_known, names.true), found, names.unknown_in(min(values), max(values)))


def _values_off(head: ReadHead, blocked: Blocked, value: Diagram) -> list[Fraction]:
    """What a value is at positions that are not on the least level."""
    names, (least, *others) = head.names, blocked.bits
    if not others:
        return []
    return names.constants(names.diagrams.constrain(value, names.negation(least), names.false), "a value")


def _competition(head: ReadHead, tie: TieBreak, blocked: Blocked, span: laurent.Laurent) -> Competition:
    """All pairs of places, each with its level b as its last entry: the winner's is the least that occurs.

    On an agreed level every winner reads the same; on some none wins, or nothing is said of what is read.
    """
    hopeless = frozenset(blocked.levels[1:]) if head.is_loose else hopeless_in(head, blocked)
    rows, keys = rows_of(head.names, head.rows, head.coldness, tie.power, [head.here])
    places = places_of(head.names, [*keys, blocked.b], head.names.true)
    level, pairs = tie.level(1), list[RivalPair]()
    for (*winner, b), (*other, c) in product(places, repeat=2):
        if c < b or b in hopeless or (b == c and b in blocked.agreed):
            continue
        if b == c:
            pairs.append(RivalPair(0, tuple(winner), tuple(other), Rival.FARTHER, level))
            continue
        pushed = laurent.times(blocked.push, c - b)
        ahead = laurent.plus(pushed, laurent.times(span, -1))
        for kind, score_gap in ((Rival.PENALISED, pushed), (Rival.CLOSER, ahead)):
            pairs.append(RivalPair(0, tuple(winner), tuple(other), kind, ScoreGap(score_gap, tie.domain)))
    return tie.competition(1, rows, tuple(pairs))
