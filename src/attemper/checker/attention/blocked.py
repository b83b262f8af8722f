"""Positions that a head is pushed away from: by how much, and on how many levels."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.checker.attention.bounds import is_positive, scalar
from attemper.checker.attention.scores import ReadHead, plain_values
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.exact import laurent


@final
@dataclass(frozen=True)
class Blocked:
    """What the scores take away from position j: `push` * b(j), with the values of b in `levels`.

    `bits` say of each level which positions are on it. A level is `agreed` if the head's values are the same
    at all its positions.
    """

    b: Diagram
    push: laurent.Laurent
    levels: tuple[Fraction, ...]
    bits: tuple[Diagram, ...]
    agreed: frozenset[Fraction]


def blocked_of(head: ReadHead, domain: laurent.Domain) -> Blocked:
    """All of the scores that has no power of j, up to what is the same for all j."""
    names = head.names
    b, push = names.false, laurent.constant(1)
    parts = {diagram: value for (power, diagram), value in head.scores.items() if power == 0}
    for number, (diagram, value) in enumerate(parts.items()):
        own = scalar(names, value)
        if number == 0:
            push = own if is_positive(own, domain) else laurent.times(own, -1)
        powers = next(iter(push))
        ratio = own.get(powers, Fraction(0)) / push[powers]
        if laurent.times(push, ratio) != own:
            raise UnprovenError("its keys are weighed differently by different positions")
        b = names.plus(b, names.scaled(diagram, -ratio))
    levels = tuple(sorted({value.constant for value in names.values(b)}))
    bits = tuple(names.equals(b, level) for level in levels)
    agreed = {level for level, bit in zip(levels, bits, strict=True) if _agree(head, bit)}
    return Blocked(b, push, levels, bits, frozenset(agreed))


def hopeless_in(head: ReadHead, blocked: Blocked) -> frozenset[Fraction]:
    """The levels on which no position wins, as every i that is looked at sees one on a lower level."""
    names, lower, found = head.names, head.names.false, set[Fraction]()
    if head.masking.is_strict:
        return frozenset()
    for level, bit in zip(blocked.levels, blocked.bits, strict=True):
        if names.both(head.here, names.negation(lower)) == names.false:
            found.add(level)
        lower = names.either(lower, names.positions.exists(head.masking, bit))
    return frozenset(found)


def _agree(head: ReadHead, bit: Diagram) -> bool:
    """Whether each value is the same at all positions where a bit holds."""
    diagrams = head.names.diagrams
    there = (diagrams.constrain(value, bit, head.names.false) for value in plain_values(head))
    return all(diagrams.is_constant(value) for value in there)
