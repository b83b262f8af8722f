"""What else Hugging Face models put out: residual streams, attention patterns, tuples and losses."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from attemper.exports.subject import Exported
from tests.support.drawn.exported import all_masks

pytestmark = pytest.mark.exports


@pytest.mark.parametrize("name", ["since", "strict", "layer norm", "majority"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_streams_and_patterns_are_those_of_the_dense_module(
    name: str, side: str, auto: Any, exported: Any
) -> None:
    model, folder = exported[name]
    loaded = auto.AutoModelForTokenClassification.from_pretrained(folder)
    tokenizer = auto.AutoTokenizer.from_pretrained(folder, padding_side=side)
    dense, word = model.dense(), "".join(random.Random(1).choices(model.alphabet.symbols, k=9))
    _, cache = dense.run_with_cache(*model.to_tokens([word]))
    given = tokenizer([word, word + word[:2]], padding=True, return_tensors="pt")
    found = loaded(**given, output_hidden_states=True, output_attentions=True)
    place = slice(2, None) if side == "left" else slice(0, 9)
    layers = len(model.network.layers)
    assert (len(found.hidden_states), len(found.attentions)) == (layers + 1, layers)
    for number in range(layers):
        before = cache[f"blocks.{number}.hook_resid_pre"][0]
        torch.testing.assert_close(found.hidden_states[number][0, place], before, rtol=1e-12, atol=1e-12)
        pattern = cache[f"blocks.{number}.attn.hook_pattern"][0]
        own = found.attentions[number]
        assert own.shape == (2, len(model.network.layers[number].heads), 11, 11)
        torch.testing.assert_close(own[0, :, place, place], pattern, rtol=1e-9, atol=1e-12)
    after = cache[f"blocks.{layers - 1}.hook_resid_post"][0]
    torch.testing.assert_close(found.hidden_states[-1][0, place], after, rtol=1e-12, atol=1e-12)
    assert torch.equal(found.logits, loaded(**given).logits)


def test_a_layer_without_heads_has_a_pattern_without_heads(auto: Any, exported: Any) -> None:
    model, folder = exported["no heads"]
    assert [len(layer.heads) for layer in model.network.layers] == [0]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    found = loaded(torch.tensor([[0, 0, 1]]), output_attentions=True)
    assert [own.shape for own in found.attentions] == [(1, 0, 3, 3)]
    assert found.logits.argmax(-1).tolist() == [0]


def test_empty_words_have_streams_and_patterns_without_positions(auto: Any, exported: Any) -> None:
    model, folder = exported["since"]
    loaded = auto.AutoModelForTokenClassification.from_pretrained(folder)
    empty = torch.zeros(2, 0, dtype=torch.int64)
    found = loaded(empty, output_hidden_states=True, output_attentions=True)
    width = len(model.network.coordinates)
    assert found.logits.shape == (2, 0, 3)
    assert [own.shape for own in found.hidden_states] == [(2, 0, width)] * 2
    assert [own.shape for own in found.attentions] == [(2, 1, 0, 0)]


def test_heads_under_every_mask_have_patterns_that_sum_to_one(auto: Any, tmp_path: Path) -> None:
    from attemper.exports.hugging_face.writing import write_hugging_face
    from attemper.networks.structure import Provenance

    network = all_masks()
    write_hugging_face(
        Exported(network, Provenance("formula", "true", "last", "unbounded")), tmp_path, "float64"
    )
    loaded = auto.AutoModelForTokenClassification.from_pretrained(tmp_path)
    found = loaded(torch.tensor([[0, 1, 0, 1]]), output_attentions=True)
    sums = torch.cat([own.sum(-1).flatten() for own in found.attentions])
    assert set(sums.round(decimals=12).tolist()) == {0.0, 1.0}


def test_a_tuple_and_a_loss(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    tokens, labels = torch.tensor([[1, 0], [2, 2]]), torch.tensor([1, 1])
    loss, logits = loaded(tokens, labels=labels, return_dict=False)
    assert logits.tolist() == [[0, 40, 0], [40, 0, 0]]
    assert loss.item() == pytest.approx(20, abs=1e-12)
    assert len(loaded(tokens, return_dict=False)) == 1
    positions = auto.AutoModelForTokenClassification.from_pretrained(folder)
    ignoring = torch.tensor([[1, -100], [-100, -100]])
    assert positions(tokens, labels=ignoring).loss.item() == pytest.approx(0, abs=1e-12)
