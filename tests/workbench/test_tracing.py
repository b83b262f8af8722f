"""attemper trace begins with the verdict; attemper run takes a device."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import attemper as library
from attemper.errors import ExitCode, OptionError
from tests.support.cli.command_line import attemper


@pytest.mark.parametrize(
    ("language", "word", "told"),
    [
        ("formula:O a & Y b", "aba", "accepted"),
        ("formula:O a & Y b", "bb", "rejected"),
        ("regex:(ab)*", "", "accepted"),
        ("zoo:sort", "cab", "puts out a b c"),
        ("zoo:histogram", "aab", "puts out 2 2 1"),
    ],
)
def test_the_verdict_is_the_first_line(language: str, word: str, told: str, tmp_path: Path) -> None:
    model = library.compile(language)
    model.save(tmp_path)
    traced = attemper("trace", tmp_path, word)
    first, second, *_ = traced.out.splitlines()
    assert (first, second) == (told, f"word {word or '(empty)'}")
    trace = model.trace(word)
    assert attemper("trace", tmp_path, word, columns=100).out == f"{trace}\n"
    assert tuple(attemper("trace", tmp_path, word, "--json").records) == _as_json(trace.records)
    if told in {"accepted", "rejected"}:
        assert trace.accepted is (told == "accepted")
        assert trace.records[-1]["accepted"] is trace.accepted


def _as_json(value: object) -> object:
    """As JSON has it: tuples are lists, but for the outermost."""
    match value:
        case tuple() | list():
            return tuple(map(_plain, value))
        case _:
            return value


def _plain(value: object) -> object:
    match value:
        case tuple() | list():
            return list(map(_plain, value))
        case dict():
            return {key: _plain(each) for key, each in value.items()}
        case _:
            return value


def test_a_device_that_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    model = library.compile("O a", "ab")
    model.save(tmp_path)
    assert attemper("run", tmp_path, "ab", "--device", "cpu").out == "accepted  ab  11\n"
    refused = attemper("run", tmp_path, "ab", "--device", "cuda")
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert "torch finds no cuda here: use cpu" in refused.err
    assert attemper("run", tmp_path, "ab", "--device", "tpu").code == ExitCode.USAGE
    assert attemper("run", tmp_path, "--stream", "--device", "cuda").code == ExitCode.USAGE
    with pytest.raises(OptionError, match="engine='numpy' runs on the cpu, not on cuda"):
        model.run(["ab"], engine="numpy", device="cuda")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    with pytest.raises(OptionError, match="mps has no float64"):
        model.run(["ab"], device="mps")


def test_a_model_runs_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[object] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(
        "attemper.running.dense.DenseTransformer.to", lambda own, where: moved.append(where) or own
    )
    (run,) = library.compile("O a", "ab").run(["ba"], device="cuda")
    assert (run.accepted, moved) == (True, [torch.device("cuda")])
