"""Texts with `nearest`, to a network: queries by cases, conditions that read i, numbers at j."""

from __future__ import annotations

import pytest
import torch

from attemper.attention_program.language import ProgramLanguage
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.compiling.regimes import Regime
from attemper.languages.rasp.program import parse_rasp
from attemper.languages.words import words_of_length
from attemper.running.dense import DenseTransformer
from tests.support.rasp import RaspMeaning

OUTPUTS = (
    "nearest leftmost[all : (len - pos)(j) ~ pos(i)] in 'a'",
    "nearest rightmost[j >= i : (in 'a')(i) & (in 'b')(j), pos(j) ~ x(i)] first",
    "nearest rightmost[all : x(j) - 1 ~ max(x, pos - 3)(i)] in 'b'",
    "nearest leftmost[j <= i : symbol(i) = symbol(j), -2 - x(i) ~ -x(j)] previous in 'a'",
    "nearest rightmost[all : pos(j) ~ 1000000000 - pos(i)] in 'a'",
)


@pytest.mark.parametrize("regime", [Regime.UNBOUNDED, Regime.TEMPERATURE])
@pytest.mark.parametrize("output", OUTPUTS)
def test_networks_of_texts_do_what_the_texts_say(output: str, regime: Regime) -> None:
    """All words of 1, 2 and 5 symbols, against a reading that shares nothing with the lowering."""
    x = "x = count[j <= i] in 'a' - count[j < i] in 'b'"
    text = parse_rasp(f"alphabet a b\nempty reject\n{x}\noutput {output}")
    language = ProgramLanguage(text.program, text.at, text.accepts_empty)
    found = compile_language(language, text.program.alphabet, regime)
    prove(found.soft, language, found.realisation)
    for n in (1, 2, 5):
        words = list(words_of_length(text.program.alphabet, n))
        rows = DenseTransformer(found.soft)(torch.tensor([["ab".index(s) for s in word] for word in words]))
        for word, row in zip(words, rows, strict=True):
            assert tuple(map(bool, row > 0.5)) == RaspMeaning(text.source, word).outputs(), word
