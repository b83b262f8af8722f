"""Every constructor of meanings against its definition, at every position of every short word.

The atoms of the diagrams are read by `tests.support.derived.Reading`, straight from their definitions.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from attemper.checker.diagrams import Diagram
from attemper.checker.terms import Affine, Terms, UnprovenError
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, holds
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.layers import Masking
from attemper.networks.meaning_hard import visible
from tests.support.derived import Reading

AB = ("a", "b")
SEEDS = range(6)
WEAK = (Masking.FUTURE, Masking.PAST, Masking.NONE)
PREDICATES: tuple[Predicate, ...] = (
    Zero(),
    NonNegative(),
    *(Remainder(m, r) for m in (1, 2, 3, 4) for r in range(m)),
    *(Named(name) for name in ("even", "odd", "prime", "square")),
    Remainder(17, 3),
)


class Bench:
    """A set of terms, and its readings on all short words."""

    def __init__(self, rng: random.Random, symbols: tuple[str, ...] = AB, longest: int = 4) -> None:
        self.rng = rng
        self.terms = Terms(symbols)
        alphabet = Alphabet(symbols)
        self.words = [w for n in range(1, longest + 1) for w in words_of_length(alphabet, n)]
        self.readings = [Reading(self.terms, word) for word in self.words]

    def places(self) -> list[tuple[Reading, int]]:
        return [(reading, i) for reading in self.readings for i in range(1, reading.length + 1)]

    def column(self, diagram: Diagram) -> list[Fraction]:
        return [reading.number(diagram, i) for reading, i in self.places()]

    def bit(self, depth: int = 2) -> Diagram:
        """A random bit of letters, places and what is seen elsewhere."""
        terms, rng = self.terms, self.rng
        if depth == 0:
            return rng.choice(
                (
                    terms.letter(rng.choice(terms.symbols)),
                    terms.letter(rng.choice(terms.symbols)),
                    self.place(),
                    self.place(),
                    rng.choice((terms.first, terms.last, terms.true)),
                )
            )
        left, right = self.bit(depth - 1), self.bit(depth - 1)
        match rng.randrange(8):
            case 0:
                return terms.negation(left)
            case 1 | 2:
                return terms.both(left, right)
            case 3 | 4:
                return terms.either(left, right)
            case 5:
                return terms.exists(rng.choice(WEAK), left)
            case 6:
                return terms.attend(rng.choice(WEAK), rng.random() < 0.5, left, right)
            case _:
                return terms.shifted(left, rng.choice((-1, 1)), right)

    def place(self) -> Diagram:
        rng = self.rng
        per_position, per_length = rng.choice(((1, 0), (1, 0), (0, 1), (1, -1), (2, -1), (-1, 1)))
        return self.terms.place(rng.choice(PREDICATES), per_position, per_length, rng.randint(-3, 1))

    def number(self, least: int = -2, depth: int = 1) -> Diagram:
        """A random integer."""
        total = self.terms.number(self.rng.randint(least, 2))
        for _ in range(2):
            total = self.terms.plus(
                total, self.terms.scaled(self.bit(depth), self.rng.randint(min(0, least), 3))
            )
        return total


def check(bench: Bench, diagram: Diagram, expected: Callable[[Reading, int], Fraction | int]) -> None:
    for reading, i in bench.places():
        assert reading.number(diagram, i) == expected(reading, i), (reading.word, i)


def ones(reading: Reading, diagram: Diagram, masking: Masking, i: int) -> list[int]:
    return [j for j in visible(masking, i, reading.length) if reading.number(diagram, j)]


def total(reading: Reading, diagram: Diagram, masking: Masking, i: int) -> Fraction:
    return sum((reading.number(diagram, j) for j in visible(masking, i, reading.length)), Fraction(0))


# Letters and places ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 7))
def test_letters_say_which_symbol_it_is_and_one_of_them_holds(size: int) -> None:
    symbols = tuple("abcdef"[:size])
    terms = Terms(symbols)
    some = terms.false
    for symbol in symbols:
        letter = terms.letter(symbol)
        for own in symbols:
            assert Reading(terms, (own,)).number(letter, 1) == (own == symbol)
        assert terms.both(some, letter) == terms.false
        some = terms.either(some, letter)
    assert some == terms.true


@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
def test_tests_of_places_are_what_they_say_and_equal_ones_are_one(predicate: Predicate) -> None:
    terms = Terms(("a",))
    readings = [Reading(terms, ("a",) * n) for n in range(1, 7)]
    known: dict[tuple[bool, ...], Diagram] = {}
    for a, b, c in itertools.product(range(-2, 3), range(-2, 3), range(-5, 6)):
        test = terms.place(predicate, a, b, c)
        for reading in readings:
            for i in range(1, reading.length + 1):
                assert reading.number(test, i) == holds(predicate, a * i + b * reading.length + c)
        truth = tuple(holds(predicate, a * i + b * n + c) for n in range(1, 11) for i in range(1, n + 1))
        if (
            len(set(truth)) == 1
            and predicate != Remainder(17, 3)
            and isinstance(predicate, NonNegative | Remainder)
        ):
            assert test == terms.number(truth[0]), (a, b, c)
        if b == 0 and predicate in {NonNegative(), Named("even"), Named("odd")}:
            assert known.setdefault(truth, test) == test, (a, b, c)


@pytest.mark.parametrize("modulus", range(1, 6))
def test_one_remainder_holds(modulus: int) -> None:
    terms = Terms(("a",))
    for factors in ((1, 0), (0, 1), (2, 1)):
        some = terms.false
        for remainder in range(modulus):
            test = terms.place(Remainder(modulus, remainder), *factors, 0)
            assert terms.both(some, test) == terms.false
            some = terms.either(some, test)
        assert some == terms.true


def test_the_marks_and_edges_of_masks() -> None:
    terms = Terms(("a",))
    for n in range(1, 6):
        reading = Reading(terms, ("a",) * n)
        for i in range(1, n + 1):
            assert reading.number(terms.sign, i) == (-1) ** i
            assert reading.number(terms.first, i) == (i == 1)
            assert reading.number(terms.last, i) == (i == n)
            assert reading.number(terms.only, i) == (n == 1)
            for masking in WEAK:
                assert reading.number(terms.edge(masking), i) == (len(visible(masking, i, n)) == 1)
                assert len(ones(reading, terms.mark(masking), masking, i)) == 1


# Pointwise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_connectives_and_arithmetic_are_pointwise(seed: int) -> None:
    bench = Bench(random.Random(seed))
    terms = bench.terms
    left, right, bit = bench.bit(), bench.bit(), bench.bit()
    number, other = bench.number(), bench.number()
    factor = Fraction(random.Random(seed).choice((-3, -1, 0, 1, 2)), 2)
    a, b, c = bench.column(left), bench.column(right), bench.column(bit)
    x, y = bench.column(number), bench.column(other)
    pointwise = {
        terms.negation(left): [1 - p for p in a],
        terms.both(left, right): [p * q for p, q in zip(a, b, strict=True)],
        terms.either(left, right): [max(p, q) for p, q in zip(a, b, strict=True)],
        terms.different(left, right): [p != q for p, q in zip(a, b, strict=True)],
        terms.choose(bit, number, other): [p if r else q for p, q, r in zip(x, y, c, strict=True)],
        terms.plus(number, other): [p + q for p, q in zip(x, y, strict=True)],
        terms.plus(terms.false, other): y,
        terms.product(number, other): [p * q for p, q in zip(x, y, strict=True)],
        terms.scaled(number, factor): [factor * p for p in x],
        terms.scaled(number, 1): x,
        terms.scaled(number, 0): [0] * len(x),
        terms.equals(number, Fraction(1)): [p == 1 for p in x],
        terms.where("odd", lambda value: value.constant % 2 == 1, number): [p % 2 for p in x],
    }
    for diagram, expected in pointwise.items():
        assert bench.column(diagram) == expected


def test_bits_constants_and_multiples_are_recognised() -> None:
    terms = Terms(AB)
    letter, mean = terms.letter("a"), terms.mean(Masking.FUTURE, terms.letter("a"))
    assert terms.is_bit(letter)
    assert terms.is_bit(terms.true)
    assert not terms.is_bit(terms.scaled(letter, 2))
    assert not terms.is_bit(terms.scaled(letter, -1))
    assert not terms.is_bit(terms.scaled(letter, Fraction(1, 2)))
    assert not terms.is_bit(mean)
    assert sorted(terms.constants(terms.plus(letter, terms.true), "it")) == [1, 2]
    with pytest.raises(UnprovenError, match="it depends on an average"):
        terms.constants(terms.choose(letter, mean, terms.true), "it")
    for factor in (1, -1, 3, Fraction(-5, 2)):
        assert terms.is_multiple(terms.scaled(terms.sign, factor), terms.sign)
        assert terms.is_multiple(terms.number(factor), terms.true)
        assert terms.is_multiple(terms.scaled(terms.sign, factor), terms.scaled(terms.sign, 5))
    assert not terms.is_multiple(terms.plus(terms.sign, terms.true), terms.sign)
    assert not terms.is_multiple(mean, terms.true)
    assert not terms.is_multiple(terms.letter("a"), terms.true)


# Other positions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("offset", [-1, 1])
def test_a_shifted_value_is_that_of_the_neighbour(seed: int, offset: int) -> None:
    bench = Bench(random.Random(seed))
    inner, edge = bench.number(), bench.number()

    def expected(reading: Reading, i: int) -> Fraction:
        is_inside = 1 <= i + offset <= reading.length
        return reading.number(inner, i + offset) if is_inside else reading.number(edge, i)

    check(bench, bench.terms.shifted(inner, offset, edge), expected)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("masking", WEAK)
def test_some_visible_position_has_it(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    for depth in (0, 1, 2):
        where = bench.bit(depth)
        check(bench, bench.terms.exists(masking, where), lambda r, i, w=where: bool(ones(r, w, masking, i)))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("leftmost", [False, True])
@pytest.mark.parametrize("masking", WEAK)
def test_the_value_at_the_chosen_position(seed: int, masking: Masking, leftmost: bool) -> None:
    bench = Bench(random.Random(seed))
    where, value, bit = bench.bit(), bench.number(), bench.bit()
    chosen = bench.terms.chosen(masking, leftmost, where, value)
    for reading, i in bench.places():
        found = ones(reading, where, masking, i)
        if found:
            assert reading.number(chosen, i) == reading.number(value, found[0 if leftmost else -1])

    def expected(reading: Reading, i: int) -> Fraction:
        found = ones(reading, where, masking, i)
        return reading.number(bit, found[0 if leftmost else -1]) if found else Fraction(0)

    check(bench, bench.terms.attend(masking, leftmost, where, bit), expected)


@pytest.mark.parametrize("seed", range(12))
def test_settled_is_the_same_function(seed: int) -> None:
    bench = Bench(random.Random(seed))
    for diagram in (bench.bit(3), bench.number()):
        assert bench.column(bench.terms.settled(diagram)) == bench.column(diagram)


# Counts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("masking", WEAK)
def test_a_sum_is_at_least_its_threshold(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    for summand in (bench.number(), bench.number(0), bench.bit(1), bench.number(depth=0)):
        for threshold in (-3, -1, 0, 1, 2, 5):
            test = bench.terms.sum_at_least(masking, summand, threshold)
            check(bench, test, lambda r, i, s=summand, t=threshold: total(r, s, masking, i) >= t)


@pytest.mark.parametrize("seed", range(16))
def test_a_sum_of_both_sides_is_at_least_its_threshold(seed: int) -> None:
    bench = Bench(random.Random(seed), longest=3)
    terms = bench.terms
    left, right, own = (bench.number(depth=0) for _ in range(3))
    cases = [
        (left, right, own),
        (left, terms.false, own),
        (terms.false, right, own),
        (left, left, terms.scaled(left, -1)),
        (terms.number(2), terms.number(-1), own),
        (terms.number(2), terms.number(2), terms.number(3)),
        (terms.scaled(left, 2), terms.scaled(right, 4), terms.scaled(own, 2)),
        (terms.false, terms.false, own),
    ]
    for x, y, z in cases:
        for threshold in (-4, -1, 0, 1, 3):
            check(
                bench,
                terms.mixed_at_least(x, y, z, threshold),
                lambda r, i, x=x, y=y, z=z, t=threshold: (
                    total(r, x, Masking.FUTURE, i) + total(r, y, Masking.PAST, i) + r.number(z, i) >= t
                ),
            )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("masking", WEAK)
def test_a_test_of_a_count(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    for bit in (bench.bit(1), bench.terms.true, bench.terms.letter("a")):
        for predicate in PREDICATES:
            scale, shift = bench.rng.choice((-2, -1, 1, 2, 3)), bench.rng.randint(-3, 3)
            check(
                bench,
                bench.terms.counted_test(masking, bit, predicate, scale, shift),
                lambda r, i, b=bit, p=predicate, k=scale, s=shift: holds(
                    p, k * int(total(r, b, masking, i)) + s
                ),
            )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("masking", WEAK)
def test_functions_of_the_position_are_read_at_a_count(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    terms, rng = bench.terms, bench.rng
    parts = [
        terms.place(rng.choice(PREDICATES), rng.choice((-2, -1, 1, 3)), 0, rng.randint(-5, 5)) for _ in "ab"
    ]
    function = terms.plus(parts[0], terms.scaled(parts[1], 2))
    long = Reading(terms, ("a",) * 9)
    for position in range(1, 9):
        assert terms.at_fixed(function, position) == terms.number(long.number(function, position))
    assert terms.at_position_one(function) == terms.number(long.number(function, 1))
    for bit in (bench.bit(1), terms.true):
        found = terms.looked_up(masking, bit, function)
        for reading, i in bench.places():
            count = int(total(reading, bit, masking, i))
            if count:
                assert reading.number(found, i) == long.number(function, count), (reading.word, i)


def test_only_functions_of_the_position_are_looked_up() -> None:
    terms = Terms(AB)
    bit = terms.letter("b")
    for other in (terms.letter("a"), terms.last, terms.place(Remainder(3, 1), 1, 1, 0), terms.only):
        for counted in (bit, terms.true):
            with pytest.raises(UnprovenError, match="is not a function of its position alone"):
                terms.at_count(Masking.FUTURE, counted, other)
        with pytest.raises(UnprovenError, match="is not a function of its position alone"):
            terms.at_fixed(other, 2)


# Averages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("masking", WEAK)
def test_a_mean_and_what_is_made_of_it(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    terms = bench.terms
    summand, other, factor = bench.number(), bench.number(), Fraction(bench.rng.choice((-2, -1, 3)), 2)
    mean = terms.mean(masking, summand)
    moved = terms.plus(terms.scaled(mean, factor), other)

    def average(reading: Reading, i: int) -> Fraction:
        return total(reading, summand, masking, i) / len(visible(masking, i, reading.length))

    check(bench, mean, average)
    check(bench, terms.with_edges(moved), lambda r, i: factor * average(r, i) + r.number(other, i))
    for value in terms.values(moved):
        low, high = terms.bounds(value)
        assert low <= high
        relu = terms.affine(terms.positive_part(value)) if value.parts and low < 0 < high else None
        for reading, i in bench.places():
            number = reading.number(terms.affine(value), i)
            assert low <= number <= high
            if relu is not None:
                assert Reading(terms, reading.word).number(relu, i) == max(Fraction(0), number)
    for value in terms.values(moved):
        for number, _ in value.parts:
            replaced = terms.replace_mean(moved, number, summand)
            check(bench, replaced, lambda r, i: factor * r.number(summand, i) + r.number(other, i))


def test_the_bounds_of_an_affine_value_are_sharp() -> None:
    terms = Terms(AB)
    first = terms.mean(Masking.FUTURE, terms.plus(terms.scaled(terms.letter("a"), 5), terms.number(-2)))
    second = terms.mean(Masking.PAST, terms.letter("b"))
    both = terms.plus(terms.scaled(first, -2), terms.plus(terms.scaled(second, 3), terms.number(1)))
    (value,) = terms.values(both)
    assert terms.bounds(value) == (1 - 2 * 3, 1 + 2 * 2 + 3)
    assert terms.mean(Masking.NONE, terms.number(Fraction(2, 3))) == terms.number(Fraction(2, 3))
    with pytest.raises(UnprovenError, match="two averages are multiplied"):
        terms.product(first, second)


def test_parts_of_rectified_averages_cancel() -> None:
    terms = Terms(AB)
    (value,) = terms.values(
        terms.mean(Masking.FUTURE, terms.plus(terms.letter("a"), terms.number(Fraction(-1, 3))))
    )
    negative = Affine(-value.constant, tuple((m, -f) for m, f in value.parts))
    upper, lower = terms.affine(terms.positive_part(value)), terms.affine(terms.positive_part(negative))
    assert terms.plus(upper, terms.scaled(lower, -1)) == terms.affine(value)
    (relu,) = terms.values(upper)
    assert terms.bounds(relu) == (0, Fraction(2, 3))
    doubled = Affine(2 * value.constant, tuple((m, 2 * f) for m, f in value.parts))
    assert terms.affine(terms.positive_part(doubled)) == terms.scaled(upper, 2)
    (relu,) = terms.values(lower)
    assert terms.bounds(Affine(relu.constant, relu.parts))[0] <= 0


@pytest.mark.parametrize("masking", WEAK)
def test_a_sum_of_what_only_the_marked_position_has(masking: Masking) -> None:
    bench = Bench(random.Random(0))
    terms = bench.terms
    for test in (
        terms.place(Remainder(2, 0), 1, 0, 0),
        terms.place(Remainder(2, 1), 1, 0, 0),
        terms.letter("a"),
    ):
        summand = terms.both(terms.mark(masking), test)
        for threshold in (0, 1, 2):
            found = terms.sum_at_least(masking, summand, threshold)
            check(bench, found, lambda r, i, s=summand, t=threshold: total(r, s, masking, i) >= t)
