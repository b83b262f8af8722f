"""What formulas say of other positions, in a normal form.

Every constructor here applies identities of the definition, for every word and every position, so that a
formula and a network that say the same in different ways are, where these identities reach, the same diagram.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, gcd
from typing import assert_never, final

from attemper.checker.diagrams import Diagram, Variable
from attemper.checker.names import (
    At,
    Atom,
    CountNamed,
    CountRemainder,
    Exists,
    LetterBit,
    MixedAtLeast,
    Names,
    Place,
    PlaceAtLeast,
    PlaceAtom,
    PlaceNamed,
    PlaceRemainder,
    Shifted,
    SumAtLeast,
    Test,
    UnprovenError,
)
from attemper.exact.predicates import Predicate, holds
from attemper.networks.layers import Masking

MAX_EXPANDED = 6
"""Tests of positions by whose cells `exists` is split: 2^6 cells for each symbol."""

_NUMBER_VISIBLE: dict[Masking, Place] = {
    Masking.FUTURE: (1, 0, 0),
    Masking.PAST: (-1, 1, 1),
    Masking.NONE: (0, 1, 0),
}
"""The number of positions visible from i, as a i + b n + c."""


@final
class Formulas(Names):
    """Names under which equal functions of other positions are one diagram, as far as identities reach.

    `expand` has the tests of places by which `exists` is split into cases, beside letters.
    """

    def __init__(self, symbols: tuple[str, ...], expand: frozenset[Test] = frozenset()) -> None:
        super().__init__(symbols)
        self.expand = expand

    # Other positions ---------------------------------------------------------------------------

    def shifted(self, diagram: Diagram, offset: int, at_edge: Diagram) -> Diagram:
        """The value at i + offset (offset 1 or -1), `at_edge` where there is no such position."""

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self.atoms[family]:
                case (PlaceAtLeast() | PlaceRemainder() | PlaceNamed()) as atom:
                    return self.test_at(atom, threshold, (1, 0, offset))
                case SumAtLeast(Masking.NONE) | Exists(Masking.NONE) | At(Masking.NONE):
                    return self._own(variable)
                case _:
                    return self._bit(Shifted(offset, family), threshold)

        return self.choose(
            self.first if offset < 0 else self.last,
            at_edge,
            self.diagrams.substitute(self.settled(diagram), moved, self.choose),
        )

    def chosen(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The value at the rightmost (leftmost) visible position with `where`, which must exist."""
        where, diagram = self._decided(where), self._decided(diagram)
        if where == self.false:
            return self.false
        own = (masking is Masking.FUTURE and not leftmost) or (masking is Masking.PAST and leftmost)
        if where == self.true and own:
            return diagram

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self.atoms[family]:
                case PlaceAtLeast(0) | PlaceRemainder(_, 0) | SumAtLeast(Masking.NONE):
                    return self._own(variable)
                case _:
                    return self._bit(At(masking, leftmost, where, family), threshold)

        return self.diagrams.substitute(
            self.diagrams.constrain(diagram, where, self.false), moved, self.choose
        )

    def attend(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The same, 0 where no visible position has `where`."""
        return self.both(self.chosen(masking, leftmost, where, diagram), self.exists(masking, where))

    def exists(self, masking: Masking, where: Diagram) -> Diagram:
        """[some visible position j has where(j)].

        That i itself is visible, sometimes alone, is spelled out for letters and for tests of places and
        counts only: elsewhere it would copy large diagrams into many others.
        """
        where = self.settled(where)
        if self.diagrams.is_constant(where):
            return where
        for atom, _ in self._tests(where):
            if not isinstance(atom, LetterBit | PlaceAtom | CountRemainder | CountNamed):
                return self._bit(Exists(masking, where))
        found, others = where, self.negation(self.edge(masking))
        for part in self._split(where):
            found = self.either(found, self.both(others, self._bit(Exists(masking, part))))
        return found

    def _split(self, where: Diagram) -> list[Diagram]:
        """Parts whose disjunction is `where`; "some position" distributes over them.

        Letter by letter; on demand (`expand`) also by the given tests of places.
        """
        if not {test for test in self._tests(where) if not isinstance(test[0], LetterBit)} <= self.expand:
            return [where]
        cells = [self.letter(symbol) for symbol in self.symbols]
        for atom, threshold in sorted(self.expand, key=repr):
            bit = self._bit(atom, threshold)
            cells = [self.both(c, b) for c in cells for b in (bit, self.negation(bit))]
        return [
            cell for cell in dict.fromkeys(cells) if cell != self.false and self.both(cell, where) == cell
        ]

    def mixed_places(self) -> frozenset[Test]:
        """The tests of places that occur beside letters in some `exists`: what to expand, if not too many."""
        found: set[Test] = set()
        for name in self.atoms:
            tests = self._tests(name.where) if isinstance(name, Exists) else set()
            places = {(atom, t) for atom, t in tests if isinstance(atom, PlaceAtom)}
            letters = {test for test in tests if isinstance(test[0], LetterBit)}
            if letters and letters | places == tests:
                found |= places
        return frozenset(found) if len(found) <= MAX_EXPANDED else frozenset()

    def _tests(self, diagram: Diagram) -> set[tuple[Atom, int]]:
        return {(self.atoms[family], threshold) for family, threshold in self.diagrams.support(diagram)}

    # Sums --------------------------------------------------------------------------------------

    def sum_at_least(self, masking: Masking, summand: Diagram, threshold: int) -> Diagram:
        """[the sum of an integer over the visible positions >= threshold]."""
        mark, summand = self.mark(masking), self.settled(summand)
        corner = self._corner(self._marked(masking, summand))
        threshold -= int(corner)
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
            a, b, c = _NUMBER_VISIBLE[masking]
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
            (offset,) = self.constants(rest, "a count")
            return self.sum_at_least(masking, summand, threshold - int(offset))
        corner = self._corner(own)
        return self._two_sided(left, right, self.plus(own, self.number(-corner)), threshold - int(corner))

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
        return self.where((">=", threshold), lambda value: value.constant >= threshold, diagram)

    def _corner(self, diagram: Diagram) -> Fraction:
        """The value where every bit is 0: a number that the diagram itself singles out."""
        while not self.diagrams.is_constant(diagram):
            _, diagram, _ = self.diagrams.top(diagram)
        return self.values(diagram)[0].constant

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
            a, b, c = _NUMBER_VISIBLE[masking]
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
                return self.test_at(atom, threshold, _NUMBER_VISIBLE[masking])
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
