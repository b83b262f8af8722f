"""attemper data: words with verdicts, and what is said of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attemper.errors import OptionError
from attemper.training.ask import data
from attemper.training.datasets import read_split
from tests.support.cli.command_line import attemper


def test_words_are_written_and_counted(tmp_path: Path) -> None:
    said = attemper("data", "zoo:parity-odd", "--lengths", "0-8,9-12", "--count", 10, "-o", tmp_path / "set")
    assert said.code == 0
    assert said.out.splitlines() == [
        "zoo:parity-odd: odd; 'parity-even' has the other words, and is what 'parity' alone means",
        "0-8: 10 words, 5 of them in the language",
        "9-12: 10 words, 5 of them in the language",
        f"wrote {tmp_path / 'set'}",
    ]
    for one in read_split(tmp_path / "set", "9-12"):
        assert 9 <= len(one.word) <= 12
        assert one.label is (one.word.count("1") % 2 == 1)


@pytest.mark.parametrize("layout", ["jsonl", "flare"])
def test_older_splits_are_removed_and_nothing_else_is(layout: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    common = ("--count", 2, "-o", folder)
    attemper("data", "zoo:parity", "--lengths", "0-3,4-5", "--layout", layout, *common)
    (folder / "mine.jsonl").write_text("{}", encoding="utf-8")
    (folder / "7-9.jsonl").write_text("{}", encoding="utf-8")
    (folder / "4-5").mkdir(exist_ok=True)
    (folder / "4-5" / "notes").write_text("mine", encoding="utf-8")
    assert attemper("data", "zoo:majority", "--lengths", "4-5,6-6", *common).code == 0
    left = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert left == {"manifest.json", "4-5.jsonl", "6-6.jsonl", "mine.jsonl", "7-9.jsonl", "4-5/notes"}


def test_the_command_prints_what_python_draws(tmp_path: Path) -> None:
    given = ["formula:O a & O b", "--lengths", "3,5-9", "--count", 6, "--seed", 2, "--empty", "accept"]
    said = attemper("data", *given, "-o", tmp_path)
    found = data("O a & O b", lengths=((3, 3), (5, 9)), count=6, seed=2, empty="accept")
    assert said.out == f"{found}\nwrote {tmp_path}\n"
    assert said.out.startswith("alphabet a b (from the text)\nformula:O a & O b: read at the last position")
    assert repr(found) == "<LabelledWords: 12 words of formula:O a & O b, lengths 3-3,5-9>"
    assert attemper("data", *given, "-o", tmp_path, "--json").record == {
        **found.record,
        "output": str(tmp_path),
    }
    assert [*read_split(tmp_path, "3-3"), *read_split(tmp_path, "5-9")] == list(found.words)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"lengths": 5}, "is no range"),
        ({"lengths": (5,)}, "is no range"),
        ({"lengths": ()}, "has no range"),
        ({"lengths": (4, 0)}, "is no range"),
        ({"lengths": ((0, 4), (0, 4))}, "one twice"),
        ({"lengths": (0, 1_000_000)}, "at most 999,999"),
        ({"lengths": "0-40"}, "is no range"),
        ({"count": 0}, "count=0"),
        ({"count": True}, "count=True"),
        ({"seed": -1}, "seed=-1"),
        ({"layout": "csv"}, "layout='csv'"),
    ],
)
def test_what_means_nothing_to_python_is_said(more: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        data("zoo:parity", **{"lengths": (0, 4), **more})  # type: ignore[arg-type]


def test_a_manifest_of_somebody_else_removes_nothing(tmp_path: Path) -> None:
    (tmp_path / "0-3.jsonl").write_text("{}", encoding="utf-8")
    for text in (
        "[",
        '{"splits": [{"name": "0-3"}]}',
        '{"format": "attemper-data/1", "splits": [{"name": "../x"}]}',
    ):
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        attemper("data", "zoo:parity", "--lengths", "4-5", "--count", 2, "-o", tmp_path)
        assert (tmp_path / "0-3.jsonl").exists()


def test_json_is_the_manifest(tmp_path: Path) -> None:
    arguments = [
        "data",
        "zoo:parity",
        "--lengths",
        "0-9",
        "--count",
        6,
        "--seed",
        5,
        "--layout",
        "flare",
        "--json",
    ]
    said = attemper(*arguments, "-o", tmp_path / "a").record
    assert said.pop("output") == str(tmp_path / "a")
    assert said == json.loads((tmp_path / "a/manifest.json").read_text(encoding="utf-8"))
    assert (said["seed"], said["layout"]) == (5, "flare")
    assert "even" in said["polarity"]
    other = attemper(*arguments, "-o", tmp_path / "b").record
    assert other["splits"] == said["splits"]
    assert (tmp_path / "a/0-9/main.tok").read_bytes() == (tmp_path / "b/0-9/main.tok").read_bytes()


def test_texts_have_an_alphabet_and_formulas_a_place(tmp_path: Path) -> None:
    given = ["--alphabet", "ab", "--lengths", "1-5", "--count", 8, "-o", tmp_path]
    for at, place in (("first", 0), ("last", -1)):
        assert attemper("data", "formula:a", *given, "--at", at).code == 0
        for one in read_split(tmp_path, "1-5"):
            assert one.label is (one.word[place] == "a")
    assert attemper("data", "regex:(ab)*", *given).out.splitlines()[0].startswith("1-5: 8 words")


def test_words_of_an_expression_are_balanced_and_lengths_without_members_are_said(tmp_path: Path) -> None:
    given = ["data", "regex:(ab|ba)*c?", "--alphabet", "abc", "--lengths", "8,32-64", "--count", 20]
    assert attemper(*given, "-o", tmp_path).out.splitlines()[:2] == [
        "8-8: 20 words, 10 of them in the language",
        "32-64: 20 words, 10 of them in the language",
    ]
    given = [
        "data",
        "regex:(aa)*",
        "--alphabet",
        "ab",
        "--lengths",
        "3,4",
        "--count",
        4,
        "-o",
        tmp_path,
    ]
    assert attemper(*given).out.splitlines()[:3] == [
        "3-3: 4 words, 0 of them in the language",
        "  warning: length 3 has no word in the language",
        "4-4: 4 words, 2 of them in the language",
    ]
    said = attemper(*given, "--json").record
    assert [one["warning"] for one in said["splits"]] == ["length 3 has no word in the language", ""]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["zoo:parety", "--lengths", "0-4"], 2, "nearest name is 'parity'"),
        (["parity", "--lengths", "0-4"], 2, "write zoo:parity"),
        (["parity-odd", "--lengths", "0-4"], 3, "write zoo:parity-odd"),
        (["zoo:sort", "--lengths", "0-4"], 4, "is no language"),
        (["zoo:parity", "--lengths", "x"], 2, "lists no lengths"),
        (["zoo:parity", "--lengths", "[0,4]"], 2, "lists no lengths"),
        (["zoo:parity", "--lengths", "4-0"], 2, "has no lengths"),
        (["zoo:parity", "--lengths", "0-1000000"], 2, "at most 999,999"),
        (["zoo:parity", "--lengths", "0-4", "--alphabet", "abc"], 2, "give as many"),
        (["zoo:parity", "--lengths", "0-4", "--at", "last"], 2, "says this itself"),
        (["regex:a", "--lengths", "0-4"], 2, "say which there are"),
        (["regex:(a", "--alphabet", "ab", "--lengths", "0-4"], 3, "this bracket is not closed"),
        (["formula:a", "--alphabet", "ab", "--at", "middle", "--lengths", "0-4"], 2, "--at"),
        (["dfa:nowhere.json", "--lengths", "0-4"], 6, "nowhere.json"),
        (["zoo:parity", "--lengths", "0-4", "--layout", "csv"], 2, "layout"),
        (["zoo:parity", "--lengths", "0-4", "--seed", "-1"], 2, "seed"),
        (["zoo:parity", "--lengths", "0-4", "--count", 0], 2, "count"),
        (["zoo:parity"], 2, "--lengths"),
        (["zoo:parity", "--split", "0-4"], 2, "no --split any more: write --lengths A-B"),
    ],
)
@pytest.mark.parametrize("as_json", [False, True])
def test_what_cannot_be_drawn_is_said(
    arguments: list[object], code: int, said: str, tmp_path: Path, *, as_json: bool
) -> None:
    found = attemper("data", *arguments, "-o", tmp_path / "set", *(["--json"] if as_json else []))
    assert (found.code, found.out) == (code, "")
    text = json.dumps(json.loads(found.err)["error"]) if as_json else found.err
    assert said in text
    assert not (tmp_path / "set").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    found = attemper("data", "zoo:parity", "--lengths", "0-4", "--count", 2, "-o", tmp_path / "file")
    assert found.code == 6
