"""The saved certificates: each gets the verdict of the folder that it stands in, from the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from attemper.certificates.files import load as load_certificate
from attemper.checker.verdict import Status
from attemper.compiling.regimes import Regime
from attemper.errors import ExitCode
from attemper.networks.files import load as load_network
from tests.support.cli.command_line import attemper
from tests.support.corpora import certificates as corpora
from tests.support.corpora.certificates import CLASSES, CORPORA, write_all
from tests.support.corpora.literature import ENTRIES
from tests.support.judges.brute_force import falsehoods
from tests.support.slowly import every_nth

VERDICTS = {
    "accepted": {
        Status.PROVED: ExitCode.OK,
        Status.PROVED_UNDER_ASSUMPTIONS: ExitCode.PROVED_UNDER_ASSUMPTIONS,
    },
    "rejected": {Status.UNKNOWN: ExitCode.UNKNOWN, Status.REFUTED: ExitCode.REFUTED},
    "malformed": {Status.MALFORMED: ExitCode.FILE},
}
"""What each corpus may be said to be, with the exit code."""


def entries(corpus: str) -> list[Path]:
    return sorted(path for path in (CORPORA / corpus).iterdir() if path.is_dir())


EVERY = [path for corpus in CLASSES for path in entries(corpus)]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("path", EVERY, ids=name_of)
def test_every_entry_gets_its_verdict(path: Path) -> None:
    outcome = attemper("check", path, "--json")
    verdict = Status(outcome.record["verdict"])
    assert verdict in VERDICTS[path.parent.name], outcome.out
    assert outcome.code == VERDICTS[path.parent.name][verdict]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("path", every_nth(EVERY, 6), ids=name_of)
def test_the_first_line_for_people_is_the_verdict(path: Path) -> None:
    outcome = attemper("check", path)
    assert Status(outcome.out.splitlines()[0].partition(": ")[0]) in VERDICTS[path.parent.name]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "path", every_nth([p for p in EVERY if p.parent.name != "malformed"], 4), ids=name_of
)
def test_ignoring_rounding_never_proves_without_assumptions(path: Path) -> None:
    outcome = attemper("check", path, "--json", "--ignore-rounding")
    floats = [
        claim for claim in outcome.record["claims"] if " in " in claim["text"] and "up to" in claim["text"]
    ]
    assert all(claim["status"] != Status.PROVED for claim in floats)


@pytest.mark.sweep(1, also=["accepted/prime_count_as_certified"])
@pytest.mark.parametrize("path", entries("accepted"), ids=name_of)
def test_what_is_accepted_is_true_by_brute_force(path: Path) -> None:
    network, _ = load_network(path)
    assert list(falsehoods(network, load_certificate(path))) == []


@pytest.mark.parametrize("path", entries("rejected"), ids=name_of)
def test_what_is_rejected_is_a_network_with_a_certificate_about_it(path: Path) -> None:
    """Nothing but the attack is the reason: both files can be read, and the digests agree."""
    load_network(path)
    assert load_certificate(path).network in (path / "network.json").read_text(encoding="utf-8")


def test_there_are_enough_entries() -> None:
    assert [len(entries(corpus)) >= least for corpus, least in zip(CLASSES, (5, 10, 8), strict=True)] == [
        True
    ] * 3


def test_verdicts_and_digests_are_printed_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What two commits are compared by; a line has no path of the machine."""
    for name in ("accepted/bare_claim", "malformed/negative_horizon"):
        shutil.copytree(CORPORA / name, tmp_path / name)
    (tmp_path / "rejected").mkdir()
    monkeypatch.setattr(corpora, "CORPORA", tmp_path)
    monkeypatch.setattr(corpora, "ENTRIES", {"Tomita 1": ENTRIES["Tomita 1"]})
    corpora.main(["--verdicts"])
    first, second = capsys.readouterr().out.splitlines()
    assert first == "accepted/bare_claim\tPROVED\tPROVED: all lengths, in real arithmetic"
    assert second.startswith("malformed/negative_horizon\tMALFORMED\tMALFORMED: 'malformed/negative_horizon/")
    corpora.main(["--digests"])
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert [line[:2] for line in lines] == [["Tomita 1", regime] for regime in Regime]
    assert len({digest for _, _, digest in lines}) == 3


@pytest.mark.sweep(0)
def test_the_corpora_are_reproducible(tmp_path: Path) -> None:
    """Written anew by `python -m tests.support.corpora.certificates`, they are the same files, byte for
    byte.
    """
    write_all(tmp_path)
    for corpus in CLASSES:
        written, kept = files_below(tmp_path / corpus), files_below(CORPORA / corpus)
        assert sorted(written) == sorted(kept)
        assert [name for name in kept if written[name] != kept[name]] == []
