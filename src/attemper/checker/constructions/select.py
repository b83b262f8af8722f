"""Select: the rightmost (or leftmost) visible position on the best level that occurs. (SHASA Lemmas 6, 8.)

Form: L(j) + T t(j), where t(j) is j or 1/j, T depends on i and n, and L takes finitely many forms of i and n,
its levels. A strict mask shows what the weak one shows at a neighbour of i.
Side conditions: those of the lemma in `attention.leads`: of who is further off, and of who is nearer but on a
worse level.
Bound: e^-start / (1 - e^-step) for each of the two sides.
Output: the value at the winner, on the best level that some visible position is on.
Loosely, for floats: where that is not the best of all, no more than a range: an average of other values.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.attention.contests import Contest, ScoreLevels, contest_of
from attemper.checker.attention.scores import ReadHead
from attemper.checker.diagrams import Diagram
from attemper.checker.rules import HeadFact, Rule
from attemper.networks.layers import Select


def select(head: ReadHead) -> HeadFact:
    """The rule for a selection. Raises `UnprovenError`, naming the side condition that is not shown."""
    contest = contest_of(head)
    rule = Rule(Select, (contest.behind(),), contest.ahead(), contest)
    return HeadFact((rule,), head.outputs(lambda value: _read(contest, value)))


def _read(contest: Contest, value: Diagram) -> Diagram:
    """The value at the winner; with a strict mask at the winner of the neighbour."""
    head, names, masking = contest.levels.head, contest.levels.head.names, contest.masking
    *nearer, last = contest.levels.bits
    found, is_known = names.positions.chosen(masking, not contest.is_rising, last, value), names.true
    values = _values_off(contest.levels, value)
    if head.is_loose and len(values) > 1:
        nearer, found, is_known = nearer[:1], names.false, names.positions.exists(masking, nearer[0])
    for bit in reversed(nearer):
        here = names.positions.chosen(masking, not contest.is_rising, bit, value)
        found = names.choose(names.positions.exists(masking, bit), here, found)
    found = head.seen(found, names.false)
    if is_known == names.true:
        return found
    return names.choose(head.seen(is_known, names.true), found, names.unknown_in(min(values), max(values)))


def _values_off(levels: ScoreLevels, value: Diagram) -> list[Fraction]:
    """What a value is at positions that are not on the best level."""
    names, (best, *others) = levels.head.names, levels.bits
    if not others:
        return []
    return names.constants(names.diagrams.constrain(value, names.negation(best), names.false), "a value")
