"""The command line from end to end: every command, every option, every exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from attemper.errors import ExitCode
from attemper.networks.files import save
from attemper.networks.structure import Provenance
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.folder import load
from tests.support.cli.command_line import Outcome, attemper

MAJORITY = "#<['0'] <= #<['1']"


def compiled(folder: Path, formula: str, alphabet: str, *options: object) -> Path:
    outcome = attemper("compile", formula, "--alphabet", alphabet, "-o", folder, *options)
    assert outcome.code == ExitCode.OK, outcome.err
    return folder


@pytest.fixture
def majority(tmp_path: Path) -> Path:
    """A model that accepts words with at least as many 1s as 0s."""
    return compiled(tmp_path / "majority", MAJORITY, "01")


# compile -------------------------------------------------------------------------------------------


def test_compile_says_what_it_made(tmp_path: Path) -> None:
    outcome = attemper("compile", "(O ('1'))", "--alphabet", "01", "--output", tmp_path / "once")
    assert outcome.code == ExitCode.OK
    assert outcome.err == ""
    first, second, third = outcome.out.splitlines()
    assert first == f"compiled O '1' (unbounded) to {tmp_path / 'once'}"
    assert second == "1 layers, 1 heads, 112 parameters"
    assert third.startswith("certified for all lengths in real arithmetic")
    assert sorted(path.name for path in (tmp_path / "once").iterdir()) == [
        "certificate.json",
        "network.json",
        "weights.safetensors",
    ]


def test_compile_gives_the_summary_as_json(tmp_path: Path) -> None:
    folder = tmp_path / "once"
    outcome = attemper("compile", "O '1'", "--alphabet", "01", "-o", folder, "--json")
    assert outcome.code == ExitCode.OK
    record = outcome.record
    assert record["directory"] == str(folder)
    assert record["formula"] == "O '1'"
    assert record["alphabet"] == ["0", "1"]
    assert list(record)[:3] == ["language", "alphabet", "alphabet_from_text"]
    assert (record["language"], record["alphabet_from_text"]) == ("formula:O '1'", False)
    assert (record["at"], record["empty"], record["regime"]) == ("last", "reject", "unbounded")
    assert record["heads"] == len(record["head_list"]) == 1
    assert record["head_list"][0]["construction"] == "Select"
    shown = attemper("show", folder, "--json").record
    said = {"language": "formula:O '1'", "alphabet_from_text": False, "directory": str(folder)}
    assert {**said, **shown, "replaced": False, "notes": []} == record


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_every_regime_accepts_the_same_words(tmp_path: Path, regime: str) -> None:
    folder = compiled(tmp_path / regime, "#<[a] > 2 & Y b", "ab", "--regime", regime)
    assert attemper("show", folder, "--json").record["regime"] == regime
    outcome = attemper("run", folder, "aaba", "abab", "aabab", "aaabb", "", "--json")
    assert [record["accepted"] for record in outcome.records] == [True, False, False, True, False]


@pytest.mark.parametrize(("at", "accepted"), [("first", True), ("last", False)])
def test_the_verdict_is_read_where_it_is_said(tmp_path: Path, at: str, accepted: bool) -> None:
    folder = compiled(tmp_path / at, "X a", "ab", "--at", at)
    assert attemper("show", folder, "--json").record["at"] == at
    record = attemper("run", folder, "bab", "--json").record
    assert record == {"word": ["b", "a", "b"], "accepted": accepted, "positions": [1, 0, 0]}


@pytest.mark.parametrize("verdict", ["accept", "reject"])
def test_the_empty_word_has_the_verdict_it_was_given(tmp_path: Path, verdict: str) -> None:
    folder = compiled(tmp_path / verdict, "O a", "ab", "--empty", verdict)
    assert attemper("show", folder, "--json").record["empty"] == verdict
    record = attemper("run", folder, "", "--json").record
    assert record == {"word": [], "accepted": verdict == "accept", "positions": []}


def test_compiling_again_replaces_the_model(majority: Path) -> None:
    compiled(majority, "O '1'", "01")
    assert attemper("show", majority, "--json").record["formula"] == "O '1'"
    assert attemper("run", majority, "100", "--json").record["positions"] == [1, 1, 1]


def test_folders_are_made_as_needed(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "far" / "away" / "model", "a", "ab")
    assert attemper("run", folder, "a").code == ExitCode.OK


# run -----------------------------------------------------------------------------------------------


def test_run_prints_exactly_one_record_a_word_in_order(majority: Path) -> None:
    outcome = attemper("run", majority, "0110", "", "0010", "1", "--json")
    assert outcome.code == ExitCode.OK
    assert outcome.err == ""
    assert outcome.records == [
        {"word": ["0", "1", "1", "0"], "accepted": True, "positions": [0, 1, 1, 1]},
        {"word": [], "accepted": False, "positions": []},
        {"word": ["0", "0", "1", "0"], "accepted": False, "positions": [0, 0, 0, 0]},
        {"word": ["1"], "accepted": True, "positions": [1]},
    ]
    assert list(outcome.records[0]) == ["word", "accepted", "positions"]
    assert all(type(bit) is int for bit in outcome.records[0]["positions"])


def test_run_prints_lines_for_people(majority: Path) -> None:
    outcome = attemper("run", majority, "0110", "", "0010")
    assert outcome.out.splitlines() == [
        "accepted  0110  0111",
        "rejected  (empty)  ",
        "rejected  0010  0000",
    ]


def test_run_cuts_long_words_for_people_but_not_in_json(majority: Path) -> None:
    word, digits = attemper("run", majority, "01" * 100, columns=100).out.splitlines()
    assert word == f"accepted  {'01' * 37}... (length 200)"
    assert digits == f"          {'01' * 37}..."
    assert len(attemper("run", majority, "01" * 100, "--json").record["positions"]) == 200


def test_words_are_read_from_a_file_where_a_blank_line_is_the_empty_word(
    majority: Path, tmp_path: Path
) -> None:
    words = tmp_path / "words.txt"
    words.write_bytes(b"0110\r\n\n0 0 1 0\n1")
    outcome = attemper("run", majority, "--words", words, "--json")
    assert [record["word"] for record in outcome.records] == [list("0110"), [], list("0010"), ["1"]]
    assert [record["accepted"] for record in outcome.records] == [True, False, False, True]


def test_an_empty_file_has_no_words(majority: Path, tmp_path: Path) -> None:
    words = tmp_path / "words.txt"
    words.write_text("")
    outcome = attemper("run", majority, "--words", words, "--json")
    assert outcome == Outcome(ExitCode.OK, "", "")


def test_words_are_read_from_stdin(majority: Path) -> None:
    outcome = attemper("run", majority, "--words", "-", "--json", stdin="0110\n\n0\n")
    assert [record["accepted"] for record in outcome.records] == [True, False, False]
    assert [len(record["word"]) for record in outcome.records] == [4, 0, 1]


def test_more_words_than_run_at_once_keep_their_order(majority: Path) -> None:
    words = [format(number, "b") for number in range(5000)]
    outcome = attemper("run", majority, "--words", "-", "--json", stdin="\n".join(words))
    assert ["".join(record["word"]) for record in outcome.records] == words
    verdicts = [record["accepted"] for record in outcome.records]
    assert verdicts == [word.count("0") <= word.count("1") for word in words]


def test_hard_weights_give_the_same_bits(majority: Path) -> None:
    words = ["0110", "", "000111", "1" * 30 + "0" * 30]
    soft = attemper("run", majority, *words, "--json")
    hard = attemper("run", majority, *words, "--json", "--weights", "hard")
    assert hard.code == ExitCode.OK
    assert hard.records == soft.records


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_every_number_format_reads_short_words(majority: Path, dtype: str) -> None:
    outcome = attemper("run", majority, "0110", "0010", "--dtype", dtype, "--json")
    assert outcome.code == ExitCode.OK
    assert [record["accepted"] for record in outcome.records] == [True, False]


def test_symbols_of_several_characters_stand_between_blanks(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "stack", "H (#<[pop] <= #<[push])", "push pop")
    outcome = attemper("run", folder, "push push pop", " pop  push ", "", "--json")
    assert outcome.records == [
        {"word": ["push", "push", "pop"], "accepted": True, "positions": [1, 1, 1]},
        {"word": ["pop", "push"], "accepted": False, "positions": [0, 0]},
        {"word": [], "accepted": False, "positions": []},
    ]
    assert attemper("run", folder, "push pop").out == "accepted  push pop  11\n"


def test_symbols_beyond_ascii_are_printed_as_they_are(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "greek", "O 'λ'", "λ[")
    outcome = attemper("run", folder, "[λ[", "--json")
    assert outcome.record == {"word": ["[", "λ", "["], "accepted": True, "positions": [0, 1, 1]}
    assert "λ" in outcome.out
    assert attemper("run", folder, "[λ[").out == "accepted  [λ[  011\n"
    assert attemper("trace", folder, "[λ").code == ExitCode.OK
    assert attemper("show", folder).code == ExitCode.OK


def test_a_word_may_look_like_an_option(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "dashes", "O '-'", "-x")
    outcome = attemper("run", folder, "--json", "--", "-x", "--", "xx")
    assert [record["accepted"] for record in outcome.records] == [True, True, False]


# trace ---------------------------------------------------------------------------------------------


def test_trace_shows_subformulas_heads_and_margins(majority: Path) -> None:
    outcome = attemper("trace", majority, "011")
    assert outcome.code == ExitCode.OK
    assert outcome.out.startswith("accepted\nword 011\n")
    assert MAJORITY in outcome.out
    assert "layer 0, head 0: Uniform" in outcome.out
    assert "layer 1, head 0: Sign" in outcome.out
    assert "layer 1: smallest margin 0.2" in outcome.out


def by_kind(outcome: Outcome) -> dict[str, list[dict[str, Any]]]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for record in outcome.records:
        kinds.setdefault(record["kind"], []).append(record)
    return kinds


def test_trace_gives_records_of_every_kind(majority: Path) -> None:
    kinds = by_kind(attemper("trace", majority, "011", "--json"))
    assert set(kinds) == {"subformula", "head", "margin", "output"}
    truths = {record["formula"]: record["positions"] for record in kinds["subformula"]}
    assert truths == {"'0'": [1, 0, 0], "'1'": [0, 1, 1], MAJORITY: [0, 1, 1]}
    (output,) = kinds["output"]
    assert output["word"] == ["0", "1", "1"]
    assert output["values"] == pytest.approx([0, 1, 1])
    assert all(0 < record["margin"] <= 0.25 for record in kinds["margin"])


def test_traced_attention_is_a_distribution_that_respects_the_mask(majority: Path) -> None:
    heads = by_kind(attemper("trace", majority, "0110", "--json"))["head"]
    assert [record["construction"] for record in heads] == ["Uniform", "Sign"]
    for record in heads:
        for rows in (record["soft"], record["hard"]):
            for i, row in enumerate(rows):
                assert sum(row) == pytest.approx(1)
                assert row[i + 1 :] == [0] * (3 - i)
    assert heads[0]["soft"] == [pytest.approx(row) for row in heads[0]["hard"]]


def test_the_empty_word_can_be_traced(majority: Path) -> None:
    assert attemper("trace", majority, "").out.startswith("rejected\nword (empty)\n")
    kinds = by_kind(attemper("trace", majority, "", "--json"))
    assert set(kinds) == {"subformula", "output"}
    assert kinds["output"] == [{"kind": "output", "word": [], "accepted": False, "outputs": [], "values": []}]


def test_long_words_are_traced_in_full_only_with_json(majority: Path) -> None:
    outcome = attemper("trace", majority, "01" * 80, columns=100)
    assert (
        "positions 81 to 160 of 160; others are shown around another position, and all in JSON" in outcome.out
    )
    heads = by_kind(attemper("trace", majority, "01" * 80, "--json"))["head"]
    assert all(len(record["soft"]) == len(record["soft"][0]) == 160 for record in heads)


# verify --------------------------------------------------------------------------------------------


def test_verify_counts_the_words_that_agree(majority: Path) -> None:
    options = ("--up-to", 3, "--count", 10, "--longest", 30, "--seed", 7)
    outcome = attemper("verify", majority, *options)
    assert outcome.code == ExitCode.OK
    assert "exact meaning of #<['0'] <= #<['1'], on 24 words up to length " in outcome.out
    record = attemper("verify", majority, *options, "--json").record
    assert record["agree"] is True
    assert record["words"] == 24
    assert record["disagreement"] is None
    assert 0 < record["smallest_margin"] <= 0.25
    assert record["longest"] <= 30


def test_verify_of_no_words_is_refused(majority: Path) -> None:
    """Trying nothing must not look like agreement."""
    outcome = attemper("verify", majority, "--up-to", 0, "--count", 0, "--json")
    assert outcome.code == ExitCode.USAGE
    assert outcome.out == ""
    assert "no word to try" in outcome.err


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A folder that says "'0' has occurred" and holds the network of "'1' has occurred"."""
    network = compile_formula("O '1'", "01").network
    save(network, Provenance("formula", "O '0'", "last", "unbounded"), tmp_path / "wrong")
    return tmp_path / "wrong"


