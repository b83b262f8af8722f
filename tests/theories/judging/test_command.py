"""`attemper judge` as people use it, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, MalformedFileError, OptionError, UnsupportedError
from attemper.theories.judging.search import judging
from attemper.training.runs import train
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.judged import FIXTURES
from tests.support.drawn.training import tiny


def test_a_proof_is_written_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "judgement.json"
    found = command("judge", FIXTURES / "bstar", "--up-to", 20, "-o", file)
    assert (found.code, "PROVED: every word of 0 to 20 symbols" in found.out) == (0, True)
    assert "cells: 41 PROVED" in found.out
    assert "proved to 20 of 20 symbols, least margin" in found.out
    checked = command("check", file, "--model", FIXTURES / "bstar")
    assert (checked.code, "PROVED" in checked.out) == (0, True)
    assert "every word of 0 to 20 symbols" in command("show", file).out
    asked = command("check", file)
    assert (asked.code, "--model" in asked.err) == (ExitCode.USAGE, True)


def test_a_wrong_word_is_shown_and_checked(tmp_path: Path) -> None:
    file = tmp_path / "judgement.json"
    found = command("judge", FIXTURES / "hasa", "--up-to", 12, "-o", file, "--json")
    record = found.record
    assert (found.code, record["status"]) == (ExitCode.REFUTED, "REFUTED")
    assert record["wrong"]["margin"] < 0
    assert "a" in record["wrong"]["word"]
    assert record["proved_to"] < 12
    assert command("check", file, "--model", FIXTURES / "hasa").code == ExitCode.REFUTED
    assert "is answered wrong" in command("show", file).out


def test_another_language_than_the_runs() -> None:
    found = command("judge", FIXTURES / "bstar", "regex:a*", "--alphabet", "ab", "--up-to", 3)
    assert (found.code, "'b' is answered wrong" in found.out) == (ExitCode.REFUTED, True)
    same = command("judge", FIXTURES / "bstar", "H b", "--alphabet", "ab", "--empty", "accept", "--up-to", 9)
    assert same.code == 0, same.err


def test_the_greatest_length_is_found_by_doubling() -> None:
    found = attemper.judge(FIXTURES / "bstar", up_to="auto")
    assert found.proved_to is not None
    assert (found.up_to, found.proved_to < found.up_to) in {(64, True), (128, True), (256, True)}
    assert attemper.judge(FIXTURES / "bstar", up_to=found.proved_to).status is Status.PROVED


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("--up-to", "many"), "neither a length nor auto"),
        (("--up-to", "-1"), "neither a length nor auto"),
        (("--up-to", 10**7), "no length from 0 to 1,000,000"),
        (("--at", "first"), "the run's own language is meant"),
        (("regex:b*", "--alphabet", "abc"), "the tokens of"),
        (("zoo:even-runs",), "the tokens of"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: tuple[object, ...], said: str) -> None:
    found = command("judge", FIXTURES / "bstar", *asked)
    assert found.code != 0
    assert said in " ".join(found.err.split()), found.err


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="say which language is meant"):
        attemper.judge("encoders:shares")
    with pytest.raises(MalformedFileError, match=r"there is no '.*settings.toml'; give the folder"):
        attemper.judge(tmp_path)
    with pytest.raises(OptionError, match="neither a folder nor MODULE:OBJECT"):
        attemper.judge("e" * 5000, "regex:a*", "ab")
    for task, model, said in (
        ({"kind": "recognition", "language": "regex:(ab)*", "words": 9}, {"layers": 2}, "it has 2 layers"),
        ({"name": "parity-even", "p": "1/2"}, {}, "is no run about a language"),
    ):
        folder = tmp_path / said.split()[-1]
        train(tiny(task=task, model=model), folder)
        with pytest.raises(UnsupportedError, match=said):
            attemper.judge(folder)
    (folder / "settings.toml").write_text("[task", encoding="utf-8")
    with pytest.raises(MalformedFileError, match="is not TOML"):
        attemper.judge(folder)
    with pytest.raises(UnsupportedError, match="has no word of at most 1 symbols"):
        attemper.judge(FIXTURES / "depth2", "regex:aabb", "ab", up_to=1)


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real, times = judging.boxed, 0

    def interrupted(*given: object) -> object:
        nonlocal times
        times += 1
        if times == 2:
            raise KeyboardInterrupt
        return real(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(judging, "boxed", interrupted)
    monkeypatch.setattr(judging, "AT_ONCE", 32)
    file = tmp_path / "judgement.json"
    found = command("judge", FIXTURES / "bstar", "--up-to", 40, "-o", file)
    assert (found.code, "stopped: interrupted" in found.out) == (ExitCode.UNKNOWN, True)
    assert "32 PROVED, 49 UNKNOWN" in found.out
    assert "proved to 15 of 40" in found.out
    assert command("check", file, "--model", FIXTURES / "bstar").code == 0


def test_the_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = attemper.judge(FIXTURES / "bstar", up_to=40, seconds=1e-9)
    assert (found.status, found.proved_to, found.stopped) == (Status.UNKNOWN, None, "the time is up")
    assert sum(found.cells.values()) == 81

    def interrupted(*_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(judging, "check_judgement", interrupted)
    late = attemper.judge(FIXTURES / "bstar", up_to=8)
    assert (late.status, late.proved_to) == (Status.UNKNOWN, None), "nothing is said that is not checked"
    assert late.judgement is None
    with pytest.raises(OptionError, match="nothing to save"):
        late.save("nowhere.json")


def test_what_is_found_prints_and_saves(tmp_path: Path) -> None:
    found = attemper.judge(FIXTURES / "sorted", up_to=3)
    assert repr(found) == "<JudgedEncoder: PROVED, proved to 3 of 3>"
    assert json.loads(json.dumps(found.record))["cells"] == {"PROVED": 10}
    assert "<table>" in found._repr_html_()
    other = attemper.judge(FIXTURES / "sorted", "regex:c*b*a*", "abc", up_to=1)
    assert (other.status, other.proved_to) == (Status.REFUTED, 0), "after one symbol other ones may come"
