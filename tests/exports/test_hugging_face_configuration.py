"""The configuration of Hugging Face models: what transformers writes again, other labels, other files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.exports.hugging_face_files import CONFIG, WEIGHTS, config_of
from attemper.exports.subject import Exported
from tests.support.judges.hugging_face import copied

pytestmark = pytest.mark.exports


def test_no_entry_is_named_as_a_parameter_of_generation(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    assert not set(config) & set(auto.GenerationConfig._get_default_generation_params())


@pytest.mark.parametrize("name", ["since", "previous symbol", "push", "no heads", "layer norm"])
def test_transformers_writes_the_same_configuration(
    name: str, auto: Any, exported: Any, tmp_path: Path
) -> None:
    model, folder = exported[name]
    auto.AutoConfig.from_pretrained(folder).save_pretrained(tmp_path)
    auto.AutoTokenizer.from_pretrained(folder).save_pretrained(tmp_path)
    for file in (CONFIG, "tokenizer.json", "tokenizer_config.json"):
        found, own = (json.loads((one / file).read_text(encoding="utf-8")) for one in (tmp_path, folder))
        assert {**own, **found} == found
        assert set(found) - set(own) <= {"is_local", "local_files_only"}
    said = config_of(Exported(model.network, model.source, model.certify()), "float64")
    assert json.loads((folder / CONFIG).read_text(encoding="utf-8")) == {
        **said,
        "transformers_version": auto.__version__,
    }


@pytest.mark.parametrize("labels", [{0: "accepted", 1: "rejected", 2: "undecided"}, {0: "no", 1: "yes"}, {}])
def test_other_names_of_labels_are_refused(labels: dict[int, str], auto: Any, exported: Any) -> None:
    """When a model is made, and when it runs: the names are what people read."""
    _, folder = exported["since"]
    kind = auto.AutoModelForSequenceClassification
    with pytest.raises(MalformedFileError, match="mean rejected, accepted, undecided"):
        kind.from_pretrained(folder, id2label=labels)
    loaded = kind.from_pretrained(folder)
    loaded.config.id2label = labels
    with pytest.raises(MalformedFileError, match="leave it as it was exported"):
        loaded(torch.tensor([[0]]))


def test_other_files_of_weights_are_refused(auto: Any, exported: Any, tmp_path: Path) -> None:
    """An entry of the configuration would have transformers load them instead."""
    _, folder = exported["since"]
    copied(folder, tmp_path)
    (tmp_path / "other.safetensors").write_bytes((folder / WEIGHTS).read_bytes())
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    (tmp_path / CONFIG).write_text(json.dumps({**config, "transformers_weights": "other.safetensors"}))
    with pytest.raises(MalformedFileError, match="'transformers_weights' names other weights"):
        auto.AutoModelForSequenceClassification.from_pretrained(tmp_path)


def test_a_configuration_alone_decides_nothing(auto: Any, exported: Any) -> None:
    _, folder = exported["since"]
    made = auto.AutoModelForSequenceClassification.from_config(auto.AutoConfig.from_pretrained(folder))
    assert made(torch.tensor([[1, 0]])).logits.argmax(-1).tolist() == [2]
    with pytest.raises(UnsupportedError, match="no network"):
        auto.AutoModelForSequenceClassification.from_config(auto.AutoConfig.for_model("attemper"))
