"""Neighbour: position i - 1 (or i + 1), by the other parity, then the nearest. (SHASA Theorems 12, 13.)

Form: that of a selection on two levels, for each parity of i: the better one is that of the other parity. To
read i - 1 the mask shows j <= i and prefers larger j; to read i + 1 it shows j >= i and prefers smaller ones.
Side conditions: those of the lemma in `attention.leads` of who is further off, in steps of two.
Bound: e^-start / (1 - e^-2 step) for each parity, and e^-start for i. Leads below 0 are bounds, too.
Output: the value at the neighbour; at i itself where there is none.
"""

from __future__ import annotations

from attemper.checker.attention.contests import contest_of
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.scores import ReadHead
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Masking, Neighbour


def neighbour(head: ReadHead) -> HeadFact:
    """The rule for a neighbour, where i has one parity. Raises `UnprovenError`, naming what is not shown."""
    names, contest = head.names, contest_of(head, steps=2)
    odd = names.place(Remainder(2, 1), 1, 0, 0)
    parities = (odd, names.negation(odd))
    if contest.levels.bits not in {parities, parities[::-1]}:
        raise UnprovenError("its scores are not those of a neighbour")
    if names.both(head.here, contest.levels.bits[0]) != names.false:
        raise UnprovenError("it does not look for the other parity")
    if contest.masking is not (Masking.FUTURE if contest.is_rising else Masking.PAST):
        raise UnprovenError("its tie-break points away from the neighbour")
    offset = -1 if contest.is_rising else 1
    outputs = head.outputs(lambda value: names.positions.shifted(value, offset, value))
    behind = contest.behind(0, gap=2), contest.behind(1)
    return HeadFact((Rule(Neighbour, behind, (Trail(contest.beside()),), contest),), outputs)
