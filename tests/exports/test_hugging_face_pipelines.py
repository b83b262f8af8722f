"""Pipelines on exported folders: batches, the empty word, unknown symbols, words that are undecided."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch

from attemper.errors import WordError
from attemper.exports.subject import Exported
from tests.support.judges.hugging_face import LABEL

pytestmark = pytest.mark.exports


def test_text_classification(auto: Any, exported: Any) -> None:
    model, folder = exported["often"]
    pipe = auto.pipeline("text-classification", model=str(folder))
    words = ["", "0", "1", "01" * 250, "", "0" + "01" * 250, "1" * 500, "0 1 1"]
    expected = [LABEL[model.accepts(word)] for word in words]
    for size in (1, 2, 3, len(words)):
        found = pipe(words, batch_size=size)
        assert [one["label"] for one in found] == expected
        assert {one["score"] for one in found} == {1.0}
    assert pipe("") == [{"label": "rejected", "score": 1.0}]
    assert {one["label"]: one["score"] for one in pipe("0", top_k=None)} == {
        "rejected": 1.0,
        "accepted": pytest.approx(0, abs=1e-17),
        "undecided": pytest.approx(0, abs=1e-17),
    }


def test_the_empty_word_has_the_networks_own_verdict(auto: Any, exported: Any) -> None:
    model, folder = exported["automaton"]
    assert model.accepts("")
    pipe = auto.pipeline("text-classification", model=str(folder))
    assert [one["label"] for one in pipe(["", "a", " "], batch_size=3)] == [
        "accepted",
        "rejected",
        "accepted",
    ]


def test_an_unknown_symbol_is_a_word_error(auto: Any, exported: Any) -> None:
    _, folder = exported["often"]
    pipe = auto.pipeline("text-classification", model=str(folder))
    with pytest.raises(WordError, match=r"symbol '2' at position 3 is not in the alphabet \{0 1\}") as error:
        pipe(["01", "012"])
    assert error.value.details == {"position": 3}


def test_words_beyond_bfloat16_are_undecided_in_the_pipeline(auto: Any, exported: Any) -> None:
    """Beyond the horizon engines round apart: undecided follows from the own outputs and margin."""
    model, folder = exported["lookup"]
    pipe = auto.pipeline("text-classification", model=str(folder), dtype=torch.bfloat16)
    words = ["a" * n for n in range(1, 80)]
    found = [one["label"] for one in pipe(words, batch_size=8)]
    module = Exported(model.network, model.source).traceable(torch.bfloat16)
    runs = list(model.run(words, dtype="bfloat16", engine="fused"))
    both = 0
    for n, (label, run) in enumerate(zip(found, runs, strict=True), start=1):
        outputs, (margin,) = module(torch.zeros(1, n, dtype=torch.int64), torch.ones(1, n))
        last = outputs[0, -1].item()
        bit = None if margin < 0 or 0.25 < last < 0.75 else last >= 0.75
        assert label == LABEL[bit]
        both += label == "undecided" == LABEL[run.accepted]
        if n <= pipe.model.horizon:
            assert label == LABEL[n % 2 == 0]
    assert both > 10
    assert {"accepted", "rejected"} <= set(found)


def test_token_classification(auto: Any, exported: Any) -> None:
    _, folder = exported["push"]
    pipe = auto.pipeline("token-classification", model=str(folder))
    found = pipe(["pop  push pop", "", "pop"], batch_size=2)
    shown = [[(one["word"], one["entity"], one["start"], one["end"]) for one in word] for word in found]
    assert shown == [
        [("pop", "rejected", 0, 3), ("push", "accepted", 5, 9), ("pop", "accepted", 10, 13)],
        [],
        [("pop", "rejected", 0, 3)],
    ]


def test_a_fresh_process_needs_one_import_and_no_code_of_the_folder(exported: Any) -> None:
    _, folder = exported["since"]
    script = (
        "import sys, attemper.exports.hugging_face; from transformers import pipeline\n"
        "print([one['label'] for one in pipeline('text-classification', model=sys.argv[1])(['abc', 'ba'])])"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert run.stdout == "['rejected', 'accepted']\n"
    assert {path.suffix for path in folder.iterdir()} == {".json", ".safetensors", ".md"}
