"""Numbers that a text puts out, as parts of a program's output: integers, fractions, distributions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.attention_program.ops import Count, Linear, Mask, Numbers, Part, Ref
from attemper.languages.measures import Measure
from attemper.languages.rasp.bits import Bits
from attemper.languages.rasp.integers import Branches, IntegerTerm
from attemper.languages.rasp.syntax import Divisor

MAX_CHANCES = 4_096
"""A distribution that distinguishes more cases is refused."""


class SeveralSidesError(Exception):
    """The integer counts over several masks."""


class TooManyChancesError(Exception):
    """The distribution distinguishes more than `MAX_CHANCES` cases."""


Chance = tuple[tuple[str, Fraction], ...]
"""The probabilities that are not 0, by name, in the names' order; their sum is 1."""


@final
@dataclass(frozen=True)
class Chances:
    """A distribution in branches: bits of which exactly one holds, and the probabilities there."""

    names: tuple[str, ...]
    branches: tuple[tuple[Ref, Chance], ...]


def certain(bits: Bits, probabilities: Chance) -> Chances:
    """The distribution that is the same everywhere."""
    names = tuple(name for name, _ in probabilities)
    present = sorted((pair for pair in probabilities if pair[1]), key=lambda pair: pair[0])
    return Chances(names, ((bits.true, tuple(present)),))


def chosen(bits: Bits, condition: Ref, then: Chances, otherwise: Chances) -> Chances:
    """`then` where the condition holds, else `otherwise`. Raises `TooManyChancesError`."""
    where: dict[Chance, list[Ref]] = {}
    for holds, chances in ((condition, then), (bits.negation(condition), otherwise)):
        for bit, chance in chances.branches:
            both = bits.all_of((holds, bit))
            if both != bits.false:
                where.setdefault(chance, []).append(both)
    if len(where) > MAX_CHANCES:
        raise TooManyChancesError
    names = tuple(dict.fromkeys((*then.names, *otherwise.names)))
    return Chances(names, tuple((bits.any_of(found), chance) for chance, found in where.items()))


def distribution(chances: Chances) -> Numbers:
    """The numbers of a distribution, in the order of its names."""
    by_bit: list[tuple[Ref, Mapping[str, Fraction]]] = [(bit, dict(one)) for bit, one in chances.branches]
    rows = tuple(
        tuple(Part(chance[name], bit, None) for bit, chance in by_bit if chance.get(name))
        for name in chances.names
    )
    return Numbers(Measure.DISTRIBUTION, Mask.ALL, rows, chances.names)


def integer(bits: Bits, branches: Branches, divisor: Divisor | None) -> Numbers:
    """The numbers of an integer; of a fraction, if it is divided. Raises `SeveralSidesError`."""
    sides = {count.mask.weak for _, term in branches for _, count in term.parts}
    sides |= {SIDES_OF[divisor]} if divisor in SIDES_OF else set()
    if len(sides) > 1:
        raise SeveralSidesError
    mask = next(iter(sides), Mask.UP_TO)
    telling = [(bit, term) for bit, term in branches if term != IntegerTerm((), 0)] or branches[:1]
    row = tuple(
        Part(Fraction(1), None if bit == bits.true else bit, _count(bits, term)) for bit, term in telling
    )
    return Numbers(Measure.INTEGER if divisor is None else Measure.FRACTION, mask, (row,))


SIDES_OF = {Divisor.POSITION: Mask.UP_TO, Divisor.LENGTH: Mask.ALL}
"""The positions that are as many as a divisor says."""


def _count(bits: Bits, term: IntegerTerm) -> Ref:
    parts: tuple[tuple[int, Count], ...] = term.parts
    match parts, term.constant:
        case ((1, count),), 0:
            return bits.add(count)
        case _:
            return bits.add(Linear(tuple((factor, bits.add(one)) for factor, one in parts), term.constant))
