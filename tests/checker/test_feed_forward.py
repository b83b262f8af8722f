"""Feed-forward layers against their definition, and how far a rough reading can move their outputs."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import (
    Unit,
    apply_groups,
    deviation,
    flat_ends,
    groups_of,
    piecewise,
)
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.values import ResidualValues
from attemper.networks.layers import Hidden, Layer, Masking
from tests.support.drawn.heads import short_words
from tests.support.judges.derived import Reading

WORDS = short_words(("a", "b"), 4)


def relu(value: Fraction) -> Fraction:
    return max(value, Fraction(0))


def coordinates(names: Names) -> list[Diagram]:
    """Letters, a place, a number, and averages of all three kinds."""
    a, b = names.letter("a"), names.letter("b")
    balance = names.plus(a, names.scaled(b, -1))
    return [
        a,
        names.first,
        names.plus(names.scaled(b, 3), names.number(-1)),
        names.mean(Masking.FUTURE, balance),
        names.mean(Masking.PAST, a),
        names.mean(Masking.NONE, names.scaled(balance, 2)),
    ]


@pytest.mark.parametrize("seed", range(25))
def test_outputs_are_those_of_the_hidden_units(seed: int) -> None:
    rng = random.Random(seed)
    names = Formulas(("a", "b")).names
    before = coordinates(names)
    width = len(before)
    forms = [
        tuple(
            (c, Fraction(rng.choice((-2, -1, 1, 3)), rng.choice((1, 2))))
            for c in sorted(rng.sample(range(width), rng.randint(1, 2)))
        )
        for _ in range(rng.randint(1, 5))
    ]
    hidden = tuple(
        Hidden(
            rng.choice(forms),
            Fraction(rng.randint(-4, 4), 2),
            tuple(
                (c, Fraction(rng.choice((-3, 1, 2))))
                for c in sorted(rng.sample(range(width), rng.randint(1, 3)))
            ),
        )
        for _ in range(rng.randint(1, 6))
    )
    stream = ResidualValues([{(0, 0): diagram} for diagram in before], [Fraction(0)] * width)
    after = apply_groups(names, groups_of(names, Layer((), hidden, ()), 0, stream), stream)
    assert after.errors == [0] * width
    for word in WORDS:
        reading = Reading(names, word)
        for i in range(1, len(word) + 1):
            seen = [reading.number(diagram, i) for diagram in before]
            expected = list(seen)
            for unit in hidden:
                activity = relu(sum((f * seen[c] for c, f in unit.form), unit.bias))
                for target, factor in unit.outputs:
                    expected[target] += factor * activity
            assert [reading.value(value, i) for value in after.values] == expected, (word, i)


def test_hidden_units_that_read_what_grows_are_refused() -> None:
    names = Formulas(("a", "b")).names
    stream = ResidualValues([{(1, 0): names.true}], [Fraction(0)])
    hidden = (Hidden(((0, Fraction(1)),), Fraction(0), ((0, Fraction(1)),)),)
    with pytest.raises(UnprovenError, match="layer 3: a hidden unit reads a position embedding"):
        groups_of(names, Layer((), hidden, ()), 3, stream)


def test_units_whose_sign_is_known_make_no_new_number() -> None:
    """A mean between -1 and 1 with bias 1 is never negative, with bias -1 never positive."""
    names = Formulas(("a", "b")).names
    mean = names.mean(Masking.FUTURE, names.plus(names.letter("a"), names.scaled(names.letter("b"), -1)))
    stream = ResidualValues([{(0, 0): mean}, {}], [Fraction(0)] * 2)
    for bias, known in ((1, True), (-1, True), (Fraction(1, 2), False)):
        hidden = (Hidden(((0, Fraction(1)),), Fraction(bias), ((1, Fraction(2)),)),)
        number = len(names.quantities)
        after = apply_groups(names, groups_of(names, Layer((), hidden, ()), 0, stream), stream)
        assert (len(names.quantities) == number) == known
        if bias == -1:
            assert after.values[1] == {}
        if bias == 1:
            whole = names.with_edges(names.scaled(names.plus(mean, names.true), 2))
            assert after.values[1][0, 0] == whole


@pytest.mark.parametrize("seed", range(40))
def test_the_deviation_is_the_largest_change(seed: int) -> None:
    """Biases and errors lie on a grid, so the largest change of a piecewise linear function does, too."""
    rng = random.Random(seed)
    units: tuple[Unit, ...] = tuple(
        (Fraction(rng.randint(-8, 8), 8), Fraction(rng.choice((-2, -1, 1, 2))))
        for _ in range(rng.randint(1, 4))
    )
    value, error = Fraction(rng.randint(-8, 8), 8), Fraction(rng.randint(1, 6), 8)
    points = [value + Fraction(k, 8) for k in range(-6, 7) if abs(Fraction(k, 8)) <= error]

    def output(x: Fraction) -> Fraction:
        return sum((factor * relu(x + bias) for bias, factor in units), Fraction(0))

    names = Formulas(("a", "b")).names
    assert piecewise(units, value) == output(value)
    largest = max(abs(output(x) - output(value)) for x in points)
    assert deviation(names, units, Affine(value), error) == largest
    assert deviation(names, units, Affine(value), Fraction(0)) == 0


def test_the_deviation_of_an_average_counts_the_units_that_can_be_active() -> None:
    names = Formulas(("a", "b")).names
    (mean,) = names.values(names.mean(Masking.FUTURE, names.letter("a")))
    error = Fraction(1, 4)
    units: tuple[Unit, ...] = (
        (Fraction(0), Fraction(-3)),
        (Fraction(-5, 4), Fraction(7)),  # at most 1 + 1/4 - 5/4: never active
        (Fraction(-9, 8), Fraction(2)),
    )
    assert deviation(names, units, mean, error) == (3 + 2) * error
    assert deviation(names, units, mean, Fraction(0)) == 0


def test_errors_of_all_groups_add_up() -> None:
    names = Formulas(("a", "b")).names
    a, b = names.letter("a"), names.letter("b")
    stream = ResidualValues(
        [{(0, 0): a}, {(0, 0): b}, {}], [Fraction(1, 8), Fraction(1, 16), Fraction(1, 32)]
    )
    hidden = (
        Hidden(((0, Fraction(2)),), Fraction(0), ((2, Fraction(1)),)),
        Hidden(((1, Fraction(1)),), Fraction(0), ((2, Fraction(-3)),)),
        Hidden(((1, Fraction(1)),), Fraction(-5), ((0, Fraction(1)),)),
    )
    after = apply_groups(names, groups_of(names, Layer((), hidden, ()), 0, stream), stream)
    assert after.errors == [
        Fraction(1, 8),
        Fraction(1, 16),
        Fraction(1, 32) + Fraction(1, 4) + Fraction(3, 16),
    ]


def test_the_error_is_that_of_the_value_where_it_is_largest() -> None:
    """ReLU(x - 1/2) of a rough bit is still 0 at 0, and as rough as the bit at 1."""
    names = Formulas(("a", "b")).names
    for letter in ("a", "b"):
        stream = ResidualValues([{(0, 0): names.letter(letter)}, {}], [Fraction(1, 8), Fraction(0)])
        hidden = (Hidden(((0, Fraction(1)),), Fraction(-1, 2), ((1, Fraction(1)),)),)
        after = apply_groups(names, groups_of(names, Layer((), hidden, ()), 0, stream), stream)
        assert after.errors[1] == Fraction(1, 8)


def test_the_deviation_looks_at_both_ends() -> None:
    """min(x, 1/4) for x >= 0 changes below 1/4 only, and 0 below."""
    names, error = Formulas(("a", "b")).names, Fraction(1, 8)
    ramp: tuple[Unit, ...] = ((Fraction(0), Fraction(1)), (Fraction(-1, 4), Fraction(-1)))
    for value, expected in (
        (Fraction(1, 4), error),
        (Fraction(0), error),
        (Fraction(1, 2), 0),
        (Fraction(-1, 4), 0),
    ):
        assert deviation(names, ramp, Affine(value), error) == expected


def test_units_with_a_corner_inside_are_not_flat_though_their_ends_are_equal() -> None:
    """A tent over a mean of 0 to 1 is 0 at both ends, and 1/2 between, where one of its corners is."""
    names = Formulas(("a", "b")).names
    (mean,) = names.values(names.mean(Masking.FUTURE, names.letter("a")))
    tent: tuple[Unit, ...] = ((Fraction(0), Fraction(1)), (Fraction(-1, 2), Fraction(-2)))
    assert piecewise(tent, Fraction(0)) == piecewise(tent, Fraction(1)) == 0
    assert piecewise(tent, Fraction(1, 2)) == Fraction(1, 2)
    assert flat_ends(names, tent, mean) == set()
    above: tuple[Unit, ...] = ((Fraction(-1), Fraction(1)), (Fraction(-2), Fraction(3)))
    below: tuple[Unit, ...] = ((Fraction(0), Fraction(1)), (Fraction(0), Fraction(-1)))
    assert flat_ends(names, above, mean) == flat_ends(names, below, mean) == {0, 1}
