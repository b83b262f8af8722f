"""Verdicts, bits and symbols of Hugging Face models are the network's own, and undecided is never guessed."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch

from attemper.errors import UnsupportedError, WordError
from tests.support.judges.hugging_face import LABEL, answers, some_words

pytestmark = pytest.mark.exports


BITS = ("since", "until", "parity", "strict", "both sides counted", "layer norm", "rms norm")


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("name", BITS)
def test_answers_are_those_of_run(name: str, side: str, auto: Any, exported: Any) -> None:
    model, folder = exported[name]
    words = some_words(model)
    for dtype in (torch.float64, torch.float32):
        runs = list(model.run(words, dtype=dtype))
        verdicts = answers(auto, "SequenceClassification", folder, words, side, dtype)
        assert verdicts == [LABEL[run.accepted] for run in runs]
        bits = answers(auto, "TokenClassification", folder, words, side, dtype)
        assert bits == [[LABEL[bit] for bit in run.bits] for run in runs]


def test_beyond_the_horizon_undecided_is_what_run_says(auto: Any, exported: Any) -> None:
    """A lookup on a^n: first a clamp's margin breaks, which no answer hides."""
    model, folder = exported["lookup"]
    words = ["a" * n for n in range(2300, 2760, 21)]
    expected = [LABEL[run.accepted] for run in model.run(words, dtype="float32", engine="fused")]
    assert set(expected) == {"undecided", "accepted", "rejected"}
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32)
    tokenizer = auto.AutoTokenizer.from_pretrained(folder)
    for word, label in zip(words, expected, strict=True):
        (own,) = loaded(**tokenizer([word], return_tensors="pt")).logits.argmax(-1).tolist()
        assert loaded.config.id2label[own] == label


def test_symbols_are_the_labels_of_what_puts_out_symbols(auto: Any, exported: Any) -> None:
    model, folder = exported["previous symbol"]
    words = some_words(model)[1:]
    found = answers(auto, "TokenClassification", folder, words, "left", torch.float64)
    assert found == [list(model.output(word)) for word in words]
    config = auto.AutoConfig.from_pretrained(folder)
    assert list(config.id2label.values()) == [*(name for name, _ in model.network.symbols), "undecided"]
    assert config.architectures == ["AttemperForTokenClassification"]


def test_of_several_symbols_none_is_read(auto: Any) -> None:
    from attemper.exports.hugging_face.looking import names_of

    rows = list(product((0.0, 0.25, 0.5, 0.75, 1.0, float("nan")), repeat=2))
    expected = []
    for one, other in rows:
        known = all(value <= 0.25 or value >= 0.75 for value in (one, other))
        held = [number for number, value in enumerate((one, other)) if value >= 0.75]
        expected.append(held[0] if known and len(held) == 1 else 2)
    assert names_of(torch.tensor([rows]), torch.tensor([0.0])).tolist() == [expected]
    assert names_of(torch.tensor([rows]), torch.tensor([-0.1])).tolist() == [[2] * len(rows)]
    assert names_of(torch.tensor([rows]), torch.tensor([float("nan")])).tolist() == [[2] * len(rows)]


def test_without_a_mask_the_padding_token_is_padding(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    given = torch.tensor([[1, 0, 3, 3], [3, 3, 1, 0], [3, 1, 3, 0]])
    assert loaded.config.pad_token_id == 3
    assert loaded(given).logits.argmax(-1).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"input_ids": torch.tensor([[0, 4]])}, WordError, "token 4 of word 0, position 2"),
        ({"input_ids": torch.tensor([[-1]])}, WordError, "token -1 of word 0"),
        (
            {"input_ids": torch.tensor([[3]]), "attention_mask": torch.tensor([[1]])},
            WordError,
            "token 3 of word 0",
        ),
        ({"input_ids": torch.tensor([[0.0]])}, WordError, "integers"),
        ({"input_ids": torch.tensor([0])}, WordError, r"\[batch, position\]"),
        (
            {"input_ids": torch.tensor([[0, 1]]), "attention_mask": torch.tensor([[1]])},
            WordError,
            r"attention_mask has the shape \[1, 1\]",
        ),
        ({}, UnsupportedError, "give input_ids"),
        ({"inputs_embeds": torch.zeros(1, 1, 5)}, UnsupportedError, "its own embedding"),
        ({"input_ids": torch.tensor([[0]]), "position_ids": torch.tensor([[0]])}, TypeError, "position_ids"),
    ],
)
def test_other_inputs_are_refused(
    given: dict[str, Any], error: type[Exception], said: str, auto: Any, exported: Any
) -> None:
    _, folder = exported["since"]
    loaded = auto.AutoModelForSequenceClassification.from_pretrained(folder)
    with pytest.raises(error, match=said):
        loaded(**given)
