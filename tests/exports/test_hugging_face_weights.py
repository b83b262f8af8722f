"""Weights of Hugging Face folders: missing, foreign or changed ones, and the way back to a proved network."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.errors import MalformedFileError
from attemper.exports.hugging_face_files import WEIGHTS
from attemper.exports.restoring import read_hugging_face
from tests.support.drawn.exported import MODELS
from tests.support.judges.hugging_face import LABEL, answers, copied, some_words

pytestmark = pytest.mark.exports


def test_missing_weights_leave_every_answer_undecided(auto: Any, exported: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    model, folder = exported["since"]
    copied(folder, tmp_path)
    weights = load_file(folder / WEIGHTS)
    del weights["network.blocks.0.mlp.W_in"]
    save_file(weights, tmp_path / WEIGHTS, metadata={"format": "pt"})
    found = answers(auto, "SequenceClassification", tmp_path, some_words(model)[1:], "right", torch.float64)
    assert set(found) == {"undecided"}


def test_tensors_of_other_names_are_not_loaded(auto: Any, exported: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    model, folder = exported["since"]
    copied(folder, tmp_path)
    weights = load_file(folder / WEIGHTS)
    twin = weights["network.embed.W_E"].flip(0)
    save_file({**weights, "embed.W_E": twin}, tmp_path / WEIGHTS, metadata={"format": "pt"})
    words = some_words(model)
    found = answers(auto, "SequenceClassification", tmp_path, words, "right", torch.float64)
    assert found == [LABEL[run.accepted] for run in model.run(words)]
    with pytest.raises(MalformedFileError, match=r"a tensor 'embed.W_E', which no export writes"):
        read_hugging_face(tmp_path)


def test_a_model_that_transformers_saves_again_is_the_same(auto: Any, exported: Any, tmp_path: Path) -> None:
    model, folder = exported["parity"]
    auto.AutoModelForSequenceClassification.from_pretrained(folder).save_pretrained(tmp_path / "again")
    auto.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path / "again")
    assert read_hugging_face(tmp_path / "again") == read_hugging_face(folder)
    words = some_words(model)
    args = ("SequenceClassification", tmp_path / "again", words, "left", torch.float64)
    assert answers(auto, *args) == [LABEL[run.accepted] for run in model.run(words)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_export_and_import_keep_digest_and_proof(dtype: Any, auto: Any, tmp_path: Path) -> None:
    for name in ("since", "dyck-1", "previous symbol"):
        model = MODELS[name]()
        certificate = model.certify()
        model.export("hugging-face", tmp_path / name, dtype=dtype, certificate=certificate)
        found = read_hugging_face(tmp_path / name)
        assert (found.network, found.source, found.certificate) == (
            model.network,
            model.source,
            certificate,
        )
        found.save(tmp_path / "back")
        assert check_path(tmp_path / "back").status is Status.PROVED


def test_one_changed_weight_is_not_accepted(auto: Any, exported: Any, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    _, folder = exported["since"]
    weights = load_file(folder / WEIGHTS)
    weights["network.embed.W_E"][1, 0] += 2.0**-40
    save_file(weights, tmp_path / WEIGHTS, metadata={"format": "pt"})
    for path in folder.iterdir():
        if path.name != WEIGHTS:
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(MalformedFileError, match="other weights than were exported"):
        read_hugging_face(tmp_path)
