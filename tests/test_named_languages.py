"""The named languages' formulas say what plain Python says."""

from __future__ import annotations

import pytest

from attemper.compiling.regimes import Regime
from attemper.languages.named.languages import (
    NAMED_LANGUAGES,
    REGULAR_LANGUAGES,
    NamedLanguage,
    NamedRegular,
)
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import accepts
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import parse_alphabet, words_of_length
from attemper.workbench.demo import demo_row


@pytest.mark.parametrize("language", NAMED_LANGUAGES, ids=lambda language: language.name)
def test_the_formula_means_the_language(language: NamedLanguage) -> None:
    alphabet = parse_alphabet(language.alphabet)
    formula = read_language(parse(language.formula, alphabet), None, language.accepts_empty)
    longest = 9 if len(alphabet.symbols) == 2 else 4
    for length in range(longest + 1):
        for word in words_of_length(alphabet, length):
            assert accepts(formula, word) == language.contains(word), word


@pytest.mark.parametrize("language", REGULAR_LANGUAGES, ids=lambda language: language.name)
def test_the_expression_means_the_language(language: NamedRegular) -> None:
    alphabet = parse_alphabet(language.alphabet)
    dfa = parse_regex(language.regex, alphabet)
    for length in range(11):
        for word in words_of_length(alphabet, length):
            assert dfa.accepts(word) == language.contains(word), word


@pytest.mark.parametrize(
    "language", [*NAMED_LANGUAGES[::3], *REGULAR_LANGUAGES[1:3]], ids=lambda language: language.name
)
def test_the_demo_finds_the_transformers_right(language: NamedLanguage | NamedRegular) -> None:
    row = demo_row(language, Regime.TEMPERATURE)
    assert row is not None
    assert row.right
    assert row.longest == 2000
