"""Numbers that are put out: what is proved of them, and what must not be."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.attention_program.parse import parse_program
from attemper.certificates.claims import FloatClaim, RealClaim
from attemper.checker.check import judge
from attemper.checker.verdict import Status, Verdict
from attemper.compiling.pipeline import compile_language
from attemper.languages.measures import Measure
from attemper.languages.temporal.reading import At
from attemper.languages.words import words_of_length
from attemper.networks.layers import Hidden, Masking, Network
from attemper.networks.meaning_hard import output_rows
from attemper.networks.regime import Regime
from tests.support.oracles.numbers import BIGRAMS, FRACTION, HISTOGRAM, random_integers

TEXTS = {"histogram": HISTOGRAM, "fraction": FRACTION, "bigrams": BIGRAMS}


def language_of(text: str) -> ProgramLanguage:
    return ProgramLanguage(parse_program(text), At.LAST, False)


def network_of(text: str, regime: Regime = Regime.DECODER) -> Network:
    language = language_of(text)
    return compile_language(language, language.program.alphabet, regime).soft


def judged(network: Network, text: str) -> Verdict:
    return judge(network, language_of(text), (RealClaim(),))


@pytest.mark.parametrize("regime", list(Regime))
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_compiled_numbers_are_proved(text: str, regime: Regime) -> None:
    assert judged(network_of(text, regime), text).status is Status.PROVED


def test_the_claims_say_what_is_meant() -> None:
    claims = (RealClaim(), FloatClaim("float64", "numerator-first", 1_000_000, ""))
    said = {
        name: [claim.text for claim in judge(network_of(text), language_of(text), claims).claims]
        for name, text in TEXTS.items()
    }
    assert said["histogram"][0].endswith("exactly the integer's share of the visible positions")
    assert said["histogram"][1].endswith("times the visible positions is within 1/4 of the integer")
    assert said["fraction"][0].endswith("each number is within 2^-40")
    assert said["bigrams"][1].endswith("each number is within 2^-16")


# False networks ----------------------------------------------------------------------------------


def rebuilt(network: Network, change: dict[int, Hidden], layer: int = -1) -> Network:
    layers = list(network.layers)
    units = tuple(change.get(number, unit) for number, unit in enumerate(layers[layer].hidden))
    layers[layer] = replace(layers[layer], hidden=units)
    return replace(network, layers=tuple(layers))


def scaled(unit: Hidden, factor: Fraction) -> Hidden:
    return replace(unit, outputs=tuple((target, own * factor) for target, own in unit.outputs))


def shown(network: Network) -> list[object]:
    """What is put out on short words, under hard attention."""
    words = (word for n in range(1, 4) for word in words_of_length(network.alphabet, n))
    return [output_rows(network, word) for word in words]


FALSE_FACTORS = (Fraction(2), Fraction(-1), Fraction(3, 4), 1 + Fraction(1, 2**30))


@pytest.mark.sweep(5)
@pytest.mark.parametrize("factor", FALSE_FACTORS, ids=str)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_factor_of_a_number_may_be_another(text: str, factor: Fraction) -> None:
    network, others = network_of(text), 0
    for number, unit in enumerate(network.layers[-1].hidden):
        changed = rebuilt(network, {number: scaled(unit, factor)})
        # Some unit may be for a case that never occurs.
        if shown(changed) != shown(network):
            others += 1
            assert judged(changed, text).status is not Status.PROVED
    assert others >= len(network.layers[-1].hidden) - 2


def test_no_bias_of_a_gate_may_be_another() -> None:
    network = network_of(HISTOGRAM)
    for number, unit in enumerate(network.layers[0].hidden):
        for bias in (Fraction(0), Fraction(-1), Fraction(-9, 4), Fraction(-3, 2)):
            changed = rebuilt(network, {number: replace(unit, bias=bias)})
            assert judged(changed, HISTOGRAM).status is not Status.PROVED


def test_a_gate_of_another_symbol_is_refuted() -> None:
    network = network_of(HISTOGRAM)
    (letters, averages) = ({}, {})
    for number, unit in enumerate(network.layers[0].hidden):
        (letters[number], averages[number]) = (
            {(c, f) for c, f in unit.form if f == 2},
            {(c, f) for c, f in unit.form if f == 1},
        )
    one, other = 0, 1
    swapped = replace(network.layers[0].hidden[one], form=tuple(sorted(letters[other] | averages[one])))
    found = judged(rebuilt(network, {one: swapped}), HISTOGRAM)
    assert found.status is Status.REFUTED
    assert found.claims[0].witness is not None
    assert "a number that is put out for" in found.claims[0].text


@pytest.mark.parametrize("masking", [Masking.PAST, Masking.NONE])
def test_an_average_over_other_positions_is_refuted(masking: Masking) -> None:
    network = network_of(HISTOGRAM, Regime.TEMPERATURE)
    layer = network.layers[0]
    heads = tuple(replace(head, masking=masking) for head in layer.heads)
    changed = replace(network, layers=(replace(layer, heads=heads),))
    assert judged(changed, HISTOGRAM).status is Status.REFUTED
    # Shares of other positions are not those that the program means, even of the very same number.
    assert judged(replace(network, over=masking), HISTOGRAM).status is not Status.PROVED


INSIDE = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = place ["test", ["non negative"], 1, 0, -2]
s3 = place ["test", ["non negative"], -1, 1, -1]
s4 = and s2 s3
s5 = count <= s0
s6 = count <= s1
output fraction <= 1*s4*s5 2*s4*s6
"""
"""Numbers that are 0 at both ends, where every mask shows as little as it can."""


