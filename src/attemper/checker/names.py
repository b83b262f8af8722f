"""What a coordinate of the residual stream is: numbers and bits, as functions of named tests.

Bits are decision diagrams over *atoms*: the letter at i, tests of i and n, "some visible position has
...", "at the chosen position ...", "the sum over the visible positions is at least t". Two diagrams that are
the same object mean the same, for every word and every position. Numbers are diagrams too: their terminals
are `Affine` in *quantities*, which no bit determines: averages over the visible positions, whole numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd
from typing import Protocol, TypeGuard, assert_never, final

from attemper.checker.diagrams import Diagram, Diagrams, Tie, Variable
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, holds, periodic
from attemper.networks.layers import Masking

MAX_RESIDUES = 16
"""Up to this modulus, remainders of one number exclude each other and one of them holds."""


class UnprovenError(Exception):
    """No rule covers this step; the text says which step and why."""


# Numbers ---------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Affine:
    """constant + the sum of factor * quantity; quantities by number, ascending, factors not 0."""

    constant: Fraction
    parts: tuple[tuple[int, Fraction], ...] = ()


@final
@dataclass(frozen=True)
class Mean:
    """The average of `summand` over the positions that `masking` shows at i."""

    masking: Masking
    summand: Diagram
    low: Fraction
    high: Fraction


@final
@dataclass(frozen=True)
class PositivePart:
    """ReLU of an affine value, whose first factor is 1."""

    inner: Affine
    low: Fraction
    high: Fraction


@final
@dataclass(frozen=True)
class Range:
    """A number of which nothing else is known. Two of them are never taken for one number."""

    low: Fraction
    high: Fraction


@final
@dataclass(frozen=True)
class LengthDigits:
    """The number of binary digits of n, at least 1 and at most n."""


@final
@dataclass(frozen=True)
class Clamped:
    """clamp(c, 1, V)^power, c the sum of the integer `summand` over the positions that `masking` shows at i.

    V is the number of positions that `among` shows; without it n. It is at least 1 and at most n^power; the
    power is 1 or 2.
    """

    masking: Masking
    summand: Diagram
    power: int
    among: Masking = Masking.NONE


@final
@dataclass(frozen=True)
class NearestKey:
    """The key, at least 1 and at most n, of the position that `NearestAt` reads with the same fields."""

    masking: Masking
    leftmost: bool
    where: Diagram
    query: int
    key: int


Whole = LengthDigits | Clamped | NearestKey
"""Positive integers that depend on the word or its length, and that no number bounds at every length."""

Quantity = Mean | PositivePart | Range | Whole
"""A number that no bit determines."""


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


def number_of(value: Affine, what: str = "a bit") -> Fraction:
    """The number that a value is. Raises `UnprovenError` for one with averages."""
    if value.parts:
        raise UnprovenError(f"{what} depends on an average")
    return value.constant


def _multiply(left: Affine, right: Affine) -> Affine:
    if left.parts and right.parts:
        raise UnprovenError("two averages are multiplied")
    return scale_affine(right, left.constant) if not left.parts else scale_affine(left, right.constant)


# Atoms: what a family of variables is about ----------------------------------------------------------


@final
@dataclass(frozen=True, slots=True)
class LetterBit:
    """[the number of the symbol at i has this bit], with threshold 0."""

    bit: int


@final
@dataclass(frozen=True, slots=True)
class SymbolCode:
    """[bit `threshold` of this group of coordinates is 1 after the layer]: at most one of a group is."""

    layer: int
    group: int


@final
@dataclass(frozen=True, slots=True)
class PlaceAtLeast:
    """[per_position * i + per_length * n >= threshold]."""

    per_position: int
    per_length: int


@final
@dataclass(frozen=True, slots=True)
class PlaceRemainder:
    """[per_position * i + per_length * n leaves the remainder `threshold`]."""

    modulus: int
    per_position: int
    per_length: int


@final
@dataclass(frozen=True, slots=True)
class PlaceNamed:
    """[per_position * i + per_length * n + threshold is in the set of that name]."""

    name: str
    per_position: int
    per_length: int


@final
@dataclass(frozen=True, slots=True)
class CountRemainder:
    """[factor * c leaves the remainder `threshold`], c the number of visible positions with the bit."""

    masking: Masking
    bit: Diagram
    modulus: int
    factor: int


@final
@dataclass(frozen=True, slots=True)
class CountNamed:
    """[factor * c + threshold is in the set of that name], c the number of visible positions with the bit."""

    masking: Masking
    bit: Diagram
    name: str
    factor: int


@final
@dataclass(frozen=True, slots=True)
class Exists:
    """[some visible position j has where(j)], with threshold 0."""

    masking: Masking
    where: Diagram


@final
@dataclass(frozen=True, slots=True)
class SelectedAt:
    """[inner, threshold] at the rightmost (leftmost) visible position j that has where(j); 0 if none has."""

    masking: Masking
    leftmost: bool
    where: Diagram
    inner: int


@final
@dataclass(frozen=True, slots=True)
class NearestAt:
    """[inner, threshold] at the rightmost (leftmost) of the visible positions j where
    (query(i) - key(j))^2 + [where(j) is 0] is least; query and key are numbers of whole numbers.
    """

    masking: Masking
    leftmost: bool
    where: Diagram
    query: int
    key: int
    inner: int


@final
@dataclass(frozen=True, slots=True)
class NearestBeyond:
    """[a nearest key - the query that it is nearest to >= threshold]; `found` is the key's number."""

    found: int


