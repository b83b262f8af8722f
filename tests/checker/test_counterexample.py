"""The search for a word that goes wrong: what counts, which word is taken, and how far it looks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import pytest
import torch

import attemper
from attemper.checker import counterexample
from attemper.checker.counterexample import LONGER, SCORES, WORDS, _longer_words, _words, wrong_word
from attemper.languages.words import Alphabet
from attemper.networks.files import with_weights
from attemper.networks.layers import HardWeighting, Network
from attemper.networks.safetensors import Tensor
from attemper.networks.weights import tensors_of
from attemper.running.dense import DenseTransformer
from attemper.workbench.model import Model
from tests.support.mutants.saved import with_number

MAJORITY = "#<['0'] <= #<['1']"


@pytest.fixture(scope="module")
def model() -> Model:
    return attemper.compile(MAJORITY, "01")


def changed(model: Model, name: str, index: tuple[int, ...], number: float) -> Network:
    tensors = tensors_of(model.network)
    return with_weights(model.network, tensors | {name: put(tensors[name], index, number)}).network


def put(tensor: Tensor, index: tuple[int, ...], number: float) -> Tensor:
    place = 0
    for size, own in zip(tensor.shape, index, strict=True):
        place = place * size + own
    return with_number(tensor, place, number)


def test_a_right_network_has_no_wrong_word(model: Model) -> None:
    assert wrong_word(model.network, model.language.definition) is None


def test_the_empty_word_goes_first(model: Model) -> None:
    wrong = wrong_word(replace(model.network, accepts_empty=True), model.language.definition)
    assert wrong is not None
    assert (wrong.word, wrong.text) == ((), "the empty word gets the wrong answer")


def test_a_wrong_verdict_goes_before_an_output_that_is_off() -> None:
    """With the second unit's bias 1 higher the output is 1 lower: -0.5 for 'a' is off, but read as 0."""
    model = attemper.compile("a S b", "ab")
    network = changed(model, "blocks.0.mlp.b_in", (1,), 0.25)
    wrong = wrong_word(network, model.language.definition)
    assert wrong is not None
    assert (wrong.word, wrong.text) == (("b",), "'b' gets the wrong answer")
    assert DenseTransformer(network)(torch.tensor([[0]])).item() == pytest.approx(-0.5)


def test_an_output_that_is_off_by_a_quarter_is_not_yet_wrong(model: Model) -> None:
    """The output is 3/4 times what it was, then a little less."""
    layer = model.network.layers[-1]

    def scaled(factor: Fraction) -> Network:
        hidden = tuple(
            replace(unit, outputs=tuple((c, factor * x) for c, x in unit.outputs)) for unit in layer.hidden
        )
        return replace(model.network, layers=(*model.network.layers[:-1], replace(layer, hidden=hidden)))

    assert wrong_word(scaled(Fraction(3, 4)), model.language.definition) is None
    wrong = wrong_word(scaled(Fraction(3, 4) - Fraction(1, 100)), model.language.definition)
    assert wrong is not None
    assert (wrong.word, wrong.text) == (("1",), "the output for '1' at position 1 is 0.740000, not 1")


def test_longer_words_are_tried_where_short_ones_are_right(model: Model) -> None:
    """'0' counts a tenth more: eleven '1' are not more than ten '0' any more, of those that come first."""
    value = tensors_of(model.network)["blocks.0.attn.W_V"].numbers
    letter = model.network.coordinates.index("letter 0")
    weight = value[letter * model.network.head_width]
    network = changed(model, "blocks.0.attn.W_V", (0, letter, 0), 1.1 * weight)
    wrong = wrong_word(network, model.language.definition)
    assert wrong is not None
    assert len(wrong.word) in LONGER
    tokens = [["01".index(symbol) for symbol in wrong.word]]
    output = DenseTransformer(network)(torch.tensor(tokens))[0, -1].item()
    assert abs(output - model.accepts(wrong.word)) > 0.5


def test_the_search_ends_soon(model: Model) -> None:
    words = list(_words(model.network))
    assert words[:2] == [("0",), ("1",)]
    assert len(words) == WORDS + 2 * len(LONGER) * 2
    heads = model.network.layers[1].heads * 100
    wide = replace(model.network, layers=(replace(model.network.layers[1], heads=heads),))
    tried = list(_words(wide))[WORDS:]
    assert sum(len(word) ** 2 * 101 for word in tried) <= SCORES
    assert len(tried) < 2 * len(LONGER) * 2


def test_the_longer_words_are_blocks_and_turns_of_two_letters() -> None:
    first = [" ".join(word) for word in islice(_longer_words(Alphabet(("a", "b", "c"))), 2)]
    assert first == ["a a a a b b b b b", "a b a b a b a b a"]


def test_hard_heads_are_not_evaluated(model: Model) -> None:
    layer = model.network.layers[0]
    hard = replace(layer, heads=tuple(replace(h, weighting=HardWeighting.AVERAGE) for h in layer.heads))
    network = replace(model.network, layers=(hard, *model.network.layers[1:]), embedding=((), ()))
    assert wrong_word(network, model.language.definition) is None


@pytest.mark.parametrize("heads", [0, 1, 3])
def test_longer_words_are_tried_up_to_so_many_scores(
    heads: int, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word of n symbols has n * n scores in every head, and counts as much again for all the rest."""
    layer = model.network.layers[0]
    network = replace(model.network, layers=(replace(layer, heads=layer.heads[:1] * heads),))
    every = list(_longer_words(network.alphabet))
    for words in (1, 2, 4, 5, 9):
        scores = (1 + heads) * sum(len(word) ** 2 for word in every[:words])
        for spare, most in ((0, words), (-1, words - 1), (1, words)):
            monkeypatch.setattr(counterexample, "SCORES", scores + spare)
            assert list(_words(network))[WORDS:] == every[:most]
