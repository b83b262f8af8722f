"""attemper same, as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import attemper as library
from attemper.checker.verdict import Status
from attemper.errors import ExitCode
from attemper.exact.predicates import register_predicate
from attemper.workbench.cli.time_limit import TimeUp
from tests.support.cli.command_line import attemper


def test_the_same_language(tmp_path: Path) -> None:
    assert attemper("compile", "a S b", "--alphabet", "ab", "-o", tmp_path / "net").code == 0
    found = attemper("same", tmp_path / "net", "regex:.*ba*")
    assert found.code == ExitCode.OK
    assert found.out.splitlines() == [
        "SAME: A and B have the same words over a b, of every length",
        "  both sides are proved to be these automata: 2 states",
    ]
    found = attemper("same", tmp_path / "net", tmp_path / "net", "--json")
    assert (found.code, found.record["answer"], found.record["word"]) == (0, "SAME", None)


def test_another_language() -> None:
    found = attemper("same", "regex:(ab)*", "regex:(ab)(ab)*", "--alphabet", "ab")
    assert found.code == ExitCode.DISAGREEMENT
    assert found.out.splitlines() == [
        "DIFFERENT: the empty word is in A and not in B; no shorter word tells them apart",
        "  by definition",
    ]
    found = attemper("same", "regex:a(b)*", "regex:ab", "--alphabet", "ab", "--json")
    assert found.record == {
        "a": "regex:a(b)*",
        "b": "regex:ab",
        "alphabet": ["a", "b"],
        "alphabet_from_text": False,
        "answer": "DIFFERENT",
        "word": ["a"],
        "verdicts": [True, False],
        "shortest": True,
        "states": None,
        "reason": "by the definitions",
        "longest": 0,
        "words": 0,
        "assumptions": [],
    }


def test_long_words_come_from_automata() -> None:
    found = attemper("same", "regex:(a{40})*", "regex:(a{40})*|a{80}a", "--alphabet", "ab")
    assert found.code == ExitCode.DISAGREEMENT
    assert found.out.splitlines() == [
        f"DIFFERENT: '{'a' * 81}' is in B and not in A; no shorter word tells them apart",
        "  both sides are proved to be automata: 41 states and 123 states",
    ]


def test_containment() -> None:
    options = ("--contained", "--alphabet", "ab")
    found = attemper("same", "formula:#<[a] <= #<[b]", "formula:#<[a] <= #<[b] + 1", *options)
    assert found.code in {ExitCode.OK, ExitCode.UNKNOWN}
    found = attemper("same", "regex:ab", "regex:a*b*", *options)
    assert found.code == ExitCode.OK
    assert found.out.startswith("CONTAINED: B has all of A's words over a b, of every length\n")
    found = attemper("same", "regex:a*b*", "regex:ab", *options, "--json")
    assert (found.code, found.record["answer"], found.record["word"]) == (1, "NOT CONTAINED", [])


def test_an_alphabet_that_nobody_said_is_said() -> None:
    found = attemper("same", "regex:(ab)*", "O (a & b)")
    assert found.out.splitlines()[-1] == "alphabet a b (from the text)"
    assert attemper("same", "regex:(ab)*", "O (a & b)", "--json").record["alphabet_from_text"] is True
    assert "(from the text)" not in attemper("same", "regex:(ab)*", "O a", "--alphabet", "ab").out


def test_what_is_printed_is_the_result(tmp_path: Path) -> None:
    sides = ("regex:(01)*", "zoo:parity")
    found = library.same(*sides, alphabet="01", contained=True)
    again = library.same("regex:(0|1)*", "regex:(01)*")
    for result, arguments in (
        (found, (*sides, "--alphabet", "01", "--contained")),
        (again, ("regex:(0|1)*", "regex:(01)*")),
    ):
        done = attemper("same", *arguments)
        assert done.out == f"{result}\n"
        assert done.code == result.exit_code
        assert attemper("same", *arguments, "--json").record == result.record
    assert (again.status, repr(again)) == (Status.REFUTED, "<Sameness: DIFFERENT, '0'>")
    assert library.same("regex:(ab)*", "regex:()|a(ba)*b").status is Status.PROVED
    with pytest.raises(TypeError, match="UNKNOWN"):
        bool(again)


def test_time_that_is_up_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        raise TimeUp("the time was up; allow more with --seconds")

    monkeypatch.setattr("attemper.workbench.same.automaton_of_side", out_of_time)
    done = attemper("same", "formula:#<[Y a] >= #<[b] & b", "formula:#<[a] >= #<[b] & b")
    assert done.code == ExitCode.UNKNOWN
    assert done.out.startswith(
        "UNKNOWN: the time was up; allow more with --seconds, while side A was followed\n"
    )
    done = attemper("same", "regex:(ab)*", "regex:(ba)*", "--seconds", "1e-9")
    assert (done.code, done.out) == (ExitCode.UNKNOWN, "")
    assert "no answer within 1e-09 seconds" in done.err


def test_unknown() -> None:
    sides = ("formula:#<[Y a] >= #<[b] & b", "formula:#<[a] >= #<[b] & b")
    options = ("--alphabet", "ab", "--seconds", "2", "--limit", "configurations=500", "--up-to", "4")
    found = attemper("same", *sides, *options)
    assert found.code == ExitCode.UNKNOWN
    assert found.out.startswith("UNKNOWN: side A has no automaton: what it keeps has over 500 configurations")
    assert "no word of up to 4 symbols tells them apart" in found.out
    assert attemper("same", *sides, *options, "--json").record["answer"] == "UNKNOWN"


def test_files_and_where_formulas_are_read(tmp_path: Path) -> None:
    file = tmp_path / "even.json"
    moves = {"even": {"a": "odd"}, "odd": {"a": "even"}}
    entries = {"alphabet": ["a"], "states": ["even", "odd"], "start": "even", "accepting": ["odd"]}
    file.write_text(json.dumps({**entries, "moves": moves}), encoding="utf-8")
    assert attemper("same", f"dfa:{file}", "formula:pos % 2 = 1").code == 0
    assert attemper("same", f"dfa:{file}", "formula@first:#>[a] % 2 = 1").code == 0
    assert attemper("same", f"dfa:{file}", "formula:#>[a] % 2 = 1", "--at", "first").code == 0
    assert attemper("same", f"dfa:{file}", "formula:pos % 2 = 1", "--empty", "accept").code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), ExitCode.USAGE, "LANGUAGE"),
        (("regex:a",), ExitCode.USAGE, "LANGUAGE"),
        (("regex:a", "regex:a|a"), ExitCode.USAGE, "names the symbol a only: say which there are"),
        (("regex:a.", "regex:b"), ExitCode.USAGE, "regex:a. may mean symbols that it does not name"),
        (("nowhere/", "regex:a"), ExitCode.FILE, "there is no folder 'nowhere'"),
        (("regexp:a", "regex:a"), ExitCode.USAGE, "'regexp:' is no kind of language"),
        (("regex:a", "regex:b", "--configurations", "5"), ExitCode.USAGE, "write --limit configurations=N"),
        (("regex:a", "regex:b", "--limit", "states=5"), ExitCode.USAGE, "the limits are: configurations"),
        (("dfa:nowhere", "regex:a"), ExitCode.FILE, "nowhere"),
        (("formula:O (", "regex:a", "--alphabet", "ab"), ExitCode.SOURCE, "the formula"),
        (("formula:F a", "regex:a", "--alphabet", "ab"), ExitCode.SOURCE, "--at first"),
        (("float64:net", "regex:a"), ExitCode.USAGE, "is right up to a horizon at most"),
        (("regex:a", "regex:a", "--alphabet", "a", "--seconds", "-1"), ExitCode.USAGE, "--seconds"),
    ],
)
def test_errors_name_what_is_wrong(arguments: tuple[str, ...], code: ExitCode, message: str) -> None:
    found = attemper("same", *arguments)
    assert found.code == code
    assert message in found.err
    error = json.loads(attemper("same", *arguments, "--json").err)["error"]
    assert message.splitlines()[0] in error["message"]


def test_different_alphabets_are_both_named(tmp_path: Path) -> None:
    for name, alphabet in (("one", "ab"), ("other", "abc")):
        assert attemper("compile", "O a", "--alphabet", alphabet, "-o", tmp_path / name).code == 0
    found = attemper("same", tmp_path / "one", tmp_path / "other")
    assert found.code == ExitCode.WORD
    assert "{a b} and {a b c}" in found.err
    assert attemper("same", tmp_path / "one", tmp_path / "other", "--alphabet", "ab").code == 0


def test_what_is_assumed_is_printed() -> None:
    register_predicate("one_alone", lambda value: value == 1)
    found = attemper("same", "formula:a & first & one_alone(pos)", "formula:a & first", "--alphabet", "ab")
    assert found.code == ExitCode.PROVED_UNDER_ASSUMPTIONS
    assumed = "the registered predicate 'one_alone' is the same function wherever the network runs"
    assert found.out.splitlines()[-1] == f"  assuming {assumed}"
    found = attemper("same", "formula:one_alone(pos)", "formula:one_alone(pos)", "--alphabet", "ab", "--json")
    assert (found.code, found.record["assumptions"]) == (ExitCode.PROVED_UNDER_ASSUMPTIONS, [assumed])
