"""`attemper soften` and `attemper check` of what it writes, as users type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import attemper as library
from attemper.checker.verdict import Status
from attemper.errors import ExitCode
from tests.support.cli.command_line import attemper

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