@final
@dataclass(frozen=True, slots=True)
class AtOffset:
    """[inner, threshold] at i + offset, which is 1 or -1; 0 if there is no such position."""

    offset: int
    inner: int


@final
@dataclass(frozen=True, slots=True)
class SumAtLeast:
    """[the sum of summand(j) over the visible positions j >= threshold]."""

    masking: Masking
    summand: Diagram


@final
@dataclass(frozen=True, slots=True)
class MixedAtLeast:
    """[the sum of left(j) over j < i, plus own(i), plus the sum of right(j) over j > i >= threshold]."""

    left: Diagram
    right: Diagram
    own: Diagram


PlaceAtom = PlaceAtLeast | PlaceRemainder | PlaceNamed
"""What tests of i and n alone are about."""

Atom = (
    LetterBit
    | SymbolCode
    | PlaceAtom
    | CountRemainder
    | CountNamed
    | Exists
    | SelectedAt
    | NearestAt
    | NearestBeyond
    | AtOffset
    | SumAtLeast
    | MixedAtLeast
)
"""What a family of variables is about: [atom, threshold] is a bit at every position i of every word.

Which positions are visible from i is for the atom's `masking` to say; `inner` is the number of a family.
"""

PlaceTest = tuple[PlaceAtom, int]
"""A test of i and n, (atom, threshold): the same in every check."""

PositionForm = tuple[int, int, int]
"""(a, b, c) is the position a i + b n + c."""


def is_of_position(atom: Atom) -> TypeGuard[PlaceAtom]:
    """Whether it is about i alone."""
    return isinstance(atom, PlaceAtom) and atom.per_length == 0


# Names -----------------------------------------------------------------------------------------------


class Positions(Protocol):
    """What other positions are called under the names of one check, by whoever says what is compared."""

    def exists(self, masking: Masking, where: Diagram) -> Diagram:
        """[some visible position j has where(j)]."""

    def chosen(self, masking: Masking, leftmost: bool, where: Diagram, diagram: Diagram) -> Diagram:
        """The value at the rightmost (leftmost) visible position with `where`, which must exist."""

    def shifted(self, diagram: Diagram, offset: int, at_edge: Diagram) -> Diagram:
        """The value at i + offset (offset 1 or -1), `at_edge` where there is no such position."""

    def sum_at_least(self, masking: Masking, summand: Diagram, threshold: int) -> Diagram:
        """[the sum of an integer over the visible positions >= threshold]."""

    def mixed_at_least(self, left: Diagram, right: Diagram, own: Diagram, threshold: int) -> Diagram:
        """[sum of left(j) over j <= i + sum of right(j) over j >= i + own(i) >= threshold], integers."""

    def total_at_least(self, summands: Mapping[Masking, Diagram], threshold: int) -> Diagram:
        """[the sum of what is added up under each of the three weak masks >= threshold], integers."""

    def looked_up(self, masking: Masking, bit: Diagram, diagram: Diagram) -> Diagram:
        """A function of the position, read at the number of visible positions with the bit, at least 1."""