@pytest.mark.parametrize("masking", [Masking.PAST, Masking.NONE])
def test_other_positions_are_seen_to_be_others_far_from_the_ends(masking: Masking) -> None:
    network = network_of(INSIDE, Regime.TEMPERATURE)
    assert judged(network, INSIDE).status is Status.PROVED
    layer = network.layers[0]
    heads = tuple(replace(head, masking=masking) for head in layer.heads)
    changed = replace(network, layers=(replace(layer, heads=heads),))
    assert judged(changed, INSIDE).status is Status.REFUTED


def test_a_number_of_unknown_sign_is_no_average() -> None:
    network = network_of(INSIDE, Regime.TEMPERATURE)
    layer = network.layers[0]
    first, second = (dict(unit.form) for unit in layer.hidden)
    ((a, _),) = set(first.items()) - set(second.items())
    ((b, _),) = set(second.items()) - set(first.items())
    form = tuple(sorted({**first, b: Fraction(-1)}.items()))
    assert {a, b} < dict(form).keys()
    more = Hidden(form, layer.hidden[0].bias, ((network.output, Fraction(1)),))
    changed = replace(network, layers=(replace(layer, hidden=(*layer.hidden, more)),))
    assert judged(changed, INSIDE).status is Status.REFUTED


def test_shares_of_other_positions_are_another_integer() -> None:
    before, of_all = HISTOGRAM.replace("<=", ">="), HISTOGRAM.replace("<=", "all")
    network = network_of(of_all, Regime.TEMPERATURE)
    assert judged(network, of_all).status is Status.PROVED
    assert judged(replace(network, over=Masking.PAST), before).status is Status.REFUTED
    mixed = of_all.replace("count all s0", "count <= s0")
    assert judged(network, mixed).status is not Status.PROVED


