"""Values of coordinates against the numbers that they stand for."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

import attemper
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Names, UnprovenError
from attemper.checker.values import (
    MAX_DEGREE,
    ResidualValues,
    Value,
    add,
    embedded,
    error_of,
    multiply,
    of_closed_form,
    of_form,
    plain,
)
from attemper.exact.closed_forms import (
    SIGN,
    ClosedForm,
    I,
    N,
    Power,
    evaluate,
    number,
    over,
    plus,
    times,
)
from attemper.exact.closed_forms import (
    Test as PlaceTest,
)
from attemper.exact.predicates import Named, NonNegative, Remainder, Zero
from tests.support.judges.derived import Reading

LENGTHS = range(1, 6)


def sample(rng: random.Random, depth: int) -> ClosedForm:
    if depth == 0:
        predicate = rng.choice((Zero(), NonNegative(), Remainder(3, 1), Named("prime")))
        test = PlaceTest(predicate, rng.randint(-2, 2), rng.randint(-1, 1), rng.randint(-3, 3))
        return rng.choice((number(Fraction(rng.randint(-3, 3), 2)), I, N, SIGN, test, over(I), over(N, 2)))
    parts = [sample(rng, depth - 1) for _ in range(rng.randint(1, 3))]
    kind = rng.randrange(5)
    if kind < 2:
        return plus(*parts)
    if kind < 4:
        return times(*parts)
    return Power(parts[0], rng.randint(0, 3))


def check(names: Names, value: Value, form: ClosedForm) -> None:
    for n in LENGTHS:
        reading = Reading(names, ("a",) * n)
        for i in range(1, n + 1):
            assert reading.value(value, i) == evaluate(form, i, n), (form, i, n)
    assert names.false not in value.values()


@pytest.mark.parametrize("seed", range(30))
def test_closed_forms_sums_and_products_have_their_values(seed: int) -> None:
    rng = random.Random(seed)
    names = Formulas(("a",)).names
    left, right = sample(rng, 2), sample(rng, 1)
    values = of_closed_form(names, left), of_closed_form(names, right)
    check(names, values[0], left)
    check(names, add(names, *values), plus(left, right))
    check(names, multiply(names, *values), times(left, right))
    assert add(names, values[0], of_closed_form(names, times(-1, left))) == {}


def test_powers_that_are_too_large_or_unknown_are_refused() -> None:
    names = Formulas(("a",)).names
    for form in (I, N):
        for exponent in (MAX_DEGREE, -MAX_DEGREE, 0):
            check(names, of_closed_form(names, Power(form, exponent)), Power(form, exponent))
        for exponent in (MAX_DEGREE + 1, -MAX_DEGREE - 1):
            with pytest.raises(UnprovenError, match="larger power"):
                of_closed_form(names, Power(form, exponent))
        half = of_closed_form(names, Power(form, MAX_DEGREE // 2))
        assert set(multiply(names, half, half)) == set(of_closed_form(names, Power(form, MAX_DEGREE)))
        for one in (form, over(form)):
            most = (
                of_closed_form(names, Power(one, MAX_DEGREE))
                if one is form
                else multiply(names, *(of_closed_form(names, Power(form, -MAX_DEGREE // 2)) for _ in "ab"))
            )
            with pytest.raises(UnprovenError, match="larger power"):
                multiply(names, most, of_closed_form(names, one))
    for form in (SIGN, plus(I, 1), plus(I, N)):
        with pytest.raises(UnprovenError, match="divides by something else"):
            of_closed_form(names, Power(form, -1))
        assert of_closed_form(names, Power(form, 0)) == {(0, 0): names.true}


def test_linear_forms_and_their_errors() -> None:
    names = Formulas(("a", "b")).names
    letter = names.letter("a")
    stream = ResidualValues(
        [{(0, 0): letter}, {(1, 0): names.true}, {}], [Fraction(1, 8), Fraction(0), Fraction(1, 16)]
    )
    form = ((0, Fraction(-3)), (1, Fraction(1, 2)), (2, Fraction(5)))
    assert of_form(names, form, stream) == {
        (0, 0): names.scaled(letter, -3),
        (1, 0): names.number(Fraction(1, 2)),
    }
    assert of_form(names, (*form, (0, Fraction(3))), stream) == {(1, 0): names.number(Fraction(1, 2))}
    assert error_of(form, stream) == Fraction(3, 8) + Fraction(5, 16)
    assert error_of(form[1:2], stream) == 0
    assert plain({(0, 0): letter}, names, "it") == letter
    assert plain({}, names, "it") == names.false
    for powers in ((1, 0), (0, 1), (0, -1), (-1, 0), (1, -1)):
        with pytest.raises(UnprovenError, match="it reads a position embedding"):
            plain({(0, 0): letter, powers: letter}, names, "it")


def test_the_stream_before_the_first_layer_is_the_embedding() -> None:
    network = attemper.compile("a S (b & even(pos))", "abc", regime="unbounded").network
    embedding = ((*network.embedding[0], (network.positions[0][0], Fraction(7))), *network.embedding[1:])
    network = replace(network, embedding=tuple(tuple(sorted(dict(form).items())) for form in embedding))
    names = Formulas(network.alphabet.symbols).names
    start = embedded(names, network)
    assert start.errors == [0] * len(network.coordinates)
    for n in LENGTHS:
        word = tuple("cab" * 2)[:n]
        reading = Reading(names, word)
        for i in range(1, n + 1):
            expected = [Fraction(0)] * len(network.coordinates)
            for coordinate, factor in network.embedding[network.alphabet.symbols.index(word[i - 1])]:
                expected[coordinate] += factor
            for coordinate, form in network.positions:
                expected[coordinate] += evaluate(form, i, n)
            assert [reading.value(value, i) for value in start.values] == expected


@pytest.mark.parametrize(("inner", "outer"), [(4, 16), (8, 4), (2, 8)])
def test_powers_of_sums_are_not_multiplied_out_without_end(
    inner: int, outer: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temperature of some hundred bytes whose products took half a minute."""
    products = 0
    product = Names.product

    def counted(names: Names, left: Diagram, right: Diagram) -> Diagram:
        nonlocal products
        products += 1
        return product(names, left, right)

    monkeypatch.setattr(Names, "product", counted)
    tests = (PlaceTest(Remainder(m, 1), 1, b, 0) for m, b in ((3, 0), (5, 0), (7, 1)))
    form = Power(Power(plus(I, N, 1, *tests), inner), outer)
    with pytest.raises(UnprovenError, match="more powers than any rule needs"):
        of_closed_form(Formulas(("a", "b")).names, form)
    assert products < 2_000
