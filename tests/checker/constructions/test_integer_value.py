"""Integers as values: they are what they are said to be, within the bounds; conditions are needed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import flint
import numpy as np
import pytest
import torch

from attemper.attention_program import meaning
from attemper.attention_program.ops import Choice, Mask
from attemper.checker import whole_numbers
from attemper.checker.analysis import Analysis
from attemper.checker.attention.counts import Margin, _margin, at_count, by_digits, growing
from attemper.checker.attention.scores import ReadHead, read_head
from attemper.checker.constructions.integer_value import _distance, integer_value
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, Clamped, LengthDigits, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Arithmetic, Kernel, Lengths, OfInteger
from attemper.checker.rounding.attention import LARGEST_LOSS
from attemper.checker.rounding.growth import at_most, size_of, times, total
from attemper.checker.rounding.integers import vanishing
from attemper.checker.rounding.network import Rounding
from attemper.checker.rules import HeadFact, Rule, stray_mass
from attemper.checker.values import ResidualValues, bound_of, magnitude_of, of_closed_form
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.exact import laurent
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ClosedForm, Digits, I, N, Power, evaluate, number, over, plus
from attemper.exact.closed_forms import times as product
from attemper.exact.formats import FLOAT32, FLOAT64, FloatFormat
from attemper.exact.monomials import Monomial
from attemper.languages.words import words_of_length
from attemper.networks.layers import Head, IntegerValue, Masking, NearestInteger, Network, Softmax
from attemper.networks.meaning_soft import attention, residual_streams
from attemper.networks.regime import Regime
from attemper.running.dense import DenseTransformer
from tests.support.drawn.head_cases import LOOKUP, palette
from tests.support.drawn.heads import LEFT, Rows
from tests.support.drawn.nearest import AB, language_of, one_nearest
from tests.support.mutants.closed_forms import edited

REGIMES = (Regime.UNBOUNDED, Regime.TEMPERATURE)
QUERY, KEY = ((1, -1), 1), ((-1, 1), 0)


def looked_up(regime: Regime, side: Mask = Mask.UP_TO) -> tuple[Compiled, Analysis]:
    program = one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY, side=side)
    found = compile_language(language_of(program), AB, regime)
    return found, prove(found.soft, language_of(program), found.realisation)


def value_heads(network: Network) -> Iterator[tuple[int, int, Head]]:
    for number_, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            if isinstance(head.construction, IntegerValue):
                yield number_, index, head


@pytest.mark.parametrize("side", [Mask.UP_TO, Mask.FROM, Mask.ALL])
@pytest.mark.parametrize("regime", REGIMES)
def test_integers_are_what_is_said_within_the_bounds(regime: Regime, side: Mask) -> None:
    """Numbers of the network itself, in balls, against counts that are counted and clamped here."""
    found, analysis = looked_up(regime, side)
    program, names = found.program, analysis.names
    seen = 0
    for word in (word for n in (1, 2, 3, 5) for word in words_of_length(AB, n)):
        n, rows = len(word), meaning.run(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY, side=side), word)
        integers = {QUERY: rows[4], KEY: rows[5]}
        streams = residual_streams(found.soft, word)
        for layer, _, head in value_heads(found.soft):
            middle = analysis.layers[layer].middle
            assert isinstance(head.construction, IntegerValue)
            exact = integers[KEY if head.construction.is_key else QUERY]
            for target in head.targets:
                (((_, growth), diagram),) = middle.values[target].items()
                ((whole, factor),) = names.values(diagram)[0].parts
                name = names.quantities[whole]
                assert isinstance(name, Clamped)
                bound = bound_of(((target, Fraction(1)),), middle)
                most = ball(bound.factor) * flint.arb(n) ** int(bound.power)
                for i in range(1, n + 1):
                    integer = min(max(exact[i - 1], 1), n) ** name.power
                    expected = factor * integer * Fraction(n) ** growth
                    assert abs(streams[layer + 1][i - 1][target] - ball(expected)) <= most
                    seen += 1
    assert seen > 500
    assert program.output >= 0


@pytest.mark.parametrize("regime", REGIMES)
def test_no_more_attention_strays_than_is_said(regime: Regime) -> None:
    found, analysis = looked_up(regime)
    for word in words_of_length(AB, 5):
        streams = residual_streams(found.soft, word)
        for layer, index, head in value_heads(found.soft):
            fact = analysis.layers[layer].heads[index]
            (rule,) = fact.rules
            assert (rule.construction, rule.said) == (IntegerValue, Margin(Fraction(8), 2))
            with precision(64):
                most = fact.stray_mass
            for weights in attention(head, streams[layer]):
                assert 1 - max(weights.values(), key=lambda weight: float(weight.mid())) <= most


SCORE_GAPS = {
    Regime.UNBOUNDED: lambda score_gap: {
        product(plus(8, product(2, Digits(N))), N, power): product(score_gap, N, power)
        for power in (I, Power(I, 2))
    },
    Regime.TEMPERATURE: lambda score_gap: {
        product(plus(8, product(2, Digits(N))), Power(N, 3)): product(score_gap, Power(N, 3))
    },
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    "score_gap",
    [
        *(number(constant) for constant in (8, 12, 64, 1000)),
        plus(8, Digits(N)),
        plus(8, product(Fraction(3, 2), Digits(N))),
        product(2, Digits(N)),
        plus(-8, product(2, Digits(N))),
        plus(8, product(2, Digits(I))),
        plus(8, product(-2, Digits(N))),
        plus(Fraction(1, 10**25), product(2, Digits(N))),
    ],
)
def test_a_margin_that_does_not_grow_enough_proves_nothing(regime: Regime, score_gap: ClosedForm) -> None:
    """A constant margin is wrong, however large: in long words integers are too far off."""
    found, _ = looked_up(regime)
    language = language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY))
    weaker = edited(found.soft, SCORE_GAPS[regime](score_gap))
    assert weaker != found.soft
    with pytest.raises(UnprovenError):
        prove(weaker, language, found.realisation)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("score_gap", [plus(9, product(2, Digits(N))), plus(8, product(5, Digits(N)))])
def test_greater_margins_prove_the_same(regime: Regime, score_gap: ClosedForm) -> None:
    found, _ = looked_up(regime)
    language = language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY))
    prove(edited(found.soft, SCORE_GAPS[regime](score_gap)), language, found.realisation)


def test_other_constructions_read_no_integers() -> None:
    """Said to be a lookup, a selection or an average, no head of the last two layers is proved."""
    found, _ = looked_up(Regime.UNBOUNDED)
    language = language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY))
    labels = {type(head.construction): head.construction for own in found.soft.layers for head in own.heads}
    for number_, layer in enumerate(found.soft.layers[1:], start=1):
        for index, head in enumerate(layer.heads):
            for kind, label in labels.items():
                if kind is type(head.construction):
                    continue
                heads = (*layer.heads[:index], replace(head, construction=label), *layer.heads[index + 1 :])
                layers = list(found.soft.layers)
                layers[number_] = replace(layer, heads=heads)
                with pytest.raises(UnprovenError):
                    prove(replace(found.soft, layers=tuple(layers)), language, found.realisation)


def test_the_nearest_integer_to_an_average_proves_nothing() -> None:
    found, _ = looked_up(Regime.UNBOUNDED)
    language = language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY))
    *before, last = found.soft.layers
    (head,) = last.heads
    integer, average = head.construction, next(value_heads(found.soft))[2].construction
    assert isinstance(integer, NearestInteger)
    assert isinstance(average, IntegerValue)
    query = tuple(average.ratio if form == integer.query else form for form in head.query)
    assert query != head.query
    layers = (*before, replace(last, heads=(replace(head, query=query),)))
    with pytest.raises(UnprovenError, match="not about integers of two counts"):
        prove(replace(found.soft, layers=layers), language, found.realisation)


def test_a_parabola_in_the_inverse_of_a_position_reads_no_integers() -> None:
    """As a lookup such a head has a rule, and one whose parabola is in j reads the count."""
    own, marked, counted = palette(), "mark left", "a left"
    forms: list[tuple[Rows, ClosedForm]] = [
        ([({marked: -1}, {"i^2": 1}), ({counted: 2}, {"i": 1})], I),
        ([({marked: 2}, {"1/i": 1}), ({counted: -1}, {"1/i^2": 1})], Power(I, 4)),
    ]
    squares, inverses = (
        read_head(own.names, own.head(LOOKUP, LEFT, rows, {"i": 1}, product(3, cold)), own.stream())
        for rows, cold in forms
    )
    assert [at_count(head).margin for head in (squares, inverses)] == [Margin(Fraction(3), 0)] * 2
    integer_value(squares)
    with pytest.raises(UnprovenError, match="only parabolas in j have a rule for integers"):
        integer_value(inverses)


# Margins and bounds ------------------------------------------------------------------------------


def test_the_margin_of_a_form_with_digits() -> None:
    names = Formulas(("a", "b")).names
    kappa = growing(names, of_closed_form(names, product(plus(8, product(Fraction(5, 2), Digits(N))), N)))
    assert kappa == {(0, 1, 0): Fraction(8), (0, 1, 1): Fraction(5, 2)}
    assert by_digits(kappa) == ({(0, 1): Fraction(8)}, {(0, 1): Fraction(5, 2)})
    under = laurent.monomial(1, 0)
    assert _margin(kappa, under, laurent.LONGER_THAN_ONE) == Margin(Fraction(8), 2)
    with pytest.raises(UnprovenError, match="other positions can win"):
        _margin({(0, 1, 0): Fraction(8), (0, 1, 1): Fraction(-1)}, under, laurent.LONGER_THAN_ONE)
    with pytest.raises(UnprovenError, match="digits are multiplied with digits"):
        by_digits(laurent.times(kappa, kappa))
    with pytest.raises(UnprovenError, match="depends on the word"):
        growing(names, {(0, 0): names.letter("a")})


def test_the_weight_of_a_margin_bounds_it_at_every_length() -> None:
    with precision(64):
        for margin in (Margin(Fraction(8), 2), Margin(Fraction(1), 0), Margin(Fraction(1, 2), 3)):
            for n in range(1, 2000):
                exponent = ball(margin.base) + margin.digits * n.bit_length()
                exact = (-exponent).exp() * flint.arb(n) ** margin.digits
                assert not exact > margin.weight()


@pytest.mark.parametrize("base", [Fraction(1, 8), Fraction(1), Fraction(5)])
def test_the_distance_of_what_is_read_is_a_sum_over_all_positions(base: Fraction) -> None:
    """2 (r + 2 r^4 + 3 r^9 + ...) is at most 2 (r + 2 r^4 + 3 r^7 + ...)."""
    with precision(64):
        terms = [(t, (-ball(base)).exp()) for t in range(1, 200)]
        least, most = (
            2 * sum((t * r ** power(t) for t, r in terms), flint.arb(0))
            for power in (lambda t: t * t, lambda t: 3 * t - 2)
        )
        found = _distance(Margin(base, 0))
        assert least < found
        assert abs(found - most) < ball(Fraction(1, 2**40))


@pytest.mark.parametrize("margin", [Margin(Fraction(8), 2), Margin(Fraction(3), 1), Margin(Fraction(2), 5)])
def test_fading_bounds_weights_at_every_length(margin: Margin) -> None:
    names = Formulas(("a", "b")).names
    with precision(64):
        for longest in (1, 2, 3, 100, 511, 512):
            lengths = Lengths(Arithmetic(names, FLOAT64), longest)
            kept, noise = ball(Fraction(9, 10)), ball(Fraction(11, 10))
            weight, power = vanishing(lengths, margin, kept, noise)
            assert power == margin.digits + margin.digits // 2
            for n in range(1, longest + 1):
                exponent = (ball(margin.base) + margin.digits * n.bit_length()) * kept
                assert not (-exponent).exp() * noise * flint.arb(n) ** power > weight


def test_polynomials_bound_what_they_are_made_of() -> None:
    names = Formulas(("a", "b")).names
    lengths = Lengths(Arithmetic(names, FLOAT64), 7)
    one = {2: flint.arb(3), -1: flint.arb(5)}
    assert at_most(lengths, one) == 3 * 49 + 5
    assert total([one, {2: flint.arb(1)}]) == {2: 4, -1: 5}
    assert times(one, {1: flint.arb(2)}) == {3: 6, 0: 10}
    value = {(-1, 2): names.affine(Affine(Fraction(-3))), (1, 0): names.letter("a")}
    assert size_of(lengths, value) == {2: 3, 1: 1}


def test_errors_keep_their_powers_only_while_nothing_is_added() -> None:
    """Of two errors that fade, the one that fades more slowly says how their sum does."""
    stream = ResidualValues([{}, {}, {}], [Fraction(0), Fraction(0), Fraction(5)])
    stream.worsen(0, Monomial(Fraction(1), -2))
    before = stream.copy()
    stream.worsen(0, Monomial(Fraction(2), -3))
    assert bound_of(((0, Fraction(1)),), before) == Monomial(Fraction(1), -2)
    for power in (-1, 0):
        stream.worsen(1, Monomial(Fraction(1), power))
    stream.worsen(2, Monomial(Fraction(0), -7))
    assert stream.errors == [3, 2, 5]
    assert bound_of(((0, Fraction(-2)),), stream) == Monomial(Fraction(6), -2)
    assert bound_of(((1, Fraction(1)),), stream) == Monomial(Fraction(2), 0)
    assert bound_of(((0, Fraction(1)), (2, Fraction(1))), stream) == Monomial(Fraction(8), 0)
    assert bound_of((), stream) == Monomial(Fraction(0), 0)


def test_peaks_of_whole_numbers() -> None:
    names = Formulas(("a", "b")).names
    square = whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 2)
    value = {(-2, 1): names.affine(Affine(Fraction(4), square.parts)), (0, 0): names.digits()}
    assert magnitude_of(names, value) == Monomial(Fraction(6), 3)
    for word_length in (1, 2, 9):
        for i in range(1, word_length + 1):
            most = evaluate(over(I, 2), i, word_length) * word_length * (4 + word_length**2)
            assert most + word_length.bit_length() <= 6 * word_length**3


def test_peaks_are_those_of_the_largest_values() -> None:
    names = Formulas(("a", "b")).names
    a, b, number_ = names.letter("a"), names.letter("b"), names.number
    whole = names.affine(whole_numbers.clamped(names, Masking.FUTURE, a, 1))
    steps = [names.plus(names.scaled(a, low), names.scaled(b, high)) for low, high in ((-1, 3), (-3, 1))]
    for diagram, expected in (
        (names.plus(names.scaled(a, 3), number_(-5)), Monomial(Fraction(5))),
        (names.choose(a, whole, number_(7)), Monomial(Fraction(7), 1)),
        (names.choose(a, number_(7), whole), Monomial(Fraction(7), 1)),
        (names.scaled(names.digits(), -5), Monomial(Fraction(5), 1)),
        *((names.scaled(names.mean(Masking.FUTURE, step), 2), Monomial(Fraction(6))) for step in steps),
    ):
        assert magnitude_of(names, {(0, 0): diagram}) == expected
    for powers, power in (((2, 0), 2), ((1, -1), 0), ((-1, 1), 1), ((-3, -1), -1)):
        assert magnitude_of(names, {powers: number_(2)}) == Monomial(Fraction(2), power)
    assert (
        magnitude_of(names, {})
        == Monomial(Fraction(0)).plus(Monomial(Fraction(0), -4))
        == Monomial(Fraction(0))
    )


def test_whole_numbers_have_no_bounds() -> None:
    names = Formulas(("a", "b")).names
    whole = whole_numbers.clamped(names, Masking.PAST, names.letter("a"), 1)
    assert whole_numbers.clamped(names, Masking.PAST, names.letter("a"), 1) == whole
    assert whole_numbers.clamped(names, Masking.PAST, names.letter("a"), 2) != whole
    ((digits, _),) = names.values(names.digits())[0].parts
    assert names.quantities[digits] == LengthDigits()
    for value in (whole, names.values(names.digits())[0]):
        with pytest.raises(UnprovenError, match="grows with the word"):
            names.bounds(value)
    with pytest.raises(UnprovenError, match="not an integer"):
        whole_numbers.clamped(names, Masking.PAST, names.scaled(names.letter("a"), Fraction(1, 2)), 1)


# What is said, number by number ------------------------------------------------------------------


def test_the_bound_of_stray_attention_is_that_of_a_lookup() -> None:
    rule = Rule(IntegerValue, Margin(Fraction(3), 2).trails())
    for loss, noise in ((Fraction(0), Fraction(1)), (Fraction(1, 3), Fraction(5, 4))):
        with precision(128):
            r = (-ball(3 * (1 - loss))).exp()
            whole = 2 * (r + r**4 / (1 - r**5)) * ball(noise)
            found = stray_mass(rule.others(ball(loss)) * ball(noise))
            assert found.overlaps(whole / (1 + whole))
            assert found.rel_accuracy_bits() > 100
    assert HeadFact((rule,), ()).least_gap == 3


def read_one(
    rows: Sequence[tuple[object, object]], value: object, cold: object = None, masking: Masking = Masking.NONE
) -> HeadFact:
    names = FORMULAS
    exact = (Monomial(Fraction(0)), Monomial(Fraction(0)))
    coldness = {(0, 0): names.true} if cold is None else cold
    errors = (exact,) * len(rows)
    stream = ResidualValues([])
    read = (tuple(rows), coldness, (value,), (5,), errors, exact[:1], (), stream, False, names.true)
    head = ReadHead(names, masking, *read)  # type: ignore[arg-type]
    return integer_value(head)


FORMULAS = Formulas(("a", "b")).names
STEP = FORMULAS.plus(FORMULAS.letter("a"), FORMULAS.scaled(FORMULAS.letter("b"), -1))
SCORE_GAP = FORMULAS.plus(FORMULAS.number(8), FORMULAS.scaled(FORMULAS.digits(), 2))


def looking(side: Masking = Masking.PAST) -> list[tuple[dict, dict]]:  # type: ignore[type-arg]
    """(8 + 2 digits(n)) n (2 c j - j^2) / V."""
    count, unit = (FORMULAS.mean(side, summand) for summand in (STEP, FORMULAS.mark(side)))
    return [
        ({(0, 0): count}, {(1, 1): FORMULAS.scaled(SCORE_GAP, 2)}),
        ({(0, 0): unit}, {(2, 1): FORMULAS.scaled(SCORE_GAP, -1)}),
    ]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("growth", [-2, 0, 1])
def test_what_is_read_and_how_far_it_is_off(power: int, growth: int) -> None:
    with precision(64):
        fact = read_one(looking(), {(power, growth): FORMULAS.number(Fraction(-3, 2))})
        (output,) = fact.outputs
        whole = whole_numbers.clamped(FORMULAS, Masking.PAST, STEP, power)
        assert output.diagram == FORMULAS.affine(Affine(Fraction(0), ((whole.parts[0][0], Fraction(-3, 2)),)))
        assert output.growth == growth
        assert output.error is not None
        assert output.error.power == growth + power - 1 - 2
        rest = (-ball(Fraction(24))).exp()
        exact = 2 * (-ball(Fraction(8))).exp() * (3 * flint.arb(-2).exp()) ** 2 / (1 - rest) ** 2
        off = exact * Fraction(3, 2).numerator / 2 * (1 if power == 1 else 2)
        assert not ball(output.error.factor) < off
        assert ball(output.error.factor) < off * 1001 / 1000
        margin = Margin(Fraction(8), 2)
        assert fact.rules == (Rule(IntegerValue, margin.trails(), said=margin),)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda rows: rows[:1], "not those of a lookup"),
        (lambda rows: [*rows, ({(0, 0): FORMULAS.true}, {(3, 0): FORMULAS.true})], "not those of a lookup"),
        (lambda rows: [*rows, ({(0, 0): FORMULAS.true}, {(1, 0): FORMULAS.true})], "multiple of an average"),
        (lambda rows: [(rows[0][0], {(1, 1): SCORE_GAP}), rows[1]], "top at the count"),
        (lambda rows: [(rows[0][0], {(1, 2): FORMULAS.scaled(SCORE_GAP, 2)}), rows[1]], "top at the count"),
        (lambda rows: [(rows[1][0], rows[0][1]), rows[0]], "multiple of an average"),
        (lambda rows: [looking(Masking.FUTURE)[0], rows[1]], "count over the visible"),
        (lambda rows: [rows[0], looking(Masking.FUTURE)[1]], "count over the visible"),
        (lambda rows: [rows[0], ({(0, 0): FORMULAS.true}, rows[1][1])], "number visible"),
        (lambda rows: [(q, {p: FORMULAS.scaled(d, -1) for p, d in k.items()}) for q, k in rows], "can win"),
        (lambda rows: [(q, {(p, 0): d for (p, _), d in k.items()}) for q, k in rows], "not positive"),
        (lambda rows: [(rows[0][0], {(1, 1): STEP}), rows[1]], "depends on the word"),
    ],
)
def test_other_scores_have_no_rule(change: object, match: str) -> None:
    with precision(64), pytest.raises(UnprovenError, match=match):
        read_one(change(looking()), {(1, 0): FORMULAS.true})  # type: ignore[operator]


def test_squares_are_read_by_heads_that_see_all_positions() -> None:
    rows = looking(Masking.FUTURE)
    with precision(64):
        for masking, power in ((Masking.NONE, 2), (Masking.NONE, 1), (Masking.FUTURE, 1)):
            read_one(rows, {(power, 0): FORMULAS.true}, masking=masking)
        with pytest.raises(UnprovenError, match="only a head that sees all positions has a rule for squares"):
            read_one(rows, {(2, 0): FORMULAS.true}, masking=Masking.FUTURE)


@pytest.mark.parametrize(
    "value",
    [
        {(0, 0): FORMULAS.true},
        {(3, 0): FORMULAS.true},
        {(-1, 0): FORMULAS.true},
        {(1, 0): FORMULAS.letter("a")},
        {(1, 0): FORMULAS.true, (2, 0): FORMULAS.true},
        {},
    ],
)
def test_values_are_positions_or_their_squares(value: object) -> None:
    with precision(64), pytest.raises(UnprovenError, match="no multiple of a position"):
        read_one(looking(), value)


def test_a_value_with_digits_is_none() -> None:
    with precision(64), pytest.raises(UnprovenError, match="depends on an average"):
        read_one(looking(), {(1, 0): FORMULAS.digits()})


@pytest.mark.parametrize("masking", [Masking.FUTURE, Masking.PAST])
def test_a_head_that_may_not_see_the_position_reads_nothing(masking: Masking) -> None:
    with precision(64), pytest.raises(UnprovenError, match="may not see"):
        read_one(looking(), {(1, 0): FORMULAS.true}, masking=masking)


@pytest.mark.parametrize("counted", [STEP, FORMULAS.letter("a"), FORMULAS.letter("b")])
def test_counts_that_are_no_integers_are_refused(counted: Diagram) -> None:
    """Half of a step up or down, and half an a, where another letter is worth 0."""
    rows = looking()
    half = FORMULAS.mean(Masking.PAST, FORMULAS.scaled(counted, Fraction(1, 2)))
    rows[0] = ({(0, 0): half}, rows[0][1])
    with precision(64), pytest.raises(UnprovenError, match="not an integer"):
        read_one(rows, {(1, 0): FORMULAS.true})


@pytest.mark.parametrize("power", [1, 2])
def test_where_nothing_is_asked_for_no_position_counts(power: int) -> None:
    """A parabola with its top at 0 reads the first position, as one with a query of 0 does."""
    with precision(64):
        (output,) = read_one(looking()[1:], {(power, 0): FORMULAS.true}).outputs
        (other,) = read_one([({}, looking()[0][1]), looking()[1]], {(power, 0): FORMULAS.true}).outputs
    assert output == other
    assert output.diagram == FORMULAS.affine(
        whole_numbers.clamped(FORMULAS, Masking.PAST, FORMULAS.false, power)
    )


@pytest.mark.parametrize("each", [1, -2, 3, 0])
def test_the_same_number_at_every_position_is_counted(each: int) -> None:
    rows = looking()
    rows[0] = ({(0, 0): FORMULAS.number(each)} if each else {}, rows[0][1])
    with precision(64):
        (output,) = read_one(rows, {(1, 0): FORMULAS.true}).outputs
    counted = whole_numbers.clamped(FORMULAS, Masking.PAST, FORMULAS.number(each), 1)
    assert output.diagram == FORMULAS.affine(counted)


@pytest.mark.parametrize("each", [0, 3])
def test_digits_alone_are_no_margin(each: int) -> None:
    """With n = 1 they are 1, but nothing says so: a margin has a base."""
    digits, number_ = FORMULAS.digits(), FORMULAS.number
    unit = FORMULAS.mean(Masking.PAST, FORMULAS.mark(Masking.PAST))
    rows = [
        ({(0, 0): number_(each)} if each else {}, {(1, 1): FORMULAS.scaled(digits, 4)}),
        ({(0, 0): unit}, {(2, 1): FORMULAS.scaled(digits, -2)}),
    ]
    with precision(64), pytest.raises(UnprovenError, match=r"top at the count|not positive"):
        read_one(rows, {(1, 0): FORMULAS.true})


def test_half_a_position_is_no_integer() -> None:
    rows = looking()
    rows[0] = ({(0, 0): FORMULAS.number(Fraction(1, 2))}, rows[0][1])
    with precision(64), pytest.raises(UnprovenError, match="not an integer"):
        read_one(rows, {(1, 0): FORMULAS.true})


# Floats ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_sum_of_one_large_and_many_small_numbers_loses_at_most_the_small_ones(seed: int) -> None:
    """In any order, also tree by tree: what the errors of integers rest on."""
    rng = random.Random(seed)
    numbers = [np.float32(1e6 * rng.random())]
    numbers += [np.float32(10 ** rng.uniform(-9, 1)) for _ in range(rng.choice((3, 60, 700)))]
    exact, small = sum(map(Fraction, map(float, numbers))), sum(map(Fraction, map(float, numbers[1:])))
    rng.shuffle(numbers)
    while len(numbers) > 1:
        left, right = (numbers.pop(rng.randrange(len(numbers))) for _ in range(2))
        numbers.insert(rng.randrange(len(numbers) + 1), np.float32(left + right))
    gamma = Fraction(2 * 800, 2**24)
    assert abs(Fraction(float(numbers[0])) - exact) <= small * (1 + 2 * gamma)


def stream_after(model: DenseTransformer, layer: int, words: list[tuple[str, ...]]) -> torch.Tensor:
    """The residual stream after a layer [word, position, coordinate]."""
    seen: list[torch.Tensor] = []
    handle = model.blocks[layer].register_forward_hook(lambda *io: seen.append(io[2]))
    model(torch.tensor([["ab".index(symbol) for symbol in word] for word in words]))
    handle.remove()
    return seen[0]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_computed_integers_are_within_their_bounds(regime: Regime, dtype: torch.dtype) -> None:
    """What torch computes, against integers that are counted here: at lengths around powers of two."""
    found, analysis = looked_up(regime)
    program = one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY)
    form = FLOAT32 if dtype is torch.float32 else FLOAT64
    rounding = Rounding(analysis, form)
    model = DenseTransformer(found.soft).to(dtype)
    rng = random.Random(1)
    for n in (2, 3, 7, 15, 16, 31):
        offs = rounding.bounds_at(Kernel.NUMERATOR_FIRST, n).offs
        words = [tuple(rng.choices("ab", weights=(3, 2), k=n)) for _ in range(20)]
        layer = next(number_ for number_, _, _ in value_heads(found.soft))
        stream = stream_after(model, layer, words)
        for row, word in enumerate(words):
            counts = meaning.run(program, word)
            for _, _, head in value_heads(found.soft):
                exact = counts[5 if head.construction.is_key else 4]  # type: ignore[union-attr]
                for power, target in enumerate(head.targets, start=1):
                    (((_, growth), diagram),) = analysis.layers[layer].middle.values[target].items()
                    ((_, factor),) = analysis.names.values(diagram)[0].parts
                    off = offs[target]
                    assert isinstance(off, OfInteger)
                    most = sum(float(c) * n**p for p, c in off.growth.items())
                    for i in range(n):
                        integer = min(max(exact[i], 1), n) ** power * float(factor) * float(n) ** growth
                        assert abs(float(stream[row, i, target]) - integer) <= most * (1 + 1e-9)


@pytest.mark.parametrize("regime", REGIMES)
def test_computed_scores_are_within_their_bounds(regime: Regime) -> None:
    """Differences of float32 scores of the nearest integer, against those of whole numbers."""
    found, analysis = looked_up(regime)
    program, last = one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY), len(found.soft.layers) - 1
    (head,), (fact,) = found.soft.layers[last].heads, analysis.layers[last].heads
    assert isinstance(head.weighting, Softmax)
    model, rng = DenseTransformer(found.soft).to(torch.float32), random.Random(2)
    for n in (2, 5, 15, 31):
        lost_shares = Rounding(analysis, FLOAT32).bounds_at(Kernel.NUMERATOR_FIRST, n).lost_shares
        lost_share = lost_shares[f"layer {last}, head 0"]
        most = float(lost_share) * float(LARGEST_LOSS) * float(fact.least_gap)
        assert most < 4
        words = [tuple(rng.choices("ab", weights=(3, 2), k=n)) for _ in range(20)]
        stream = stream_after(model, last - 1, words)
        cold = float(evaluate(head.weighting.inverse_temperature, 1, n))
        for row, word in enumerate(words):
            queries, keys = (_forms(forms, stream[row]) for forms in (head.query, head.key))
            scores = (queries @ keys.T) * torch.tensor(cold, dtype=torch.float32)
            counts = meaning.run(program, word)
            clamped = [[min(max(count, 1), n) for count in counts[step]] for step in (4, 5)]
            exact = torch.tensor(
                [
                    [-8.0 * n * (query - key) ** 2 + 4 * j for j, key in enumerate(clamped[1])]
                    for query in clamped[0]
                ]
            )
            off = scores.double() - exact.double()
            assert float((off.max(dim=1).values - off.min(dim=1).values).max()) <= most


def _forms(forms: tuple[tuple[tuple[int, Fraction], ...], ...], stream: torch.Tensor) -> torch.Tensor:
    """Linear forms of a float32 stream, computed in float32 [position, form]."""
    weights = torch.zeros(stream.shape[1], len(forms), dtype=torch.float32)
    for column, form in enumerate(forms):
        for coordinate, factor in form:
            weights[coordinate, column] = float(factor)
    return stream @ weights


Polynomial = dict[int, flint.arb]


def summed(*parts: Polynomial) -> Polynomial:
    return {
        p: sum((part.get(p, flint.arb(0)) for part in parts), flint.arb(0)) for part in parts for p in part
    }


def multiplied(left: Polynomial, right: Polynomial) -> Polynomial:
    return summed(*({p + q: x * y} for p, x in left.items() for q, y in right.items()))


def highest(form: Polynomial, length: int) -> flint.arb:
    return sum((x * flint.arb(length) ** max(p, 0) for p, x in form.items()), flint.arb(0))


def is_about(one: flint.arb, other: flint.arb) -> bool:
    return bool(abs(one - other) <= abs(other) * ball(Fraction(1, 10**10)))


@pytest.mark.parametrize(("form", "u"), [(FLOAT32, Fraction(1, 2**24)), (FLOAT64, Fraction(1, 2**53))])
@pytest.mark.parametrize("length", [1, 2, 24, 31])
def test_float_bounds_are_those_of_the_format(form: FloatFormat, u: Fraction, length: int) -> None:
    """FORMAT.md's formulas, written once more: integers, and then the scores of the nearest one."""
    found, analysis = looked_up(Regime.UNBOUNDED)
    bounds = Rounding(analysis, form).bounds_at(Kernel.NUMERATOR_FIRST, length)
    with precision(128):
        unit, e, tiny = ball(u), 8 * ball(u), ball(Fraction(1, form.range))
        noise = (1 + e) * (1 + 4 * unit) / (1 - e)
        extra = 2 * length * unit / (1 - 2 * length * unit)
        integers = []
        for layer, index, head in value_heads(found.soft):
            name = f"layer {layer}, head {index}"
            assert (name in bounds.lost_shares) == (length > 1)  # over one position nothing is lost
            loss = bounds.lost_shares.get(name, flint.arb(0)) * ball(LARGEST_LOSS)
            kept = 1 - loss - 2 * unit
            longest = {d: min(2**d - 1, length) for d in range(1, length.bit_length() + 1)}
            most = max((-(8 + 2 * flint.arb(d)) * kept).exp() * x**3 for d, x in longest.items())
            s = 2 * most * noise / (1 - (noise * (-8 * kept).exp()) ** 3) ** 2
            for power, target in enumerate(head.targets, start=1):
                (((_, growth), _),) = analysis.layers[layer].middle.values[target].items()
                top = growth + power
                expected = summed(
                    {top - 4: noise * s * power},
                    {top - 3: (2 * (1 + 2 * extra) + noise - 1 + 4 * unit) * s},
                    {top: e + 4 * unit + length * tiny},
                )
                expected = {p: x / (1 - e - 2 * extra * s) for p, x in expected.items()}
                found_ = bounds.offs[target]
                assert isinstance(found_, OfInteger)
                assert found_.growth.keys() == expected.keys()
                assert all(is_about(found_.growth[p], expected[p]) for p in expected)
                assert is_about(found_.as_number.average, highest(expected, length))
                integers.append(expected)
        if length == 1:
            return
        key, square, query = integers
        sigma = Fraction(8, 7) * 2 * u
        rate = (1 + unit) * (1 + ball(sigma)) - 1
        one, none = flint.arb(1), Polynomial()
        rows = [
            ({1: one}, query, {2: 16 * one}, {p: 16 * x for p, x in key.items()}),
            ({0: one}, none, {3: 8 * one}, {p: 8 * x for p, x in square.items()}),
            ({0: one}, none, {1: 4 * one}, none),
        ]
        parts = [{0: 12 * (tiny + ball(form.least_normal) * 2)}]
        for q, dq, k, dk in rows:
            lost = summed(dk, {p: x * rate for p, x in summed(k, dk).items()})
            parts += [multiplied(dq, k), {p: 2 * x for p, x in multiplied(summed(q, dq), lost).items()}]
        # 4 a step, less what errors change in real arithmetic.
        gap = ball(analysis.layers[-1].heads[0].least_gap)
        assert 4 - ball(Fraction(1, 50)) < gap < 4
        last = bounds.lost_shares[f"layer {len(found.soft.layers) - 1}, head 0"]
        assert is_about(last * ball(LARGEST_LOSS) * gap, highest(summed(*parts), length))


def test_margins_without_digits_and_with_few() -> None:
    one = laurent.constant(1)

    def margin(base: int, digits: int | Fraction) -> Margin:
        kappa = laurent.plus({(0, 0, 0): Fraction(base)}, {(0, 0, 1): Fraction(digits)})
        return _margin(kappa, one, laurent.LONGER_THAN_ONE)

    for digits, least in ((0, 0), (Fraction(1, 2), 0), (1, 1), (Fraction(5, 2), 2)):
        assert margin(8, digits) == Margin(Fraction(8), least)
    for digits in (Fraction(-1, 2), Fraction(-3)):
        with pytest.raises(UnprovenError, match="other positions can win"):
            margin(8, digits)
    for base in (0, -1):
        with pytest.raises(UnprovenError, match="not positive"):
            margin(base, 1)
