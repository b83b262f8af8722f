"""Texts with equal Integers at i and j, to a network: of every sign, by cases, with numbers."""

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

HEAD = """alphabet a b
empty reject
a = in 'a'
b = in 'b'
x = count[j <= i] a - count[j <= i] b
bs = count[j <= i] b
as = count[all] a
"""

OUTPUTS = (
    "leftmost[all : b(j) & bs(j) = as(i)] (pos % 2 = 0) else false",
    "rightmost[j <= i : x(j) = x(i) - 1] a else true",
    "leftmost[j >= i : a(i) & b(j) & x(i) + 2 = x(j)] (pos % 2 = 1) else false",
    "rightmost[all : bs(j) = min(as, 3 - x)(i)] first else true",
    "leftmost[all : pos(j) = len - pos(i)] a else true",
    "some[j <= i : x(j) + 1 = 0(i) & a(j)]",
    "every[j <= i : x(i) = x(j)] (a | first)",
    "(rightmost[all : (count[j > i] a)(j) = bs(i) + 1] (a ? one : two) else none) = two",
    "some[all : -pos(j) = x(i)] b",
)


@pytest.mark.parametrize("regime", [Regime.UNBOUNDED, Regime.TEMPERATURE])
@pytest.mark.parametrize("output", OUTPUTS)
def test_networks_of_texts_do_what_the_texts_say(output: str, regime: Regime) -> None:
    """All words of 1 and of 5 symbols, against a reading that shares nothing with the lowering."""
    found = parse_rasp(f"{HEAD}output {output}")
    language = ProgramLanguage(found.program, found.at, found.accepts_empty)
    compiled = compile_language(language, found.program.alphabet, regime)
    prove(compiled.soft, language, compiled.realisation)
    run = DenseTransformer(compiled.soft)
    for n in (1, 5):
        words = list(words_of_length(found.program.alphabet, n))
        rows = run(torch.tensor([["ab".index(s) for s in word] for word in words]))
        for word, row in zip(words, rows, strict=True):
            assert tuple(map(bool, row > 0.5)) == RaspMeaning(found.source, word).outputs(), word
