"""What a coordinate of the residual stream means, as a normal form.

Bits are decision diagrams over *atoms*: the letter at i, tests of i and n, "some visible position has
...", "at the chosen position ...", "the sum over the visible positions is at least t". Every
constructor here applies identities of the definition, for every word and every position, so that two
diagrams that are the same object mean the same. Numbers are diagrams too: their terminals are
`Affine` in *means*, the averages over the visible positions, which no bit determines.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, gcd
from typing import final

from attemper.checker.diagrams import Diagram, Diagrams, Tie, Variable
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, holds
from attemper.networks.layers import Masking

Name = tuple[Hashable, ...]
"""What a family of variables is about."""

Test = tuple[Name, int]
"""A variable by the name of its family: the same in every check."""


@final
@dataclass(frozen=True)
class Affine:
    """constant + the sum of factor * mean; means by number, ascending, factors not 0."""

    constant: Fraction
    parts: tuple[tuple[int, Fraction], ...] = ()


@final
@dataclass(frozen=True)
class Mean:
    """The average of `summand` over the positions that `masking` shows at i, or ReLU of an affine value."""

    masking: Masking | None
    summand: Diagram
    low: Fraction
    high: Fraction


class UnprovenError(Exception):
    """No rule covers this step; the text says which step and why."""


MAX_RESIDUES = 16
"""Up to this modulus, remainders of one number exclude each other and one of them holds."""

MAX_EXPANDED = 6
"""Tests of positions by whose cells `exists` is split: 2^6 cells for each symbol."""

_NAMED_REMAINDERS = {"even": Remainder(2, 0), "odd": Remainder(2, 1)}


_TIES = {"line": Tie.CHAIN, "mod": Tie.EXCLUSIVE, "named": Tie.FREE}
"""The families of tests of places."""

_NUMBER_VISIBLE = {Masking.FUTURE: (1, 0, 0), Masking.PAST: (-1, 1, 1), Masking.NONE: (0, 1, 0)}
"""The number of positions visible from i, as a i + b n + c."""


@final
class Terms:
    """The atoms and means of one check, and the constructors of meanings."""

    def __init__(self, symbols: tuple[str, ...], expand: frozenset[Test] = frozenset()) -> None:
        self.diagrams = Diagrams()
        self.symbols = symbols
        self.expand = expand
        self.means: list[Mean] = []
        self._families: dict[Hashable, int] = {}
        self._names: list[tuple[Hashable, ...]] = []
        self._mean_numbers: dict[tuple[Hashable, ...], int] = {}
        self._decided_at_first: dict[Diagram, Diagram] = {}
        self._values: dict[Diagram, list[Affine]] = {}
        self.false, self.true = self.number(0), self.number(1)
        self.first = self.negation(self.at_least_place(1, 0, -2))
        self.last = self.at_least_place(1, -1, 0)
        self.only = self.both(self.first, self.last)
        self.sign = self.choose(self.place(Remainder(2, 1), 1, 0, 0), self.number(-1), self.true)

    # Numbers and bits --------------------------------------------------------------------------

    def number(self, value: int | Fraction) -> Diagram:
        """A constant."""
        return self.diagrams.constant(Affine(Fraction(value)))

    def affine(self, value: Affine) -> Diagram:
        """One affine value everywhere."""
        return self.diagrams.constant(value)

    def plus(self, left: Diagram, right: Diagram) -> Diagram:
        """The sum."""
        if left == self.false:
            return right
        return self.diagrams.combine("+", add_affine, left, right)

    def scaled(self, diagram: Diagram, factor: int | Fraction) -> Diagram:
        """factor * diagram."""
        factor = Fraction(factor)
        if factor == 1:
            return diagram
        return self.diagrams.map(("*", factor), lambda value: scale_affine(value, factor), diagram)

    def product(self, left: Diagram, right: Diagram) -> Diagram:
        """The product of two diagrams, one of which has constant terminals wherever the other has means."""
        return self.diagrams.combine("product", _multiply, left, right)

    def negation(self, bit: Diagram) -> Diagram:
        """1 - bit."""
        return self.diagrams.map("not", lambda value: Affine(1 - value.constant), bit)

    def both(self, left: Diagram, right: Diagram) -> Diagram:
        """Conjunction."""
        return self.diagrams.combine("and", lambda a, b: a if a.constant == 0 else b, left, right)

    def either(self, left: Diagram, right: Diagram) -> Diagram:
        """Disjunction."""
        return self.diagrams.combine("or", lambda a, b: a if a.constant == 1 else b, left, right)

    def different(self, left: Diagram, right: Diagram) -> Diagram:
        """Exclusive or."""
        return self.diagrams.combine("xor", lambda a, b: Affine(abs(a.constant - b.constant)), left, right)

    def choose(self, bit: Diagram, high: Diagram, low: Diagram) -> Diagram:
        """`high` where the bit is 1, `low` where it is 0."""
        kept = self.diagrams.combine("keep", lambda b, h: h if b.constant == 1 else None, bit, high)
        return self.diagrams.combine("fill", lambda k, v: v if k is None else k, kept, low)

    def where(self, name: Hashable, holds_of: Callable[[Affine], bool], diagram: Diagram) -> Diagram:
        """The bit that says where a value has a property; `name` tells properties apart."""
        return self.diagrams.map(("where", name), lambda value: Affine(Fraction(holds_of(value))), diagram)

    def equals(self, diagram: Diagram, constant: Fraction) -> Diagram:
        """The bit that says where a value is this number."""
        return self.where(("=", constant), lambda value: value == Affine(constant), diagram)

    def is_multiple(self, diagram: Diagram, of: Diagram) -> bool:
        """Whether it is a number times the other one, which is never 0."""
        (one, *_), (other, *_) = self.values(diagram), self.values(of)
        ratio = abs(one.constant / other.constant)
        return not one.parts and diagram in {self.scaled(of, ratio), self.scaled(of, -ratio)}

    def values(self, diagram: Diagram) -> list[Affine]:
        """All values that the diagram takes."""
        if diagram not in self._values:
            found = self.diagrams.values(diagram)
            self._values[diagram] = [value for value in found if isinstance(value, Affine)]
        return self._values[diagram]

    def constants(self, diagram: Diagram, what: str) -> list[Fraction]:
        """All values, which must be numbers. Raises `UnprovenError`."""
        found = self.values(diagram)
        if any(value.parts for value in found):
            raise UnprovenError(f"{what} depends on an average")
        return [value.constant for value in found]

    def bounds(self, value: Affine) -> tuple[Fraction, Fraction]:
        """The least and the greatest number that an affine value can be."""
        low = high = value.constant
        for number, factor in value.parts:
            ends = factor * self.means[number].low, factor * self.means[number].high
            low, high = low + min(ends), high + max(ends)
        return low, high

    def is_bit(self, diagram: Diagram) -> bool:
        """Whether every value is 0 or 1."""
        return all(not value.parts and value.constant in (0, 1) for value in self.values(diagram))

    # Atoms: letters and places -----------------------------------------------------------------

    def letter(self, symbol: str) -> Diagram:
        """[the symbol at i is this one]; the unused codes of the binary numbering mean the last symbol."""
        width = (len(self.symbols) - 1).bit_length()
        own, last = self.symbols.index(symbol), len(self.symbols) - 1
        found = self.false
        for code in range(2**width):
            if min(code, last) == own:
                cube = self.true
                for bit in range(width):
                    variable = self._variable(("letter", bit), Tie.FREE, 0)
                    cube = self.both(cube, variable if code >> bit & 1 else self.negation(variable))
                found = self.either(found, cube)
        return found

    def symbol(self, layer: int, group: int, code: int) -> Diagram:
        """[the one-hot symbol that a group of bits of a layer says is this one]."""
        return self._variable(("symbol", layer, group), Tie.EXCLUSIVE, code)

    def name_of(self, family: int) -> Name:
        """What a family of variables is about."""
        return self._names[family]

    def place(self, predicate: Predicate, per_position: int, per_length: int, shift: int) -> Diagram:
        """[predicate(a i + b n + c)]."""
        return self._test(("place", per_position, per_length), predicate, per_position, per_length, shift)

    def at_least_place(self, per_position: int, per_length: int, shift: int) -> Diagram:
        """[a i + b n + c >= 0], using 1 <= i <= n."""
        common = gcd(per_position, per_length)
        if common == 0:
            return self.true if shift >= 0 else self.false
        a, b, threshold = per_position // common, per_length // common, -(shift // common)
        if (a or b) < 0:
            return self.negation(self.at_least_place(-a, -b, threshold - 1))
        if b >= 0 and a + b >= 0 and threshold <= a + b:
            return self.true
        if b <= 0 and a + b <= 0 and threshold > a + b:
            return self.false
        if (a, b, threshold) == (0, 1, 2):
            return self.negation(self.only)
        test = self._variable(("line", a, b), Tie.CHAIN, threshold)
        if b == 0 or (a, b, threshold) == (1, -1, 0):  # these two define i = 1 and i = n
            return test
        return self.choose(self.only, self.number(a + b >= threshold), test)

    def _test(
        self, subject: tuple[Hashable, ...], predicate: Predicate, a: int, b: int, shift: int
    ) -> Diagram:
        """A predicate of a x + b n + c, where `subject` says what x is: the position, or a count."""
        match predicate:
            case Zero():
                return self.both(
                    self.at_least_place(a, b, shift), self.negation(self.at_least_place(a, b, shift - 1))
                )
            case NonNegative():
                return self.at_least_place(a, b, shift)
            case Named(name) if name in _NAMED_REMAINDERS:
                return self._test(subject, _NAMED_REMAINDERS[name], a, b, shift)
            case Remainder(modulus, remainder):
                return self._remainder(subject, modulus, a, b, remainder - shift)
            case Named(name):
                if a == b == 0:
                    return self.number(holds(predicate, shift))
                test = self._variable(("named", *subject, name, a, b), Tie.FREE, shift)
                return self._known_at_edge(subject, b, a + b, holds(predicate, a + b + shift), test)

    def _remainder(self, subject: tuple[Hashable, ...], modulus: int, a: int, b: int, target: int) -> Diagram:
        a, b, target = a % modulus, b % modulus, target % modulus
        common = gcd(gcd(a, b), modulus)
        if target % common:
            return self.false
        modulus, a, b, target = modulus // common, a // common, b // common, target // common
        if a == b == 0:
            return self.number(target == 0)
        family = ("mod", *(("place",) if subject[0] == "place" else subject), modulus, a, b)
        if target < modulus - 1 or modulus > MAX_RESIDUES:
            found = self._variable(family, Tie.EXCLUSIVE, target)
        else:
            found = self.true
            for other in range(modulus - 1):
                found = self.both(found, self.negation(self._variable(family, Tie.EXCLUSIVE, other)))
        at_one = (a + b - target) % modulus == 0
        return self._known_at_edge(subject, b, (a + b) % modulus, at_one, found)

    def _known_at_edge(
        self, subject: tuple[Hashable, ...], per_length: int, both: int, at_one: bool, test: Diagram
    ) -> Diagram:
        """A test of a i + b n with b != 0 is decided where n = 1, and at i = n if a + b = 0."""
        if subject[0] != "place" or not per_length:
            return test
        return self.choose(self.only if both else self.last, self.number(at_one), test)

    def settled(self, diagram: Diagram) -> Diagram:
        """The same function for all words, in the form that tests of i leave open, being decided at i = 1.

        Where i = 1 is an exception to the function of i > 1, the tests are decided there; where it is
        none, the function of i > 1 stands for both.
        """
        found = self._decided(diagram)
        if not self._has_tests(diagram):
            return found
        later = self.diagrams.constrain(diagram, self.negation(self.first), self.false)
        return later if self._decided(later) == found else found

    def _has_tests(self, diagram: Diagram) -> bool:
        """Whether it reads a test of i that is no threshold."""
        kinds = (self._names[family] for family, _ in self.diagrams.support(diagram))
        return any(name[0] in {"mod", "named"} and name[1] == "place" and name[-1] == 0 for name in kinds)

    def _decided(self, diagram: Diagram) -> Diagram:
        """The same function, with every test of i alone decided where i = 1."""
        return self.choose(self.first, self._at_first(diagram), diagram)

    def _at_first(self, diagram: Diagram) -> Diagram:
        """The diagram with every test of i alone decided for i = 1."""

        def decision(variable: Variable) -> bool | None:
            family, threshold = variable
            match self._names[family]:
                case ("line", 1, 0):
                    return threshold <= 1
                case ("mod", "place", int(modulus), int(a), 0):
                    return (a - threshold) % modulus == 0
                case ("named", "place", _, _, str(name), int(a), 0):
                    return holds(Named(name), a + threshold)
                case _:
                    return None

        return self.diagrams.decide(diagram, decision, self._decided_at_first)

    # Other positions ---------------------------------------------------------------------------

    def shifted(self, diagram: Diagram, offset: int, at_edge: Diagram) -> Diagram:
        """The value at i + offset (offset 1 or -1), `at_edge` where there is no such position."""

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self._names[family]:
                case ("line", int(a), int(b)):
                    return self.at_least_place(a, b, a * offset - threshold)
                case ("mod", "place", int(modulus), int(a), int(b)):
                    return self._remainder(("place",), modulus, a, b, threshold - a * offset)
                case ("named", "place", _, _, str(name), int(a), int(b)):
                    return self.place(Named(name), a, b, threshold + a * offset)
                case ("sum", Masking.NONE, *_) | ("exists", Masking.NONE, *_) | ("at", Masking.NONE, *_):
                    return self._own(variable)
                case _:
                    return self._variable(("shifted", offset, family), self._tie(family), threshold)

        inside = self.diagrams.substitute(self.settled(diagram), moved, self.choose)
        return self.choose(self.first if offset < 0 else self.last, at_edge, inside)

    def exists(self, masking: Masking, where: Diagram) -> Diagram:
        """[some visible position j has where(j)].

        That i itself is visible, sometimes alone, is spelled out for letters and places only: elsewhere it
        would copy large diagrams into many others.
        """
        where = self.settled(where)
        if self.diagrams.is_constant(where):
            return where
        if not {name[0] for name, _ in self._tests(where)} <= {"letter", *_TIES}:
            return self._variable(("exists", masking, where), Tie.FREE, 0)
        found, others = where, self.negation(self.edge(masking))
        for part in self._split(where):
            elsewhere = self._variable(("exists", masking, part), Tie.FREE, 0)
            found = self.either(found, self.both(others, elsewhere))
        return found

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
            match self._names[family]:
                case ("line", 0, _) | ("mod", "place", _, 0, _) | ("sum", Masking.NONE, *_):
                    return self._own(variable)
                case _:
                    name = ("at", masking, leftmost, where, family)
                    return self._variable(name, self._tie(family), threshold)

        cared = self.diagrams.constrain(diagram, where, self.false)
        return self.diagrams.substitute(cared, moved, self.choose)

    def attend(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The same, 0 where no visible position has `where`."""
        found = self.chosen(masking, leftmost, where, diagram)
        return self.both(self.exists(masking, where), found)

    def _split(self, where: Diagram) -> list[Diagram]:
        """Parts whose disjunction is `where`; "some position" distributes over them.

        Letter by letter; on demand (`expand`) also by the given tests of places.
        """
        support = self._tests(where)
        places = {test for test in support if test[0][0] != "letter"}
        if not places <= self.expand:
            return [where]
        cells = [self.letter(symbol) for symbol in self.symbols]
        for name, threshold in sorted(self.expand, key=repr):
            bit = self._variable(name, _TIES[str(name[0])], threshold)
            cells = [self.both(c, b) for c in cells for b in (bit, self.negation(bit))]
        return [
            cell for cell in dict.fromkeys(cells) if cell != self.false and self.both(cell, where) == cell
        ]

    def mixed_places(self) -> frozenset[Test]:
        """The tests of places that occur beside letters in some `exists`: what to expand, if not too many."""
        found: set[Test] = set()
        for name in self._names:
            if name[0] == "exists" and isinstance(name[2], int):
                support = self._tests(name[2])
                places = {test for test in support if test[0][0] == "line" or test[0][1] == "place"}
                if places != support and all(test[0][0] == "letter" for test in support - places):
                    found |= places
        return frozenset(found) if len(found) <= MAX_EXPANDED else frozenset()

    def _tests(self, diagram: Diagram) -> set[Test]:
        return {(self._names[family], threshold) for family, threshold in self.diagrams.support(diagram)}

    # Counts ------------------------------------------------------------------------------------

    def edge(self, masking: Masking) -> Diagram:
        """[i sees a single position]: i = 1, i = n, or n = 1."""
        return {Masking.FUTURE: self.first, Masking.PAST: self.last, Masking.NONE: self.only}[masking]

    def mark(self, masking: Masking) -> Diagram:
        """A bit that holds at exactly one visible position."""
        return self.last if masking is Masking.PAST else self.first

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
        unmarked = self.diagrams.constrain(summand, self.negation(mark), self.false)
        others = self.constants(unmarked, "a count")
        if min(others) >= 0 and threshold <= min(marked):
            return self.true
        if max(others) <= 0 and threshold > max(marked):
            return self.false
        if len(set(others)) == 1 and set(marked) == {0}:
            a, b, c = _NUMBER_VISIBLE[masking]
            k = int(others[0])
            return self.at_least_place(k * a, k * b, k * (c - 1) - threshold)
        variable = self._variable(("sum", masking, summand), Tie.CHAIN, threshold)
        return self.choose(self.edge(masking), self._reaches(summand, threshold), variable)

    def mixed_at_least(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j <= i + sum of right(j) over j >= i + own(i) >= threshold], integers."""
        total = self.plus(self.plus(left, right), own)
        at_only = self._reaches(total, threshold)
        return self.choose(self.only, at_only, self._sum_of_three(left, right, total, threshold))

    def _sum_of_three(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j < i + own(i) + sum of right(j) over j > i >= threshold], for n > 1.

        In this form the three summands are determined by the sum.
        """
        several = self.negation(self.only)
        left, right, own = (self.settled(part) for part in (left, right, own))
        own = self.diagrams.constrain(own, several, self.false)
        if left == right == self.false:
            return self._reaches(own, threshold)
        for masking, summand, sides in (
            (Masking.FUTURE, left, (left, self.false)),
            (Masking.PAST, right, (self.false, right)),
            (Masking.NONE, left, (left, left)),
        ):
            seen = self.diagrams.constrain(summand, several, self.false)
            rest = self.plus(own, self.scaled(seen, -1))
            if sides == (left, right) and self.diagrams.is_constant(rest):
                (offset,) = self.constants(rest, "a count")
                return self.sum_at_least(masking, summand, threshold - int(offset))
        corner = self._corner(own)
        own, threshold = self.plus(own, self.number(-corner)), threshold - int(corner)
        scales = [self._scale(part) for part in (left, right, own)]
        if next(scale for scale in scales if scale) < 0:
            left, right, own = (self.scaled(part, -1) for part in (left, right, own))
            return self.negation(self._sum_of_three(left, right, own, 1 - threshold))
        common = gcd(*(int(scale) for scale in scales))
        left, right, own = (self.scaled(part, Fraction(1, common)) for part in (left, right, own))
        threshold = -(-threshold // common)
        others = [*self.constants(left, "a count"), *self.constants(right, "a count")]
        here = self.constants(own, "a count")
        if min(others) >= 0 and threshold <= min(here):
            return self.true
        if max(others) <= 0 and threshold > max(here):
            return self.false
        if len(set(self.constants(left, ""))) == len(set(self.constants(right, ""))) == len(here) == 1:
            k, m = int(self.constants(left, "")[0]), int(self.constants(right, "")[0])
            return self.at_least_place(k - m, m, int(here[0]) - k - threshold)
        return self._variable(("mixed", left, right, own), Tie.CHAIN, threshold)

    def at_count(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position j, read at j = the number of visible positions with the bit, >= 1."""
        if bit == self.true:
            return self._at_line(diagram, *_NUMBER_VISIBLE[masking])

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self._names[family]:
                case ("line", 1, 0):
                    return self.sum_at_least(masking, bit, threshold)
                case ("mod", "place", int(modulus), int(a), 0):
                    return self._remainder(("count", masking, bit), modulus, a, 0, threshold)
                case ("named", "place", _, _, str(name), int(a), 0):
                    return self._test(("count", masking, bit), Named(name), a, 0, threshold)
                case _:
                    raise UnprovenError("a looked-up value is not a function of its position alone")

        return self.diagrams.substitute(diagram, moved, self.choose)

    def _at_line(self, diagram: Diagram, a: int, b: int, c: int) -> Diagram:
        """A function of the position j, read at j = a i + b n + c."""

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self._names[family]:
                case ("line", int(k), 0):
                    return self.at_least_place(k * a, k * b, k * c - threshold)
                case ("mod", "place", int(modulus), int(k), 0):
                    return self._remainder(("place",), modulus, k * a, k * b, threshold - k * c)
                case ("named", "place", _, _, str(name), int(k), 0):
                    return self.place(Named(name), k * a, k * b, k * c + threshold)
                case _:
                    raise UnprovenError("a looked-up value is not a function of its position alone")

        return self.diagrams.substitute(diagram, moved, self.choose)

    def at_position_one(self, diagram: Diagram) -> Diagram:
        """A function of the position j, read at j = 1."""
        return self.at_fixed(diagram, 1)

    def at_fixed(self, diagram: Diagram, position: int) -> Diagram:
        """A function of the position j, read at a fixed j."""

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            match self._names[family]:
                case ("line", int(a), 0):
                    return self.number(a * position >= threshold)
                case ("mod", "place", int(modulus), int(a), 0):
                    return self.number((a * position - threshold) % modulus == 0)
                case ("named", "place", _, _, str(name), int(a), 0):
                    return self.number(holds(Named(name), a * position + threshold))
                case _:
                    raise UnprovenError("a looked-up value is not a function of its position alone")

        return self.diagrams.substitute(diagram, moved, self.choose)

    def counted_test(
        self, masking: Masking, bit: Diagram, predicate: Predicate, scale: int, shift: int
    ) -> Diagram:
        """[predicate(scale * count + shift)] for the count of a bit over the visible positions."""
        bit = self.settled(bit)
        if bit == self.true:
            a, b, c = _NUMBER_VISIBLE[masking]
            return self.place(predicate, scale * a, scale * b, scale * c + shift)
        at_zero = self.number(holds(predicate, shift))
        test = self.place(predicate, scale, 0, shift)
        return self.choose(self.sum_at_least(masking, bit, 1), self.looked_up(masking, bit, test), at_zero)

    def looked_up(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position, read at the count, which is at least 1; at 1 where i sees one."""
        at_edge = self.at_position_one(diagram)
        return self.choose(self.edge(masking), at_edge, self.at_count(masking, bit, diagram))

    def mean(self, masking: Masking, summand: Diagram) -> Diagram:
        """The average of a number over the visible positions."""
        summand = self.settled(summand)
        values = self.constants(summand, "an averaged value")
        if len(values) == 1:
            return summand
        return self._mean(("mean", masking, summand), Mean(masking, summand, min(values), max(values)))

    def positive_part(self, value: Affine) -> Affine:
        """ReLU of an affine value whose sign is not known, as a number of its own.

        ReLU(-y) is written ReLU(y) - y, so that differences which cancel do cancel.
        """
        low, high = self.bounds(value)
        lead = value.parts[0][1]
        unit = scale_affine(value, 1 / lead)
        relu = self._mean(("relu", unit), Mean(None, -1, Fraction(0), max(high / lead, low / lead)))
        (part,) = self.values(relu)
        if lead > 0:
            return scale_affine(part, lead)
        return add_affine(scale_affine(part, -lead), value)

    def with_edges(self, diagram: Diagram) -> Diagram:
        """The same number, with every mean spelled out where it averages a single position."""
        for number in {number for value in self.values(diagram) for number, _ in value.parts}:
            mean = self.means[number]
            if mean.masking is not None:
                edge = self.edge(mean.masking)
                alone = self.replace_mean(diagram, number, mean.summand)
                diagram = self.choose(edge, alone, diagram)
        return diagram

    def replace_mean(self, diagram: Diagram, number: int, by: Diagram) -> Diagram:
        """The diagram with one mean replaced by a number."""
        factor = self.diagrams.map(
            ("factor", number), lambda v: Affine(dict(v.parts).get(number, Fraction(0))), diagram
        )
        rest = self.diagrams.map(
            ("without", number),
            lambda v: Affine(v.constant, tuple(part for part in v.parts if part[0] != number)),
            diagram,
        )
        return self.plus(rest, self.product(factor, by))

    # Inside ------------------------------------------------------------------------------------

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
        (value,) = self.values(diagram)
        return value.constant

    def _scale(self, diagram: Diagram) -> Fraction:
        """The greatest common divisor of all values, with the sign of the first that is not 0."""
        ordered = self._ordered_values(diagram)
        common = gcd(*(int(value) for value in ordered))
        first = next((value for value in ordered if value), Fraction(0))
        return Fraction(-common if first < 0 else common)

    def _ordered_values(self, diagram: Diagram) -> list[Fraction]:
        """All values, in an order that depends on the function alone."""
        found: dict[Diagram, None] = {}
        stack, seen = [diagram], {diagram}
        while stack:
            node = stack.pop()
            if self.diagrams.is_constant(node):
                found.setdefault(node)
                continue
            _, low, high = self.diagrams.top(node)
            for child in (high, low):
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        values = [value for node in found for value in self.constants(node, "a count")]
        if any(value.denominator != 1 for value in values):
            raise UnprovenError("a counted value is not an integer")
        return values

    def _variable(self, name: tuple[Hashable, ...], tie: Tie, threshold: int) -> Diagram:
        if name not in self._families:
            self._families[name] = self.diagrams.family(tie)
            self._names.append(name)
        return self._own((self._families[name], threshold))

    def _own(self, variable: Variable) -> Diagram:
        return self.diagrams.bit(variable, self.false, self.true)

    def _tie(self, family: int) -> Tie:
        return self.diagrams.ties[family]

    def _mean(self, name: tuple[Hashable, ...], mean: Mean) -> Diagram:
        if name not in self._mean_numbers:
            self._mean_numbers[name] = len(self.means)
            self.means.append(mean)
        return self.affine(Affine(Fraction(0), ((self._mean_numbers[name], Fraction(1)),)))


def add_affine(left: Affine, right: Affine) -> Affine:
    """left + right."""
    if not right.parts:
        return Affine(left.constant + right.constant, left.parts)
    factors = dict(left.parts)
    for number, factor in right.parts:
        factors[number] = factors.get(number, Fraction(0)) + factor
    parts = tuple((number, factors[number]) for number in sorted(factors) if factors[number])
    return Affine(left.constant + right.constant, parts)


def scale_affine(value: Affine, factor: Fraction) -> Affine:
    """factor * value."""
    if not factor:
        return Affine(Fraction(0))
    return Affine(value.constant * factor, tuple((number, own * factor) for number, own in value.parts))


def _multiply(left: Affine, right: Affine) -> Affine:
    if left.parts and right.parts:
        raise UnprovenError("two averages are multiplied")
    return scale_affine(right, left.constant) if not left.parts else scale_affine(left, right.constant)
