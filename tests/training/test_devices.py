"""Where a model computes: on the CPU bit for bit what it was, and elsewhere the same model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor

from attemper.errors import OptionError, UnsupportedError
from attemper.running.devices import device_named
from attemper.training.devices import computing_on
from attemper.training.models import model_of
from attemper.training.runs import train
from attemper.training.settings import Settings
from tests.support.cli.command_line import attemper
from tests.support.drawn.training import tiny, written

KINDS: dict[str, dict[str, object]] = {
    "transformer": {"kind": "transformer", "positions": "sinusoidal"},
    "log-n": {"kind": "transformer", "positions": "learned", "temperature": "log-n", "causal": True},
    "lstm": {"kind": "lstm"},
    "convolution": {"kind": "convolution"},
    "table": {"kind": "table"},
}


def settings_of(kind: str) -> Settings:
    return tiny(model=KINDS[kind])


@pytest.mark.parametrize("kind", KINDS)
def test_all_that_a_model_makes_is_where_it_computes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device `meta` has shapes and no numbers: a tensor that is left on the CPU cannot be added there."""
    model = model_of(settings_of(kind), 3, 3)
    monkeypatch.setattr(Tensor, "cpu", lambda tensor: tensor)
    with computing_on(model, torch.device("meta")):
        found = model(torch.tensor([[2, 0, 1, 1, 0]]))
        assert (found.device.type, found.shape) == ("meta", (1, 5, 3))


def test_afterwards_it_is_back(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_of(settings_of("table"), 3, 3)
    there: list[str] = []
    monkeypatch.setattr(model, "to", lambda device: there.append(device.type))
    before = model(torch.tensor([[2, 0, 1]]))
    with pytest.raises(KeyboardInterrupt), computing_on(model, torch.device("cuda")):
        raise KeyboardInterrupt
    assert there == ["cuda"]
    assert torch.equal(model(torch.tensor([[2, 0, 1]])), before)


def test_the_cpu_is_the_default_and_changes_no_number(tmp_path: Path) -> None:
    one = train(tiny(), tmp_path / "one")
    other = train(tiny(), tmp_path / "other", device="cpu")
    assert one.rows == other.rows
    assert (one.folder / "model.safetensors").read_bytes() == (
        other.folder / "model.safetensors"
    ).read_bytes()
    assert json.loads((one.folder / "manifest.json").read_text())["device"] == "cpu"


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_refused_before_anything_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    said = attemper("train", written(tiny(), tmp_path), "-o", tmp_path / "run", "--device", name)
    assert said.code == OptionError.exit_code
    assert f"torch finds no {name} here: use cpu" in said.err
    assert not (tmp_path / "run").exists()


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(OptionError, match="device='tpu' is none of cpu, cuda, mps"):
        device_named("tpu")


def test_numbers_that_a_device_does_not_have_are_refused() -> None:
    model = model_of(tiny(model={"kind": "parity-rnn"}, training={"steps": 0}), 3, 3)
    with pytest.raises(UnsupportedError, match="float64, which mps does not have"):
        computing_on(model, torch.device("mps")).__enter__()
