"""Remainders of several counts: compiled in every regime that can, proved, and right on all short words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from attemper.attention_program.ops import Connective, CountTest, Gate
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.regime import Regime
from attemper.workbench.compiling import compile as compile_formula

AB = Alphabet(("a", "b"))

PAST: dict[str, Callable[[str], bool]] = {
    # Tomita 6, and the same with one count.
    "(#<[a] - #<[b]) % 3 = 0": lambda w: (w.count("a") - w.count("b")) % 3 == 0,
    "(2*#<[a] - pos) % 3 = 0": lambda w: (w.count("a") - w.count("b")) % 3 == 0,
    "(#<[a] + 2*#<[b] - 3*#<[Y a] + 1) % 4 != 2": lambda w: (
        (w.count("a") + 2 * w.count("b") - 3 * w[:-1].count("a") + 1) % 4 != 2
    ),
    "(3*#<[a] - #<[b]) % 3 = 1": lambda w: w.count("b") % 3 == 2,
    "(3*#<[a] - 6*#<[b]) % 3 = 0": lambda w: True,
    "(2*#<[a] + 4*#<[b]) % 6 = 1": lambda w: False,
    "even(#<[a] + #<[Y a])": lambda w: (w.count("a") + w[:-1].count("a")) % 2 == 0,
    # More cases than a feed-forward has literals for are no more layers.
    "(#<[a] - #<[b]) % 11 = 2": lambda w: (w.count("a") - w.count("b")) % 11 == 2,
}
POSITIONS = {
    "(len - #>[true]) % 4 = 1": "(len - #>[true]) % 4 = 2",
    "(pos - #>[true]) % 3 = 1": "(pos - #>[true]) % 3 = 0",
    "(len - #>[a | b]) % 4 = 1": "(len - #>[a | b] + 1) % 4 = 1",
    "(#<[true] + #>[true] - len) % 3 = 1": "(#<[true] + #>[true] - len) % 3 = 2",
    "prime(len - #>[true])": "prime(len - #>[true] + 1)",
    "square(2*#>[true] - pos)": "square(2*#>[true] - len)",
}
"""Counts of true are positions. Each with what it is not."""
TWO_SIDED = [
    "(#<[a] + #>[b] + 2*#[a] - 1) % 3 = 2",
    "(#<[a] + pos + len) % 5 = 2",
    "odd(#<[a] - #>[a] + len)",
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", Regime)
@pytest.mark.parametrize("text", PAST)
def test_remainders_of_left_counts(text: str, regime: Regime) -> None:
    language = TemporalLanguage(parse(text, AB), At.LAST, False)
    compiled = compile_language(language, AB, regime)
    prove(compiled.soft, language)
    assert len(compiled.soft.layers) <= (3 if "Y" in text else 2)
    model = compile_formula(text, "ab", regime=str(regime))
    words = ["".join(word) for n in range(1, 7) for word in words_of_length(AB, n)] + ["ab" * 9 + "aaab"]
    assert [model.accepts(word) for word in words] == [PAST[text](word) for word in words]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("regime", [Regime.UNBOUNDED, Regime.TEMPERATURE])
@pytest.mark.parametrize("text", TWO_SIDED)
def test_remainders_of_counts_on_both_sides(text: str, regime: Regime) -> None:
    model = compile_formula(text, "ab", regime=str(regime))
    prove(model.network, model.language.definition)
    for n in range(1, 6):
        for word in words_of_length(AB, n):
            assert model.positions(word) == model.language.definition.bits(word)  # type: ignore[attr-defined]


@pytest.mark.parametrize("text", POSITIONS)
def test_sums_of_positions_are_proved_as_what_they_are_and_nothing_else(text: str) -> None:
    model = compile_formula(text, "ab")
    assert not model.network.layers or not any(layer.heads for layer in model.network.layers)
    prove(model.network, model.language.definition)
    with pytest.raises(UnprovenError):
        prove(model.network, TemporalLanguage(parse(POSITIONS[text], AB), At.LAST, False))
    for n in range(1, 9):
        word = ("ab" * n)[:n]
        assert model.positions(word) == model.language.definition.bits(tuple(word))


def test_the_cases_exclude_each_other_and_share_the_tests_of_each_count() -> None:
    program = compile_language(
        TemporalLanguage(parse("(#<[a] - #<[b]) % 5 = 1 | (#<[a] - #<[b]) % 5 = 2", AB), At.LAST, False),
        AB,
        Regime.UNBOUNDED,
    ).program
    assert sum(isinstance(step, CountTest) for step in program.steps) == 10
    unions = [
        step for step in program.steps if isinstance(step, Gate) and step.connective is Connective.UNION
    ]
    assert [len(union.bits) for union in unions] == [5, 5]
