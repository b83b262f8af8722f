"""attemper decompile on the command line: what it prints and writes, exit codes, caps and wrong usage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from attemper.certificates.files import CERTIFICATE
from tests.support.command_line import attemper


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("decompiled")
    for name, text, alphabet in (
        ("past", "H (a -> Y b)", "ab"),
        ("counts", "#<[a] < #<[b]", "ab"),
        ("others", "O x", "xy"),
    ):
        assert attemper("compile", text, "--alphabet", alphabet, "-o", root / name).code == 0
    return root


def test_what_is_printed(folders: Path) -> None:
    outcome = attemper("decompile", folders / "past")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[1:] == [
        "class: star-free",
        "formula: H (b | Y b)",
        "shortest accepted word: b",
        "shortest rejected word: (empty)",
        "the certificate claims the same language",
    ]
    record = attemper("decompile", folders / "past", "--json").record
    assert (record["status"], record["states"], record["claim"]["same"]) == ("PROVED", 4, True)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--configurations", "3"), 12),
        (("--seconds", "0.0001"), 12),
        (("--seconds", "0"), 2),
        (("--seconds", "nan"), 2),
        (("--configurations", "0"), 2),
        (("--words", "5"), 2),
        (("-o", "."), 6),
    ],
)
def test_caps_and_wrong_usage(folders: Path, options: tuple[str, ...], code: int) -> None:
    outcome = attemper("decompile", folders / "past", *options)
    assert outcome.code == code
    assert outcome.out.startswith("UNKNOWN: ") == (code == 12)


def test_a_formula_is_not_written_where_an_automaton_was_asked_for(folders: Path, tmp_path: Path) -> None:
    wanted = tmp_path / "automaton.json"
    few = ("--configurations", "300")
    outcome = attemper("decompile", folders / "counts", "-o", wanted, *few)
    assert (outcome.code, wanted.exists()) == (4, False)
    assert "--as formula" in outcome.err
    assert attemper("decompile", folders / "counts", "--as", "formula", "-o", wanted, *few).code == 0
    assert wanted.read_text(encoding="utf-8") == "#<[b] >= #<[a] + 1\n"


def test_a_folder_is_written_again_in_its_own_place(folders: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(folders / "past", tmp_path / "past")
    for _ in range(2):
        assert attemper("decompile", folder, "-o", f"{folder}/").code == 0
        assert attemper("check", folder).code == 0
    assert "moves" in json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))["source"]


def test_a_certificate_from_elsewhere(folders: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(folders / "past", tmp_path / "past")
    shutil.copy(folders / "others" / CERTIFICATE, folder)
    claim = attemper("decompile", folder, "--json").record["claim"]
    assert claim == {"same": None, "word": None, "reason": "the claim is about words over other symbols"}
