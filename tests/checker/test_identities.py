"""Normal forms: what FORMAT.md (section 4) says is one meaning is one diagram, identity by identity."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import pytest

from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import (
    MAX_RESIDUES,
    AtOffset,
    Exists,
    Names,
    PlaceAtLeast,
    PlaceAtom,
    PlaceRemainder,
    PositivePart,
    SelectedAt,
    SumAtLeast,
    UnprovenError,
)
from attemper.exact.predicates import Named, Predicate, Remainder, Zero, holds
from attemper.networks.layers import Masking
from tests.support.drawn.heads import short_words
from tests.support.judges.derived import Reading

LEFT, RIGHT, ALL = Masking.FUTURE, Masking.PAST, Masking.NONE
WEAK = (LEFT, RIGHT, ALL)
FACTORS = [(a, b) for a in range(-3, 4) for b in range(-3, 4)]


def names() -> Names:
    return Formulas(("a", "b")).names


# Tests of places -------------------------------------------------------------------------------------


def is_true_of_all(a: int, b: int, c: int) -> bool:
    """Whether a i + b n + c >= 0 for all 1 <= i <= n: it is least at i = n = 1, or it falls for ever."""
    return b >= 0 and a + b >= 0 and a + b + c >= 0


def test_linear_tests_that_hold_always_or_never_are_constants() -> None:
    own = names()
    for (a, b), c in itertools.product(FACTORS, range(-7, 8)):
        test = own.at_least_place(a, b, c)
        assert (test == own.true) == is_true_of_all(a, b, c)
        assert (test == own.false) == is_true_of_all(-a, -b, -c - 1)


def test_linear_tests_are_brought_to_one_form_and_decided_at_length_one() -> None:
    own = names()
    for (a, b), c in itertools.product(FACTORS, range(-7, 8)):
        test = own.at_least_place(a, b, c)
        assert own.negation(test) == own.at_least_place(-a, -b, -c - 1)
        for k in (2, 3):
            assert own.at_least_place(k * a, k * b, k * c) == test
            assert own.at_least_place(k * a, k * b, k * c + k - 1) == test
        assert own.both(own.only, test) == (own.only if a + b + c >= 0 else own.false)


def test_first_last_and_only_are_linear_tests() -> None:
    own = names()
    assert own.at_least_place(0, 0, 0) == own.true
    assert own.at_least_place(0, 0, -1) == own.false
    assert own.at_least_place(-1, 0, 1) == own.first == own.place(Zero(), 1, 0, -1)
    assert own.at_least_place(1, -1, 0) == own.last == own.place(Zero(), 1, -1, 0)
    assert (
        own.at_least_place(0, -1, 1)
        == own.only
        == own.both(own.first, own.last)
        == own.place(Zero(), 0, 1, -1)
    )
    assert own.at_least_place(0, 1, -2) == own.negation(own.only)
    assert own.choose(own.place(Remainder(2, 0), 1, 0, 0), own.true, own.number(-1)) == own.sign


@pytest.mark.parametrize(
    "predicate", [Remainder(3, 1), Remainder(4, 2), Named("prime"), Named("square")], ids=str
)
def test_tests_of_n_are_decided_where_they_can_be(predicate: Predicate) -> None:
    own = names()
    for (a, b), c in itertools.product(FACTORS, range(-2, 4)):
        test = own.place(predicate, a, b, c)
        if a == b == 0:
            assert test == own.number(holds(predicate, c))
        if b % getattr(predicate, "modulus", 97):
            assert own.both(own.only, test) == (own.only if holds(predicate, a + b + c) else own.false)
        if b and a + b == 0:
            assert own.both(own.last, test) == (own.last if holds(predicate, c) else own.false)


def test_remainders_are_cancelled() -> None:
    own = names()
    for remainder, c in itertools.product(range(6), range(-3, 4)):
        doubled = own.place(Remainder(6, remainder), 2, 4, c)
        half, rest = divmod(remainder - c, 2)
        assert doubled == (own.false if rest else own.place(Remainder(3, half % 3), 1, 2, 0))
        assert own.place(Remainder(6, remainder), 7, 13, c) == own.place(
            Remainder(6, (remainder - c) % 6), 1, 1, 0
        )


# Tests of i at i = 1 ---------------------------------------------------------------------------------

PLACES: tuple[Callable[[Formulas], Diagram], ...] = (
    lambda own: own.place(Remainder(2, 0), 1, 0, 0),
    lambda own: own.place(Remainder(3, 1), 1, 0, 0),
    lambda own: own.place(Remainder(3, 2), 2, 0, 0),
    lambda own: own.place(Named("prime"), 1, 0, 0),
    lambda own: own.place(Named("prime"), 1, 0, 1),
    lambda own: own.place(Named("square"), 3, 0, -2),
)


@pytest.mark.parametrize("number", range(len(PLACES)))
def test_what_only_says_again_what_holds_at_one_is_left_out(number: int) -> None:
    own = names()
    test = PLACES[number](own)
    at_one = own.at_position_one(test)
    spelled = own.choose(own.first, at_one, test)
    assert spelled != test
    assert own.canonical(spelled) == own.canonical(test) == test
    for letter in (own.letter("a"), own.last, own.place(Remainder(3, 1), 0, 1, 0)):
        assert own.canonical(own.both(spelled, letter)) == own.canonical(own.both(test, letter))
    exception = own.choose(own.first, own.negation(at_one), test)
    assert own.canonical(exception) == exception


# Other positions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [-1, 1])
def test_what_moves_is_known_where_it_went(offset: int) -> None:
    own = names()
    edge = own.first if offset < 0 else own.last

    def moved(diagram: Diagram) -> Diagram:
        return own.positions.shifted(diagram, offset, own.false)

    inside = own.negation(edge)
    for (a, b), c in itertools.product(((1, 0), (0, 1), (1, -1)), (-3, -2, 0)):
        assert moved(own.at_least_place(a, b, c)) == own.both(
            inside, own.at_least_place(a, b, c + a * offset)
        )
    for test in (own.place(Remainder(3, 1), 1, 0, 0), own.place(Named("prime"), 1, 0, 2)):
        atoms = (own.atoms[family] for family, _ in own.diagrams.support(moved(test)))
        assert all(isinstance(atom, PlaceAtom) for atom in atoms)
    for everywhere in (
        own.positions.exists(ALL, own.letter("a")),
        own.positions.sum_at_least(ALL, own.letter("a"), 2),
    ):
        before, after = (own.diagrams.support(diagram) for diagram in (everywhere, moved(everywhere)))
        kept = {variable for variable in before if isinstance(own.atoms[variable[0]], Exists | SumAtLeast)}
        assert kept <= after
        shifts = [own.atoms[family] for family, _ in after if isinstance(own.atoms[family], AtOffset)]
        assert not [atom for atom in shifts if atom.inner in dict(kept)]
    left, right = own.letter("a"), own.letter("b")
    assert moved(own.both(left, right)) == own.both(moved(left), moved(right))
    assert moved(own.negation(left)) == own.both(inside, own.negation(moved(left)))
    assert own.positions.shifted(left, offset, own.true) == own.either(edge, moved(left))


@pytest.mark.parametrize("masking", WEAK)
def test_some_position_of_letters_and_places(masking: Masking) -> None:
    own = names()
    a, b, first = own.letter("a"), own.letter("b"), own.first
    some = own.positions.exists(masking, a)
    assert own.positions.exists(masking, own.false) == own.false
    assert own.positions.exists(masking, own.true) == own.true
    assert own.either(a, some) == some, "i sees itself"
    edge = own.edge(masking)
    assert own.both(edge, some) == own.both(edge, a), "where i sees one position it is that one"
    abc = Formulas(("a", "b", "c")).names
    either = abc.positions.exists(masking, abc.either(abc.letter("a"), abc.letter("b")))
    assert either == abc.either(
        abc.positions.exists(masking, abc.letter("a")), abc.positions.exists(masking, abc.letter("b"))
    )
    assert own.positions.exists(masking, own.both(b, first)) != own.positions.exists(masking, b)


def test_cases_by_places_are_split_on_demand() -> None:
    own = names()
    mixed = own.either(
        own.both(own.letter("a"), own.at_least_place(1, 0, -3)),
        own.both(own.letter("b"), own.place(Remainder(2, 0), 1, 0, 0)),
    )
    parts = (
        own.both(own.letter("a"), own.at_least_place(1, 0, -3)),
        own.both(own.letter("b"), own.place(Remainder(2, 0), 1, 0, 0)),
    )
    together = own.positions.exists(LEFT, mixed)
    assert together != own.either(*(own.positions.exists(LEFT, part) for part in parts))
    expand = own.positions.mixed_places()
    assert expand == {(PlaceAtLeast(1, 0), 3), (PlaceRemainder(2, 1, 0), 0)}
    again = Formulas(("a", "b"), expand).names
    a, b = again.letter("a"), again.letter("b")
    left = again.both(a, again.at_least_place(1, 0, -3))
    right = again.both(b, again.place(Remainder(2, 0), 1, 0, 0))
    assert again.positions.exists(LEFT, again.either(left, right)) == again.either(
        again.positions.exists(LEFT, left), again.positions.exists(LEFT, right)
    )
    plain = names()
    plain.positions.exists(LEFT, plain.letter("a"))
    plain.positions.exists(LEFT, plain.last)
    assert plain.positions.mixed_places() == frozenset()
    deep = names()
    deep.positions.exists(LEFT, deep.both(deep.positions.exists(LEFT, deep.letter("a")), deep.last))
    assert deep.positions.mixed_places() == frozenset()


def test_cases_by_places_alone_are_split_on_demand_too() -> None:
    own = names()
    own.positions.exists(LEFT, own.different(own.first, own.last))
    expand = own.positions.mixed_places()
    assert expand == {(PlaceAtLeast(1, 0), 2), (PlaceAtLeast(1, -1), 0)}
    again = Formulas(("a", "b"), expand).names
    parts = (
        again.both(again.first, again.negation(again.last)),
        again.both(again.last, again.negation(again.first)),
    )
    either = again.either(*(again.positions.exists(LEFT, part) for part in parts))
    assert again.positions.exists(LEFT, again.different(again.first, again.last)) == either


@pytest.mark.parametrize("masking", WEAK)
@pytest.mark.parametrize("leftmost", [False, True])
def test_places_beside_letters_are_split_where_all_are_too_many(masking: Masking, leftmost: bool) -> None:
    own = names()
    own.positions.exists(masking, own.both(own.letter("a"), own.at_least_place(1, 0, -9)))
    mark = own.first if leftmost else own.last
    for threshold in range(3, 9):
        own.positions.exists(masking, own.both(mark, own.at_least_place(2, -1, threshold)))
    assert own.positions.mixed_places() == {(PlaceAtLeast(1, 0), 9)}
    for threshold in range(10, 16):
        own.positions.exists(masking, own.both(own.letter("a"), own.at_least_place(1, 0, -threshold)))
    assert own.positions.mixed_places() == frozenset()


@pytest.mark.parametrize("masking", WEAK)
@pytest.mark.parametrize("leftmost", [False, True])
def test_the_chosen_position(masking: Masking, leftmost: bool) -> None:
    own = names()
    a, b = own.letter("a"), own.letter("b")
    is_own = (masking is LEFT and not leftmost) or (masking is RIGHT and leftmost)
    assert (own.positions.chosen(masking, leftmost, own.true, a) == a) == is_own
    assert own.positions.chosen(masking, leftmost, own.false, a) == own.false
    assert own.positions.chosen(masking, leftmost, a, a) == own.true
    assert own.positions.attend(masking, leftmost, a, a) == own.positions.exists(masking, a)
    assert own.positions.attend(masking, leftmost, a, b) == own.false
    for same, is_kept in (
        (own.at_least_place(0, 1, -3), lambda atom: atom == PlaceAtLeast(0, 1)),
        (own.place(Remainder(3, 1), 0, 1, 0), lambda atom: atom == PlaceRemainder(3, 0, 1)),
        (
            own.positions.sum_at_least(ALL, a, 2),
            lambda atom: isinstance(atom, SumAtLeast) and atom.masking is ALL,
        ),
    ):
        found = own.positions.chosen(masking, leftmost, a, same)
        assert any(is_kept(own.atoms[family]) for family, _ in own.diagrams.support(found)), (
            "what is everywhere the same"
        )
    either = own.either(a, own.last)
    assert own.positions.chosen(masking, leftmost, either, own.both(b, either)) == own.positions.chosen(
        masking, leftmost, either, b
    )


# Positions with a remainder --------------------------------------------------------------------------


def some_bits(own: Names) -> list[Diagram]:
    """Bits of all kinds, some of which speak of other positions."""
    a, third = own.letter("a"), own.place(Remainder(3, 2), 1, 0, 0)
    return [
        a,
        own.last,
        own.at_least_place(1, 0, -3),
        own.different(a, third),
        own.positions.shifted(own.either(a, own.first), -1, own.true),
        own.positions.exists(LEFT, own.both(a, own.letter("b"))),
        own.positions.attend(RIGHT, True, a, third),
        own.place(Remainder(4, 1), 0, 1, 0),
        own.true,
    ]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("masking", WEAK)
@pytest.mark.parametrize("leftmost", [False, True])
@pytest.mark.parametrize("modulus", [2, 3, 4, 7])
def test_the_nearest_position_with_a_remainder(masking: Masking, leftmost: bool, modulus: int) -> None:
    """Against the definition: on all words of up to 6 symbols, and one that is longer."""
    own = names()
    bits, words = some_bits(own), [*short_words(("a", "b"), 5), tuple("abbaabab")]
    for remainder in range(modulus):
        where = own.place(Remainder(modulus, remainder), 1, 0, 0)
        some = own.positions.exists(masking, where)
        found = [own.both(some, own.positions.chosen(masking, leftmost, where, bit)) for bit in bits]
        for word in words:
            reading = Reading(own, word)
            for i in range(1, len(word) + 1):
                seen = [j for j in masking.visible(i, len(word)) if j % modulus == remainder]
                assert reading.number(some, i) == bool(seen)
                for bit, diagram in zip(bits, found, strict=True):
                    expected = reading.number(bit, seen[0 if leftmost else -1]) if seen else 0
                    assert reading.number(diagram, i) == expected


@pytest.mark.parametrize("distance", [1, 2, 3, 6])
@pytest.mark.parametrize(("masking", "offset"), [(LEFT, -1), (RIGHT, 1)])
def test_the_position_so_far_away_is_reached_step_by_step(
    distance: int, masking: Masking, offset: int
) -> None:
    """i - d is the rightmost j <= i that leaves the remainder of i - d modulo d + 1, and i + d mirrors it."""
    own, modulus = names(), distance + 1
    for bit in some_bits(own):
        by_steps = bit
        for _ in range(distance):
            by_steps = own.positions.shifted(by_steps, offset, own.false)
        by_cases = own.false
        for r in range(modulus):
            here = own.place(Remainder(modulus, (r - offset * distance) % modulus), 1, 0, 0)
            where = own.place(Remainder(modulus, r), 1, 0, 0)
            found = own.positions.attend(masking, offset > 0, where, bit)
            by_cases = own.either(by_cases, own.both(here, found))
        assert own.canonical(by_cases) == own.canonical(by_steps)


@pytest.mark.parametrize("modulus", [MAX_RESIDUES, MAX_RESIDUES + 1])
def test_remainders_of_large_moduli_are_looked_for_like_anything_else(modulus: int) -> None:
    own = names()
    where = own.place(Remainder(modulus, 5), 1, 0, 0)
    own.positions.attend(LEFT, False, where, own.letter("a"))
    assert any(isinstance(atom, SelectedAt) for atom in own.atoms) == (modulus > MAX_RESIDUES)


def test_where_some_position_is_split_by_remainders_they_are_looked_for_like_anything_else() -> None:
    own = Formulas(("a", "b"), frozenset({(PlaceRemainder(3, 1, 0), 1)})).names
    where = own.place(Remainder(3, 1), 1, 0, 0)
    cells = [own.positions.exists(LEFT, own.both(where, own.letter(symbol))) for symbol in "ab"]
    assert own.positions.exists(LEFT, where) == own.either(*cells)


def test_other_bits_of_remainders_are_looked_for_like_anything_else() -> None:
    own = names()
    where = own.place(Remainder(5, 1), 1, 0, 0)
    for other in (
        own.either(where, own.place(Remainder(5, 2), 1, 0, 0)),
        own.both(where, own.at_least_place(1, 0, -3)),
        own.place(Remainder(5, 1), 1, 1, 0),
        own.place(Remainder(5, 1), 0, 1, 0),
    ):
        own.positions.attend(LEFT, False, other, own.letter("a"))
        assert any(isinstance(atom, SelectedAt) and atom.where == own.decided(other) for atom in own.atoms)


# Counts ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("masking", WEAK)
def test_sums_are_brought_to_one_form(masking: Masking) -> None:
    own = names()
    a, b = own.letter("a"), own.letter("b")
    balance = own.plus(a, own.scaled(b, -1))
    mark = own.mark(masking)
    visible = {LEFT: (1, 0, 0), RIGHT: (-1, 1, 1), ALL: (0, 1, 0)}[masking]
    for t in range(-3, 5):
        test = own.positions.sum_at_least(masking, balance, t)
        assert own.positions.sum_at_least(masking, own.scaled(balance, -1), 1 - t) == own.negation(test)
        assert own.positions.sum_at_least(masking, own.scaled(balance, 3), 3 * t) == test
        assert own.positions.sum_at_least(masking, own.scaled(balance, 3), 3 * t - 2) == test
        assert own.positions.sum_at_least(masking, own.plus(balance, own.scaled(mark, 5)), t + 5) == test
        for k in (-2, 1, 3):
            constant = own.positions.sum_at_least(masking, own.number(k), t)
            assert constant == own.at_least_place(k * visible[0], k * visible[1], k * visible[2] - t)
            only = own.positions.sum_at_least(masking, own.scaled(mark, k), t)
            assert only == own.number(k >= t)
        edge = own.edge(masking)
        here = own.where(("at least", t), lambda value, t=t: value.constant >= t, balance)
        assert own.both(edge, test) == own.both(edge, here)
    for t in (0, -1):
        assert own.positions.sum_at_least(masking, a, t) == own.true
        assert own.positions.sum_at_least(masking, own.scaled(a, -1), 1 - t) == own.false
    assert own.positions.sum_at_least(masking, own.plus(a, own.scaled(mark, 2)), 2) == own.true
    assert own.positions.sum_at_least(masking, own.false, 0) == own.true
    assert own.positions.sum_at_least(masking, own.false, 1) == own.false


def test_sums_of_both_sides_are_brought_to_one_form() -> None:
    own = names()
    a, b = own.letter("a"), own.letter("b")
    for t in range(-2, 4):
        assert own.positions.mixed_at_least(a, own.false, own.false, t) == own.positions.sum_at_least(
            LEFT, a, t
        )
        assert own.positions.mixed_at_least(own.false, b, own.number(2), t) == own.positions.sum_at_least(
            RIGHT, b, t - 2
        )
        assert own.positions.mixed_at_least(a, a, own.scaled(a, -1), t) == own.positions.sum_at_least(
            ALL, a, t
        )
        test = own.positions.mixed_at_least(a, own.scaled(b, 2), own.false, t)
        assert own.positions.mixed_at_least(
            own.scaled(a, -1), own.scaled(b, -2), own.false, 1 - t
        ) == own.negation(test)
        assert own.positions.mixed_at_least(own.scaled(a, 2), own.scaled(b, 4), own.false, 2 * t) == test
        assert own.positions.mixed_at_least(own.scaled(a, 2), own.scaled(b, 4), own.false, 2 * t - 1) == test
        assert own.positions.mixed_at_least(a, own.scaled(b, 2), own.number(7), t + 7) == test
        assert own.both(own.only, test) == own.both(
            own.only,
            own.where(("at least", t), lambda v, t=t: v.constant >= t, own.plus(a, own.scaled(b, 2))),
        )
        # k i + m (n - i + 1) + c
        for k, m, c in ((1, -2, 0), (2, 2, 3), (3, 1, -1)):
            expected = own.at_least_place(k - m, m, m + c - t)
            found = own.positions.mixed_at_least(own.number(k), own.number(m), own.number(c), t)
            several = own.negation(own.only)
            assert own.both(several, found) == own.both(several, expected)
    for t in (0, -1):
        assert own.positions.mixed_at_least(a, own.scaled(b, 2), a, t) == own.true
        assert (
            own.positions.mixed_at_least(own.scaled(a, -1), own.scaled(b, -2), own.scaled(a, -1), 1 - t)
            == own.false
        )


@pytest.mark.parametrize("masking", WEAK)
def test_counts_of_everything_are_tests_of_places(masking: Masking) -> None:
    own = names()
    a, b, c = {LEFT: (1, 0, 0), RIGHT: (-1, 1, 1), ALL: (0, 1, 0)}[masking]
    for predicate, scale, shift in itertools.product((Remainder(3, 1), Named("prime")), (1, -2), (0, 1)):
        assert own.positions.counted_test(masking, own.true, predicate, scale, shift) == own.place(
            predicate, scale * a, scale * b, scale * c + shift
        )
    letter = own.letter("a")
    for threshold in range(-1, 4):
        assert own.positions.counted_test(masking, letter, Zero(), 1, -threshold) == own.both(
            own.positions.sum_at_least(masking, letter, threshold),
            own.negation(own.positions.sum_at_least(masking, letter, threshold + 1)),
        )


def test_averages_are_brought_to_one_form() -> None:
    own = names()
    even = own.place(Remainder(2, 0), 1, 0, 0)
    spelled = own.both(even, own.negation(own.first))
    assert own.mean(LEFT, spelled) == own.mean(LEFT, even)
    mean = own.mean(LEFT, own.letter("a"))
    assert own.product(own.first, own.with_edges(mean)) == own.both(own.first, own.letter("a"))
    rng = random.Random(0)
    for _ in range(5):
        factor = Fraction(rng.randint(1, 5), rng.randint(1, 5))
        (value,) = own.values(own.scaled(mean, factor))
        (one,) = own.values(mean)
        moved = own.affine(own.positive_part(value))
        assert moved == own.scaled(own.affine(own.positive_part(one)), factor)


# Small things ----------------------------------------------------------------------------------------


def test_even_and_odd_are_remainders() -> None:
    own = names()
    for a, b, c in ((1, 0, 0), (1, 1, 0), (3, 0, 1), (0, 1, -1)):
        for name, remainder in (("even", 0), ("odd", 1)):
            assert own.place(Named(name), a, b, c) == own.place(Remainder(2, remainder), a, b, c)


def test_many_remainders_exclude_each_other_and_few_make_up_all() -> None:
    own = names()
    few, many = ([own.place(Remainder(m, r), 1, 0, 0) for r in range(m)] for m in (7, 40))
    assert own.both(few[1], few[6]) == own.both(many[1], many[39]) == own.false
    some = own.false
    for test in few:
        some = own.either(some, test)
    assert some == own.true


@pytest.mark.parametrize("masking", WEAK)
def test_sums_with_an_exception_at_the_mark(masking: Masking) -> None:
    own = names()
    a, b = own.letter("a"), own.letter("b")
    falling = own.choose(own.mark(masking), own.scaled(a, 3), own.scaled(b, -1))
    assert own.positions.sum_at_least(masking, falling, 4) == own.false
    assert own.positions.sum_at_least(masking, falling, 3) != own.false
    assert own.positions.sum_at_least(masking, own.scaled(falling, -1), -3) == own.true
    rising = own.choose(own.mark(masking), own.scaled(a, 3), b)
    assert own.positions.sum_at_least(masking, rising, 0) == own.true
    assert own.positions.sum_at_least(masking, rising, 1) != own.true
    mixed = own.choose(own.mark(masking), own.scaled(a, 2), own.plus(own.scaled(a, 2), own.scaled(b, -1)))
    assert own.positions.sum_at_least(masking, mixed, 0) != own.true


def test_sums_of_both_sides_that_only_fall() -> None:
    """At i stand -a - b + 4 = 3, everywhere else at most 0."""
    own = names()
    left, right = own.scaled(own.letter("a"), -1), own.scaled(own.letter("b"), -1)
    assert own.positions.mixed_at_least(left, right, own.number(4), 4) == own.false
    assert own.positions.mixed_at_least(left, right, own.number(4), 3) != own.false
    here = own.plus(own.scaled(own.first, 3), own.scaled(own.plus(left, right), -1))
    for most, is_false in ((4, True), (3, False)):
        found = own.positions.mixed_at_least(left, right, here, most)
        assert (own.both(own.negation(own.only), found) == own.false) == is_false


@pytest.mark.parametrize("masking", WEAK)
def test_functions_of_the_position_at_the_number_of_visible_ones(masking: Masking) -> None:
    own = names()
    a, b, c = {LEFT: (1, 0, 0), RIGHT: (-1, 1, 1), ALL: (0, 1, 0)}[masking]
    for t in (2, 3, 5):
        line = own.at_least_place(1, 0, -t)
        assert own.positions.at_count(masking, own.true, line) == own.at_least_place(a, b, c - t)
        for position in range(1, 7):
            assert own.at_fixed(line, position) == own.number(position >= t)
    for predicate in (Remainder(3, 1), Named("prime")):
        for k, shift in ((1, 0), (2, 1), (-1, 2)):
            test = own.place(predicate, k, 0, shift)
            assert own.positions.at_count(masking, own.true, test) == own.place(
                predicate, k * a, k * b, k * c + shift
            )


@pytest.mark.parametrize("factor", [Fraction(3), Fraction(-2), Fraction(1, 2), Fraction(-1, 2), Fraction(-1)])
def test_the_bounds_of_a_rectified_average(factor: Fraction) -> None:
    """ReLU of a factor times a mean between -1 and 2."""
    own = names()
    mean = own.mean(LEFT, own.plus(own.scaled(own.letter("a"), 3), own.number(-1)))
    (value,) = own.values(own.scaled(mean, factor))
    low, high = own.bounds(own.positive_part(value))
    assert low <= 0
    assert (
        max(2 * factor, -factor) <= high <= max(2 * factor, -factor) + (0 if factor > 0 else 3 * abs(factor))
    )
    (relu,) = (m for m in own.quantities if isinstance(m, PositivePart))
    assert (relu.low, relu.high) == (0, 2)


def test_products_and_replacements_with_averages_at_some_places() -> None:
    own = names()
    a, b = own.letter("a"), own.letter("b")
    mean = own.mean(LEFT, a)
    ((number, _),) = own.values(mean)[0].parts
    assert own.product(mean, b) == own.choose(b, mean, own.false) == own.product(b, mean)
    mixed = own.choose(a, own.plus(mean, own.true), own.number(3))
    assert own.replace_mean(mixed, number, own.scaled(b, 4)) == own.choose(
        a, own.plus(own.scaled(b, 4), own.true), own.number(3)
    )
    assert own.with_edges(mean) == own.choose(own.first, a, mean)
    other = own.mean(RIGHT, b)
    both = own.with_edges(own.plus(mean, other))
    assert both == own.plus(own.with_edges(mean), own.with_edges(other))


def test_only_integers_are_counted() -> None:
    own = names()
    for masking in WEAK:
        with pytest.raises(UnprovenError, match="a counted value is not an integer"):
            own.positions.sum_at_least(masking, own.scaled(own.letter("a"), Fraction(1, 2)), 1)
    with pytest.raises(UnprovenError, match="a counted value is not an integer"):
        own.positions.mixed_at_least(
            own.scaled(own.letter("a"), Fraction(1, 2)), own.letter("b"), own.false, 1
        )


@pytest.mark.parametrize("masking", WEAK)
def test_some_position_with_a_letter_and_every_kind_of_test(masking: Masking) -> None:
    own = names()
    where = own.letter("a")
    for test in (
        own.at_least_place(1, 0, -3),
        own.place(Remainder(3, 0), 1, 0, 0),
        own.place(Named("prime"), 1, 0, 0),
    ):
        where = own.both(where, test)
        some = own.positions.exists(masking, where)
        assert own.either(where, some) == some
