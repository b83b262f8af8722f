"""Runs of `attemper train` as encoders, without PyTorch: the numbers that the trained model puts out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from attemper.errors import AttemperError, MalformedFileError, UnsupportedError
from attemper.models.soft.in_torch import outputs_in_torch
from attemper.models.soft.soft import outputs_of
from attemper.models.soft.trained import read_run, sinusoids
from attemper.training import transformer
from attemper.training.runs import train
from tests.support.drawn.training import tiny
from tests.support.oracles.raw_encoder import RawRun

TASKS = (
    {"kind": "recognition", "language": "regex:(ab)*", "words": 40},
    {"kind": "next", "language": "regex:(a|b)*b", "words": 40},
)


@pytest.mark.parametrize("norm", ["post", "pre", "none"])
@pytest.mark.parametrize("positions", ["none", "sinusoidal", "learned"])
def test_a_run_is_read_as_it_runs(norm: str, positions: str, tmp_path: Path) -> None:
    task = TASKS[len(norm + positions) % 2]
    model = {"norm": norm, "positions": positions, "longest": 9, "heads": 2, "causal": True}
    run = train(tiny(task=task, model=model), tmp_path / "run")
    encoder, raw = read_run(run.folder, "ab", 7), RawRun(run.folder)
    assert (encoder.ending is None) == (task["kind"] == "next")
    for length in (1, 4, 7):
        words = np.array(list(product(range(3), repeat=length))[:50])
        here = outputs_of(encoder, words)
        with torch.no_grad():
            there = run.model.double()(torch.tensor(words))[:, -1].numpy()
        assert np.allclose(here, there, rtol=1e-6, atol=1e-6), "but for how float32 rounds a sine"
        assert np.allclose(here, [raw.outputs(word) for word in words], rtol=1e-12, atol=1e-12)
        assert np.allclose(here, outputs_in_torch(encoder, words), rtol=1e-4, atol=1e-4)


def test_positions_are_those_that_are_added() -> None:
    for width in (4, 7, 16):
        assert np.array_equal(
            sinusoids(600, width), transformer.sinusoids(600, width).float().double().numpy()
        )


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(tiny(task=TASKS[0], model={"positions": "learned", "longest": 9}), folder)
    return folder


def changed_text(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def changed_tensors(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        tensors = dict(load_file(folder / "model.safetensors"))
        change(tensors)
        save_file(tensors, folder / "model.safetensors")

    return changed


LAYER = "encoder.layers.0."


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (changed_text("settings.toml", 'norm = "post"', 'norm = "sandwich"'), "norm 'sandwich' is none"),
        (changed_text("settings.toml", 'positions = "learned"', 'positions = "rotary"'), "'rotary' are none"),
        (
            changed_text("settings.toml", 'positions = "learned"', 'positions = "none"'),
            "has a tensor 'places",
        ),
        (
            changed_text("settings.toml", 'norm = "post"', 'norm = "none"'),
            "has a tensor 'encoder.layers.0.norm",
        ),
        (changed_text("settings.toml", "heads = 2", "heads = 3"), "its heads do not divide its width"),
        (changed_text("settings.toml", "heads = 2", "heads = true"), "its heads do not divide its width"),
        (changed_text("settings.toml", "layers = 1", "layers = 2"), "is not of these settings"),
        (changed_text("settings.toml", "layers = 1", 'layers = "1"'), "a number of .model. is none"),
        (changed_text("settings.toml", "causal = true", "causal = 1"), "a number of .model. is none"),
        (changed_text("settings.toml", "causal = true", "causal = true\nmore = 1"), "has other entries"),
        (
            changed_text("settings.toml", 'temperature = "none"', 'temperature = "log-n"'),
            "without a temperature",
        ),
        (changed_text("settings.toml", 'kind = "transformer"', 'kind = "lstm"'), "only transformers"),
        (changed_text("settings.toml", 'kind = "recognition"', 'kind = "source"'), "only 'recognition' and"),
        (changed_text("settings.toml", "[task]", "[task"), "is not TOML"),
        (changed_text("manifest.json", '"symbols"', '"signs"'), "does not say what the tokens are"),
        (changed_text("manifest.json", "{", "["), "is not JSON"),
        (changed_tensors(lambda own: own.pop("readout.bias")), "is not of these settings"),
        (changed_tensors(lambda own: own.update(more=np.zeros(2, np.float32))), "has a tensor 'more'"),
        (
            changed_tensors(lambda own: own.update({f"{LAYER}linear1.bias": np.zeros(3, np.float32)})),
            "its hidden_weight is not an array",
        ),
        (
            changed_tensors(lambda own: own.update({"readout.bias": np.array([np.nan, 0], np.float32)})),
            "has a number that is not finite",
        ),
        (
            changed_tensors(lambda own: own.update({"embedding.weight": np.zeros((4, 8), np.float32)})),
            "it reads 3 symbols and one more, not 2",
        ),
        (lambda folder: (folder / "model.safetensors").unlink(), "there is no"),
    ],
)
def test_what_is_no_such_run_is_refused(
    change: Callable[[Path], None], said: str, run: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(run, folder)
    assert read_run(folder, "ab", 9).width == 8
    change(folder)
    with pytest.raises(AttemperError, match=said):
        read_run(folder, "ab", 9)


def test_tokens_are_the_letters_in_their_order(run: Path) -> None:
    assert json.loads((run / "manifest.json").read_bytes())["symbols"] == ["a", "b"]
    for letters in ("ba", "a", "abc", "ac"):
        with pytest.raises(MalformedFileError, match="the tokens of"):
            read_run(run, letters, 9)
    with pytest.raises(UnsupportedError, match="words of at most 8 symbols"):
        read_run(run, "ab", 10)
