"""Under --json every error is one JSON object on the standard error, with code, name, message and place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attemper.errors import ExitCode
from attemper.workbench.compiling import compile as compile_formula
from tests.support.cli.command_line import Outcome, attemper


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    compile_formula("O a", "ab").save(tmp_path / "once")
    return tmp_path / "once"


def error_of(outcome: Outcome) -> dict[str, Any]:
    """What is said on the standard error, which is nothing else."""
    record = json.loads(outcome.err)
    assert list(record) == ["error"]
    error: dict[str, Any] = record["error"]
    assert ExitCode(error["code"]) == outcome.code
    assert ExitCode(error["code"]).name.lower() == error["name"]
    return error


def test_a_formula_has_a_line_a_column_and_what_was_expected(tmp_path: Path) -> None:
    outcome = attemper("compile", "a &\n  (b", "--alphabet", "ab", "-o", tmp_path / "x", "--json")
    error = error_of(outcome)
    assert (outcome.code, outcome.out) == (3, "")
    assert (error["line"], error["column"]) == (2, 5)
    assert "an operator (& | xor -> <-> S T U R W M)" in error["expected"]
    assert error["message"] == "the formula ends too early: is a bracket open, or an operand missing?"


def test_a_regular_expression_has_a_place(tmp_path: Path) -> None:
    outcome = attemper("classify", "regex:(a", "--alphabet", "ab", "--json")
    assert (error_of(outcome)["line"], error_of(outcome)["column"]) == (1, 1)


def test_results_stay_on_the_standard_output_when_a_word_cannot_be_read(folder: Path) -> None:
    outcome = attemper("run", folder, "ab", "bac", "--json")
    assert [record["accepted"] for record in outcome.records] == [True]
    error = error_of(outcome)
    assert (error["code"], error["word"], error["position"]) == (5, 2, 3)
    traced = error_of(attemper("trace", folder, "bc", "--json"))
    assert (traced["code"], traced["position"]) == (5, 2)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "no-such-folder", "a"), 6),
        (("run", "{}"), 2),
        (("run", "{}", "a", "--dtype", "float16"), 2),
        (("conquer",), 2),
        (("classify", "regex:a", "--alphabet", "aa"), 5),
        (("certify", "no-such-folder"), 6),
        (("check", "{}", "--seconds", "-1"), 2),
        (("refute", "{}", "zoo:dyck2", "--length", "8"), 4),
        (("show", "no-such-file"), 6),
        (("lemma", "--c", "99"), 2),
        (("trace", "{}", "x"), 5),
        (("verify", "{}", "--up-to", "60"), 4),
        (("show", "no-such-folder"), 6),
        (("to-formula", "regex:a"), 2),
        (("compile", "G (a -> F b)", "--alphabet", "ab", "-o", "{}"), 3),
    ],
)
def test_every_command_speaks_json(folder: Path, arguments: tuple[str, ...], code: int) -> None:
    outcome = attemper(*(argument.format(folder) for argument in arguments), "--json")
    assert outcome.code == code, outcome
    assert error_of(outcome)["message"]
    assert outcome.out == ""


def test_a_word_that_looks_like_the_option_is_none(folder: Path) -> None:
    outcome = attemper("run", folder, "--", "--json")
    assert outcome.err.startswith("error: word 1: symbol '-' at position 1")


def test_an_interrupt_is_json_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("attemper.workbench.verify.verify", interrupted)
    outcome = attemper("verify", folder, "--json")
    assert outcome.code == ExitCode.INTERRUPTED
    assert error_of(outcome)["message"] == "interrupted"


NOT_BUILT = """alphabet a b
d = count[j <= i] in 'a'
output rightmost[j <= i : d(j) < d(i)] in 'a' else false
"""


def test_a_refused_part_of_a_program_is_shown_as_one_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "p.rasp"
    file.write_text(NOT_BUILT, encoding="utf-8")
    arguments = ("compile", f"program:{file}", "-o", tmp_path / "x")
    said = attemper(*arguments).err.splitlines()
    assert said[0].endswith("(line 3, column 27)")
    assert said[1].endswith(NOT_BUILT.splitlines()[2])
    assert said[2] == f"    {' ' * 26}^"
    error = error_of(attemper(*arguments, "--json"))
    assert (error["code"], error["line"], error["column"]) == (4, 3, 27)
    assert "no other comparison of the two is built" in error["message"]


def test_steps_that_the_checking_process_cannot_read_have_a_message_of_one_line(
    folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "steps.txt"
    file.write_text('alphabet ["a", "b"]\ns0 = lettr ["a"]\noutput s0\n', encoding="utf-8")
    error = error_of(attemper("check", folder, "--against", f"program:{file}", "--json"))
    assert (error["code"], error["line"]) == (3, 2)
    assert "\n" not in error["message"]
    assert "(line 2" not in error["message"]
    said = attemper("check", folder, "--against", f"program:{file}").err.splitlines()
    assert (said[1].strip(), said[2].strip()) == ('s0 = lettr ["a"]', "^")
