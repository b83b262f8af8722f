"""What each regime promises about position embeddings and temperatures, and what it refuses."""

from __future__ import annotations

import random

import pytest

from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, depends_on_length, growth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet
from attemper.networks.layers import Masking, Network, Softmax
from attemper.networks.regime import Regime
from tests.support.drawn.samples import FormulaSampler

AB = Alphabet(("a", "b"))


def soft(formula: Formula, regime: Regime) -> Network:
    return compile_language(TemporalLanguage(formula, At.LAST, False), AB, regime).soft


def sample(seed: int) -> Formula:
    return FormulaSampler(random.Random(seed), AB.symbols, past_only=True).formula(5)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("seed", range(40))
def test_unbounded_networks_have_temperature_one(seed: int) -> None:
    network = soft(sample(seed), Regime.UNBOUNDED)
    for layer in network.layers:
        for head in layer.heads:
            assert head.weighting == Softmax(ONE)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("seed", range(40))
def test_temperature_and_decoder_networks_have_bounded_embeddings(seed: int) -> None:
    for regime in (Regime.TEMPERATURE, Regime.DECODER):
        assert all(growth(form) <= 0 for _, form in soft(sample(seed), regime).positions)


@pytest.mark.parametrize("text", ["#<[a] = #>[b]", "even(#>[a])", "G (a -> X b)", "2*#[a] == len", "a U b"])
def test_bounded_embeddings_for_future_and_mixed_formulas(text: str) -> None:
    network = soft(parse(text, AB), Regime.TEMPERATURE)
    assert all(growth(form) <= 0 for _, form in network.positions)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("seed", range(40))
def test_nothing_in_a_decoder_depends_on_the_length(seed: int) -> None:
    network = soft(sample(seed), Regime.DECODER)
    assert not any(depends_on_length(form) for _, form in network.positions)
    for layer in network.layers:
        for head in layer.heads:
            assert head.masking.weak is Masking.FUTURE
            assert isinstance(head.weighting, Softmax)
            assert not depends_on_length(head.weighting.inverse_temperature)


@pytest.mark.parametrize(
    ("text", "culprit"),
    [
        ("O a & X b", "X b"),
        ("H (a -> F b)", "F b"),
        ("Y (a U (b & Y a))", "a U (b & Y a)"),
        ("last & O a", "last"),
        ("Y a & len > 3", "len > 3"),
        ("#<[a] >= #>[b]", "#<[a] >= #>[b]"),
        ("even(#[a])", "even(#[a])"),
    ],
)
def test_the_decoder_refuses_what_it_cannot_see(text: str, culprit: str) -> None:
    with pytest.raises(UnsupportedError) as refused:
        soft(parse(text, AB), Regime.DECODER)
    assert f"'{culprit}'" in str(refused.value)
    assert "Use regime='temperature'" in str(refused.value)


def test_a_future_operator_that_simplifies_away_is_no_obstacle() -> None:
    assert soft(parse("O a | F true", AB), Regime.DECODER).layers == ()


@pytest.mark.parametrize("text", ["prime(#<[a] + #<[b])", "square(#<[a] - pos)"])
def test_a_predicate_of_several_counts_is_refused_in_every_regime(text: str) -> None:
    for regime in Regime:
        with pytest.raises(UnsupportedError, match="several counts"):
            soft(parse(text, AB), regime)


def test_a_remainder_of_too_many_counts_says_how_many_cases_there_are() -> None:
    with pytest.raises(UnsupportedError, match=r"22\^3 remainders, more than the cap of 10,000"):
        soft(parse("(#<[a] + #<[b] + #>[a]) % 22 = 1", AB), Regime.UNBOUNDED)


def test_heads_that_look_at_one_place_share_a_head() -> None:
    network = soft(parse("Y a & Y (b & Y a) | Y !a", AB), Regime.UNBOUNDED)
    assert [len(layer.heads) for layer in network.layers] == [1, 1]


def test_equal_subformulas_are_computed_once() -> None:
    once = soft(parse("O (a & Y b)", AB), Regime.UNBOUNDED)
    often = soft(parse("O (a & Y b) & (b | O (a & Y b))", AB), Regime.UNBOUNDED)
    heads = [sum(len(layer.heads) for layer in network.layers) for network in (once, often)]
    assert heads[0] == heads[1]
