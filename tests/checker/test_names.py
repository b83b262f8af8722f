"""Every constructor of meanings against its definition, at every position of every short word.

The atoms of the diagrams are read by `tests.support.judges.derived.Reading`, straight from their definitions.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, UnprovenError
from attemper.checker.rounding.rules import _is_multiple
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, holds
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.layers import Masking
from tests.support.judges.derived import Reading

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
    """A set of names, and its readings on all short words."""

    def __init__(self, rng: random.Random, symbols: tuple[str, ...] = AB, longest: int = 4) -> None:
        self.rng = rng
        self.names = Formulas(symbols).names
        alphabet = Alphabet(symbols)
        self.words = [w for n in range(1, longest + 1) for w in words_of_length(alphabet, n)]
        self.readings = [Reading(self.names, word) for word in self.words]

    def places(self) -> list[tuple[Reading, int]]:
        return [(reading, i) for reading in self.readings for i in range(1, reading.length + 1)]

    def column(self, diagram: Diagram) -> list[Fraction]:
        return [reading.number(diagram, i) for reading, i in self.places()]

    def bit(self, depth: int = 2) -> Diagram:
        """A random bit of letters, places and what is seen elsewhere."""
        names, rng = self.names, self.rng
        if depth == 0:
            return rng.choice(
                (
                    names.letter(rng.choice(names.symbols)),
                    names.letter(rng.choice(names.symbols)),
                    self.place(),
                    self.place(),
                    rng.choice((names.first, names.last, names.true)),
                )
            )
        left, right = self.bit(depth - 1), self.bit(depth - 1)
        match rng.randrange(8):
            case 0:
                return names.negation(left)
            case 1 | 2:
                return names.both(left, right)
            case 3 | 4:
                return names.either(left, right)
            case 5:
                return names.positions.exists(rng.choice(WEAK), left)
            case 6:
                return names.positions.attend(rng.choice(WEAK), rng.random() < 0.5, left, right)
            case _:
                return names.positions.shifted(left, rng.choice((-1, 1)), right)

    def place(self) -> Diagram:
        rng = self.rng
        per_position, per_length = rng.choice(((1, 0), (1, 0), (0, 1), (1, -1), (2, -1), (-1, 1)))
        return self.names.place(rng.choice(PREDICATES), per_position, per_length, rng.randint(-3, 1))

    def number(self, least: int = -2, depth: int = 1) -> Diagram:
        """A random integer."""
        total = self.names.number(self.rng.randint(least, 2))
        for _ in range(2):
            total = self.names.plus(
                total, self.names.scaled(self.bit(depth), self.rng.randint(min(0, least), 3))
            )
        return total


def check(bench: Bench, diagram: Diagram, expected: Callable[[Reading, int], Fraction | int]) -> None:
    for reading, i in bench.places():
        assert reading.number(diagram, i) == expected(reading, i), (reading.word, i)


def ones(reading: Reading, diagram: Diagram, masking: Masking, i: int) -> list[int]:
    return [j for j in masking.visible(i, reading.length) if reading.number(diagram, j)]


def total(reading: Reading, diagram: Diagram, masking: Masking, i: int) -> Fraction:
    return sum((reading.number(diagram, j) for j in masking.visible(i, reading.length)), Fraction(0))


# Letters and places ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", range(1, 7))
def test_letters_say_which_symbol_it_is_and_one_of_them_holds(size: int) -> None:
    symbols = tuple("abcdef"[:size])
    names = Formulas(symbols).names
    some = names.false
    for symbol in symbols:
        letter = names.letter(symbol)
        for own in symbols:
            assert Reading(names, (own,)).number(letter, 1) == (own == symbol)
        assert names.both(some, letter) == names.false
        some = names.either(some, letter)
    assert some == names.true


@pytest.mark.sweep(11)
@pytest.mark.parametrize("predicate", PREDICATES, ids=str)
def test_tests_of_places_are_what_they_say_and_equal_ones_are_one(predicate: Predicate) -> None:
    names = Formulas(("a",)).names
    readings = [Reading(names, ("a",) * n) for n in range(1, 7)]
    known: dict[tuple[bool, ...], Diagram] = {}
    for a, b, c in itertools.product(range(-2, 3), range(-2, 3), range(-5, 6)):
        test = names.place(predicate, a, b, c)
        for reading in readings:
            for i in range(1, reading.length + 1):
                assert reading.number(test, i) == holds(predicate, a * i + b * reading.length + c)
        truth = tuple(holds(predicate, a * i + b * n + c) for n in range(1, 11) for i in range(1, n + 1))
        if (
            len(set(truth)) == 1
            and predicate != Remainder(17, 3)
            and isinstance(predicate, NonNegative | Remainder)
        ):
            assert test == names.number(truth[0]), (a, b, c)
        if b == 0 and predicate in {NonNegative(), Named("even"), Named("odd")}:
            assert known.setdefault(truth, test) == test, (a, b, c)


@pytest.mark.parametrize("modulus", range(1, 6))
def test_one_remainder_holds(modulus: int) -> None:
    names = Formulas(("a",)).names
    for factors in ((1, 0), (0, 1), (2, 1)):
        some = names.false
        for remainder in range(modulus):
            test = names.place(Remainder(modulus, remainder), *factors, 0)
            assert names.both(some, test) == names.false
            some = names.either(some, test)
        assert some == names.true


def test_the_marks_and_edges_of_masks() -> None:
    names = Formulas(("a",)).names
    for n in range(1, 6):
        reading = Reading(names, ("a",) * n)
        for i in range(1, n + 1):
            assert reading.number(names.sign, i) == (-1) ** i
            assert reading.number(names.first, i) == (i == 1)
            assert reading.number(names.last, i) == (i == n)
            assert reading.number(names.only, i) == (n == 1)
            for masking in WEAK:
                assert reading.number(names.edge(masking), i) == (len(masking.visible(i, n)) == 1)
                assert len(ones(reading, names.mark(masking), masking, i)) == 1


# Pointwise -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_connectives_and_arithmetic_are_pointwise(seed: int) -> None:
    bench = Bench(random.Random(seed))
    names = bench.names
    left, right, bit = bench.bit(), bench.bit(), bench.bit()
    number, other = bench.number(), bench.number()
    factor = Fraction(random.Random(seed).choice((-3, -1, 0, 1, 2)), 2)
    a, b, c = bench.column(left), bench.column(right), bench.column(bit)
    x, y = bench.column(number), bench.column(other)
    pointwise = {
        names.negation(left): [1 - p for p in a],
        names.both(left, right): [p * q for p, q in zip(a, b, strict=True)],
        names.either(left, right): [max(p, q) for p, q in zip(a, b, strict=True)],
        names.different(left, right): [p != q for p, q in zip(a, b, strict=True)],
        names.choose(bit, number, other): [p if r else q for p, q, r in zip(x, y, c, strict=True)],
        names.plus(number, other): [p + q for p, q in zip(x, y, strict=True)],
        names.plus(names.false, other): y,
        names.product(number, other): [p * q for p, q in zip(x, y, strict=True)],
        names.scaled(number, factor): [factor * p for p in x],
        names.scaled(number, 1): x,
        names.scaled(number, 0): [0] * len(x),
        names.equals(number, Fraction(1)): [p == 1 for p in x],
        names.where("odd", lambda value: value.constant % 2 == 1, number): [p % 2 for p in x],
    }
    for diagram, expected in pointwise.items():
        assert bench.column(diagram) == expected


def test_bits_constants_and_multiples_are_recognised() -> None:
    names = Formulas(AB).names
    letter, mean = names.letter("a"), names.mean(Masking.FUTURE, names.letter("a"))
    assert names.is_bit(letter)
    assert names.is_bit(names.true)
    assert not names.is_bit(names.scaled(letter, 2))
    assert not names.is_bit(names.scaled(letter, -1))
    assert not names.is_bit(names.scaled(letter, Fraction(1, 2)))
    assert not names.is_bit(mean)
    assert sorted(names.constants(names.plus(letter, names.true), "it")) == [1, 2]
    with pytest.raises(UnprovenError, match="it depends on an average"):
        names.constants(names.choose(letter, mean, names.true), "it")
    for factor in (1, -1, 3, Fraction(-5, 2)):
        assert _is_multiple(names, names.scaled(names.sign, factor), names.sign)
        assert _is_multiple(names, names.number(factor), names.true)
        assert _is_multiple(names, names.scaled(names.sign, factor), names.scaled(names.sign, 5))
    assert not _is_multiple(names, names.plus(names.sign, names.true), names.sign)
    assert not _is_multiple(names, mean, names.true)
    assert not _is_multiple(names, names.letter("a"), names.true)


# Other positions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("offset", [-1, 1])
def test_a_shifted_value_is_that_of_the_neighbour(seed: int, offset: int) -> None:
    bench = Bench(random.Random(seed))
    inner, edge = bench.number(), bench.number()

    def expected(reading: Reading, i: int) -> Fraction:
        is_inside = 1 <= i + offset <= reading.length
        return reading.number(inner, i + offset) if is_inside else reading.number(edge, i)

    check(bench, bench.names.positions.shifted(inner, offset, edge), expected)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("masking", WEAK)
def test_some_visible_position_has_it(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    for depth in (0, 1, 2):
        where = bench.bit(depth)
        check(
            bench,
            bench.names.positions.exists(masking, where),
            lambda r, i, w=where: bool(ones(r, w, masking, i)),
        )


@pytest.mark.sweep(37)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("leftmost", [False, True])
@pytest.mark.parametrize("masking", WEAK)
def test_the_value_at_the_chosen_position(seed: int, masking: Masking, leftmost: bool) -> None:
    bench = Bench(random.Random(seed))
    where, value, bit = bench.bit(), bench.number(), bench.bit()
    chosen = bench.names.positions.chosen(masking, leftmost, where, value)
    for reading, i in bench.places():
        found = ones(reading, where, masking, i)
        if found:
            assert reading.number(chosen, i) == reading.number(value, found[0 if leftmost else -1])

    def expected(reading: Reading, i: int) -> Fraction:
        found = ones(reading, where, masking, i)
        return reading.number(bit, found[0 if leftmost else -1]) if found else Fraction(0)

    check(bench, bench.names.positions.attend(masking, leftmost, where, bit), expected)


@pytest.mark.parametrize("seed", range(12))
def test_settled_is_the_same_function(seed: int) -> None:
    bench = Bench(random.Random(seed))
    for diagram in (bench.bit(3), bench.number()):
        assert bench.column(bench.names.canonical(diagram)) == bench.column(diagram)


# Counts ----------------------------------------------------------------------------------------------


@pytest.mark.sweep(14)
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("masking", WEAK)
def test_a_sum_is_at_least_its_threshold(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    for summand in (bench.number(), bench.number(0), bench.bit(1), bench.number(depth=0)):
        for threshold in (-3, -1, 0, 1, 2, 5):
            test = bench.names.positions.sum_at_least(masking, summand, threshold)
            check(bench, test, lambda r, i, s=summand, t=threshold: total(r, s, masking, i) >= t)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("seed", range(16))
def test_a_sum_of_both_sides_is_at_least_its_threshold(seed: int) -> None:
    bench = Bench(random.Random(seed), longest=3)
    names = bench.names
    left, right, own = (bench.number(depth=0) for _ in range(3))
    cases = [
        (left, right, own),
        (left, names.false, own),
        (names.false, right, own),
        (left, left, names.scaled(left, -1)),
        (names.number(2), names.number(-1), own),
        (names.number(2), names.number(2), names.number(3)),
        (names.scaled(left, 2), names.scaled(right, 4), names.scaled(own, 2)),
        (names.false, names.false, own),
    ]
    for x, y, z in cases:
        for threshold in (-4, -1, 0, 1, 3):
            check(
                bench,
                names.positions.mixed_at_least(x, y, z, threshold),
                lambda r, i, x=x, y=y, z=z, t=threshold: (
                    total(r, x, Masking.FUTURE, i) + total(r, y, Masking.PAST, i) + r.number(z, i) >= t
                ),
            )


@pytest.mark.sweep(5)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("masking", WEAK)
def test_a_test_of_a_count(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    for bit in (bench.bit(1), bench.names.true, bench.names.letter("a")):
        for predicate in PREDICATES:
            scale, shift = bench.rng.choice((-2, -1, 1, 2, 3)), bench.rng.randint(-3, 3)
            check(
                bench,
                bench.names.positions.counted_test(masking, bit, predicate, scale, shift),
                lambda r, i, b=bit, p=predicate, k=scale, s=shift: holds(
                    p, k * int(total(r, b, masking, i)) + s
                ),
            )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("masking", WEAK)
def test_functions_of_the_position_are_read_at_a_count(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    names, rng = bench.names, bench.rng
    parts = [
        names.place(rng.choice(PREDICATES), rng.choice((-2, -1, 1, 3)), 0, rng.randint(-5, 5)) for _ in "ab"
    ]
    function = names.plus(parts[0], names.scaled(parts[1], 2))
    long = Reading(names, ("a",) * 9)
    for position in range(1, 9):
        assert names.at_fixed(function, position) == names.number(long.number(function, position))
    assert names.at_position_one(function) == names.number(long.number(function, 1))
    for bit in (bench.bit(1), names.true):
        found = names.positions.looked_up(masking, bit, function)
        for reading, i in bench.places():
            count = int(total(reading, bit, masking, i))
            if count:
                assert reading.number(found, i) == long.number(function, count), (reading.word, i)


def test_only_functions_of_the_position_are_looked_up() -> None:
    names = Formulas(AB).names
    bit = names.letter("b")
    for other in (names.letter("a"), names.last, names.place(Remainder(3, 1), 1, 1, 0), names.only):
        for counted in (bit, names.true):
            with pytest.raises(UnprovenError, match="is not a function of its position alone"):
                names.positions.at_count(Masking.FUTURE, counted, other)
        with pytest.raises(UnprovenError, match="is not a function of its position alone"):
            names.at_fixed(other, 2)


# Averages --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("masking", WEAK)
def test_a_mean_and_what_is_made_of_it(seed: int, masking: Masking) -> None:
    bench = Bench(random.Random(seed))
    names = bench.names
    summand, other, factor = bench.number(), bench.number(), Fraction(bench.rng.choice((-2, -1, 3)), 2)
    mean = names.mean(masking, summand)
    moved = names.plus(names.scaled(mean, factor), other)

    def average(reading: Reading, i: int) -> Fraction:
        return total(reading, summand, masking, i) / len(masking.visible(i, reading.length))

    check(bench, mean, average)
    check(bench, names.with_edges(moved), lambda r, i: factor * average(r, i) + r.number(other, i))
    for value in names.values(moved):
        low, high = names.bounds(value)
        assert low <= high
        relu = names.affine(names.positive_part(value)) if value.parts and low < 0 < high else None
        for reading, i in bench.places():
            number = reading.number(names.affine(value), i)
            assert low <= number <= high
            if relu is not None:
                assert Reading(names, reading.word).number(relu, i) == max(Fraction(0), number)
    for value in names.values(moved):
        for number, _ in value.parts:
            replaced = names.replace_mean(moved, number, summand)
            check(bench, replaced, lambda r, i: factor * r.number(summand, i) + r.number(other, i))


def test_the_bounds_of_an_affine_value_are_sharp() -> None:
    names = Formulas(AB).names
    first = names.mean(Masking.FUTURE, names.plus(names.scaled(names.letter("a"), 5), names.number(-2)))
    second = names.mean(Masking.PAST, names.letter("b"))
    both = names.plus(names.scaled(first, -2), names.plus(names.scaled(second, 3), names.number(1)))
    (value,) = names.values(both)
    assert names.bounds(value) == (1 - 2 * 3, 1 + 2 * 2 + 3)
    assert names.mean(Masking.NONE, names.number(Fraction(2, 3))) == names.number(Fraction(2, 3))
    with pytest.raises(UnprovenError, match="two averages are multiplied"):
        names.product(first, second)


def test_parts_of_rectified_averages_cancel() -> None:
    names = Formulas(AB).names
    (value,) = names.values(
        names.mean(Masking.FUTURE, names.plus(names.letter("a"), names.number(Fraction(-1, 3))))
    )
    negative = Affine(-value.constant, tuple((m, -f) for m, f in value.parts))
    upper, lower = names.affine(names.positive_part(value)), names.affine(names.positive_part(negative))
    assert names.plus(upper, names.scaled(lower, -1)) == names.affine(value)
    (relu,) = names.values(upper)
    assert names.bounds(relu) == (0, Fraction(2, 3))
    doubled = Affine(2 * value.constant, tuple((m, 2 * f) for m, f in value.parts))
    assert names.affine(names.positive_part(doubled)) == names.scaled(upper, 2)
    (relu,) = names.values(lower)
    assert names.bounds(Affine(relu.constant, relu.parts))[0] <= 0


@pytest.mark.parametrize("masking", WEAK)
def test_a_sum_of_what_only_the_marked_position_has(masking: Masking) -> None:
    bench = Bench(random.Random(0))
    names = bench.names
    for test in (
        names.place(Remainder(2, 0), 1, 0, 0),
        names.place(Remainder(2, 1), 1, 0, 0),
        names.letter("a"),
    ):
        summand = names.both(names.mark(masking), test)
        for threshold in (0, 1, 2):
            found = names.positions.sum_at_least(masking, summand, threshold)
            check(bench, found, lambda r, i, s=summand, t=threshold: total(r, s, masking, i) >= t)


def test_a_total_is_the_sum_of_all_parts() -> None:
    names = Formulas(AB).names
    bits = [names.letter("a"), names.first, names.last, names.number(2), names.only]
    assert names.total([]) == names.false
    expected = names.false
    for count, bit in enumerate(bits, 1):
        expected = names.plus(expected, bit)
        assert names.total(bits[:count]) == expected
