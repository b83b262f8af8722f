"""What is not exported to Hugging Face, and where nothing can be written; libraries that are missing."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exports.subject import Exported
from tests.support.drawn.exported import MODELS

pytestmark = pytest.mark.exports


def test_symbols_have_no_verdict(auto: Any, exported: Any) -> None:
    _, folder = exported["previous symbol"]
    with pytest.raises(UnsupportedError, match="AutoModelForTokenClassification"):
        auto.AutoModelForSequenceClassification.from_pretrained(folder)


@pytest.mark.parametrize("name", ["histogram", "bigrams"])
def test_numbers_are_refused(name: str, auto: Any, tmp_path: Path) -> None:
    model = MODELS[name]()
    with pytest.raises(UnsupportedError, match="numbers: export as onnx or torch"):
        model.export("hugging-face", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    from attemper.exports.hugging_face import AttemperConfig

    config = AttemperConfig(network=Exported(model.network, model.source).data)
    for kind in ("SequenceClassification", "TokenClassification"):
        with pytest.raises(UnsupportedError, match="numbers are put out"):
            getattr(auto, f"AutoModelFor{kind}").from_config(config)


def test_a_predicate_that_is_a_function_is_refused(auto: Any, tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="'prime' is a Python function"):
        attemper.compile("prime(pos)", "ab").export("hugging-face", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(auto: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MalformedFileError, match="cannot write"):
        MODELS["since"]().export("hugging-face", tmp_path / "file" / "out")


def test_without_the_libraries_the_extra_is_named(
    auto: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "safetensors.torch", None)
    with pytest.raises(OptionError, match=r"attemper\[hugging-face\]"):
        MODELS["since"]().export("hugging-face", tmp_path / "out")
    assert not (tmp_path / "out").exists()
