"""Layers whose heads are all strictly masked: at one end they see nothing, as one symbol alone does."""

from __future__ import annotations

from typing import Literal

import pytest

import attemper
from attemper.languages.words import words_of_length
from attemper.networks.layers import Masking
from attemper.running.batches import runs_of

FORMULAS = {"Y O a": Masking.STRICT_FUTURE, "X F a": Masking.STRICT_PAST}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("weights", ["soft", "hard"])
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_short_words_are_right_alone_and_together(
    formula: str, regime: Literal["unbounded", "temperature"], weights: Literal["soft", "hard"]
) -> None:
    model = attemper.compile(formula, "ab", at="last", regime=regime)
    (layer,) = model.network.layers
    assert {head.masking for head in layer.heads} == {FORMULAS[formula]}
    words = [word for n in range(1, 6) for word in words_of_length(model.network.alphabet, n)]
    expected = [model.language.definition.bits(word) for word in words]
    assert [run.bits for run in model.run(words, weights=weights)] == expected
    assert [model.positions(word, weights=weights) for word in words] == expected


def test_no_word_is_no_run() -> None:
    assert list(runs_of(attemper.compile("Y O a", "ab").dense(), [])) == []
