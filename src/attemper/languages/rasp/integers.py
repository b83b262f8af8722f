"""Integers of a program: sums of counts, in branches where the text distinguishes cases.

`min`, `max`, `abs` and `p ? s : t` need no step of their own: an integer is a list of branches, each a bit
and a sum. Exactly one of the bits holds at every position; questions are asked of each branch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import final

from attemper.attention_program.ops import Cases, Compare, Count, CountTest, Equals, Linear, Mask, Place, Ref
from attemper.exact.closed_forms import Test
from attemper.exact.predicates import NonNegative, Predicate, Remainder, Zero, holds
from attemper.languages.rasp.bits import Bits

MAX_BRANCHES = 64
"""An integer that distinguishes more cases is refused."""

MAX_INTEGER = 10**9
"""Larger numbers are refused, so that every weight made from them is exact in float64."""

MAX_REMAINDERS = 10_000
"""The remainders that several counts can leave together, at most: each case is a gate."""


@final
@dataclass(frozen=True)
class IntegerTerm:
    """The sum of factor * count over the parts, no factor 0, plus the constant."""

    parts: tuple[tuple[int, Count], ...]
    constant: int


Branches = tuple[tuple[Ref, IntegerTerm], ...]
"""Bits of which exactly one holds, each with the integer that it stands for."""


class TooManyBranchesError(Exception):
    """The integer distinguishes more than `MAX_BRANCHES` cases."""


class IntegerTooLargeError(Exception):
    """The integer has a factor or a constant larger than `MAX_INTEGER`."""


def sum_of(terms: Iterable[tuple[int, IntegerTerm]]) -> IntegerTerm:
    """The sum of factor * term. Raises `IntegerTooLargeError`."""
    factors: dict[Count, int] = {}
    constant = 0
    for factor, term in terms:
        constant += factor * term.constant
        for own, count in term.parts:
            factors[count] = factors.get(count, 0) + factor * own
    if max(abs(constant), *map(abs, factors.values()), 0) > MAX_INTEGER:
        raise IntegerTooLargeError
    return IntegerTerm(tuple((factor, count) for count, factor in factors.items() if factor), constant)


@final
class IntegerSteps:
    """What can be made of integers, and asked of them, as steps."""

    def __init__(self, bits: Bits) -> None:
        self.bits = bits

    def constant(self, value: int) -> Branches:
        """The integer that is the same everywhere."""
        return ((self.bits.true, IntegerTerm((), value)),)

    def count(self, mask: Mask, bit: Ref) -> Branches:
        """How many visible positions have the bit."""
        if bit == self.bits.false:
            return self.constant(0)
        return ((self.bits.true, IntegerTerm(((1, Count(mask, bit)),), 0)),)

    def count_by_case(self, mask: Mask, cases: Cases) -> Branches:
        """How many visible positions match by the case that is in force; 0 where there is none."""
        match cases:
            case ((None, there),):
                return self.count(mask, there)
            case _:
                heres = [(here, there) for here, there in cases if here is not None]
                counts = [(here, self.count(mask, there)[0][1]) for here, there in heres]
                none = self.bits.negation(self.bits.any_of(here for here, _ in heres))
                return self._merged([*counts, (none, IntegerTerm((), 0))])

    def sum(self, parts: Iterable[tuple[int, Branches]]) -> Branches:
        """The sum of factor * integer."""
        whole = self.constant(0)
        for factor, branches in parts:
            pairs = product(whole, branches)
            whole = self._merged(
                [
                    (self.bits.all_of((a, b)), sum_of(((1, one), (factor, two))))
                    for (a, one), (b, two) in pairs
                ]
            )
        return whole

    def chosen(self, condition: Ref, then: Branches, otherwise: Branches) -> Branches:
        """`then` where the condition holds, else `otherwise`."""
        negation = self.bits.negation(condition)
        return self._merged(
            [(self.bits.all_of((condition, bit)), term) for bit, term in then]
            + [(self.bits.all_of((negation, bit)), term) for bit, term in otherwise]
        )

    def least(self, one: Branches, two: Branches) -> Branches:
        """The smaller of two integers."""
        return self.chosen(self.at_least(self.sum(((1, two), (-1, one)))), one, two)

    def greatest(self, one: Branches, two: Branches) -> Branches:
        """The larger of two integers."""
        return self.chosen(self.at_least(self.sum(((1, one), (-1, two)))), one, two)

    def magnitude(self, one: Branches) -> Branches:
        """The integer without its sign."""
        return self.chosen(self.at_least(one), one, self.sum(((-1, one),)))

    def at_least(self, one: Branches) -> Ref:
        """Bit: the integer is at least 0."""
        return self._asked(one, self._not_negative)

    def zero(self, one: Branches) -> Ref:
        """Bit: the integer is 0."""
        return self._asked(one, self._is_zero)

    def congruent(self, one: Branches, modulus: int, remainder: int) -> Ref:
        """Bit: the integer leaves the remainder.

        Raises `TooManyBranchesError` where several counts together leave too many remainders.
        """
        return self._asked(one, lambda term: self._leaves(term, Remainder(modulus, remainder)))

    def _asked(self, branches: Branches, question: Callable[[IntegerTerm], Ref]) -> Ref:
        return self.bits.any_of(self.bits.all_of((bit, question(term))) for bit, term in branches)

    def _not_negative(self, term: IntegerTerm) -> Ref:
        return self._of_place(term, NonNegative(), lambda sum_: Compare(sum_, -term.constant))

    def _is_zero(self, term: IntegerTerm) -> Ref:
        return self._of_place(term, Zero(), lambda sum_: Equals(sum_, -term.constant))

    def _leaves(self, term: IntegerTerm, remainder: Remainder) -> Ref:
        if len(term.parts) == 1:
            ((factor, count),) = term.parts
            return self._of_place(
                term, remainder, lambda _: CountTest(remainder, self._count(count), factor, term.constant)
            )
        if self.place(term) is None and remainder.modulus ** len(term.parts) > MAX_REMAINDERS:
            raise TooManyBranchesError
        return self._of_place(term, remainder, lambda sum_: CountTest(remainder, sum_, 1, term.constant))

    def _of_place(
        self,
        term: IntegerTerm,
        predicate: Predicate,
        of_counts: Callable[[Ref], Compare | Equals | CountTest],
    ) -> Ref:
        """The test of a term: of i and n, if it counts positions only."""
        place = self.place(term)
        if place is None:
            return self.bits.add(of_counts(self._linear(term)))
        if place[:2] == (0, 0):
            return self.bits.constant(holds(predicate, place[2]))
        return self.bits.add(Place(Test(predicate, *place)))

    def place(self, term: IntegerTerm) -> tuple[int, int, int] | None:
        """(a, b, c) if the term is a i + b n + c, else None."""
        whole = (0, 0, term.constant)
        for factor, count in term.parts:
            if count.bit != self.bits.true:
                return None
            per_position, per_length, shift = count.mask.number_visible_form
            whole = (
                whole[0] + factor * per_position,
                whole[1] + factor * per_length,
                whole[2] + factor * shift,
            )
        return whole

    def step_of(self, branches: Branches) -> Ref | None:
        """The step whose value the integer is, if there is one."""
        match branches:
            case ((_, IntegerTerm(((1, count),), 0)),):
                return self.bits.find(count)
            case ((_, IntegerTerm(parts, 0)),) if all(
                self.bits.find(count) is not None for _, count in parts
            ):
                return self.bits.find(
                    Linear(tuple((factor, self._count(count)) for factor, count in parts), 0)
                )
            case _:
                return None

    def whole(self, term: IntegerTerm) -> Ref:
        """The step whose value the term is."""
        match term:
            case IntegerTerm(((1, count),), 0):
                return self._count(count)
            case _:
                parts = tuple((factor, self._count(count)) for factor, count in term.parts)
                return self.bits.add(Linear(parts, term.constant))

    def _linear(self, term: IntegerTerm) -> Ref:
        """The term without its constant."""
        return self.bits.add(Linear(tuple((factor, self._count(count)) for factor, count in term.parts), 0))

    def _count(self, count: Count) -> Ref:
        return self.bits.add(count)

    def _merged(self, branches: list[tuple[Ref, IntegerTerm]]) -> Branches:
        """The branches that can be in force, each integer once. Raises `TooManyBranchesError`."""
        bits: dict[IntegerTerm, list[Ref]] = {}
        for bit, term in branches:
            if bit != self.bits.false:
                bits.setdefault(term, []).append(bit)
        if len(bits) > MAX_BRANCHES:
            raise TooManyBranchesError
        return tuple((self.bits.any_of(where), term) for term, where in bits.items())
