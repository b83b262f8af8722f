"""Selections by cases and shifts over distances: right, proved, and in few layers."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.meaning import output
from attemper.attention_program.parse import parse_program
from attemper.certificates.claims import FloatClaim
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.compiling.simplifying.join_shifts import LONGEST
from attemper.compiling.simplifying.spell_out import MAX_CASES
from attemper.errors import UnsupportedError
from attemper.exact.balls import ball
from attemper.languages.definition import Definition
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_hard, meaning_soft
from attemper.networks.layers import Network, Select
from attemper.networks.regime import Regime
from tests.support.mutants.one_change import network_mutants
from tests.support.slowly import every_nth

LETTERS = """alphabet ["a", "b", "c"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = letter ["c"]
s3 = place ["test", ["remainder", 2, 0], 1, 0, 0]
s4 = place ["test", ["remainder", 2, 1], 1, 0, 0]
s5 = place ["number", "1"]
"""

PROGRAMS = {
    "the last with my letter before": "s6 = attend < rightmost where s0:s0 s1:s1 s2:s2 value s3 default 0",
    "the first with my letter": "s6 = attend all leftmost where s0:s0 s1:s1 s2:s2 value s4 default 1",
    "somewhere ahead with my letter": "s6 = attend > leftmost where s0:s0 s1:s1 s2:s2 value s5 default 0",
    "two cases": "s6 = attend <= rightmost where s0:s1 s2:s0 value s3 default 0",
    "two cases, else 1": "s6 = attend < leftmost where s0:s1 s2:s0 value s3 default 1",
    "one case": "s6 = attend all rightmost where s1:s0 value s4 default 1",
    "by places": "s6 = attend <= rightmost where s3:s0 s4:s1 value s2 default 0",
    "by places, ahead": "s6 = attend >= leftmost where s3:s0 s4:s1 value s3 default 1",
    "both of one letter": "s6 = attend < rightmost where s0:s1 s1:s1 value s4 default 0",
    "as a head does": "s6 = attend <= rightmost where s0:s1 s1:s2 s2:s0 value s0",
    "as a head does, before": "s6 = attend < leftmost where s0:s1 s1:s2 value s0",
    "two before": "s6 = previous 2 s0 default 0",
    "five before": "s6 = previous 5 s1 default 1",
    "three ahead": "s6 = next 3 s2 default 0",
    "on what is computed": (
        "s6 = previous s0 default 0\ns7 = attend <= rightmost where s0:s6 s1:s2 value s1 default 0"
    ),
    "by what is computed": (
        "s6 = attend <= rightmost where s0 value s3 default 0\ns7 = not s6\n"
        "s8 = attend < rightmost where s6:s1 s7:s2 value s4 default 0"
    ),
}


def language_of(name: str) -> ProgramLanguage:
    """The program of that name, whose output is its last step."""
    last = 6 + PROGRAMS[name].count("\n")
    return ProgramLanguage(parse_program(f"{LETTERS}{PROGRAMS[name]}\noutput s{last}"), At.LAST, False)


def compiled(language: ProgramLanguage) -> Iterator[tuple[Regime, Network, Network]]:
    """The hard and the soft network, in every regime that can."""
    for regime in Regime:
        try:
            found = compile_language(language, language.program.alphabet, regime)
        except UnsupportedError:
            assert regime is Regime.DECODER
            continue
        yield regime, found.hard, found.soft


def short_words(alphabet: Alphabet, longest: int) -> list[Word]:
    return [word for n in range(1, longest + 1) for word in words_of_length(alphabet, n)]


def is_right(network: Network, language: Definition, words: list[Word]) -> bool:
    """Whether the soft network's outputs are those of the language, up to a quarter."""
    quarter = ball(meaning_hard.Fraction(1, 4))
    return all(
        abs(found - bit) <= quarter
        for word in words
        for found, bit in zip(meaning_soft.output_bits(network, word), language.bits(word), strict=True)
    )


@pytest.mark.sweep(0)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_compiled_is_what_is_meant(name: str) -> None:
    language = language_of(name)
    words = short_words(language.program.alphabet, 4)
    rng = random.Random(name)
    long = [tuple(rng.choices("abc", k=n)) for n in (9, 12, 15)]
    for regime, hard, soft in compiled(language):
        for word in [*words, *long]:
            assert meaning_hard.output_bits(hard, word) == output(language.program, word), (regime, word)
        assert is_right(soft, language, [*rng.sample(words, 30), *words[:3], *long[:2]]), regime


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_on_all_words_the_soft_network_is_what_is_meant(name: str) -> None:
    language = language_of(name)
    words = short_words(language.program.alphabet, 7)
    for regime, hard, soft in compiled(language):
        assert all(meaning_hard.output_bits(hard, w) == output(language.program, w) for w in words), regime
        assert is_right(soft, language, words), regime


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_compiled_is_proved(name: str) -> None:
    language = language_of(name)
    for _, _, soft in compiled(language):
        prove(soft, language, None)


@pytest.mark.sweep(0)
@pytest.mark.parametrize(
    "name", every_nth(["the last with my letter before", "by places", "two before", "three ahead"], 2)
)
def test_a_changed_network_is_not_proved_unless_it_is_right(name: str) -> None:
    language, rng = language_of(name), random.Random(name)
    words = short_words(language.program.alphabet, 3)
    refused = 0
    for _, _, soft in compiled(language):
        changed = [mutant for _, mutant in network_mutants(soft, rng) if mutant is not None]
        for mutant in rng.sample(changed, min(8, len(changed))):
            try:
                prove(mutant, language, None)
            except UnprovenError:
                refused += 1
                continue
            assert is_right(mutant, language, words)
    assert refused > 5


def heads_of(network: Network) -> list[Select]:
    heads = [head.construction for layer in network.layers for head in layer.heads]
    return [head for head in heads if isinstance(head, Select)]


def test_cases_share_a_head_where_that_is_possible() -> None:
    """At temperature 1 only those by places."""
    found = {regime: heads_of(soft) for regime, _, soft in compiled(language_of("both of one letter"))}
    assert [len(head.cases) for head in found[Regime.TEMPERATURE]] == [2]
    assert [len(head.cases) for head in found[Regime.UNBOUNDED]] == [1]
    found = {regime: heads_of(soft) for regime, _, soft in compiled(language_of("two cases"))}
    assert [len(head.cases) for head in found[Regime.UNBOUNDED]] == [1, 1]
    assert [len(head.cases) for head in found[Regime.DECODER]] == [2]
    found = {regime: heads_of(soft) for regime, _, soft in compiled(language_of("five before"))}
    assert {regime: [len(head.cases) for head in heads] for regime, heads in found.items()} == {
        regime: [6] for regime in Regime
    }


@pytest.mark.sweep(0)
@pytest.mark.parametrize("count", [MAX_CASES, MAX_CASES + 1])
def test_as_many_cases_share_a_head_as_there_are_rows_for(count: int) -> None:
    symbols = [f"x{k}" for k in range(count)]
    names = ", ".join(f'"{symbol}"' for symbol in symbols)
    letters = "\n".join(f's{k} = letter ["{symbol}"]' for k, symbol in enumerate(symbols))
    cases = " ".join(f"s{k}:s{(k + 1) % count}" for k in range(count))
    attend = f"s{count} = attend < rightmost where {cases} value s0 default 0"
    language = ProgramLanguage(
        parse_program(f"alphabet [{names}]\n{letters}\n{attend}\noutput s{count}"), At.LAST, False
    )
    soft = compile_language(language, language.program.alphabet, Regime.TEMPERATURE).soft
    heads = {len(head.query) for layer in soft.layers for head in layer.heads}
    assert heads == ({16} if count == MAX_CASES else {16, 2})
    prove(soft, language, None)
    words: list[Word] = [("x0", "x1", "x2", "x0", "x14", "x1", "x0"), ("x1", "x0", "x0", "x5", "x4", "x14")]
    assert is_right(soft, language, words)


def test_two_cases_in_force_at_once_are_not_proved() -> None:
    """That no two are is a promise, of bits of which the letters of i do not show that."""
    text = LETTERS + (
        "s6 = previous s0 default 0\ns7 = attend <= rightmost where s6:s1 s1:s2 value s3 default 0\noutput s7"
    )
    language = ProgramLanguage(parse_program(text), At.LAST, False)
    for _, _, soft in compiled(language):
        with pytest.raises(UnprovenError, match="two cases of a selection"):
            prove(soft, language, None)


# Chains of shifts ----------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("formula", "layers", "horizon"),
    [
        ("Y Y a", 1, 1_000_000),
        ("Y Y Y Y a", 1, 1_000_000),
        ("O (a & Y a & Y Y a)", 2, 500_000),
        ("Y Y Y (a S b)", 2, 900_000),
        ("Y Y Y a & Y b", 1, 500_000),
    ],
)
@pytest.mark.parametrize("regime", Regime)
def test_chains_of_shifts_are_one_layer(formula: str, layers: int, horizon: int, regime: Regime) -> None:
    model = attemper.compile(formula, alphabet="ab", regime=regime.value)
    assert len(model.network.layers) == layers
    claims = [claim for claim in model.certify().claims if isinstance(claim, FloatClaim)]
    assert min(claim.horizon for claim in claims if claim.format == "float32") >= horizon
    wide = [claim for claim in claims if claim.format == "float64"]
    assert min(claim.horizon for claim in wide if claim.kernel != "scan") >= 10**9
    assert min(claim.horizon for claim in wide) >= 10**6
    words = short_words(Alphabet(("a", "b")), 7)
    assert [model.accepts(word) for word in words] == [
        model.language.definition.bits(word)[-1] for word in words
    ]


def test_longer_chains_take_as_few_layers_as_heads_reach() -> None:
    for count, layers in ((LONGEST, 1), (LONGEST + 1, 2), (2 * LONGEST, 2)):
        assert len(attemper.compile("Y " * count + "a", alphabet="ab").network.layers) == layers


def test_shifts_stay_where_joining_them_saves_no_layer() -> None:
    model = attemper.compile("Y Y a | Y (b S Y a)", alphabet="ab")
    assert len(model.network.layers) == 2
    assert all(head.cases[0][0] is None for head in heads_of(model.network))
