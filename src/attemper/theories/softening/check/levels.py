"""ScoreLevels: all positions of the greatest score have one value, though there may be many of them. (Ours.)

Form: finitely many forms of i and n, the *levels* of j; nothing prefers nearer positions.
The factors at i may depend on bits: then each of their cases is looked at alone (`attention.by_cases`).
Side condition: on every level on which a position can win each value is one number, or one position alone is
on it, the first or the last.
Gap: the least difference of two levels, which must be positive at every i and n.
Output: the value on the best level that some visible position is on; with a strict mask the neighbour's.

It is a rule of hard heads alone. How many positions are on a level nothing bounds, so that at one temperature
a softmax head of this form may be anywhere between its levels; softening makes it colder as n grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import final

from attemper.checker.attention.bounds import DOMAINS, positive, proved
from attemper.checker.attention.by_cases import by_cell, cells_of
from attemper.checker.attention.contests import ScoreLevels, levels_of
from attemper.checker.attention.scores import Output, ReadHead, read_head
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import ResidualValues
from attemper.exact import laurent
from attemper.networks.layers import Head, Masking


@final
@dataclass(frozen=True)
class Led:
    """By how much the greatest score leads over every visible position of another value, and what is read."""

    least_gap: Fraction
    outputs: tuple[Output, ...]


def levels(names: Names, head: Head, stream: ResidualValues) -> Led:
    """The rule for a head of levels. Raises `UnprovenError`, naming the side condition that is not shown."""
    scored = read_head(names, head, stream)
    if any(power for power, _ in scored.scores):
        raise UnprovenError("its scores say more of a position than its level")
    cells = cells_of(scored)
    found = [_in_cell(cell) for cell in cells]
    outputs = by_cell(cells, [own.outputs for own in found])
    return Led(min(own.least_gap for own in found), outputs)


def _in_cell(head: ReadHead) -> Led:
    """The rule where factors at i are the same for all words."""
    levels = levels_of(head)
    reached = _reached(levels)
    if not all(level in levels.agreed or _is_of_one(head.names, bit) for level, bit in reached.items()):
        raise UnprovenError("positions of one score have other values")
    apart = [laurent.plus(better, laurent.times(worse, -1)) for better, worse in pairwise(levels.forms)]
    domain = DOMAINS[head.masking.weak]
    gaps = [
        proved(laurent.most(own, laurent.constant(1), domain), "its levels come together") for own in apart
    ]
    outputs = head.outputs(lambda value: _read(head, list(reached.values()), value))
    return Led(positive(min(gaps, default=Fraction(1))), outputs)


def _reached(levels: ScoreLevels) -> dict[int, Diagram]:
    """The levels on which a position can win, best first: none behind one that every i sees."""
    head, names = levels.head, levels.head.names
    ends = {
        Masking.FUTURE: [names.first],
        Masking.PAST: [names.last],
        Masking.NONE: [names.first, names.last],
    }
    found: dict[int, Diagram] = {}
    for level, bit in enumerate(levels.bits):
        if level in levels.hopeless:
            continue
        found[level] = bit
        if any(names.both(end, names.negation(bit)) == names.false for end in ends[head.masking.weak]):
            break
    return found


def _is_of_one(names: Names, bit: Diagram) -> bool:
    """Whether a bit holds at no position but the first, or at none but the last."""
    return any(names.both(bit, names.negation(one)) == names.false for one in (names.first, names.last))


def _read(head: ReadHead, levels: list[Diagram], value: Diagram) -> Diagram:
    """The value on the first of the levels that occurs, which is the last if no other does.

    It is the same at all positions of the level, so that it may be read at the rightmost.
    """
    names, masking = head.names, head.masking.weak
    *others, last = levels
    found = names.positions.chosen(masking, False, last, value)
    for level in reversed(others):
        here = names.positions.chosen(masking, False, level, value)
        found = names.choose(names.positions.exists(masking, level), here, found)
    return head.seen(found, names.false)