def test_verify_finds_a_wrong_network_and_prints_the_word(wrong: Path) -> None:
    outcome = attemper("verify", wrong, "--up-to", 3, "--count", 0)
    assert outcome.code == ExitCode.DISAGREEMENT
    assert outcome.out == (
        "compared: soft run, hard run and the exact meaning of O '0', on 1 words up to length 1\n"
        "WRONG at position 1: soft says False, the language True, on the word 0\n"
    )


def test_verify_gives_the_wrong_word_as_json(wrong: Path) -> None:
    outcome = attemper("verify", wrong, "--up-to", 3, "--count", 0, "--json")
    assert outcome.code == ExitCode.DISAGREEMENT
    assert outcome.record["agree"] is False
    assert outcome.record["disagreement"] == {
        "word": ["0"],
        "position": 1,
        "which": "soft",
        "expected": True,
        "got": False,
    }


def test_verify_finds_what_shows_in_long_words_only(tmp_path: Path) -> None:
    network = compile_formula("#<[a] >= 1", "ab").network
    folder = tmp_path / "almost"
    save(network, Provenance("formula", "#<[a] >= 1 & #<[true] < 30", "last", "unbounded"), folder)
    assert attemper("verify", folder, "--up-to", 5, "--count", 0).code == ExitCode.OK
    outcome = attemper("verify", folder, "--up-to", 5, "--count", 50, "--longest", 60, "--json")
    assert outcome.code == ExitCode.DISAGREEMENT
    assert outcome.record["disagreement"]["position"] == 30
    assert "a" in outcome.record["disagreement"]["word"][:30]


