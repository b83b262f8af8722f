"""Sums over the visible positions, and tests of counts, in a normal form.

A network reads the sign of a sum in a scale and with a constant of its own. Here every sum has one scale and
one constant, so that what says the same of the same summand is one diagram.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, gcd
from typing import assert_never

from attemper.checker.diagrams import Diagram
from attemper.checker.names import (
    CountNamed,
    CountRemainder,
    MixedAtLeast,
    Names,
    Place,
    PlaceAtLeast,
    PlaceAtom,
    PlaceNamed,
    PlaceRemainder,
    SumAtLeast,
    UnprovenError,
    number_of,
)
from attemper.exact.predicates import Predicate, holds
from attemper.networks.layers import Masking

NUMBER_VISIBLE: dict[Masking, Place] = {
    Masking.FUTURE: (1, 0, 0),
    Masking.PAST: (-1, 1, 1),
    Masking.NONE: (0, 1, 0),
}
"""The number of positions visible from i, as a i + b n + c."""


class Sums(Names):
    """Names with sums and counts over the visible positions."""

    # Sums --------------------------------------------------------------------------------------

    def sum_at_least(self, masking: Masking, summand: Diagram, threshold: int) -> Diagram:
        """[the sum of an integer over the visible positions >= threshold]."""
        mark, summand = self.mark(masking), self.settled(summand)
        corner = self._corner(self._marked(masking, summand))
        threshold -= corner
        summand = self.settled(self.plus(summand, self.scaled(mark, -corner)))
        scale = self._scale(summand)
        if scale == 0:
            return self.number(threshold <= 0)
        if scale < 0:
            return self.negation(self.sum_at_least(masking, self.scaled(summand, -1), 1 - threshold))
        summand, threshold = self.scaled(summand, 1 / scale), ceil(threshold / scale)
        marked = self.constants(self._marked(masking, summand), "a count")
        others = self.constants(self.diagrams.constrain(summand, self.negation(mark), self.false), "a count")
        decided = self._decided_sum(marked, others, threshold)
        if decided is not None:
            return decided
        if len(others) == 1 and marked == [0]:
            a, b, c = NUMBER_VISIBLE[masking]
            k = int(others[0])
            return self.at_least_place(k * a, k * b, k * (c - 1) - threshold)
        return self.choose(
            self.edge(masking),
            self._reaches(summand, threshold),
            self._bit(SumAtLeast(masking, summand), threshold),
        )

    def mixed_at_least(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j <= i + sum of right(j) over j >= i + own(i) >= threshold], integers."""
        total = self.plus(self.plus(left, right), own)
        return self.choose(
            self.only, self._reaches(total, threshold), self._sum_of_three(left, right, total, threshold)
        )

    def total_at_least(self, summands: Mapping[Masking, Diagram], threshold: int) -> Diagram:
        """[the sum of what is added up under each of the three weak masks >= threshold]."""
        used = [masking for masking, summand in summands.items() if summand != self.false]
        if not used:
            return self.number(threshold <= 0)
        if len(used) == 1:
            return self.sum_at_least(used[0], summands[used[0]], threshold)
        # A total over all j is the sum over j <= i and the sum over j >= i, less what stands at i.
        whole = summands[Masking.NONE]
        left, right = (self.plus(summands[side], whole) for side in (Masking.FUTURE, Masking.PAST))
        return self.mixed_at_least(left, right, self.scaled(whole, -1), threshold)

    def _sum_of_three(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j < i + own(i) + sum of right(j) over j > i >= threshold], for n > 1.

        In this form the three summands are determined by the sum. If what stands at i is like one side, or
        like both, and a number, it is a sum over all positions that some mask shows, i with them.
        """
        several = self.negation(self.only)
        left, right, own = (self.settled(part) for part in (left, right, own))
        own = self.diagrams.constrain(own, several, self.false)
        if left == right == self.false:
            return self._reaches(own, threshold)
        masking, summand = Masking.NONE, left
        if right == self.false:
            masking = Masking.FUTURE
        elif left == self.false:
            masking, summand = Masking.PAST, right
        rest = self.plus(own, self.scaled(self.diagrams.constrain(summand, several, self.false), -1))
        if self.diagrams.is_constant(rest) and (masking is not Masking.NONE or left == right):
            return self.sum_at_least(masking, summand, threshold - self._corner(rest))
        corner = self._corner(own)
        return self._two_sided(left, right, self.plus(own, self.number(-corner)), threshold - corner)

    def _two_sided(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """The same, for an `own` that is 0 where all its bits are: brought to one scale and sign."""
        scales = [self._scale(part) for part in (left, right, own)]
        common = gcd(*(int(scale) for scale in scales))
        if next(scale for scale in scales if scale) < 0:
            left, right, own = (self.scaled(part, -1) for part in (left, right, own))
            return self.negation(self._two_sided(left, right, own, 1 - threshold))
        left, right, own = (self.scaled(part, Fraction(1, common)) for part in (left, right, own))
        threshold = -(-threshold // common)
        before, after, here = (self.constants(part, "a count") for part in (left, right, own))
        decided = self._decided_sum(here, before + after, threshold)
        if decided is not None:
            return decided
        if len(before) == len(after) == len(here) == 1:
            k, m = int(before[0]), int(after[0])
            return self.at_least_place(k - m, m, int(here[0]) - k - threshold)
        return self._bit(MixedAtLeast(left, right, own), threshold)

    def _decided_sum(self, here: list[Fraction], others: list[Fraction], threshold: int) -> Diagram | None:
        """A sum of one number `here` and any number of `others`, if it is always or never large enough."""
        if min(others) >= 0 and threshold <= min(here):
            return self.true
        if max(others) <= 0 and threshold > max(here):
            return self.false
        return None

    def _marked(self, masking: Masking, summand: Diagram) -> Diagram:
        """A summand at the marked position."""
        there = self.diagrams.constrain(summand, self.mark(masking), self.false)
        return there if masking is Masking.PAST else self._at_first(there)

    def _reaches(self, diagram: Diagram, threshold: int) -> Diagram:
        return self.where((">=", threshold), lambda value: number_of(value) >= threshold, diagram)

    def _corner(self, diagram: Diagram) -> int:
        """The value where every bit is 0, an integer: a number that the diagram itself singles out."""
        while not self.diagrams.is_constant(diagram):
            _, diagram, _ = self.diagrams.top(diagram)
        return int(self._integers(diagram)[0])

    def _scale(self, diagram: Diagram) -> Fraction:
        """The greatest common divisor of all values, with the sign of the first that is not 0."""
        values = self._integers(diagram)
        common = gcd(*map(int, values))
        first = next((value for value in values if value), Fraction(0))
        return Fraction(-common if first < 0 else common)

    def _integers(self, diagram: Diagram) -> list[Fraction]:
        """All values, which must be integers, in an order that depends on the function alone."""
        values = self.constants(diagram, "a count")
        if any(value.denominator != 1 for value in values):
            raise UnprovenError("a counted value is not an integer")
        return values

    # Counts ------------------------------------------------------------------------------------

    def counted_test(
        self, masking: Masking, bit: Diagram, predicate: Predicate, scale: int, shift: int
    ) -> Diagram:
        """[predicate(scale * count + shift)] for the count of a bit over the visible positions."""
        bit = self.settled(bit)
        if bit == self.true:
            a, b, c = NUMBER_VISIBLE[masking]
            return self.place(predicate, scale * a, scale * b, scale * c + shift)
        return self.choose(
            self.sum_at_least(masking, bit, 1),
            self.looked_up(masking, bit, self.place(predicate, scale, 0, shift)),
            self.number(holds(predicate, shift)),
        )

    def looked_up(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position, read at the count, which is at least 1; at 1 where i sees one."""
        return self.choose(
            self.edge(masking), self.at_position_one(diagram), self.at_count(masking, bit, diagram)
        )

    def at_count(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position j, read at j = the number of visible positions with the bit, >= 1."""

        def read(atom: PlaceAtom, threshold: int) -> Diagram:
            if bit == self.true:
                return self.test_at(atom, threshold, NUMBER_VISIBLE[masking])
            match atom:
                case PlaceAtLeast(factor):
                    return self.sum_at_least(masking, self.scaled(bit, factor), threshold)
                case PlaceRemainder(modulus, factor):
                    return self._bit(CountRemainder(masking, bit, modulus, factor), threshold)
                case PlaceNamed(name, factor):
                    return self._bit(CountNamed(masking, bit, name, factor), threshold)
                case _:
                    assert_never(atom)

        return self.function_at(diagram, read)
