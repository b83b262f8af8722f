"""Integers as values: they are what they are said to be, within the bounds; conditions are needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from attemper.attention_program import meaning
from attemper.attention_program.ops import Choice, Mask
from attemper.checker.analysis import Analysis
from attemper.checker.attention.margins import Growing, Margin, growing, margin_of
from attemper.checker.constructions.value import ValueRule
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, Clamped, LengthDigits, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Arithmetic, Lengths
from attemper.checker.rounding.growth import at_most, fading, size_of, times, total
from attemper.checker.values import Bound, Stream, bound_of, of_closed_form, peak_of
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.regimes import Regime
from attemper.exact import laurent
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ClosedForm, Digits, I, N, Power, evaluate, number, over, plus
from attemper.exact.closed_forms import times as product
from attemper.exact.formats import FLOAT64
from attemper.languages.words import words_of_length
from attemper.networks.layers import Head, Layer, Masking, NearestInteger, Network, Softmax, Value
from attemper.networks.meaning_soft import attention, residual_streams
from tests.support.nearest import AB, language_of, one_nearest

REGIMES = (Regime.UNBOUNDED, Regime.TEMPERATURE)
QUERY, KEY = ((1, -1), 1), ((-1, 1), 0)


def looked_up(regime: Regime, side: Mask = Mask.UP_TO) -> tuple[Compiled, Analysis]:
    program = one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY, side=side)
    found = compile_language(language_of(program), AB, regime)
    return found, prove(found.soft, language_of(program), found.realisation)


def value_heads(network: Network) -> Iterator[tuple[int, int, Head]]:
    for number_, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            if isinstance(head.construction, Value):
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
            exact = integers[KEY if head.construction.is_key else QUERY]
            for target in head.targets:
                (((_, growth), diagram),) = middle.values[target].items()
                ((whole, factor),) = names.values(diagram)[0].parts
                name = names.wholes[whole]
                assert isinstance(name, Clamped)
                bound = bound_of(((target, Fraction(1)),), middle)
                most = ball(bound.factor) * flint.arb(n) ** bound.power
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
            rule = analysis.layers[layer].heads[index].rule
            assert isinstance(rule, ValueRule)
            assert rule.margin == Margin(Fraction(8), 2)
            with precision(64):
                most = rule.stray(flint.arb(0), flint.arb(1))
            for weights in attention(head, streams[layer]):
                assert 1 - max(weights.values(), key=lambda weight: float(weight.mid())) <= most


def edited(network: Network, change: dict[ClosedForm, ClosedForm]) -> Network:
    """The network with other position embeddings and temperatures."""
    positions = tuple((c, change.get(form, form)) for c, form in network.positions)
    return replace(network, positions=positions, layers=tuple(_edited(own, change) for own in network.layers))


def _edited(layer: Layer, change: dict[ClosedForm, ClosedForm]) -> Layer:
    heads = []
    for head in layer.heads:
        assert isinstance(head.weighting, Softmax)
        cold = head.weighting.inverse_temperature
        heads.append(replace(head, weighting=Softmax(change.get(cold, cold))))
    return replace(layer, heads=tuple(heads))


LEADS = {
    Regime.UNBOUNDED: lambda lead: {
        product(plus(8, product(2, Digits(N))), N, power): product(lead, N, power)
        for power in (I, Power(I, 2))
    },
    Regime.TEMPERATURE: lambda lead: {
        product(plus(8, product(2, Digits(N))), Power(N, 3)): product(lead, Power(N, 3))
    },
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    "lead",
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
def test_a_margin_that_does_not_grow_enough_proves_nothing(regime: Regime, lead: ClosedForm) -> None:
    """A constant margin is wrong, however large: in long words integers are too far off."""
    found, _ = looked_up(regime)
    language = language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY))
    weaker = edited(found.soft, LEADS[regime](lead))
    assert weaker != found.soft
    with pytest.raises(UnprovenError):
        prove(weaker, language, found.realisation)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("lead", [plus(9, product(2, Digits(N))), plus(8, product(5, Digits(N)))])
def test_greater_margins_prove_the_same(regime: Regime, lead: ClosedForm) -> None:
    found, _ = looked_up(regime)
    language = language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY))
    prove(edited(found.soft, LEADS[regime](lead)), language, found.realisation)


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
    (*before, last), language = (
        found.soft.layers,
        language_of(one_nearest(Mask.ALL, Choice.RIGHTMOST, QUERY, KEY)),
    )
    (head,) = last.heads
    assert isinstance(head.construction, NearestInteger)
    averages = (
        own.construction.ratio for _, _, own in value_heads(found.soft) if isinstance(own.construction, Value)
    )
    query = tuple(next(averages) if form == head.construction.query else form for form in head.query)
    assert query != head.query
    layers = (*before, replace(last, heads=(replace(head, query=query),)))
    with pytest.raises(UnprovenError, match="not about integers of two counts"):
        prove(replace(found.soft, layers=layers), language, found.realisation)


# Margins and bounds ------------------------------------------------------------------------------


def test_the_margin_of_a_form_with_digits() -> None:
    names = Formulas(("a", "b"))
    kappa = growing(names, of_closed_form(names, product(plus(8, product(Fraction(5, 2), Digits(N))), N)))
    assert kappa == Growing({(0, 1): Fraction(8)}, {(0, 1): Fraction(5, 2)})
    under = laurent.monomial(1, 0)
    assert margin_of(kappa, under, laurent.LONGER_THAN_ONE, "wrong") == Margin(Fraction(8), 2)
    with pytest.raises(UnprovenError, match="wrong"):
        margin_of(
            Growing({(0, 1): Fraction(8)}, {(0, 1): Fraction(-1)}), under, laurent.LONGER_THAN_ONE, "wrong"
        )
    with pytest.raises(UnprovenError, match="digits are multiplied with digits"):
        kappa.times(kappa)
    with pytest.raises(UnprovenError, match="depends on the word"):
        growing(names, {(0, 0): names.letter("a")})


def test_the_weight_of_a_margin_bounds_it_at_every_length() -> None:
    with precision(64):
        for margin in (Margin(Fraction(8), 2), Margin(Fraction(1), 0), Margin(Fraction(1, 2), 3)):
            for n in range(1, 2000):
                exponent = ball(margin.base) + margin.digits * n.bit_length()
                exact = (-exponent).exp() * flint.arb(n) ** margin.digits
                assert not exact > margin.weight()


@pytest.mark.parametrize("margin", [Margin(Fraction(8), 2), Margin(Fraction(3), 1), Margin(Fraction(2), 5)])
def test_fading_bounds_weights_at_every_length(margin: Margin) -> None:
    names = Formulas(("a", "b"))
    with precision(64):
        for longest in (1, 2, 3, 100, 511, 512):
            lengths = Lengths(Arithmetic(names, FLOAT64), longest)
            kept, noise = ball(Fraction(9, 10)), ball(Fraction(11, 10))
            weight, power = fading(lengths, margin, kept, noise)
            assert power == margin.digits + margin.digits // 2
            for n in range(1, longest + 1):
                exponent = (ball(margin.base) + margin.digits * n.bit_length()) * kept
                assert not (-exponent).exp() * noise * flint.arb(n) ** power > weight


def test_polynomials_bound_what_they_are_made_of() -> None:
    names = Formulas(("a", "b"))
    lengths = Lengths(Arithmetic(names, FLOAT64), 7)
    one = {2: flint.arb(3), -1: flint.arb(5)}
    assert at_most(lengths, one) == 3 * 49 + 5
    assert total([one, {2: flint.arb(1)}]) == {2: 4, -1: 5}
    assert times(one, {1: flint.arb(2)}) == {3: 6, 0: 10}
    value = {(-1, 2): names.affine(Affine(Fraction(-3))), (1, 0): names.letter("a")}
    assert size_of(lengths, value) == {2: 3, 1: 1}


def test_errors_keep_their_powers_only_while_nothing_is_added() -> None:
    fading_ = {0: Bound(Fraction(3), -2), 1: Bound(Fraction(1), -1)}
    stream = Stream([{}, {}, {}], [Fraction(3), Fraction(2), Fraction(5)], fading_)
    assert bound_of(((0, Fraction(-2)),), stream) == Bound(Fraction(6), -2)
    assert bound_of(((1, Fraction(1)),), stream) == Bound(Fraction(2), 0)
    assert bound_of(((0, Fraction(1)), (2, Fraction(1))), stream) == Bound(Fraction(8), 0)
    assert bound_of((), stream) == Bound(Fraction(0), 0)


def test_peaks_of_whole_numbers() -> None:
    names = Formulas(("a", "b"))
    square = names.clamped(Masking.FUTURE, names.letter("a"), 2)
    value = {(-2, 1): names.affine(Affine(Fraction(4), square.parts)), (0, 0): names.digits()}
    assert peak_of(names, value) == Bound(Fraction(6), 3)
    for word_length in (1, 2, 9):
        for i in range(1, word_length + 1):
            most = evaluate(over(I, 2), i, word_length) * word_length * (4 + word_length**2)
            assert most + word_length.bit_length() <= 6 * word_length**3


def test_whole_numbers_have_no_bounds() -> None:
    names = Formulas(("a", "b"))
    whole = names.clamped(Masking.PAST, names.letter("a"), 1)
    assert names.clamped(Masking.PAST, names.letter("a"), 1) == whole
    assert names.clamped(Masking.PAST, names.letter("a"), 2) != whole
    ((digits, _),) = names.values(names.digits())[0].parts
    assert names.wholes[digits] == LengthDigits()
    for value in (whole, names.values(names.digits())[0]):
        with pytest.raises(UnprovenError, match="grows with the word"):
            names.bounds(value)
    with pytest.raises(UnprovenError, match="not an integer"):
        names.clamped(Masking.PAST, names.scaled(names.letter("a"), Fraction(1, 2)), 1)