# show ----------------------------------------------------------------------------------------------


def test_show_lists_facts_and_heads(majority: Path) -> None:
    outcome = attemper("show", majority)
    assert outcome.code == ExitCode.OK
    facts = dict(line.split(maxsplit=1) for line in outcome.out.splitlines()[:4])
    assert facts["formula"] == MAJORITY
    assert facts["alphabet"] == "0 1"
    assert facts["regime"] == "unbounded"
    assert "the same at every length" in outcome.out
    assert "Uniform" in outcome.out


def test_show_gives_the_summary_as_json(majority: Path) -> None:
    record = attemper("show", majority, "--json").record
    assert record["layers"] == 2
    assert [head["construction"] for head in record["head_list"]] == ["Uniform", "Sign"]
    assert [head["logit_growth"] for head in record["head_list"]] == [0, 1]
    model = load(majority)
    assert record["d_model"] == len(model.network.coordinates)
    assert record["d_head"] == model.network.head_width


def test_a_network_without_heads_can_be_shown_traced_and_verified(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "letter", "a", "ab")
    assert attemper("show", folder).code == ExitCode.OK
    assert attemper("show", folder, "--json").record["head_list"] == []
    assert set(by_kind(attemper("trace", folder, "ab", "--json"))) == {"subformula", "output"}
    outcome = attemper("verify", folder, "--up-to", 3, "--count", 5, "--longest", 10)
    assert outcome.out.endswith("no clamps\n")