def test_numbers_of_another_kind_or_name_are_another_claim() -> None:
    network = network_of(FRACTION)
    changed = replace(network, measure=Measure.INTEGER, over=Masking.FUTURE)
    assert judged(changed, FRACTION).status is Status.UNKNOWN
    assert judged(replace(network, measure=None), FRACTION).status is Status.UNKNOWN
    network = network_of(BIGRAMS)
    (a, x), (b, y) = network.symbols
    renamed = replace(network, output=y, symbols=((b, y), (a, x)))
    assert judged(renamed, BIGRAMS).status is Status.UNKNOWN
    swapped = replace(network, output=y, symbols=((a, y), (b, x)))
    assert judged(swapped, BIGRAMS).status is Status.REFUTED


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("2/3*s3 1/2*s6", "3/4*s3 1/2*s6", "not seen to have the sum 1"),
        ("; 2/3*s3 1/2*s6", "; 2/3*s3", "not seen to have the sum 1"),
        ("1/3*s3 1*s4 1/2*s6 ; 2/3*s3", "-1/3*s3 1*s4 1/2*s6 ; 4/3*s3", "negative somewhere"),
    ],
)
def test_what_is_no_distribution_is_not_proved(old: str, new: str, complaint: str) -> None:
    text = BIGRAMS.replace(old, new)
    assert text != BIGRAMS
    found = judged(network_of(text), text)
    assert found.status is Status.UNKNOWN
    assert complaint in found.claims[0].text
    with pytest.raises(attemper.errors.UnsupportedError, match="no distribution"):
        language_of(text).numbers(("a", "a"))


def test_a_probability_as_near_as_its_weight_can_be_is_proved_and_none_further() -> None:
    text = BIGRAMS.replace("1/3*s3", "13/40*s3").replace("2/3*s3", "27/40*s3")
    assert judged(network_of(BIGRAMS), text).status is Status.REFUTED
    near = BIGRAMS.replace("1/3*s3", f"{Fraction(1, 3) + Fraction(1, 2**42)}*s3")
    near = near.replace("2/3*s3", f"{Fraction(2, 3) - Fraction(1, 2**42)}*s3")
    assert judged(network_of(near), BIGRAMS).status is Status.PROVED


def test_a_float_format_that_is_too_coarse_is_not_proved() -> None:
    network, language = network_of(HISTOGRAM), language_of(HISTOGRAM)
    for form, length, status in (
        ("float32", 100_000, Status.PROVED),
        ("float32", 1_000_000, Status.UNKNOWN),
        ("bfloat16", 100, Status.UNKNOWN),
    ):
        found = judge(network, language, (FloatClaim(form, "numerator-first", length, ""),))
        assert found.status is status


# Many programs -----------------------------------------------------------------------------------


def counterpart(program: Program, rng: random.Random) -> Program | None:
    """The program with one factor of its integer changed."""
    assert program.numbers is not None
    (row,) = program.numbers.rows
    at = rng.randrange(len(row))
    other = replace(row[at], factor=row[at].factor + rng.choice((-1, 1)))
    numbers = replace(program.numbers, rows=((*row[:at], other, *row[at + 1 :]),))
    return replace(program, numbers=numbers)


def compared(seeds: range) -> int:
    """How many random programs are right on all short words and proved, and how many changed ones are not."""
    proved = 0
    for seed in seeds:
        rng = random.Random(seed)
        text = random_integers(rng)
        language = language_of(text)
        network = network_of(text, Regime.TEMPERATURE)
        compiled = compile_language(language, language.program.alphabet, Regime.TEMPERATURE)
        words = [word for n in range(1, 5) for word in words_of_length(language.program.alphabet, n)]
        for word in words:
            assert output_rows(compiled.hard, word) == language.numbers(word), (text, word)
        verdict = judge(network, language, (RealClaim(),))
        proved += verdict.status is Status.PROVED
        other = replace(language, program=counterpart(language.program, rng))
        if any(other.numbers(word) != language.numbers(word) for word in words):
            assert judge(network, other, (RealClaim(),)).status is not Status.PROVED, text
    return proved


def test_random_integers() -> None:
    assert compared(range(8)) == 8


@pytest.mark.slow
def test_many_random_integers() -> None:
    assert compared(range(8, 1_000)) > 970
