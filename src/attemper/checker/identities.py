"""What formulas say of other positions, in a normal form.

Every constructor here applies identities of the definition, for every word and every position, so that a
formula and a network that say the same in different ways are, where these identities reach, the same diagram.
"""

from __future__ import annotations

from typing import final

from attemper.checker.diagrams import Diagram, Variable
from attemper.checker.names import (
    MAX_RESIDUES,
    AtOffset,
    Atom,
    CountNamed,
    CountRemainder,
    Exists,
    LetterBit,
    PlaceAtLeast,
    PlaceAtom,
    PlaceNamed,
    PlaceRemainder,
    PlaceTest,
    SelectedAt,
    SumAtLeast,
)
from attemper.checker.sums import Sums
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Masking

MAX_EXPANDED = 6
"""Tests of positions by whose cells `exists` is split: 2^6 cells for each symbol."""


@final
class Formulas(Sums):
    """Equal functions of other positions are one diagram, as far as identities reach.

    `expand` has the tests of places by which `exists` is split into cases, beside letters.
    """

    def __init__(self, symbols: tuple[str, ...], expand: frozenset[PlaceTest] = frozenset()) -> None:
        super().__init__(symbols)
        self.expand = expand

    # Other positions ---------------------------------------------------------------------------

    def shifted(self, diagram: Diagram, offset: int, at_edge: Diagram) -> Diagram:
        """The value at i + offset (offset 1 or -1), `at_edge` where there is no such position."""

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self.names.atoms[family]:
                case (PlaceAtLeast() | PlaceRemainder() | PlaceNamed()) as atom:
                    return self.names.test_at(atom, threshold, (1, 0, offset))
                case SumAtLeast(Masking.NONE) | Exists(Masking.NONE) | SelectedAt(Masking.NONE):
                    return self.names.variable(variable)
                case _:
                    return self.names.bit(AtOffset(offset, family), threshold)

        inside = self.names.elsewhere(self.names.canonical(diagram), moved)
        return self.names.choose(self.names.first if offset < 0 else self.names.last, at_edge, inside)

    def chosen(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The value at the rightmost (leftmost) visible position with `where`, which must exist."""
        where, diagram = self.names.decided(where), self.names.decided(diagram)
        if where == self.names.false:
            return self.names.false
        own = (masking is Masking.FUTURE and not leftmost) or (masking is Masking.PAST and leftmost)
        if where == self.names.true and own:
            return diagram
        if own and (residue := self._residue(where)) is not None:
            return self._nearest_with(residue, masking, diagram)

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self.names.atoms[family]:
                case PlaceAtLeast(0) | PlaceRemainder(_, 0) | SumAtLeast(Masking.NONE):
                    return self.names.variable(variable)
                case _:
                    return self.names.bit(SelectedAt(masking, leftmost, where, family), threshold)

        return self.names.elsewhere(self.names.diagrams.constrain(diagram, where, self.names.false), moved)

    def attend(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The same, 0 where no visible position has `where`."""
        return self.names.both(self.chosen(masking, leftmost, where, diagram), self.exists(masking, where))

    def exists(self, masking: Masking, where: Diagram) -> Diagram:
        """[some visible position j has where(j)].

        That i itself is visible, sometimes alone, is spelled out for letters and for tests of places and
        counts only: elsewhere it would copy large diagrams into many others.
        """
        where = self.names.canonical(where)
        if self.names.diagrams.is_constant(where):
            return where
        if masking is not Masking.NONE and (residue := self._residue(where)) is not None:
            return self._nearest_with(residue, masking, self.names.true)
        for atom, _ in self._tests(where):
            if not isinstance(atom, LetterBit | PlaceAtom | CountRemainder | CountNamed):
                return self.names.bit(Exists(masking, where))
        found, others = where, self.names.negation(self.names.edge(masking))
        for part in self._split(where):
            found = self.names.either(found, self.names.both(others, self.names.bit(Exists(masking, part))))
        return found

    # Positions with a remainder ----------------------------------------------------------------

    def _residue(self, where: Diagram) -> Remainder | None:
        """The remainder that a bit says the position leaves; not where `exists` is split by such tests."""
        tests = self._tests(where)
        match [atom for atom in {atom for atom, _ in tests} if atom != PlaceAtLeast(1, 0)]:
            case [PlaceRemainder(modulus, 1, 0)] if modulus <= MAX_RESIDUES and not tests & self.expand:
                decided, residues = self.names.decided(where), (Remainder(modulus, r) for r in range(modulus))
                return next(
                    (r for r in residues if self.names.decided(self.names.place(r, 1, 0, 0)) == decided), None
                )
            case _:
                return None

    def _nearest_with(self, residue: Remainder, masking: Masking, diagram: Diagram) -> Diagram:
        """The value at the nearest visible position with the remainder, 0 where there is none.

        That is k positions from i, k < modulus, and the remainder of i says which k.
        """
        offset = -1 if masking is Masking.FUTURE else 1
        found = there = diagram
        for k in range(1, residue.modulus):
            there = self.shifted(there, offset, self.names.false)
            leaves = Remainder(residue.modulus, (residue.remainder - offset * k) % residue.modulus)
            found = self.names.choose(self.names.place(leaves, 1, 0, 0), there, found)
        return found

    def _split(self, where: Diagram) -> list[Diagram]:
        """Parts whose disjunction is `where`; "some position" distributes over them.

        Letter by letter; on demand (`expand`) also by the given tests of places.
        """
        if not {test for test in self._tests(where) if not isinstance(test[0], LetterBit)} <= self.expand:
            return [where]
        cells = [self.names.letter(symbol) for symbol in self.names.symbols]
        for atom, threshold in sorted(self.expand, key=repr):
            bit = self.names.bit(atom, threshold)
            cells = [self.names.both(c, b) for c in cells for b in (bit, self.names.negation(bit))]
        return [
            cell
            for cell in dict.fromkeys(cells)
            if cell != self.names.false and self.names.both(cell, where) == cell
        ]

    def mixed_places(self) -> frozenset[PlaceTest]:
        """The tests of places that occur beside others in some `exists`, or else those beside letters.

        What to expand, if not too many.
        """
        found: set[PlaceTest] = set()
        beside_letters: set[PlaceTest] = set()
        for name in self.names.atoms:
            tests = self._tests(name.where) if isinstance(name, Exists) else set()
            places = {(atom, t) for atom, t in tests if isinstance(atom, PlaceAtom)}
            letters = {test for test in tests if isinstance(test[0], LetterBit)}
            if len(tests) > 1 and letters | places == tests:
                found |= places
                beside_letters |= places if letters else set()
        few = (tests for tests in (found, beside_letters) if len(tests) <= MAX_EXPANDED)
        return frozenset(next(few, ()))

    def _tests(self, diagram: Diagram) -> set[tuple[Atom, int]]:
        return {
            (self.names.atoms[family], threshold)
            for family, threshold in self.names.diagrams.support(diagram)
        }