# Exit codes ----------------------------------------------------------------------------------------


def test_exit_2_for_wrong_usage(majority: Path, tmp_path: Path) -> None:
    for arguments in (
        (),
        ("conquer",),
        ("run",),
        ("run", majority),
        ("run", majority, "01", "--words", "-"),
        ("run", majority, "01", "--dtype", "float16"),
        ("run", majority, "01", "--weights", "firm"),
        ("verify", majority, "--up-to", "-1"),
        ("verify", majority, "--up-to", "many"),
        ("show", majority, "--colour"),
        ("compile", "a", "--alphabet", "a"),
        ("compile", "a", "--alphabet", "a", "-o", tmp_path / "x", "--at", "middle"),
        ("compile", "a", "--alphabet", "a", "-o", tmp_path / "x", "--regime", "encoder"),
    ):
        outcome = attemper(*arguments)
        assert outcome.code == ExitCode.USAGE, arguments
        assert "--help" in outcome.out + outcome.err
    assert not (tmp_path / "x").exists()


def test_help_exits_0_and_lists_the_codes() -> None:
    outcome = attemper("--help")
    assert outcome.code == ExitCode.OK
    assert "Exit codes" in outcome.out
    for command in ("compile", "run", "trace", "verify", "show"):
        assert command in outcome.out
        assert attemper(command, "--help").code == ExitCode.OK


