"""Mirrored formulas, against the definition on reversed words."""

from __future__ import annotations

import random

import pytest

from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.mirroring import mirrored
from attemper.languages.temporal.parse import parse
from attemper.languages.words import Alphabet, words_of_length
from tests.support.drawn.samples import FormulaSampler

AB = Alphabet(("a", "b"))


@pytest.mark.sweep(35)
@pytest.mark.parametrize("seed", range(120))
def test_random_formulas_hold_where_their_mirror_images_do(seed: int) -> None:
    """All operators, positions, lengths and counts; every position of all words to length 5."""
    formula = FormulaSampler(random.Random(seed), AB.symbols).formula(1 + seed % 3)
    image = mirrored(formula)
    for length in range(1, 6):
        for word in words_of_length(AB, length):
            assert truth(image, word[::-1]) == truth(formula, word)[::-1]


@pytest.mark.parametrize(
    "text", ["Y a", "WY a", "X a", "WX a", "(WX a) W b", "(X a) M a", "a R b", "a T b", "first", "last"]
)
def test_each_operator_is_mirrored(text: str) -> None:
    formula = parse(text, AB)
    words = [word for length in range(1, 6) for word in words_of_length(AB, length)]
    assert all(truth(mirrored(formula), word[::-1]) == truth(formula, word)[::-1] for word in words)
    assert any(truth(formula, word) != truth(mirrored(formula), word) for word in words)
