"""Programs' texts, to a network: proved, run, and compared with a reading of the text."""

from __future__ import annotations

from collections.abc import Iterable

import torch

from attemper.attention_program.language import ProgramLanguage
from attemper.checker.proof import prove
from attemper.compiling.pipeline import compile_language
from attemper.languages.rasp.program import parse_rasp
from attemper.languages.words import words_of_length
from attemper.networks.regime import Regime
from attemper.running.dense import DenseTransformer
from tests.support.judges.rasp import RaspMeaning


def require_network_says(text: str, regime: Regime, lengths: Iterable[int]) -> None:
    """The text's network puts out the text's bits on all words of these lengths.

    They are compared with a reading of the text that shares nothing with the lowering.
    """
    found = parse_rasp(text)
    language = ProgramLanguage(found.program, found.at, found.accepts_empty)
    compiled = compile_language(language, found.program.alphabet, regime)
    prove(compiled.soft, language, compiled.realisation)
    run, symbols = DenseTransformer(compiled.soft), found.program.alphabet.symbols
    for n in lengths:
        words = list(words_of_length(found.program.alphabet, n))
        rows = run(torch.tensor([[symbols.index(symbol) for symbol in word] for word in words]))
        for word, row in zip(words, rows, strict=True):
            assert tuple(map(bool, row > 0.5)) == RaspMeaning(found.source, word).outputs(), word