def test_exit_3_for_a_formula(tmp_path: Path) -> None:
    outcome = attemper("compile", "H (a ->)", "--alphabet", "ab", "-o", tmp_path / "x")
    assert outcome.code == ExitCode.SOURCE
    assert outcome.out == ""
    assert outcome.err.startswith("error: the formula breaks off before ')' (line 1, column 8)\n")
    assert not (tmp_path / "x").exists()


def test_exit_4_for_what_cannot_be_compiled_or_tried(majority: Path, tmp_path: Path) -> None:
    options = ("--alphabet", "ab", "-o", tmp_path / "x", "--regime", "decoder")
    outcome = attemper("compile", "Y a & F b", *options)
    assert outcome.code == ExitCode.UNSUPPORTED
    assert "'F b'" in outcome.err
    outcome = attemper("verify", majority, "--up-to", 60)
    assert outcome.code == ExitCode.UNSUPPORTED
    assert "use --up-to 19 or less" in outcome.err


def test_exit_5_for_a_word_names_it(majority: Path) -> None:
    outcome = attemper("run", majority, "01", "0a1")
    assert outcome.code == ExitCode.WORD
    assert outcome.err == "error: word 2: symbol 'a' at position 2 is not in the alphabet {0 1}\n"


def test_exit_6_for_a_file(tmp_path: Path) -> None:
    outcome = attemper("run", tmp_path / "nowhere", "01")
    assert outcome.code == ExitCode.FILE
    assert "nowhere" in outcome.err


def test_exit_7_beyond_the_formats_reach_with_null_for_what_cannot_be_read(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "even", "even(#<['0'])", "01")
    word = "01" * 300
    outcome = attemper("run", folder, word, "11", "--dtype", "bfloat16", "--json")
    assert outcome.code == ExitCode.UNDECIDED
    assert "beyond what bfloat16 can compute" in outcome.err
    assert "such as float64" in outcome.err
    far, near = outcome.records
    assert None in far["positions"]
    assert near == {"word": ["1", "1"], "accepted": True, "positions": [1, 1]}
    shown = attemper("run", folder, word[:60], word, "--dtype", "bfloat16")
    assert shown.code == ExitCode.UNDECIDED
    assert attemper("run", folder, word).code == ExitCode.OK


def test_exit_130_when_interrupted(majority: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("attemper.workbench.verify.verify", interrupted)
    outcome = attemper("verify", majority)
    assert outcome.code == ExitCode.INTERRUPTED == 130
    assert (outcome.out, outcome.err) == ("", "interrupted\n")


# As a process of its own ---------------------------------------------------------------------------

PROCESS = [sys.executable, "-c", "from attemper.workbench.cli.app import main; main()"]


def test_the_shell_sees_codes_and_lines(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    made = subprocess.run(
        [*PROCESS, "compile", "O a", "--alphabet", "ab", "-o", folder, "--json"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert json.loads(made.stdout)["formula"] == "O a"
    ran = subprocess.run(
        [*PROCESS, "run", folder, "--words", "-", "--engine", "numpy", "--json"],
        input="ba\nbb\nbc\n",
        capture_output=True,
        check=False,
        text=True,
    )
    assert ran.returncode == ExitCode.WORD
    assert "line 3 of the standard input: symbol 'c'" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_reader_that_leaves_early_hears_no_complaint(tmp_path: Path) -> None:
    folder = compiled(tmp_path / "model", "O a", "ab")
    (tmp_path / "words").write_text("ab\n" * 5000)
    command = [*PROCESS, "run", str(folder), "--words", str(tmp_path / "words"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["accepted"] is True
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == ExitCode.OK
