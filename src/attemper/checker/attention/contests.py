"""Who competes for a head's attention: positions on levels, and a tie-break among those on one level.

The score of j is L(i, n) + T(i, n) t(j), where t(j) is j or 1/j, and the form L is that of the level on which
j is: all of the score that no power of j is in. The first level is the best one. By how much a position on it
leads is the lemma's, in `leads`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise
from typing import final

from attemper.checker.attention.bounds import at_corner, constant, positive, scalar
from attemper.checker.attention.leads import PowerTerm, Trail, apart, least, least_of, scored, trail
from attemper.checker.attention.scores import ReadHead, plain_values
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, UnprovenError
from attemper.exact import laurent
from attemper.exact.laurent import I, J, Laurent, N, Next, W
from attemper.networks.layers import Masking


@final
@dataclass(frozen=True)
class ScoreLevels:
    """The forms of the levels, the best first, and the diagram of which one j is on, by its number."""

    head: ReadHead = field(compare=False, repr=False)
    forms: tuple[Laurent, ...]
    of_position: Diagram

    @cached_property
    def bits(self) -> tuple[Diagram, ...]:
        """Where each level is."""
        equals = self.head.names.equals
        return tuple(equals(self.of_position, Fraction(level)) for level in range(len(self.forms)))

    @cached_property
    def agreed(self) -> frozenset[int]:
        """The levels at all of whose positions each of the head's values is the same."""
        names, values = self.head.names, plain_values(self.head)
        there = [[names.diagrams.constrain(own, bit, names.false) for own in values] for bit in self.bits]
        return frozenset(k for k, own in enumerate(there) if all(map(names.diagrams.is_constant, own)))

    @cached_property
    def hopeless(self) -> frozenset[int]:
        """The levels on which no position wins, as every i that is looked at sees one on a better level."""
        names, better, found = self.head.names, self.head.names.false, set[int]()
        if self.head.masking.is_strict:
            return frozenset()
        for level, bit in enumerate(self.bits):
            if names.both(self.head.here, names.negation(better)) == names.false:
                found.add(level)
            better = names.either(better, names.positions.exists(self.head.masking, bit))
        return frozenset(found)


def levels_of(head: ReadHead) -> ScoreLevels:
    """Where j stands by all of the score that no power of j is in."""
    return leveled(
        head,
        ((key, scalar(head.names, value)) for (power, key), value in head.scores.items() if not power),
    )


def leveled(head: ReadHead, terms: Iterable[tuple[Diagram, Laurent]]) -> ScoreLevels:
    """Where j stands by the sum of diagrams, each times a form."""
    diagrams = head.names.diagrams
    found = diagrams.constant(frozenset())
    for key, form in terms:
        found = diagrams.combine(("scored", frozenset(form.items())), partial(_added, form), found, key)
    forms = [dict(own) for own in diagrams.values(found) if isinstance(own, frozenset)]
    forms.sort(key=lambda form: at_corner(form, head.masking), reverse=True)
    number = {frozenset(form.items()): Affine(Fraction(level)) for level, form in enumerate(forms)}
    return ScoreLevels(
        head, tuple(forms), diagrams.map(("level", tuple(number)), lambda own: number[own], found)
    )


def _added(form: Laurent, before: frozenset[PowerTerm], key: Affine) -> frozenset[PowerTerm]:
    return frozenset(laurent.plus(dict(before), laurent.times(form, key.constant)).items())


@final
@dataclass(frozen=True)
class Contest:
    """Levels, and the tie-break T j^power; `is_rising` if larger j win. The mask shows i itself.

    Two positions on the best level are `steps` apart at least: if that is 2, only i itself is ahead.
    """

    levels: ScoreLevels
    masking: Masking
    power: int
    tie: Laurent
    is_rising: bool
    steps: int

    def behind(self, level: int = 0, gap: int = 1) -> Trail:
        """Who is on that level and further off than the winner, which is on the best one.

        On one level the tie-break decides alone. That it leads at all says which way it points, everywhere.
        """
        found = trail(self._difference(0, level), self.masking, J if self.is_rising else W, gap, self.steps)
        if level == 0:
            positive(found.start)
        return found

    def ahead(self) -> tuple[Trail, ...]:
        """Who would win the tie-break, but is on a worse level: nobody if there is one level.

        Each level leads over the next by more than the tie-break, which points one way: so who is on a level
        that is still worse is behind by more.
        """
        trails = [
            trail(self._difference(level, worse), self.masking, W if self.is_rising else J)
            for level, worse in pairwise(range(len(self.levels.forms)))
        ]
        if any(own.start <= 0 for own in trails):
            raise UnprovenError("not proved for all lengths: blocked positions can win")
        return (least_of(trails),) if trails else ()

    def beside(self) -> Fraction:
        """By how much the position next to i, on the best level, leads over i, on the second one."""
        merged: list[Laurent] = [
            {(a + j, n, 0, w): own} for (a, n, j, w), own in self._difference(0, 1).items()
        ]
        first, second = (W, I) if self.is_rising else (I, W)
        return least(laurent.plus(*merged), ((Next(first, 1), Next(second, 1, or_more=False), Next(N, 0)),))

    def _difference(self, winner: int, other: int) -> Laurent:
        forms = self.levels.forms
        pushed = laurent.plus(forms[winner], laurent.times(forms[other], -1))
        return laurent.plus(scored(pushed, J, 0), apart(self.tie, self.power))


def contest_of(head: ReadHead, steps: int = 1) -> Contest:
    """Who competes. Raises `UnprovenError` for scores of another form."""
    ties = {key: value for key, value in head.scores.items() if key[0] != 0}
    if len(ties) != 1:
        raise UnprovenError("its scores have no tie-break")
    (((power, one), value),) = ties.items()
    if power not in {1, -1}:
        raise UnprovenError("its tie-break is neither in j nor in 1/j")
    tie = laurent.times(scalar(head.names, value), constant(head.names, one))
    is_rising = (at_corner(tie, head.masking) > 0) == (power > 0)
    return Contest(levels_of(head), head.masking.weak, power, tie, is_rising, steps)
