"""attemper decompile on the command line: what it prints and writes, exit codes, caps and wrong usage."""

from __future__ import annotations

import json
import random
import resource
import shutil
from pathlib import Path

import pytest

from attemper.certificates.files import CERTIFICATE
from attemper.errors import UnsupportedError
from attemper.exact.predicates import register_predicate
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import read_dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Alphabet
from attemper.workbench import decompiled
from attemper.workbench.cli import decompile as decompiling_command
from tests.support.cli.command_line import attemper


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
        (("--limit", "configurations=3"), 12),
        (("--seconds", "0.0001"), 12),
        (("--seconds", "0"), 2),
        (("--seconds", "nan"), 2),
        (("--memory", "0"), 2),
        (("--limit", "configurations=0"), 2),
        (("--limit", "words=9"), 2),
        (("--configurations", "3"), 2),
        (("--count", "5"), 2),
        (("--words", "5"), 2),
        (("-o", "."), 6),
    ],
)
def test_caps_and_wrong_usage(folders: Path, options: tuple[str, ...], code: int) -> None:
    outcome = attemper("decompile", folders / "past", *options)
    assert outcome.code == code
    assert outcome.out.startswith("UNKNOWN: ") == (code == 12)


def test_a_command_that_needs_more_memory_is_unknown(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the system refuses is said with the limit; what was allowed before is allowed afterwards."""
    before = resource.getrlimit(resource.RLIMIT_AS)

    def greedy(*_: object, **__: object) -> None:
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == 4_000_000_000
        raise MemoryError

    monkeypatch.setattr(decompiling_command, "decompile", greedy)
    outcome = attemper("decompile", folders / "past", "--memory", "4000")
    assert (outcome.code, outcome.out) == (12, "")
    assert outcome.err == "error: more than 4,000 MB are needed; allow more with --memory\n"
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_an_interrupt_after_the_proof_leaves_what_was_read(
    folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(automaton: Dfa) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(decompiled, "class_of", interrupted)
    outcome = attemper("decompile", folders / "past", "-o", tmp_path / "read.json")
    assert outcome.code == 12
    proved, wrote, stopped = outcome.out.splitlines()
    assert proved.startswith("PROVED: it computes an automaton with 4 states")
    assert wrote.endswith("read.json")
    assert stopped == "interrupted: class, formula and claim were not looked at"
    assert read_dfa(tmp_path / "read.json").accepts(("b", "a"))
    record = attemper("decompile", folders / "past", "--json")
    assert (record.code, record.record["states"], record.record["interrupted"]) == (12, 4, True)
    assert (record.record["class"], record.record["formula"]) == (None, None)
    assert attemper("decompile", folders / "past", "--as", "program").code == 0, "nothing else was asked for"


def test_an_automaton_whose_class_is_not_found_is_printed_all_the_same(
    folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decompiled, "MOST_CLASSIFIED", 3)
    outcome = attemper("decompile", folders / "past")
    assert (outcome.code, outcome.out.splitlines()[1]) == (
        0,
        "class: not known, as too much would have to be looked at",
    )
    assert attemper("decompile", folders / "past", "--json").record["class"] is None


def test_the_class_of_an_automaton_with_too_many_image_sets_is_not_known() -> None:
    """Its transitions are random: no cap on states meets the image sets, of which there are too many."""
    draw = random.Random(60)
    moves = tuple((draw.randrange(60), draw.randrange(60)) for _ in range(60))
    automaton = minimal(Dfa(Alphabet(("a", "b")), moves, 0, frozenset({1})))
    with pytest.raises(UnsupportedError, match="image sets"):
        classify(automaton)
    assert decompiled.class_of(automaton) == ""


def test_what_rests_on_a_registered_predicate_is_not_proved(tmp_path: Path) -> None:
    register_predicate("only_one", lambda value: value == 1)
    folder = tmp_path / "one"
    assert attemper("compile", "a & first & only_one(pos)", "--alphabet", "ab", "-o", folder).code == 0
    outcome = attemper("decompile", folder)
    assert (outcome.code, outcome.out) == (
        12,
        "UNKNOWN: what was found is proved only if the registered predicate 'only_one' is the same function "
        "wherever the network runs\n",
    )


def test_a_formula_is_not_written_where_an_automaton_was_asked_for(folders: Path, tmp_path: Path) -> None:
    wanted = tmp_path / "automaton.json"
    few = ("--limit", "configurations=300")
    outcome = attemper("decompile", folders / "counts", "-o", wanted, *few)
    assert (outcome.code, wanted.exists()) == (4, False)
    assert "write that, as formula" in outcome.err
    assert attemper("decompile", folders / "counts", "--as", "formula", "-o", wanted, *few).code == 0
    assert wanted.read_text(encoding="utf-8") == "#<[b] >= #<[a] + 1\n"


@pytest.mark.sweep(0)
def test_a_folder_is_written_again_in_its_own_place(folders: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(folders / "past", tmp_path / "past")
    for _ in range(2):
        assert attemper("decompile", folder, "--network", folder).code == 0
        assert attemper("check", folder).code == 0
    assert json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))["language"][0] == "dfa"


def test_a_certificate_from_elsewhere(folders: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(folders / "past", tmp_path / "past")
    shutil.copy(folders / "others" / CERTIFICATE, folder)
    claim = attemper("decompile", folder, "--json").record["claim"]
    assert claim == {"same": None, "word": None, "reason": "the claim is about words over other symbols"}
