"""attemper lemma: its tables, its runs, and what it refuses."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner, Result

from attemper.theories.refutation.lemma.command import lemma_command, share
from attemper.theories.refutation.lemma.constants import RemovedLayer, Variant, parameters
from attemper.theories.refutation.lemma.said import short
from attemper.workbench.cli.console import out

APP = typer.Typer()
APP.command("lemma")(lemma_command)


def lemma(*words: str) -> Result:
    return CliRunner().invoke(APP, list(words))


def printed(*words: str) -> str:
    with out.capture() as captured:
        assert lemma(*words).exit_code == 0
    return captured.get()


@pytest.mark.sweep(0)
def test_the_tables_have_all_proofs_and_shares() -> None:
    text = printed("--c", "1")
    assert text.count("alteration") == text.count("published") == text.count("tuned") == 2
    assert "1 head, 1/2 of the free inputs stay free" in text
    assert "1 head, 9/10 of the free inputs stay free" in text
    for number in ("14", "29", "59", "113", "227", "253", "10^930791"):
        assert number in text.split()


def test_json_is_one_line_with_whole_numbers() -> None:
    found = lemma("--c", "2", "--heads", "2", "--free", "0.5", "--json")
    (line,) = found.stdout.splitlines()
    records = json.loads(line)["parameters"]
    assert [record["variant"] for record in records] == ["published", "tuned", "alteration"]
    for record in records:
        wanted = parameters(Variant(record["variant"]), RemovedLayer(2, 2, share("1/2", "--free")))
        assert (record["k"], record["shortest"]) == (wanted.k, wanted.shortest)


def test_a_run_shows_every_stage() -> None:
    text = printed("--length", "64", "--k", "8")
    assert "random tables of length 64 with 1 head; k = 8" in text
    for stage in ("2: greedy", "3: random bits", "2: chosen bits", "3: repairs"):
        assert stage in text
    assert text.count("all tuples are 8-satisfied") == 3


def test_a_run_in_json() -> None:
    (line,) = lemma("--length", "40", "--k", "4", "--heads", "2", "--seed", "3", "--json").stdout.splitlines()
    record = json.loads(line)
    assert (record["length"], record["heads"], record["k"]) == (40, 2, 4)
    for run in record["runs"].values():
        assert run["holds"]
        assert run["most_attended"] <= 4
        assert run["free"] == run["stages"][-1]["free"] == 39 - sum(stage["fixed"] for stage in run["stages"])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--k", "3"), "for --length"),
        (("--rate", "0.1"), "for --length"),
        (("--length", "20"), "needs a --k"),
        (("--length", "20", "--k", "0"), "needs a --k"),
        (("--length", "1", "--k", "1"), "from 2 to 2000"),
        (("--length", "20", "--k", "1", "--rate", "1"), "between 0 and 1"),
        (("--free", "1/0"), "between 0 and 1"),
        (("--free", "much"), "between 0 and 1"),
        (("--c", "0"), "from 1 to 50"),
        (("--heads", "0"), "from 1 to 1000"),
    ],
)
def test_what_is_refused(words: tuple[str, ...], message: str) -> None:
    found = lemma(*words)
    assert found.exit_code == 2
    assert message in " ".join(found.output.replace("│", " ").split())


@pytest.mark.parametrize(
    ("number", "text"),
    [(7, "7"), (999_999, "999999"), (10**6, "1.00e6"), (10**6 + 1, "1.01e6"), (9_999_999, "1.00e7")],
)
def test_numbers_are_rounded_up(number: int, text: str) -> None:
    assert short(number) == text
