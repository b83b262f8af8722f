"""Integers at j that equal one at i: the rightmost (leftmost) visible position where they do.

A head finds the position whose integer is nearest, both taken from 1 to n. So positive integers are looked
for by one head, negative ones without their sign by another, and 0 by a selection: each only at positions
whose key has that sign, and used only where the integer at i has. The step `Matched` says whether the nearest
one is equal, and the bit that was sought, read there, whether the position was to be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Attend, Choice, Mask, Matched, Nearest, Ref, everywhere
from attemper.languages.rasp.integers import IntegerSteps, IntegerTerm, sum_of
from attemper.languages.rasp.matching import signs_of
from attemper.languages.rasp.strict import Restated
from attemper.languages.rasp.syntax import Comparison, Expression, Index, Join, Joined, Relation, indices


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """What a condition joins by &."""
    match condition:
        case Joined(Join.AND, parts):
            for part in parts:
                yield from conjuncts(part)
        case _:
            yield condition


def may_match(part: Expression) -> bool:
    """Whether a part of a condition says that something at i equals something at j."""
    return (
        isinstance(part, Comparison) and part.relation is Relation.EQUAL and len(indices(part)) == len(Index)
    )


@final
@dataclass(frozen=True)
class Sought:
    """What is looked for at i where `inside` holds: the visible j with `there`, and equal integers.

    `there` and the integer at j are read as `Restated` says. There are no integers where all positions that
    are left have equal ones; then `there` is read as it is.
    """

    inside: Ref
    there: Ref
    integers: tuple[Ref, Ref] | None


@final
@dataclass(frozen=True)
class Equality:
    """The steps that look for equal integers, under one mask."""

    integers: IntegerSteps
    mask: Mask
    choice: Choice
    symbols: tuple[str, ...]

    @property
    def _seen(self) -> Restated:
        return Restated(self.integers.bits, self.mask, copied=False)

    def sought(self, here: Ref, there: Ref, query: IntegerTerm, key: IntegerTerm) -> Iterator[Sought]:
        """What is looked for where `here` holds: positions with `there` whose key equals the query.

        What is added to the key has been taken off the query, so that only the query may exceed n.
        """
        integers, bits = self.integers, self.integers.bits
        signs = signs_of(key, bits, self.symbols)
        for sign in sorted(signs - {0}, reverse=True):
            asked, found = (sum_of(((sign, term),)) for term in (query, key))
            inside = bits.all_of((here, self._at_least(asked, 1), self._at_most_length(asked)))
            of_sign = bits.true if signs == {sign} else self._at_least(found, 1)
            steps = integers.whole(asked), integers.whole(self._seen.term(found))
            yield Sought(inside, self._seen.bit(bits.all_of((there, of_sign))), steps)
        if 0 in signs:
            inside, is_zero = (integers.zero(((bits.true, term),)) for term in (query, key))
            yield Sought(bits.all_of((here, inside)), bits.all_of((there, is_zero)), None)

    def fetch(self, sought: Iterable[Sought]) -> Callable[[Ref, bool], Ref]:
        """What reads a value where something is found, and gives the default elsewhere."""
        bits = self.integers.bits
        kept = [one for one in sought if bits.false not in {one.inside, one.there}]

        def fetched(value: Ref, default: bool) -> Ref:
            read = bits.any_of(self._read(one, value) for one in kept)
            if not default:
                return read
            return bits.any_of((read, bits.negation(bits.any_of(self._read(one, bits.true) for one in kept))))

        return fetched

    def _read(self, sought: Sought, value: Ref) -> Ref:
        """The value at the position that was to be found, false where there is none."""
        bits, there = self.integers.bits, sought.there
        if sought.integers is None:
            return bits.all_of((sought.inside, self._selected(there, value)))
        held = bits.all_of((there, self._seen.bit(value)))
        if held == bits.false:
            return held
        mask = self._seen.mask
        equal = bits.add(Matched(mask, self.choice, there, *sought.integers))
        nearest = held
        if held != bits.true:
            nearest = bits.add(Nearest(mask, self.choice, there, *sought.integers, held))
        return bits.all_of((sought.inside, equal, nearest))

    def _selected(self, there: Ref, value: Ref) -> Ref:
        """The value at the position with the bit, where no integers are left to be compared."""
        bits = self.integers.bits
        held = bits.all_of((there, value))
        if held == bits.false or (held == bits.true and not self.mask.is_strict):
            return held
        return bits.add(Attend(self.mask, self.choice, everywhere(there), value, False))

    def _at_least(self, term: IntegerTerm, number: int) -> Ref:
        return self.integers.at_least(
            ((self.integers.bits.true, sum_of(((1, term), (-1, IntegerTerm((), number))))),)
        )

    def _at_most_length(self, query: IntegerTerm) -> Ref:
        """Whether the query is a number from 1 to n, if it is positive: so it is if nothing is added."""
        bits = self.integers.bits
        if query.constant <= 0:
            return bits.true
        length = self.integers.count(Mask.ALL, bits.true)
        return self.integers.at_least(self.integers.sum(((1, length), (-1, ((bits.true, query),)))))
