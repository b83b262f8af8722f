"""`attemper soften` and `attemper check` of what it writes, as users type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import attemper as library
from attemper.checker.verdict import Status
from attemper.errors import ExitCode
from attemper.theories.softening.lemmas import compared
from tests.support.cli.command_line import attemper
from tests.support.drawn.typed_networks import uniform_only

MINE = """
from attemper import HeadOf, LayerOf, hard_network


def network(key, value):
    layer = LayerOf([HeadOf("<=", {"seen": {value: 1}}, query=[{"one": 1}], key=[key])])
    places = {"one": 1, "place": ["product", [["position"], ["power", ["length"], -1]]]}
    return hard_network("ab", embedding={"a": {"a": 1}}, positions=places, layers=[layer], output="seen")


last_a = network({"a": 2, "place": 1}, "a")
tied = network({"a": 1}, "place")


def made():
    return last_a


def broken():
    raise ValueError("no")


number = 7
"""


@pytest.fixture(autouse=True)
def _mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "soften_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_a_network_is_softened_written_and_checked() -> None:
    made = attemper("soften", "soften_mine:last_a", "-o", "soft")
    assert made.code == ExitCode.OK
    assert "PROVED: all lengths, in real arithmetic" in made.out
    assert "wrote soft" in made.out
    checked = attemper("check", "soft")
    assert checked.code == ExitCode.OK
    again = attemper("soften", "soften_mine:made", "-o", "soft", "--json")
    record = json.loads(again.out)
    assert (record["verdict"], record["replaced"]) == ("PROVED", True)
    (head,) = record["heads"]
    assert (head["by"], head["gap"], head["form"]) == ("rule", "n^-1", "n*(4 + digits(n))")
    assert set(head["taus"]) == {"1", "10", "100", "1000"}
    assert record["budgets"]["ratio"] > 1


def test_the_command_prints_what_python_finds() -> None:
    found = library.soften("soften_mine:last_a", epsilon="1/100")
    assert (found.status, found.exit_code) == (Status.PROVED, ExitCode.OK)
    assert attemper("soften", "soften_mine:last_a", "-o", "soft").out == f"{found}\nwrote soft\n"
    record = attemper("soften", "soften_mine:last_a", "-o", "other", "--json").record
    assert record == {**found.record, "directory": "other", "replaced": False}
    with pytest.raises(TypeError, match="see its status"):
        bool(found)


def test_lemmas_stand_beside_ours_and_beside_what_is_measured() -> None:
    plain = attemper("soften", "soften_mine:last_a", "-o", "soft", "--json").record
    record = attemper("soften", "soften_mine:last_a", "-o", "soft", "--force", "--lemmas", "--json").record
    tables = record.pop("lemmas")
    assert record == {**plain, "replaced": True}
    own, paper = tables
    assert (own["temperatures"], own["n"], own["tau"]) == ("as softened", 7, "0.0204")
    rows = {row["what"]: row for row in own["rows"]}
    lemmas = "29, 28, 24, 32, 33, Edelman et al., 34, 31, 34, 25, 30, 26"
    assert ", ".join(row["lemma"] for row in own["rows"]) == lemmas
    # 1/tau = 7 (4 + 3) at a gap of 1/7, so 2 (7 - 1) e^-7, where nearly 2 e^-7 is the truth; d p = 8.
    assert (rows["gap"]["proved"], rows["gap"]["measured"]) == ("0.143", "0.143")
    assert rows["weight error"] == {
        "place": "0.0",
        "what": "weight error",
        "lemma": "33",
        "published": "0.0109",
        "own": "0.0109",
        "proved": None,
        "measured": "0.00182",
    }
    assert (rows["value error"]["published"], rows["value error"]["own"]) == ("0.0875", "0.0109")
    assert float(rows["what is put out"]["measured"]) <= float(rows["what is put out"]["proved"]) <= 1 / 100
    last = paper["rows"][-1]
    assert (last["lemma"], last["published"]) == ("26", "0.0100")
    assert float(last["measured"].lstrip("<")) <= 1e-20


def test_lemmas_are_printed_as_python_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "MOST_RUN", 20)
    found = library.soften("soften_mine:last_a", epsilon="1/100")
    said = attemper("soften", "soften_mine:last_a", "-o", "soft", "--lemmas").out
    for found_table in found.lemmas:
        assert (
            f"temperatures {found_table.temperatures}: all words of 3 symbols, tau = {found_table.tau}"
            in said
        )
        for row in found_table.rows:
            cells = (row.place, row.what, row.lemma, row.published, row.own, row.proved, row.measured)
            assert " ".join(cell for cell in cells if cell) in {
                " ".join(line.split()) for line in said.splitlines()
            }


def test_lemmas_of_words_that_are_too_many_are_refused_and_of_uniform_heads_have_one_table() -> None:
    refused = attemper("soften", "soften_mine:last_a", "-o", "soft", "--from", "9", "--lemmas")
    assert refused.code == ExitCode.UNSUPPORTED
    assert "words of 9 symbols are too many to be run" in refused.err
    (alone,) = library.soften(uniform_only(), epsilon="1/100").lemmas
    assert alone.tau is None
    assert [row.lemma for row in alone.rows] == ["29", "28", "31", "31, 34", "25, 30", "26"]


def test_a_tie_names_the_word_the_head_and_both_positions() -> None:
    refused = attemper("soften", "soften_mine:tied", "-o", "soft", "--json")
    assert refused.code == ExitCode.UNSUPPORTED
    error = json.loads(refused.err)["error"]
    assert (error["position"], error["layer"], error["head"], error["tied"]) == (2, 0, 0, [1, 2])
    assert not Path("soft").exists()


def test_what_is_stated_and_false_is_refuted_and_nothing_is_written() -> None:
    said = attemper("soften", "soften_mine:last_a", "--gap", "0.0=1", "--up-to", "4", "-o", "soft")
    assert said.code == ExitCode.REFUTED
    assert "in 'aa' it is only 1/2 below" in said.out
    assert "nothing is written" in said.out
    assert not Path("soft").exists()


def test_what_is_stated_is_an_assumption() -> None:
    said = attemper("soften", "soften_mine:last_a", "--gap", "0.0=1 n^-1", "--up-to", "4", "-o", "soft")
    assert said.code == ExitCode.PROVED_UNDER_ASSUMPTIONS
    assert attemper("check", "soft").code == ExitCode.PROVED_UNDER_ASSUMPTIONS


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["soften_mine:number"], ExitCode.MODULE, "is of the type int, and no network"),
        (["soften_mine:broken"], ExitCode.MODULE, "ValueError"),
        (["soften_mine:nothing"], ExitCode.USAGE, "has no 'nothing'"),
        (["nowhere"], ExitCode.FILE, "nowhere"),
        (["soften_mine:last_a", "--gap", "1"], ExitCode.USAGE, "has no '='"),
        (["soften_mine:last_a", "--gap", f"0.0=1/{'9' * 5000}"], ExitCode.USAGE, "is no monomial"),
        (["soften_mine:last_a", "--magnitude", f"0=n^{'9' * 5000}"], ExitCode.USAGE, "is no monomial"),
        (["soften_mine:last_a", "--epsilon", "x"], ExitCode.USAGE, "above 0"),
        (["soften_mine:last_a", "--limit", "words=0"], ExitCode.USAGE, "the limit 'words' is a whole number"),
        (["soften_mine:last_a", "--limit", "word=9"], ExitCode.USAGE, "the limits are: words"),
        (["soften_mine:last_a", "--limit", "words"], ExitCode.USAGE, "a limit is given as NAME=N"),
        (["soften_mine:last_a", "--words", "9"], ExitCode.USAGE, "write --limit words=N"),
    ],
)
def test_bad_input_is_named(arguments: list[str], code: ExitCode, said: str) -> None:
    found = attemper("soften", *arguments, "-o", "soft")
    assert found.code == code
    assert said in found.err


@pytest.mark.sweep(3)
@pytest.mark.parametrize("command", [["run", "ab"], ["trace", "ab"], ["certify"], ["verify"]])
def test_commands_that_need_a_language_say_that_there_is_none(command: list[str]) -> None:
    attemper("soften", "soften_mine:last_a", "-o", "soft")
    name, *words = command
    found = attemper(name, "soft", *words)
    assert found.code == ExitCode.UNSUPPORTED
    assert "no language" in found.err


def test_a_softened_network_is_shown() -> None:
    attemper("soften", "soften_mine:last_a", "-o", "soft")
    shown = attemper("show", "soft")
    assert shown.code == ExitCode.OK
    assert "a softmax network that 'attemper soften' made of a hard one" in shown.out
    assert "the output is within 1/100 of the hard network's" in shown.out
    record = attemper("show", "soft", "--json").record
    assert (record["kind"], record["epsilon"], record["first"]) == ("softened network", "1/100", 1)
    assert attemper("show", "soft", "--engines").code == ExitCode.USAGE


def test_a_softened_network_runs_in_python() -> None:
    import torch

    import attemper as package

    attemper("soften", "soften_mine:last_a", "-o", "soft")
    module = package.load_softened("soft")
    found = module(torch.tensor([[1, 0, 1], [1, 1, 1]]))
    assert found.round().tolist() == [[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]
