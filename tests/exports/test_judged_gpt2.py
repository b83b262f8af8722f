"""GPT-2 folders in `transformers` itself: the numbers that are judged are those that it computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.models.soft.gpt2 import read_gpt2
from attemper.models.soft.in_transformers import logits_in_transformers
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.vocabulary import ModelTokens
from attemper.models.soft.weights import shifted
from tests.support.drawn.gpt2_folders import TOKENS, gpt2_folder
from tests.support.drawn.judged import FIXTURES

pytestmark = pytest.mark.exports

VOCABULARY = ModelTokens(TOKENS, "<bos>", "<eos>")


@pytest.mark.parametrize(
    "entries",
    [
        {},
        {"heads": 2, "tied": False},
        {"activation_function": "gelu", "layer_norm_epsilon": 0.01},
        {"activation_function": "relu"},
        {"activation_function": "gelu_pytorch_tanh"},
    ],
)
def test_the_function_is_the_one_of_transformers(entries: dict[str, object], tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    folder = gpt2_folder(tmp_path / "model", 3, **entries)  # type: ignore[arg-type]
    encoder = read_gpt2(folder, VOCABULARY, "ab", 16)
    order = VOCABULARY.numbers_of(encoder.outputs)
    for word, offset in (((), 0), ((0, 1, 1, 0), 0), ((1, 0, 0), 7), ((0,) * 15, 0)):
        theirs, runtime = logits_in_transformers(str(folder), [2, *word], offset)
        ours = outputs_of(shifted(encoder, offset), np.array([[2, *word]]))[0]
        assert np.allclose(theirs[order], ours, rtol=1e-5, atol=1e-5)
        assert runtime.startswith("transformers ")


def test_a_wrong_word_is_confirmed_there() -> None:
    pytest.importorskip("transformers")
    found = attemper.judge(FIXTURES / "gpt2_depth2", "regex:(a|b)*", "ab", up_to=3)
    assert found.status is Status.REFUTED
    assert found.wrong is not None
    assert "confirmed in transformers" in found.wrong.runtime
