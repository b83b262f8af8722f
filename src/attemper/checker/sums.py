"""Sums over the visible positions, and tests of counts, in a normal form.

A network reads the sign of a sum in a scale and with a constant of its own. Here every sum has one scale and
one constant, so that what says the same of the same summand is one diagram.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil, gcd
from typing import assert_never

from attemper.checker import names
from attemper.checker.diagrams import Diagram
from attemper.exact.predicates import Predicate, holds
from attemper.networks.layers import Masking


class Sums(names.Positions):
    """What sums and counts over the visible positions are called: the same in every check."""

    def __init__(self, symbols: tuple[str, ...]) -> None:
        self.names = names.Names(symbols, self)

    # Sums --------------------------------------------------------------------------------------

    def sum_at_least(self, masking: Masking, summand: Diagram, threshold: int) -> Diagram:
        """[the sum of an integer over the visible positions >= threshold]."""
        mark, summand = self.names.mark(masking), self.names.canonical(summand)
        corner = self._corner(self._marked(masking, summand))
        threshold -= corner
        summand = self.names.canonical(self.names.plus(summand, self.names.scaled(mark, -corner)))
        scale = self._scale(summand)
        if scale == 0:
            return self.names.number(threshold <= 0)
        if scale < 0:
            return self.names.negation(
                self.sum_at_least(masking, self.names.scaled(summand, -1), 1 - threshold)
            )
        summand, threshold = self.names.scaled(summand, 1 / scale), ceil(threshold / scale)
        marked = self.names.constants(self._marked(masking, summand), "a count")
        others = self.names.constants(
            self.names.diagrams.constrain(summand, self.names.negation(mark), self.names.false), "a count"
        )
        decided = self._decided_sum(marked, others, threshold)
        if decided is not None:
            return decided
        if len(others) == 1 and marked == [0]:
            a, b, c = masking.number_visible_form
            k = int(others[0])
            return self.names.at_least_place(k * a, k * b, k * (c - 1) - threshold)
        return self.names.choose(
            self.names.edge(masking),
            self._reaches(summand, threshold),
            self._summed(masking, summand, threshold),
        )

    def _summed(self, masking: Masking, summand: Diagram, threshold: int) -> Diagram:
        """The same of a sum in normal form, where i sees several positions."""
        return self.names.bit(names.SumAtLeast(masking, summand), threshold)

    def mixed_at_least(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j <= i + sum of right(j) over j >= i + own(i) >= threshold], integers."""
        total = self.names.plus(self.names.plus(left, right), own)
        return self.names.choose(
            self.names.only,
            self._reaches(total, threshold),
            self._sum_of_three(left, right, total, threshold),
        )

    def total_at_least(self, summands: Mapping[Masking, Diagram], threshold: int) -> Diagram:
        """[the sum of what is added up under each of the three weak masks >= threshold]."""
        used = [masking for masking, summand in summands.items() if summand != self.names.false]
        if not used:
            return self.names.number(threshold <= 0)
        if len(used) == 1:
            return self.sum_at_least(used[0], summands[used[0]], threshold)
        # A total over all j is the sum over j <= i and the sum over j >= i, less what stands at i.
        whole = summands[Masking.NONE]
        left, right = (self.names.plus(summands[side], whole) for side in (Masking.FUTURE, Masking.PAST))
        return self.mixed_at_least(left, right, self.names.scaled(whole, -1), threshold)

    def _sum_of_three(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j < i + own(i) + sum of right(j) over j > i >= threshold], for n > 1.

        In this form the three summands are determined by the sum. If what stands at i is like one side, or
        like both, and a number, it is a sum over all positions that some mask shows, i with them.
        """
        several = self.names.negation(self.names.only)
        left, right, own = (self.names.canonical(part) for part in (left, right, own))
        own = self.names.diagrams.constrain(own, several, self.names.false)
        if left == right == self.names.false:
            return self._reaches(own, threshold)
        masking, summand = Masking.NONE, left
        if right == self.names.false:
            masking = Masking.FUTURE
        elif left == self.names.false:
            masking, summand = Masking.PAST, right
        rest = self.names.plus(
            own, self.names.scaled(self.names.diagrams.constrain(summand, several, self.names.false), -1)
        )
        if self.names.diagrams.is_constant(rest) and (masking is not Masking.NONE or left == right):
            return self.sum_at_least(masking, summand, threshold - self._corner(rest))
        corner = self._corner(own)
        return self._two_sided(
            left, right, self.names.plus(own, self.names.number(-corner)), threshold - corner
        )

    def _two_sided(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """The same, for an `own` that is 0 where all its bits are: brought to one scale and sign."""
        scales = [self._scale(part) for part in (left, right, own)]
        common = gcd(*(int(scale) for scale in scales))
        if next(scale for scale in scales if scale) < 0:
            left, right, own = (self.names.scaled(part, -1) for part in (left, right, own))
            return self.names.negation(self._two_sided(left, right, own, 1 - threshold))
        left, right, own = (self.names.scaled(part, Fraction(1, common)) for part in (left, right, own))
        threshold = -(-threshold // common)
        before, after, here = (self.names.constants(part, "a count") for part in (left, right, own))
        decided = self._decided_sum(here, before + after, threshold)
        if decided is not None:
            return decided
        if len(before) == len(after) == len(here) == 1:
            k, m = int(before[0]), int(after[0])
            return self.names.at_least_place(k - m, m, int(here[0]) - k - threshold)
        return self.names.bit(names.MixedAtLeast(left, right, own), threshold)

    def _decided_sum(self, here: list[Fraction], others: list[Fraction], threshold: int) -> Diagram | None:
        """A sum of one number `here` and any number of `others`, if it is always or never large enough."""
        if min(others) >= 0 and threshold <= min(here):
            return self.names.true
        if max(others) <= 0 and threshold > max(here):
            return self.names.false
        return None

    def _marked(self, masking: Masking, summand: Diagram) -> Diagram:
        """A summand at the marked position."""
        there = self.names.diagrams.constrain(summand, self.names.mark(masking), self.names.false)
        return there if masking is Masking.PAST else self.names.at_first(there)

    def _reaches(self, diagram: Diagram, threshold: int) -> Diagram:
        return self.names.where((">=", threshold), lambda value: names.number_of(value) >= threshold, diagram)

    def _corner(self, diagram: Diagram) -> int:
        """The value where every bit is 0, an integer: a number that the diagram itself singles out."""
        while not self.names.diagrams.is_constant(diagram):
            _, diagram, _ = self.names.diagrams.top(diagram)
        return int(self._integers(diagram)[0])

    def _scale(self, diagram: Diagram) -> Fraction:
        """The greatest common divisor of all values, with the sign of the first that is not 0."""
        values = self._integers(diagram)
        common = gcd(*map(int, values))
        first = next((value for value in values if value), Fraction(0))
        return Fraction(-common if first < 0 else common)

    def _integers(self, diagram: Diagram) -> list[Fraction]:
        """All values, which must be integers, in an order that depends on the function alone."""
        values = self.names.constants(diagram, "a count")
        if any(value.denominator != 1 for value in values):
            raise names.UnprovenError("a counted value is not an integer")
        return values

    # Counts ------------------------------------------------------------------------------------

    def counted_test(
        self, masking: Masking, bit: Diagram, predicate: Predicate, scale: int, shift: int
    ) -> Diagram:
        """[predicate(scale * count + shift)] for the count of a bit over the visible positions."""
        bit = self.names.canonical(bit)
        if bit == self.names.true:
            a, b, c = masking.number_visible_form
            return self.names.place(predicate, scale * a, scale * b, scale * c + shift)
        return self.names.choose(
            self.sum_at_least(masking, bit, 1),
            self.looked_up(masking, bit, self.names.place(predicate, scale, 0, shift)),
            self.names.number(holds(predicate, shift)),
        )

    def looked_up(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position, read at the count, which is at least 1; at 1 where i sees one."""
        return self.names.choose(
            self.names.edge(masking),
            self.names.at_position_one(diagram),
            self.at_count(masking, bit, diagram),
        )

    def at_count(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position j, read at j = the number of visible positions with the bit, >= 1."""

        def read(atom: names.PlaceAtom, threshold: int) -> Diagram:
            if bit == self.names.true:
                return self.names.test_at(atom, threshold, masking.number_visible_form)
            match atom:
                case names.PlaceAtLeast(factor):
                    return self.sum_at_least(masking, self.names.scaled(bit, factor), threshold)
                case names.PlaceRemainder(modulus, factor):
                    return self.names.bit(names.CountRemainder(masking, bit, modulus, factor), threshold)
                case names.PlaceNamed(name, factor):
                    return self.names.bit(names.CountNamed(masking, bit, name, factor), threshold)
                case _:
                    assert_never(atom)

        return self.names.function_at(diagram, read)
