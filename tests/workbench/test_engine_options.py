"""--engine, and show --engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli.command_line import attemper


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("engines")
    assert attemper("compile", "even(#<[a])", "--alphabet", "ab", "-o", folder / "even").code == 0
    assert attemper("compile", "O a", "--alphabet", "ab", "-o", folder / "normed", "--layer-norm").code == 0
    return folder


@pytest.mark.parametrize("engine", ["auto", "matrix", "fused", "scan"])
def test_run_takes_an_engine(folder: Path, engine: str) -> None:
    shown = attemper("run", folder / "even", "abab", "aba", "--engine", engine)
    assert (shown.code, shown.out.split()) == (0, ["accepted", "abab", "0011", "accepted", "aba", "001"])


def test_an_engine_that_cannot_run_a_network_is_refused(folder: Path) -> None:
    shown = attemper("run", folder / "normed", "ab", "--engine", "scan")
    assert shown.code == 2
    assert "use engine='fused'" in shown.err
    assert attemper("run", folder / "even", "ab", "--engine", "scan", "--weights", "hard").code == 2


def test_show_says_how_each_head_is_run(folder: Path) -> None:
    shown = attemper("show", folder / "even", "--engines")
    assert "engine auto is scan from 4,096 positions in a batch on, fused below" in shown.out
    assert "long words run block by block" in shown.out
    record = attemper("show", folder / "even", "--engines", "--json").record
    assert record["auto"] == "scan"
    assert record["blocks"] is True
    assert [head["ways"] for head in record["heads"]] == [["average"], ["geometric"], ["window"]]


def test_show_says_why_there_is_no_scan(folder: Path) -> None:
    shown = attemper("show", folder / "normed", "--engines")
    assert "engine auto is fused" in shown.out
    record = attemper("show", folder / "normed", "--engines", "--json").record
    assert record == {
        "auto": "fused",
        "from": None,
        "refused": record["refused"],
        "blocks": False,
        "heads": [],
    }
    assert "normalised" in record["refused"]


def test_steps_and_engines_are_not_shown_together(folder: Path) -> None:
    shown = attemper("show", folder / "even", "--engines", "--steps")
    assert shown.code == 2
    assert "give one of them" in shown.err