@final
class Names:
    """The atoms and quantities of one check, and what numbers and bits are made of them.

    What is known of other positions is for `positions` to say.
    """

    def __init__(self, symbols: tuple[str, ...], positions: Positions) -> None:
        self.positions = positions
        self.diagrams = Diagrams()
        self.symbols = symbols
        self.atoms: list[Atom] = []
        self.quantities: list[Quantity] = []
        self._families: dict[Atom, int] = {}
        self._numbers: dict[Quantity, int] = {}
        """The numbers of quantities, but for ranges."""
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

    def total(self, parts: Iterable[Diagram]) -> Diagram:
        """The sum of all."""
        return self.diagrams.combine_all("+", add_affine, [self.false, *parts])

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
        return self.diagrams.map("not", lambda value: Affine(1 - number_of(value)), bit)

    def both(self, left: Diagram, right: Diagram) -> Diagram:
        """Conjunction."""
        return self.diagrams.combine("and", lambda a, b: a if number_of(a) == 0 else b, left, right)

    def either(self, left: Diagram, right: Diagram) -> Diagram:
        """Disjunction."""
        return self.diagrams.combine("or", lambda a, b: a if number_of(a) == 1 else b, left, right)

    def different(self, left: Diagram, right: Diagram) -> Diagram:
        """Exclusive or."""
        return self.diagrams.combine(
            "xor", lambda a, b: Affine(abs(number_of(a) - number_of(b))), left, right
        )

    def choose(self, bit: Diagram, high: Diagram, low: Diagram) -> Diagram:
        """`high` where the bit is 1, `low` where it is 0."""
        kept = self.diagrams.combine("keep", lambda b, h: h if number_of(b) == 1 else None, bit, high)
        return self.diagrams.combine("fill", lambda k, v: v if k is None else k, kept, low)

    def where(self, name: Hashable, holds_of: Callable[[Affine], bool], diagram: Diagram) -> Diagram:
        """The bit that says where a value has a property; `name` tells properties apart."""
        return self.diagrams.map(("where", name), lambda value: Affine(Fraction(holds_of(value))), diagram)

    def equals(self, diagram: Diagram, constant: Fraction) -> Diagram:
        """The bit that says where a value is this number. Raises `UnprovenError` if it has averages."""
        return self.where(("=", constant), lambda value: number_of(value) == constant, diagram)

    def values(self, diagram: Diagram) -> list[Affine]:
        """All values that the diagram takes."""
        if diagram not in self._values:
            self._values[diagram] = [v for v in self.diagrams.values(diagram) if isinstance(v, Affine)]
        return self._values[diagram]

    def constants(self, diagram: Diagram, what: str) -> list[Fraction]:
        """All values, which must be numbers. Raises `UnprovenError`."""
        return [number_of(value, what) for value in self.values(diagram)]

    def bounds(self, value: Affine) -> tuple[Fraction, Fraction]:
        """The least and the greatest number that an affine value can be. Raises `UnprovenError` without."""
        ends = [[factor * end for end in self._ends(number)] for number, factor in value.parts]
        return sum(map(min, ends), value.constant), sum(map(max, ends), value.constant)

    def _ends(self, number: int) -> tuple[Fraction, Fraction]:
        own = self.quantities[number]
        if isinstance(own, Whole):
            raise UnprovenError("an integer that grows with the word stands where a bounded number is needed")
        return own.low, own.high

    def is_bit(self, diagram: Diagram) -> bool:
        """Whether every value is 0 or 1."""
        return all(not value.parts and value.constant in (0, 1) for value in self.values(diagram))

    # Letters and symbols -----------------------------------------------------------------------

    def letter(self, symbol: str) -> Diagram:
        """[the symbol at i is this one]; the unused codes of the binary numbering mean the last symbol."""
        own, last = self.symbols.index(symbol), len(self.symbols) - 1
        code = self.false
        for bit in range(last.bit_length()):
            code = self.plus(code, self.scaled(self.bit(LetterBit(bit)), 2**bit))
        return self.where(("code", own), lambda value: min(value.constant, last) == own, code)

    def symbol(self, layer: int, group: int, code: int) -> Diagram:
        """[the one-hot symbol that a group of bits of a layer says is this one]."""
        return self.bit(SymbolCode(layer, group), code)

    # Tests of places ---------------------------------------------------------------------------

    def place(self, predicate: Predicate, a: int, b: int, shift: int) -> Diagram:
        """[predicate(a i + b n + shift)]."""
        match periodic(predicate):
            case Zero():
                return self.both(
                    self.at_least_place(a, b, shift), self.negation(self.at_least_place(a, b, shift - 1))
                )
            case NonNegative():
                return self.at_least_place(a, b, shift)
            case Remainder(modulus, remainder):
                return self._remainder(modulus, a, b, remainder - shift)
            case Named(name):
                if a == b == 0:
                    return self.number(holds(predicate, shift))
                test = self.bit(PlaceNamed(name, a, b), shift)
                return self._known_at_edge(b, a + b, holds(predicate, a + b + shift), test)
            case _:
                assert_never(predicate)

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
        test = self.bit(PlaceAtLeast(a, b), threshold)
        if b == 0 or (a, b, threshold) == (1, -1, 0):  # these two define i = 1 and i = n
            return test
        return self.choose(self.only, self.number(a + b >= threshold), test)

    def _remainder(self, modulus: int, a: int, b: int, target: int) -> Diagram:
        """[a i + b n leaves the same remainder as `target`]."""
        a, b, target = a % modulus, b % modulus, target % modulus
        common = gcd(gcd(a, b), modulus)
        if target % common:
            return self.false
        modulus, a, b, target = modulus // common, a // common, b // common, target // common
        if a == b == 0:
            return self.number(target == 0)
        atom = PlaceRemainder(modulus, a, b)
        if target < modulus - 1 or modulus > MAX_RESIDUES:
            found = self.bit(atom, target)
        else:
            found = self.true
            for other in range(modulus - 1):
                found = self.both(found, self.negation(self.bit(atom, other)))
        return self._known_at_edge(b, (a + b) % modulus, (a + b - target) % modulus == 0, found)

    def _known_at_edge(self, per_length: int, both: int, at_one: bool, test: Diagram) -> Diagram:
        """A test of a i + b n with b != 0 is decided where n = 1, and at i = n if a + b = 0."""
        if not per_length:
            return test
        return self.choose(self.only if both else self.last, self.number(at_one), test)

    # The same test at another place ------------------------------------------------------------

    def test_at(self, atom: PlaceAtom, threshold: int, place: PositionForm) -> Diagram:
        """A test of i and n, read at another position of the same word."""
        a, b, c = place
        match atom:
            case PlaceAtLeast(k, m):
                return self.at_least_place(k * a, k * b + m, k * c - threshold)
            case PlaceRemainder(modulus, k, m):
                return self._remainder(modulus, k * a, k * b + m, threshold - k * c)
            case PlaceNamed(name, k, m):
                return self.place(Named(name), k * a, k * b + m, k * c + threshold)
            case _:
                assert_never(atom)

    def function_at(self, diagram: Diagram, read: Callable[[PlaceAtom, int], Diagram]) -> Diagram:
        """A function of the position alone, with each of its tests as it is read at another place.

        Raises `UnprovenError` for what depends on anything else.
        """

        def moved(variable: Variable) -> Diagram:
            family, threshold = variable
            atom = self.atoms[family]
            if not is_of_position(atom):
                raise UnprovenError("a looked-up value is not a function of its position alone")
            return read(atom, threshold)

        return self.elsewhere(diagram, moved)

    def elsewhere(self, diagram: Diagram, moved: Callable[[Variable], Diagram]) -> Diagram:
        """The diagram with its variables read elsewhere. Raises `UnprovenError` if it has averages.

        Those are other numbers at another position, and so are ranges (`unknown_in`).
        """
        self.constants(diagram, "what is read at another position")
        return self.diagrams.substitute(diagram, moved, self.choose)

    def at_fixed(self, diagram: Diagram, position: int) -> Diagram:
        """A function of the position j, read at a fixed j."""
        return self.function_at(diagram, lambda atom, t: self.test_at(atom, t, (0, 0, position)))

    def at_position_one(self, diagram: Diagram) -> Diagram:
        """A function of the position j, read at j = 1."""
        return self.at_fixed(diagram, 1)

    def canonical(self, diagram: Diagram) -> Diagram:
        """The same function for all words, in the form that tests of i leave open, being decided at i = 1.

        Where i = 1 is an exception to the function of i > 1, the tests are decided there; where it is
        none, the function of i > 1 stands for both.
        """
        found = self.decided(diagram)
        if not self._has_tests(diagram):
            return found
        later = self.diagrams.constrain(diagram, self.negation(self.first), self.false)
        return later if self.decided(later) == found else found

    def _has_tests(self, diagram: Diagram) -> bool:
        """Whether it reads a test of i that is no threshold."""
        return any(
            is_of_position(self.atoms[family]) and not isinstance(self.atoms[family], PlaceAtLeast)
            for family, _ in self.diagrams.support(diagram)
        )

    def decided(self, diagram: Diagram) -> Diagram:
        """The same function, with every test of i alone decided where i = 1."""
        return self.choose(self.first, self.at_first(diagram), diagram)

    def at_first(self, diagram: Diagram) -> Diagram:
        """The diagram with every test of i alone decided for i = 1."""

        def decision(variable: Variable) -> bool | None:
            family, threshold = variable
            atom = self.atoms[family]
            return self.test_at(atom, threshold, (0, 0, 1)) == self.true if is_of_position(atom) else None

        return self.diagrams.decide(diagram, decision, self._decided_at_first)

    # Averages ----------------------------------------------------------------------------------

    def edge(self, masking: Masking) -> Diagram:
        """[i sees a single position]: i = 1, i = n, or n = 1."""
        return {Masking.FUTURE: self.first, Masking.PAST: self.last, Masking.NONE: self.only}[masking]

    def mark(self, masking: Masking) -> Diagram:
        """A bit that holds at exactly one visible position."""
        return self.last if masking is Masking.PAST else self.first

    def mean(self, masking: Masking, summand: Diagram) -> Diagram:
        """The average of a number over the visible positions."""
        summand = self.canonical(summand)
        values = self.constants(summand, "an averaged value")
        if len(values) == 1:
            return summand
        return self.affine(self.numbered(Mean(masking, summand, min(values), max(values))))

    def average(self, number: int) -> Mean:
        """The average that a quantity is. Raises `UnprovenError` for another quantity."""
        own = self.quantities[number]
        if not isinstance(own, Mean):
            raise UnprovenError("another number stands where an average over the visible positions is needed")
        return own

    def unknown_in(self, least: Fraction, greatest: Fraction) -> Diagram:
        """A number of which nothing else is known: it cancels with itself alone."""
        self.quantities.append(Range(least, greatest))
        return self.affine(Affine(Fraction(0), ((len(self.quantities) - 1, Fraction(1)),)))

    def positive_part(self, value: Affine) -> Affine:
        """ReLU of an affine value whose sign is not known, as a number of its own.

        ReLU(-y) is written ReLU(y) - y, so that differences which cancel do cancel.
        """
        low, high = self.bounds(value)
        lead = value.parts[0][1]
        unit = scale_affine(value, 1 / lead)
        part = self.numbered(PositivePart(unit, Fraction(0), max(high / lead, low / lead)))
        return scale_affine(part, lead) if lead > 0 else add_affine(scale_affine(part, -lead), value)

    def with_edges(self, diagram: Diagram) -> Diagram:
        """The same number, with every mean spelled out where it averages a single position.

        Of (-1)^j over V >= 2 neighbours the mean is 0 or +-1/V, V odd; where j = 1 is among them never above
        0.
        """
        for number in {number for value in self.values(diagram) for number, _ in value.parts}:
            own = self.quantities[number]
            if isinstance(own, Mean):
                alone = self.replace_mean(diagram, number, own.summand)
                if own.summand == self.canonical(self.sign):
                    high = Fraction(own.masking is Masking.PAST, 3)
                    near_zero = self.numbered(replace(own, low=Fraction(-1, 3), high=high))
                    diagram = self.replace_mean(diagram, number, self.affine(near_zero))
                diagram = self.choose(self.edge(own.masking), alone, diagram)
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

    # Whole numbers -----------------------------------------------------------------------------

    def digits(self) -> Diagram:
        """The number of binary digits of n."""
        return self.affine(self.numbered(LengthDigits()))

    def constant_part(self, diagram: Diagram) -> Diagram:
        """The diagram without its averages."""
        return self.diagrams.map("constant part", lambda value: Affine(value.constant), diagram)

    def numbered(self, own: Mean | PositivePart | Whole) -> Affine:
        """A quantity that is one number wherever it is met again."""
        if own not in self._numbers:
            self._numbers[own] = len(self.quantities)
            self.quantities.append(own)
        return Affine(Fraction(0), ((self._numbers[own], Fraction(1)),))

    # Variables ---------------------------------------------------------------------------------

    def bit(self, atom: Atom, threshold: int = 0) -> Diagram:
        """[atom, threshold]."""
        family = self._families.get(atom)
        if family is None:
            family = self._families[atom] = self.diagrams.family(self._tie(atom))
            self.atoms.append(atom)
        return self.variable((family, threshold))

    def variable(self, variable: Variable) -> Diagram:
        """The bit that a variable is, at i."""
        return self.diagrams.bit(variable, self.false, self.true)

    def _tie(self, atom: Atom) -> Tie:
        """How the bits of a family constrain each other, at one position and so at any other."""
        match atom:
            case LetterBit() | PlaceNamed() | CountNamed() | Exists():
                return Tie.FREE
            case PlaceAtLeast() | SumAtLeast() | MixedAtLeast() | NearestBeyond():
                return Tie.CHAIN
            case SymbolCode() | PlaceRemainder() | CountRemainder():
                return Tie.EXCLUSIVE
            case SelectedAt(inner=inner) | NearestAt(inner=inner) | AtOffset(inner=inner):
                return self.diagrams.ties[inner]
            case _:
                assert_never(atom)
