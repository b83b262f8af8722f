"""attemper show: one judge of what stands at a path, and the files of theories."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest

import attemper as library
from attemper.errors import ExitCode
from attemper.registry import FORMATS
from attemper.theories.influence.certificate import LIMIT, OneSymbolBound, TableBound
from tests.support.cli.command_line import attemper


def test_every_format_has_who_shows_it() -> None:
    for row in FORMATS:
        module, _, name = row.show.partition(":")
        assert callable(getattr(import_module(module), name)), row


def test_a_refutation_is_shown(tmp_path: Path) -> None:
    library.compile("regex:(ab)*").save(tmp_path / "pairs")
    file = tmp_path / "out.json"
    assert (
        attemper(
            "refute", tmp_path / "pairs", "zoo:parity-even", "--length", 12, "--free", 0.5, "-o", file
        ).code
        == 0
    )
    shown = attemper("show", file)
    assert shown.code == ExitCode.OK
    first, *_, last = shown.out.splitlines()
    assert first.startswith(f"{sum(c == '*' for c in shown.out)} of 12 positions are free")
    assert "position 12 attends to" in last
    record = attemper("show", file, "--json").record
    assert (record["kind"], len(record["allowed"]), len(record["member"])) == ("refutation", 12, 12)
    assert attemper("show", file, "--steps").code == ExitCode.USAGE


def test_a_bound_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "bound.json"
    said = TableBound(16, Fraction(1, 8), last_only=False)
    LIMIT.save(OneSymbolBound("0" * 64, "mine:encoder", ("0", "1", "$"), "$", ((1,),), said), file)
    shown = attemper("show", file)
    assert shown.code == ExitCode.OK
    assert shown.out.startswith("a bound on what one symbol changes in the encoder mine:encoder\n")
    assert "change 1/8" in shown.out
    assert "to be checked with 'attemper check" in shown.out.replace("\n  ", " ")
    assert attemper("show", file, "--json").record["kind"] == "bound"


@pytest.mark.parametrize("text", ["no JSON", "{}", '{"format": "attemper-nothing/1"}', '["a"]'])
def test_another_file_is_told_what_there_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    for place, fragment in (
        (tmp_path / "x.json", "is of no kind that is shown"),
        (tmp_path / "no", "there is no '"),
    ):
        refused = attemper("show", place)
        assert (refused.code, refused.out) == (ExitCode.FILE, "")
        for kind in (fragment, "the folder of a network", "FILE.rasp", "refutation", "bound", "depth"):
            assert kind in refused.err


def test_a_model_is_named_for_refutations_alone(tmp_path: Path) -> None:
    library.compile("O a", "ab").save(tmp_path)
    refused = attemper("show", tmp_path, "--model", tmp_path)
    assert refused.code == ExitCode.USAGE
    assert "--model is for refutations" in refused.err


def test_the_old_command_says_the_new_one() -> None:
    refused = attemper("restrict", "out.json")
    assert refused.code == ExitCode.USAGE
    assert "write attemper show FILE" in refused.err
