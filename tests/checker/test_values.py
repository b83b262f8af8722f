"""Values of coordinates against the numbers that they stand for."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

import attemper
from attemper.checker.terms import Terms, UnprovenError
from attemper.checker.values import (
    MAX_DEGREE,
    Stream,
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
from tests.support.derived import Reading

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


def check(terms: Terms, value: Value, form: ClosedForm) -> None:
    for n in LENGTHS:
        reading = Reading(terms, ("a",) * n)
        for i in range(1, n + 1):
            assert reading.value(value, i) == evaluate(form, i, n), (form, i, n)
    assert terms.false not in value.values()


@pytest.mark.parametrize("seed", range(30))
def test_closed_forms_sums_and_products_have_their_values(seed: int) -> None:
    rng = random.Random(seed)
    terms = Terms(("a",))
    left, right = sample(rng, 2), sample(rng, 1)
    values = of_closed_form(terms, left), of_closed_form(terms, right)
    check(terms, values[0], left)
    check(terms, add(terms, *values), plus(left, right))
    check(terms, multiply(terms, *values), times(left, right))
    assert add(terms, values[0], of_closed_form(terms, times(-1, left))) == {}


def test_powers_that_are_too_large_or_unknown_are_refused() -> None:
    terms = Terms(("a",))
    for form in (I, N):
        for exponent in (MAX_DEGREE, -MAX_DEGREE, 0):
            check(terms, of_closed_form(terms, Power(form, exponent)), Power(form, exponent))
        for exponent in (MAX_DEGREE + 1, -MAX_DEGREE - 1):
            with pytest.raises(UnprovenError, match="larger power"):
                of_closed_form(terms, Power(form, exponent))
        half = of_closed_form(terms, Power(form, MAX_DEGREE // 2))
        assert set(multiply(terms, half, half)) == set(of_closed_form(terms, Power(form, MAX_DEGREE)))
        for one in (form, over(form)):
            most = (
                of_closed_form(terms, Power(one, MAX_DEGREE))
                if one is form
                else multiply(terms, *(of_closed_form(terms, Power(form, -MAX_DEGREE // 2)) for _ in "ab"))
            )
            with pytest.raises(UnprovenError, match="larger power"):
                multiply(terms, most, of_closed_form(terms, one))
    for form in (SIGN, plus(I, 1), plus(I, N)):
        with pytest.raises(UnprovenError, match="divides by something else"):
            of_closed_form(terms, Power(form, -1))
        assert of_closed_form(terms, Power(form, 0)) == {(0, 0): terms.true}


def test_linear_forms_and_their_errors() -> None:
    terms = Terms(("a", "b"))
    letter = terms.letter("a")
    stream = Stream(
        [{(0, 0): letter}, {(1, 0): terms.true}, {}], [Fraction(1, 8), Fraction(0), Fraction(1, 16)]
    )
    form = ((0, Fraction(-3)), (1, Fraction(1, 2)), (2, Fraction(5)))
    assert of_form(terms, form, stream) == {
        (0, 0): terms.scaled(letter, -3),
        (1, 0): terms.number(Fraction(1, 2)),
    }
    assert of_form(terms, (*form, (0, Fraction(3))), stream) == {(1, 0): terms.number(Fraction(1, 2))}
    assert error_of(form, stream) == Fraction(3, 8) + Fraction(5, 16)
    assert error_of(form[1:2], stream) == 0
    assert plain({(0, 0): letter}, terms, "it") == letter
    assert plain({}, terms, "it") == terms.false
    for powers in ((1, 0), (0, 1), (0, -1), (-1, 0), (1, -1)):
        with pytest.raises(UnprovenError, match="it reads a position embedding"):
            plain({(0, 0): letter, powers: letter}, terms, "it")


def test_the_stream_before_the_first_layer_is_the_embedding() -> None:
    network = attemper.compile("a S (b & even(pos))", "abc", regime="unbounded").network
    embedding = ((*network.embedding[0], (network.positions[0][0], Fraction(7))), *network.embedding[1:])
    network = replace(network, embedding=tuple(tuple(sorted(dict(form).items())) for form in embedding))
    terms = Terms(network.alphabet.symbols)
    start = embedded(terms, network)
    assert start.errors == [0] * len(network.coordinates)
    for n in LENGTHS:
        word = tuple("cab" * 2)[:n]
        reading = Reading(terms, word)
        for i in range(1, n + 1):
            expected = [Fraction(0)] * len(network.coordinates)
            for coordinate, factor in network.embedding[network.alphabet.symbols.index(word[i - 1])]:
                expected[coordinate] += factor
            for coordinate, form in network.positions:
                expected[coordinate] += evaluate(form, i, n)
            assert [reading.value(value, i) for value in start.values] == expected
