"""What surprises a stranger is said: quotes, empty words, networks that are replaced or not proved."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from attemper.certifying.choosing import Chosen
from attemper.errors import ExitCode
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.syntax import BinaryOperator, UnaryOperator
from attemper.languages.temporal.vacuous import holds_of_the_empty_word
from attemper.registry import COMMANDS
from attemper.workbench.cli import compiling, running
from attemper.workbench.cli.progress import doing
from attemper.workbench.folder import load
from tests.support.cli.command_line import Outcome, attemper


def compiled(folder: Path, formula: str, alphabet: str, *options: object) -> Outcome:
    return attemper("compile", formula, "--alphabet", alphabet, "-o", folder, *options)


# Letters and other people's notations ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "alphabet", "message"),
    [
        ("O α", "αβ", "write 'α' in quotes: O 'α' (line 1, column 3)"),
        ("a & O 🙂", "a🙂", "write '🙂' in quotes: a & O '🙂' "),
        ("a & (α | b)", "aαb", "write 'α' in quotes: a & ('α' | b) "),
        ("O λx", "λ λx", "write 'λx' in quotes: O 'λx' "),
        ("O + & a", "+a", "the formula breaks off before '+' (as a symbol write '+')"),
        ("O '", "'a", 'a quotation mark is not closed (as a symbol write "\'")'),
        ("O A", "A b", "as a symbol quote it: 'A'"),
        ("O γ", "ab", "unexpected 'γ'"),
    ],
)
def test_a_letter_that_must_be_quoted_is_named_with_its_quotes(
    tmp_path: Path, formula: str, alphabet: str, message: str
) -> None:
    outcome = compiled(tmp_path / "x", formula, alphabet)
    assert outcome.code == ExitCode.SOURCE
    assert message in outcome.err


def test_what_such_a_message_says_to_write_is_a_formula(tmp_path: Path) -> None:
    said = compiled(tmp_path / "x", "a & O α", "aα").err.splitlines()[0]
    better = said.split("in quotes: ")[1].removesuffix(" (line 1, column 7)")
    assert compiled(tmp_path / "x", better, "aα").code == ExitCode.OK


@pytest.mark.parametrize(
    ("regex", "message"),
    [
        ("^a$", "an expression is always about the whole word, so leave ^ and $ out"),
        ("a$", "an expression is always about the whole word, so leave ^ and $ out"),
        (r"\d", "symbol '\\' is not in the alphabet {a b}; there are no escapes: write [0-9] for a digit"),
    ],
)
def test_other_regular_expressions_are_met_with_a_sentence(regex: str, message: str) -> None:
    outcome = attemper("classify", f"regex:{regex}", "--alphabet", "ab")
    assert outcome.code == ExitCode.SOURCE
    assert message in outcome.err


def test_an_option_that_does_not_exist_is_named_without_a_librarys_words(tmp_path: Path) -> None:
    outcome = compiled(tmp_path / "x", "a", "ab", "--regime", "temprature")
    assert "'temprature' is not one of 'unbounded', 'temperature', 'decoder'" in outcome.err
    assert "Value error" not in outcome.err


# Words ----------------------------------------------------------------------------------------------


def test_run_without_words_says_what_is_missing(tmp_path: Path) -> None:
    compiled(tmp_path / "once", "O a", "ab")
    outcome = attemper("run", tmp_path / "once")
    assert outcome.code == ExitCode.USAGE
    assert "there is no word to run: give words ('' is the empty one) or --words FILE" in outcome.err
    assert "not both" in attemper("run", tmp_path / "once", "a", "--words", "-").err


def test_a_byte_order_mark_is_no_symbol(tmp_path: Path) -> None:
    compiled(tmp_path / "once", "O a", "ab")
    (tmp_path / "words").write_bytes(b"\xef\xbb\xbfab\r\nb\n")
    outcome = attemper("run", tmp_path / "once", "--words", tmp_path / "words", "--json")
    assert [record["word"] for record in outcome.records] == [["a", "b"], ["b"]]
    (tmp_path / "words").write_bytes(b"ab\n\xef\xbb\xbfb\n")
    assert attemper("run", tmp_path / "once", "--words", tmp_path / "words").code == ExitCode.WORD


def test_check_of_a_file_that_is_missing_says_so(tmp_path: Path) -> None:
    outcome = attemper("check", tmp_path / "mine.json")
    assert outcome.code == ExitCode.FILE
    assert f"there is no '{tmp_path / 'mine.json'}': give the folder of a network" in outcome.err
    assert (outcome.out, "of a depth (depth -o)" in outcome.err) == ("", True)


@pytest.mark.parametrize("text", ["# A page\n", "{}", '{"format": "attemper-circuit/2"}'])
def test_check_of_another_file_names_all_that_is_checked(text: str, tmp_path: Path) -> None:
    (tmp_path / "page").write_text(text, encoding="utf-8")
    outcome = attemper("check", tmp_path / "page")
    assert outcome.code == ExitCode.FILE
    assert outcome.out.startswith("MALFORMED: ")
    for kind in (
        "folder of a network",
        "refutation (refute -o)",
        "bound (bound -o)",
        "depth (depth -o)",
    ):
        assert kind in outcome.out
    assert "is no refutation" not in outcome.out


# The empty word -------------------------------------------------------------------------------------

NOTE = "note: the empty word is rejected, though the formula holds there; --empty accept accepts it\n"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("formula", "options", "noted"),
    [
        ("G (a -> F b)", ("--at", "first"), True),
        ("H a", (), True),
        ("#<[a] <= #<[b]", (), True),
        ("O a", (), False),
        ("H a", ("--empty", "accept"), False),
        ("H a", ("--empty", "reject"), False),
        ("#<[a] > #<[b]", (), False),
    ],
)
def test_the_empty_word_is_spoken_of_where_it_decides(
    tmp_path: Path, formula: str, options: tuple[str, ...], noted: bool
) -> None:
    outcome = compiled(tmp_path / "model", formula, "ab", *options)
    assert outcome.out.endswith(NOTE) is noted
    assert ("note: " in outcome.out) is noted
    record = compiled(tmp_path / "other", formula, "ab", *options, "--json").record
    assert len(record["notes"]) == noted


# Nothing said ---------------------------------------------------------------------------------------


def test_whoever_says_nothing_is_told_what_can_be_said() -> None:
    alone, asked = attemper(), attemper("--help")
    assert (alone.code, asked.code) == (ExitCode.USAGE, ExitCode.OK)
    assert (alone.out, alone.err) == (asked.out, "")
    assert all(f"\n  {command.name} " in alone.out for command in COMMANDS)


# Horizons -------------------------------------------------------------------------------------------

BRACKETS = "(a(a(a(a(a(ab)*b)*b)*b)*b)*b)*"


@pytest.mark.sweep(0)
def test_a_network_with_a_short_horizon_names_the_options_that_find_a_longer_one(tmp_path: Path) -> None:
    """The options that are printed are tried: what they find goes further, and nothing is said of it."""
    first = attemper("compile", f"regex:{BRACKETS}", "--alphabet", "ab", "-o", tmp_path / "first", "--json")
    (note,) = first.record["notes"]
    said = re.fullmatch(
        r"this network counts, and is proved up to (\d+) in float32 with normalise-first kernels; "
        r"4 layers of attention without counting may go further: try (--.*)",
        note,
    )
    assert said is not None
    assert (
        f"note: {note}\n"
        in attemper("compile", f"regex:{BRACKETS}", "--alphabet", "ab", "-o", tmp_path / "first").out
    )
    options = said[2].split()
    deeper = attemper(
        "compile", f"regex:{BRACKETS}", "--alphabet", "ab", "-o", tmp_path / "deeper", *options, "--json"
    ).record
    assert deeper["notes"] == []
    reached = {(one["format"], one["kernel"]): one["horizon"] for one in deeper["horizons"]}
    assert reached["float32", "normalise-first"] >= 100_000 > int(said[1])


@pytest.mark.parametrize("expression", ["a*b", "(aa)*", "(b*ab*a)*b*"])
def test_other_automata_have_no_note_on_the_horizon(tmp_path: Path, expression: str) -> None:
    """Of a group of counts there is no cascade without counting."""
    arguments = (f"regex:{expression}", "--alphabet", "ab", "-o", tmp_path / "model", "--json")
    assert attemper("compile", *arguments).record["notes"] == []


def test_every_operator_has_a_truth_where_there_is_no_position() -> None:
    """Strong operators are false there, their duals true, as in LTL of finite words."""
    strong = {"Y", "O", "X", "F"}
    for unary in UnaryOperator:
        expected = {"!": True}.get(unary.value, unary.value not in strong)
        assert holds_of_the_empty_word(parse(f"{unary.value} false")) is expected, unary
    gates = {"&": False, "|": True, "xor": True, "->": False, "<->": False}
    for binary in BinaryOperator:
        expected = gates.get(binary.value, binary.value not in {"S", "U", "M"})
        assert holds_of_the_empty_word(parse(f"true {binary.value} false")) is expected, binary


@pytest.mark.parametrize("formula", ["#<[a] <= 0", "#[a] != 1", "even(len)", "pos = 0", "2*#>[a] - 3 < 0"])
def test_counts_are_zero_where_there_is_no_position(formula: str) -> None:
    assert holds_of_the_empty_word(parse(formula))
    assert not holds_of_the_empty_word(parse(f"!({formula})"))


def test_gates_and_constants_mean_the_same_with_and_without_positions() -> None:
    for formula in ("true & !false", "false | true xor true", "(true -> false) <-> false"):
        assert holds_of_the_empty_word(parse(formula)) is truth(parse(formula), ("a",))[0]


# What is written ------------------------------------------------------------------------------------


def test_compile_says_that_a_network_was_replaced(tmp_path: Path) -> None:
    first = compiled(tmp_path / "model", "O a", "ab")
    second = compiled(tmp_path / "model", "O b", "ab")
    assert "in place of" not in first.out
    assert second.out.startswith(
        f"compiled O b (unbounded) to {tmp_path / 'model'}, in place of the network "
    )
    assert compiled(tmp_path / "model", "O b", "ab", "--json").record["replaced"] is True


def test_a_network_without_a_proof_has_a_code_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose = compiling.choose

    def unproved(*arguments: object) -> Chosen:
        found = choose(*arguments)  # type: ignore[arg-type]
        return Chosen(found.candidate, found.compiled, None, "no proof: " + "its blocks are too large, " * 40)

    monkeypatch.setattr(compiling, "choose", unproved)
    formula = " & ".join(["O a", "O b"] * 60)
    outcome = compiled(tmp_path / "model", formula, "ab")
    assert outcome.code == ExitCode.UNKNOWN == 12
    assert "NOT certified, it may be wrong: no proof: its blocks" in outcome.out
    assert all(len(line) < 200 + len(str(tmp_path)) for line in outcome.out.splitlines())
    assert attemper("run", tmp_path / "model", "ab").code == ExitCode.OK
    asked = compiled(tmp_path / "model", formula, "ab", "--json")
    assert asked.code == ExitCode.UNKNOWN
    assert asked.record["not_certified"].startswith("no proof: its blocks")
    assert asked.err == ""


# Work that takes long -------------------------------------------------------------------------------


def test_a_long_word_is_announced_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "LONG", 50)
    compiled(tmp_path / "once", "O a", "ab")
    assert attemper("run", tmp_path / "once", "ab" * 40).err == "", "nobody looks at a pipe"
    monkeypatch.setattr(running.err, "_force_terminal", True)
    shown = attemper("run", tmp_path / "once", "ab" * 40)
    assert shown.err.startswith("a word of 80 symbols: the time grows like n^2, so it takes about 0 s")
    assert shown.out.startswith("accepted")
    assert attemper("run", tmp_path / "once", "ab" * 20).err == ""
    assert attemper("run", tmp_path / "once", "ab" * 40, "--json").err == ""


def test_what_the_first_run_loads_is_not_taken_for_what_every_symbol_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled(tmp_path / "once", "O a", "ab")
    clock = iter([0, 200, 201])
    monkeypatch.setattr(running, "LONG", 50)
    monkeypatch.setattr(running, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    how: running.HowRun = {"weights": "soft", "dtype": "float64", "engine": "matrix", "device": "cpu"}
    said = running.forecast(load(tmp_path / "once"), ("a",) * 100, how)
    assert said == "a word of 100 symbols: the time grows like n^2, so it takes about 4 s"


@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (("compile", "-o", "x"), "compiling"),
        (("classify",), "making the automaton"),
        (("to-formula",), "making the automaton"),
        (("depth",), "depth"),
    ],
    ids=lambda some: str(some[0]),
)
def test_long_work_says_what_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], work: str
) -> None:
    said: list[str] = []
    begin = type(doing).begin
    monkeypatch.setattr(type(doing), "begin", lambda own, text: said.append(text) or begin(own, text))
    monkeypatch.chdir(tmp_path)
    assert attemper(*arguments, "regex:(ab)*", "--alphabet", "ab").code == ExitCode.OK
    assert {"reading the language", work} <= set(said)
