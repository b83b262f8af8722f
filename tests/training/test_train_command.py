"""attemper train: what is said of a run, of a sweep, and of what cannot be done."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from attemper.training.entries import digest_of
from attemper.training.runs import load_run
from tests.support.cli.command_line import attemper
from tests.support.drawn.training import RECOGNITION, tiny, written


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return written(tiny(), tmp_path)


def test_a_run_is_a_table_of_what_was_measured(config: Path, tmp_path: Path) -> None:
    said = attemper("train", config, "-o", tmp_path / "run")
    assert (said.code, said.err) == (0, "")
    header, _, first, second, last = said.out.splitlines()
    assert header.split() == ["n", "words", "loss", "above", "H_opt", "own", "floor", "mean", "change"]
    assert (first.split()[:2], second.split()[:2]) == (["2", "4"], ["5", "4"])
    assert last == f"losses in nats; wrote {tmp_path / 'run'}"


def test_a_finished_run_says_first_that_nothing_was_trained(config: Path, tmp_path: Path) -> None:
    said = attemper("train", config, "-o", tmp_path / "run").out.splitlines()
    again = attemper("train", config, "-o", tmp_path / "run")
    assert again.out.splitlines() == [
        f"nothing was trained: {tmp_path / 'run'} is finished",
        *said[:-1],
        f"losses in nats; read from {tmp_path / 'run'}",
    ]
    *_, summary = attemper("train", config, "-o", tmp_path / "run", "--json").records
    assert summary["trained"] is False


def test_json_has_every_record_of_the_run(config: Path, tmp_path: Path) -> None:
    said = attemper("train", config, "-o", tmp_path / "run", "--json", "training.steps=2")
    *rows, summary = said.records
    assert [json.loads(line) for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines()] == rows
    changed = tiny(training={"steps": 2})
    said_of_it = {"kind": "run", "folder": str(tmp_path / "run"), "settings": digest_of(changed)}
    measured = [row for row in rows if row["kind"] == "measured"]
    assert summary == {**said_of_it, "trained": True, "measured": measured}
    assert summary == load_run(tmp_path / "run").record
    assert {row["kind"] for row in rows} == {"step", "measured"}


def test_the_command_prints_the_run(config: Path, tmp_path: Path) -> None:
    said = attemper("train", config, "-o", tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert said.out == f"{run}\n"
    assert repr(run) == f"<TrainingRun: {tmp_path / 'run'}, measured at n = 2, 5>"
    finished = replace(run, was_finished=True)
    assert attemper("train", config, "-o", tmp_path / "run").out == f"{finished}\n" != said.out


def test_a_language_is_judged_by_its_verdicts(tmp_path: Path) -> None:
    said = attemper("train", written(tiny(task=RECOGNITION), tmp_path), "-o", tmp_path / "run")
    assert said.code == 0
    assert said.out.splitlines()[0].split() == (
        ["n", "words", "loss", "right", "in", "the", "language", "of", "these", "right"]
    )


def test_a_length_without_members_is_said(tmp_path: Path) -> None:
    entries = {**RECOGNITION, "language": "regex:(..)*", "alphabet": "ab"}
    evaluation = {"lengths": [3, 4], "words": 4}
    config = written(tiny(task=entries, training={"steps": 1}, evaluation=evaluation), tmp_path)
    said = attemper("train", config, "-o", tmp_path / "run")
    assert said.code == 0
    assert said.out.splitlines()[-3:-1] == [
        "warning: n = 3: length 3 has no word in the language",
        "warning: n = 4: length 4 has no word outside the language",
    ]
    rows = attemper("train", config, "-o", tmp_path / "run", "--json").records
    assert [row["warning"] for row in rows if row["kind"] == "measured"] == [
        "length 3 has no word in the language",
        "length 4 has no word outside the language",
    ]


def test_a_run_goes_on_only_if_it_is_said(config: Path, tmp_path: Path) -> None:
    attemper("train", config, "-o", tmp_path / "run")
    (tmp_path / "run/model.safetensors").unlink()
    refused = attemper("train", config, "-o", tmp_path / "run")
    assert refused.code == 2
    assert "go on with --resume" in refused.err
    assert attemper("train", config, "-o", tmp_path / "run", "--resume").code == 0


@pytest.mark.slow
def test_a_sweep_has_a_folder_for_each_run(config: Path, tmp_path: Path) -> None:
    arguments = ["train", config, "-o", tmp_path / "all", "--over", "seeds.init=[0, 1]", "--jobs", 2]
    said = attemper(*arguments, "--json")
    assert said.code == 0
    assert [record["settings"] for record in said.records] == [
        digest_of(tiny(seeds={"init": init})) for init in (0, 1)
    ]
    for record in said.records:
        folder = Path(record["folder"])
        assert (folder.parent, record["settings"][:16]) == (tmp_path / "all", folder.name)
        assert [row["n"] for row in record["measured"]] == [2, 5]
    again = attemper(*arguments)
    assert again.code == 0
    assert again.out.count("losses in nats; wrote ") == 2


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["training.stepz=3"], 2, "training.stepz: there is no such entry"),
        (["training=3"], 2, "'training' names no entry"),
        (["training.steps=x", "model.width=0"], 2, "model.width: Input should be greater"),
        (["--threads", 0], 2, "threads"),
        (["--threads", 10**10], 2, "threads"),
        (["--jobs", 0], 2, "jobs"),
        (["--over", "seeds.init=3"], 2, "lists no values"),
        (["training.rate=1e30", "training.warmup=0", "training.steps=40"], 4, "smaller training.rate"),
        (["model.kind=table", "model.window=99"], 2, "model.window = 99"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_cannot_be_trained_is_said(
    arguments: list[object], code: int, said: str, config: Path, tmp_path: Path, *, as_json: bool
) -> None:
    found = attemper("train", config, "-o", tmp_path / "run", *arguments, *(["--json"] if as_json else []))
    assert (found.code, found.out) == (code, "")
    if as_json:
        error = json.loads(found.err)["error"]
        assert error["code"] == code
        assert said in error["message"]
    else:
        assert said in found.err
        assert found.err.startswith("error: ")


def test_files_that_are_none_are_said(config: Path, tmp_path: Path) -> None:
    assert attemper("train", tmp_path / "none.toml", "-o", tmp_path / "run").code == 6
    assert attemper("train", config, "-o", config).code == 6
    (tmp_path / "bad.toml").write_text("[task")
    assert attemper("train", tmp_path / "bad.toml", "-o", tmp_path / "run").code == 2
    data = f"task.data={tmp_path / 'none'}"
    language = written(tiny(task=RECOGNITION), tmp_path)
    assert attemper("train", language, data, "-o", tmp_path / "run").code == 6
    regex = attemper("train", language, "task.language=regex:(a", "task.alphabet=ab", "-o", tmp_path / "run")
    assert regex.code == 3
    assert attemper("train", language, "task.language=zoo:sort", "-o", tmp_path / "run").code == 4
    bare = attemper("train", language, "task.language=parity-odd", "-o", tmp_path / "run")
    assert (bare.code, "write zoo:parity-odd" in bare.err) == (3, True)


def test_a_run_of_a_sweep_that_fails_has_its_own_code(tmp_path: Path) -> None:
    config = written(tiny(task=RECOGNITION), tmp_path)
    over = "task.language=['regex:(a', 'regex:b(']"
    found = attemper("train", config, "task.alphabet=ab", "-o", tmp_path / "all", "--over", over)
    assert found.code == 3
    assert found.err.startswith("error: ")
