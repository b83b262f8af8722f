"""Every level means the same: formula, program, guarded program, hard network, soft network in balls."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from attemper.attention_program import meaning as program_meaning
from attemper.attention_program.parse import parse_steps
from attemper.attention_program.show import show_program
from attemper.compiling.constructions.table import plan_of
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.softening.hard_to_soft import MARGINS, largest_clamp_error, margin_of
from attemper.errors import UnsupportedError
from attemper.exact.balls import ball, precision
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from tests.support.drawn.samples import FormulaSampler

AB = Alphabet(("a", "b"))
ZERO = ball(Fraction(0))
EVERY_CONSTRUCTION = (
    "Y a xor X b",
    "WY a & WX b",
    "a S (Y b)",
    "a U (X b)",
    "#<[a] > #<[b]",
    "#>[a] >= 2",
    "#[a] = 2",
    "#<[a] = #>[b]",
    "2*#<[a] - #[b] >= 1",
    "even(#<[a])",
    "odd(#>[a])",
    "#[b] % 3 = 2",
    "O (a & even(pos)) | Y (b xor first)",
)


def compiled(formula: Formula, regime: Regime) -> Compiled | None:
    try:
        return compile_language(TemporalLanguage(formula, At.LAST, False), AB, regime)
    except UnsupportedError:
        return None


def words_up_to(length: int) -> list[Word]:
    return [word for n in range(1, length + 1) for word in words_of_length(AB, n)]


def assert_levels_agree(formula: Formula, levels: Compiled, words: list[Word]) -> None:
    for word in words:
        expected = truth(formula, word)
        assert program_meaning.output(levels.program, word) == expected
        assert program_meaning.output(levels.guarded, word) == expected
        assert list(meaning_hard.output_bits(levels.hard, word)) == list(expected)
        # Average-hard attention on the softened scores: the limit of temperature 0.
        assert list(meaning_hard.output_bits(levels.soft, word)) == list(expected)


def assert_balls_contain(network: Network, formula: Formula, word: Word) -> None:
    """The enclosed softmax output contains the bit, and is narrow enough to say which bit it is."""
    for enclosure, bit in zip(meaning_soft.output_bits(network, word), truth(formula, word), strict=True):
        assert enclosure.contains(int(bit))
        assert enclosure.rad() < ball(Fraction(1, 10**6))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("text", EVERY_CONSTRUCTION)
def test_every_construction_at_every_level(text: str, regime: Regime) -> None:
    formula = parse(text, AB)
    levels = compiled(formula, regime)
    if levels is None:
        assert regime is Regime.DECODER
        return
    assert_levels_agree(formula, levels, words_up_to(5))
    for word in [*words_up_to(2), tuple("abbab"), tuple("aaaaaa"), tuple("bbbbbbb")]:
        assert_balls_contain(levels.soft, formula, word)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(40))
def test_random_formulas_at_every_level(seed: int) -> None:
    formula = FormulaSampler(random.Random(seed), AB.symbols, past_only=seed % 3 == 0).formula(3)
    for regime in Regime:
        levels = compiled(formula, regime)
        if levels is not None:
            assert_levels_agree(formula, levels, words_up_to(3))
            assert_balls_contain(levels.soft, formula, tuple("abba"))


@pytest.mark.sweep(15)
@pytest.mark.parametrize("seed", range(60))
def test_programs_have_a_text_that_reads_back(seed: int) -> None:
    formula = FormulaSampler(random.Random(seed), AB.symbols).formula(4)
    levels = compiled(formula, Regime.UNBOUNDED)
    assert levels is not None
    for program in (levels.program, levels.guarded):
        assert parse_steps(show_program(program)) == program


@pytest.mark.sweep(6)
@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("text", EVERY_CONSTRUCTION)
def test_stray_attention_stays_within_the_bounds(text: str, regime: Regime) -> None:
    """Lemmas 6, 7 and the sign heads' bounds, measured in balls on all short and some longer words."""
    levels = compiled(parse(text, AB), regime)
    if levels is None:
        return
    margins = [margin_of(layer, regime) for layer in levels.hard.layers]
    for word in [*words_up_to(4), tuple("a" * 9), tuple("ab" * 5), tuple("b" * 12 + "a")]:
        hard_streams = meaning_hard.residual_streams(levels.hard, word)
        soft_streams = meaning_hard.residual_streams(levels.soft, word)
        for number, layer in enumerate(levels.soft.layers):
            # The bounds are sharp: only many bits tell them from what is measured.
            with precision(meaning_soft.PRECISION):
                balls = [[ball(value) for value in vector] for vector in soft_streams[number]]
                for index, head in enumerate(layer.heads):
                    chosen = meaning_hard.attention(
                        levels.hard.layers[number].heads[index], hard_streams[number]
                    )
                    claimed = ball(plan_of(head).stray_mass(regime, margins[number]))
                    for right, weights in zip(chosen, meaning_soft.attention(head, balls), strict=True):
                        stray = sum((weights[j] for j in weights if j not in right), ZERO)
                        assert stray <= claimed, (word, number, index)


@pytest.mark.parametrize("text", EVERY_CONSTRUCTION)
def test_every_layer_has_the_smallest_margin_that_rounds_with_room_to_spare(text: str) -> None:
    levels = compiled(parse(text, AB), Regime.UNBOUNDED)
    assert levels is not None
    for layer in levels.hard.layers:
        chosen = margin_of(layer, Regime.UNBOUNDED)
        for margin in (margin for margin in MARGINS if margin <= chosen):
            suffices = largest_clamp_error(layer, Regime.UNBOUNDED, margin) <= Fraction(1, 4)
            assert suffices == (margin == chosen)
