"""Runs on disk: what is written, what a finished one does not do again, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from attemper.errors import MalformedFileError, OptionError, SourceError
from attemper.training import runs
from attemper.training.entries import digest_of, read_settings
from attemper.training.runs import load_run, train
from attemper.training.settings import Settings
from tests.support.drawn.training import RECOGNITION, tiny

SETTINGS = tiny()


def begun(folder: Path, settings: Settings = SETTINGS, *, steps: int = 5) -> Path:
    """A run that was left after so many steps."""
    done = 0

    def progress(more: int) -> None:
        nonlocal done
        done += more
        if done >= steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(settings, folder, progress=progress)
    return folder


def test_a_run_is_its_files(tmp_path: Path) -> None:
    told: list[int] = []
    run = train(SETTINGS, tmp_path / "run", progress=told.append)
    assert sorted(path.name for path in run.folder.iterdir()) == [
        "manifest.json",
        "metrics.jsonl",
        "model.safetensors",
        "settings.toml",
        "state.safetensors",
        "timing.jsonl",
    ]
    assert sum(told) == 7
    assert read_settings(run.folder / "settings.toml") == SETTINGS
    manifest = json.loads((run.folder / "manifest.json").read_text())
    assert manifest["settings"] == digest_of(SETTINGS)
    assert manifest["threads"] == torch.get_num_threads()
    lines = [json.loads(line) for line in (run.folder / "metrics.jsonl").read_text().splitlines()]
    assert lines == list(run.rows)
    assert [(row["kind"], row.get("step"), row.get("n")) for row in lines] == [
        ("step", 3, None),
        ("step", 6, None),
        ("step", 7, None),
        ("measured", None, 2),
        ("measured", None, 5),
    ]
    assert all(not {"seconds", "time"} & row.keys() for row in lines)
    timing = [json.loads(line) for line in (run.folder / "timing.jsonl").read_text().splitlines()]
    assert [row["step"] for row in timing] == [3, 6, 7]
    assert not torch.is_grad_enabled() or all(own.grad_fn is None for own in run.model.state_dict().values())


@pytest.mark.parametrize(
    "settings",
    [
        SETTINGS,
        tiny(task=RECOGNITION, model={"causal": False, "temperature": "log-n"}),
        tiny(task={"name": "dyck2", "p": "2/5", "targets": "symbols"}, model={"norm": "none"}),
        *(tiny(model={"kind": kind, "window": 2}) for kind in ("lstm", "convolution", "table")),
        tiny(model={"kind": "parity-rnn"}, training={"steps": 0}),
        tiny(training={"steps": 0}),
    ],
    ids=range(8),
)
def test_a_run_is_the_same_run_again_and_is_read_as_it_was(settings: Settings, tmp_path: Path) -> None:
    one, other = train(settings, tmp_path / "one"), train(settings, tmp_path / "other")
    for name in ("metrics.jsonl", "model.safetensors", "settings.toml", "manifest.json"):
        assert (one.folder / name).read_bytes() == (other.folder / name).read_bytes()
    again = load_run(one.folder)
    assert (again.settings, again.rows) == (settings, one.rows)
    for a, b in zip(again.model.parameters(), one.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_finished_run_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = train(SETTINGS, tmp_path)
    monkeypatch.setattr(runs, "_train", lambda *_: pytest.fail("trained again"))
    monkeypatch.setattr(runs, "results", lambda *_: pytest.fail("measured again"))
    told: list[int] = []
    for resume in (False, True):
        assert train(SETTINGS, tmp_path, resume=resume, progress=told.append).rows == run.rows
    assert told == []


def test_a_run_that_is_not_finished_goes_on_only_if_it_is_said(tmp_path: Path) -> None:
    begun(tmp_path)
    with pytest.raises(OptionError, match="go on with resume=True"):
        train(SETTINGS, tmp_path)
    told: list[int] = []
    train(SETTINGS, tmp_path, resume=True, progress=told.append)
    # The state of step 4 was saved.
    assert told == [4, 1, 1, 1]


@pytest.mark.parametrize("resume", [True, False])
def test_another_run_s_folder_is_refused_and_left_alone(tmp_path: Path, *, resume: bool) -> None:
    begun(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(OptionError, match="has a run of other settings"):
        train(tiny(seeds={"init": 1}), tmp_path, resume=resume)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_state_without_its_settings_is_not_taken_for_another_run_s(tmp_path: Path) -> None:
    begun(tmp_path)
    (tmp_path / "settings.toml").unlink()
    with pytest.raises(MalformedFileError, match=r"state\.safetensors.*of another run"):
        train(tiny(seeds={"data": 1}), tmp_path)


def test_words_that_changed_are_another_run(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "x.jsonl").write_text('{"word": ["1"], "label": true}\n')
    settings = tiny(task={"kind": "recognition", "language": "zoo:parity-odd", "data": str(data)})
    train(settings, tmp_path / "run")
    assert train(settings, tmp_path / "run").rows
    (data / "x.jsonl").write_text('{"word": ["0"], "label": false}\n')
    with pytest.raises(OptionError, match="on other words, which have changed"):
        train(settings, tmp_path / "run")


def test_what_cannot_be_learned_leaves_no_folder(tmp_path: Path) -> None:
    task = {"kind": "recognition", "language": "regex:(a", "alphabet": "ab"}
    with pytest.raises(SourceError):
        train(tiny(task=task), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def _halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _of_another_step(path: Path) -> None:
    said = {"settings": digest_of(SETTINGS), "step": "99", "total": "0x0p+0"}
    save_file(load_file(path), path, metadata=said)


def _with(said: Mapping[str, str]) -> Callable[[Path], None]:
    right = {"settings": digest_of(SETTINGS), "step": "4", "total": "0x0p+0"}
    return lambda path: save_file(load_file(path), path, metadata={**right, **said})


DAMAGES: list[Callable[[Path], object]] = [
    _halved,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(b"\xff" * 64),
    lambda path: path.write_bytes((10**9).to_bytes(8, "little") + b"{}"),
    lambda path: path.write_bytes((2).to_bytes(8, "little") + b"[]"),
    lambda path: path.write_bytes((99_999).to_bytes(8, "little") + b"[" * 99_999),
    lambda path: save_file(load_file(path), path),
    lambda path: save_file(
        {"x": torch.zeros(1)}, path, metadata={"settings": digest_of(SETTINGS), "step": "4", "total": "0x0p0"}
    ),
    _with({"settings": digest_of(tiny(seeds={"init": 1}))}),
    lambda path: (path.unlink(), path.mkdir()),
]


@pytest.mark.parametrize(
    "damage",
    [
        *DAMAGES,
        *(_with({"step": step}) for step in ("99", "-1", "x", "")),
        *(_with({"total": total}) for total in ("x", "0x1p99999")),
    ],
    ids=range(len(DAMAGES) + 6),
)
def test_a_damaged_state_is_refused(damage: Callable[[Path], object], tmp_path: Path) -> None:
    damage(begun(tmp_path) / "state.safetensors")
    with pytest.raises(MalformedFileError, match=r"state\.safetensors"):
        train(SETTINGS, tmp_path, resume=True)


@pytest.mark.parametrize("damage", DAMAGES, ids=range(len(DAMAGES)))
def test_a_damaged_model_is_refused(damage: Callable[[Path], object], tmp_path: Path) -> None:
    damage(train(SETTINGS, tmp_path).folder / "model.safetensors")
    with pytest.raises(MalformedFileError, match=r"model\.safetensors"):
        load_run(tmp_path)


@pytest.mark.parametrize(
    "text", ["", "5\n", "[]\n", "{\n", '{"kind": "measured", "n": 2}\n', "[" * 99_999 + "\n"]
)
def test_damaged_records_are_refused(text: str, tmp_path: Path) -> None:
    (train(SETTINGS, tmp_path).folder / "metrics.jsonl").write_text(text)
    with pytest.raises(MalformedFileError, match=r"metrics\.jsonl"):
        load_run(tmp_path)


@pytest.mark.parametrize("text", ["5\n", '{"step": "x"}\n', '{"step": []}\n'])
def test_damaged_records_are_not_gone_on_with(text: str, tmp_path: Path) -> None:
    (begun(tmp_path) / "metrics.jsonl").write_text(text)
    with pytest.raises(MalformedFileError, match=r"metrics\.jsonl"):
        train(SETTINGS, tmp_path, resume=True)


def test_what_is_no_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedFileError, match="there is no"):
        load_run(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(MalformedFileError, match="cannot write to"):
        train(SETTINGS, tmp_path / "file")
    (tmp_path / "run" / "metrics.jsonl").mkdir(parents=True)
    with pytest.raises(MalformedFileError):
        train(SETTINGS, tmp_path / "run")


def test_no_length_is_measured_on_words_that_were_trained_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(
        runs, "results", lambda model, lesson, settings: _seeds(asked, model, lesson, settings, monkeypatch)
    )
    train(tiny(evaluation={"lengths": [4]}), tmp_path)
    assert len(asked) == 1
    # The seeds of batches end below.
    assert asked[0] >= 2**104 > (2**63 << 40)


def _seeds(asked: list[int], *given: object) -> list[object]:
    from attemper.training import results

    *rest, monkeypatch = given
    real = results.measured

    def spied(model: object, source: object, n: int, words: int, seed: int) -> object:
        asked.append(seed)
        return real(model, source, n, words, seed)  # type: ignore[arg-type]

    monkeypatch.setattr(results, "measured", spied)  # type: ignore[attr-defined]
    return list(results.results(*rest))  # type: ignore[arg-type]
