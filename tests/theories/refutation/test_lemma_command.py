"""attemper lemma: its tables, its runs, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

import attemper
from attemper.errors import UnsupportedError
from attemper.models.hard.examples import RandomTables
from attemper.theories.refutation.lemma.command import lemma_command, share
from attemper.theories.refutation.lemma.constants import RemovedLayer, Variant, parameters
from attemper.theories.refutation.lemma.reducing import all_removed
from attemper.theories.refutation.lemma.said import short
from attemper.theories.refutation.lemma.transformers import own_layer
from attemper.workbench.cli.console import out
from tests.support.writers.figures import FOLDER as FIGURES

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


REDUCED = ("--reduce", "--length", "12", "--seed", "172")


def test_all_layers_are_taken_away() -> None:
    text = printed(*REDUCED)
    assert "n = 12, L = 2, H = 1 + 1, c = 1: 11 inputs are free" in text
    assert "restriction: 0*00*1**01*$" in text
    assert "the answer depends on 2 of 5 free inputs: 7, 8" in text


def test_a_reduction_in_json_is_that_of_python() -> None:
    (line,) = lemma(*REDUCED, "--k", "2", "--json").stdout.splitlines()
    record = json.loads(line)
    model, wanted = own_layer(RandomTables(12, (1, 1), 172)), []
    for one in all_removed(model, 2):
        after = one.transformer
        wanted.append((2, len(after.free), after.most_inputs, 2 ** len(after.free), True))
    parts = ("k", "free", "c", "words", "all_words")
    assert [tuple(removed[part] for part in parts) for removed in record["removed"]] == wanted
    assert record["output_reads"] == [q + 1 for q in after.reads[-1]]
    assert [len(some) for some in record["restriction"]].count(2) == wanted[-1][1]


def test_a_network_and_a_module_are_reduced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = attemper.compile("O (b & Y a)", "ab")
    model.save(tmp_path / "net")
    text = printed(str(tmp_path / "net"), "--reduce", "--length", "16")
    assert "n = 16, L = 2, H = 1 + 1, c = 1: 16 inputs are free" in text
    words = list(attemper.reduce(model, length=16).transformer.words(8))
    assert words[0].shape == (8, 16)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from attemper.models.hard.examples import RandomTables\nmodel = RandomTables(9, (2,), 3)\n"
    )
    assert "n = 9, L = 1, H = 2, c = 1: 8 inputs are free" in printed("mine:model", "--reduce")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ("        if layer: raise RuntimeError('a fault')\n", "raised RuntimeError: a fault"),
        ("        queries = queries[:1].repeat(len(queries), 0)\n", "depend"),
    ],
)
def test_a_fault_in_somebodys_own_functions_is_theirs(
    changed: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    name = f"faulty_{message[:6].strip()}"
    (tmp_path / f"{name}.py").write_text(
        "from attemper.models.hard.examples import RandomTables\n"
        "class Model:\n"
        "    def __init__(self):\n"
        "        self.tables = RandomTables(9, (1, 1), 3)\n"
        "    def __getattr__(self, name):\n"
        "        return getattr(self.tables, name)\n"
        "    def scores(self, layer, head, queries, keys):\n"
        f"{changed}"
        "        return self.tables.scores(layer, head, queries, keys)\n"
        "def model(n):\n"
        "    return Model()\n"
    )
    found = lemma(f"{name}:model", "--reduce", "--length", "9")
    assert isinstance(found.exception, attemper.ModuleError), found.exception
    assert message in str(found.exception)


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        (1, REDUCED),
        (2, REDUCED),
        (3, ("--reduce", "--length", "8", "--layers", "1", "--c", "2", "--k", "2", "--seed", "58")),
    ],
)
def test_the_figures_of_the_documents_are_drawn(figure: int, words: tuple[str, ...], tmp_path: Path) -> None:
    picture = tmp_path / "x.svg"
    assert f"wrote a picture to {picture}" in printed(*words, "--svg", str(picture), "--figure", str(figure))
    assert picture.read_bytes() == (FIGURES / f"hahn-{figure}.svg").read_bytes()


def test_a_figure_has_no_room_for_many_positions(tmp_path: Path) -> None:
    found = lemma("--reduce", "--length", "41", "--layers", "1", "--svg", str(tmp_path / "x.svg"))
    assert isinstance(found.exception, UnsupportedError)
    assert "room for 40 positions, not for 41" in str(found.exception)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--reduce",), "needs a --length"),
        (("--reduce", "--length", "8", "--rate", "0.1"), "not for --reduce"),
        (("--reduce", "--length", "8", "--layers", "0"), "from 1 to 12"),
        (("--reduce", "--length", "8", "--c", "5"), "from 1 to 4"),
        (("mine:model", "--reduce", "--layers", "2"), "for random tables, not for a model"),
        (("--length", "8", "--layers", "2"), "are for --reduce"),
        (("--reduce", "--length", "8", "--svg", "x.png"), "does not end in .svg"),
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
