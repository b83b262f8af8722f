"""Everything that a command prints fits the terminal: no line is wider than COLUMNS."""

from __future__ import annotations

import fcntl
import io
import json
import os
import re
import struct
import sys
import termios
from collections.abc import Iterator
from contextlib import chdir, redirect_stdout
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attemper.languages.named.entry import Entry, FormulaText, Rasp, Regex, SourceText
from attemper.registry import COMMANDS
from attemper.workbench import demo
from attemper.workbench.cli.app import main
from attemper.workbench.cli.console import NARROWEST, out, wrapped
from attemper.workbench.report.attention import PLAIN_SHADES, SHADES, STEPS
from tests.support.cli.command_line import attemper

WIDTHS = (80, 100)
NAMES = [f"net{number}" for number in range(len(demo.SHOWN))]
EXPRESSIONS = [(one.text, " ".join(entry.alphabet)) for entry, one in demo.SHOWN if isinstance(one, Regex)]
PROVED = [("net3", 80), ("net6", 100), ("net10", 80)]
"""MAJORITY, flip-flop and the multiples of three: a check is a process, so not every network has one."""


def symbols_of(name: str, length: int) -> str:
    """A word for the network of this name."""
    symbols = demo.SHOWN[NAMES.index(name)][0].alphabet
    return (" " if max(map(len, symbols)) > 1 else "").join(islice(cycle(symbols), length))


def source_of(name: str) -> list[str]:
    """What `compile` is told; a program is written to a file here."""
    entry, source = demo.SHOWN[NAMES.index(name)]
    alphabet = " ".join(entry.alphabet)
    if isinstance(source, Regex):
        return [f"regex:{source.text}", "--alphabet", alphabet]
    if isinstance(source, Rasp):
        Path(f"{name}.rasp").write_text(source.text, encoding="utf-8")
        return [f"program:{name}.rasp"]
    assert isinstance(source, FormulaText)
    return [source.text, "--alphabet", alphabet, "--at", "last"]


def too_wide(text: str, columns: int) -> list[str]:
    """The lines that are wider, but for those that are one thing without a blank in it."""
    wide = (line for line in text.splitlines() if cell_len(line) > columns)
    return [line for line in wide if len(line.split()) > 1]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[str, int], str]]:
    """What `compile --explain` says of every network of the demo, at one width each; its folders lie here."""
    with chdir(tmp_path_factory.mktemp("terminal")):
        said = {}
        for name, columns in zip(NAMES, cycle(WIDTHS), strict=False):
            done = attemper("compile", *source_of(name), "-o", name, "--explain", columns=columns)
            assert done.code == 0, done.err
            said[name, columns] = done.out
        yield said


def test_compile_explains_on_lines_that_fit(compiled: dict[tuple[str, int], str]) -> None:
    for (name, columns), text in compiled.items():
        assert "pass assemble" in text
        assert too_wide(text, columns) == [], name


@pytest.mark.sweep(5)
@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_networks_are_shown_run_and_traced_on_lines_that_fit(
    compiled: dict[tuple[str, int], str], name: str, columns: int
) -> None:
    short, lecture, long = (symbols_of(name, length) for length in (5, 19, 120))
    commands: list[tuple[object, ...]] = [
        ("show", name),
        ("trace", name, lecture),
    ]
    if columns == min(WIDTHS):
        commands += [
            ("run", name, short, lecture, long),
            ("trace", name, short, "--position", 2),
            ("trace", name, long, "--head", 0, "--position", 60),
        ]
    for command in commands:
        done = attemper(*command, columns=columns)
        assert done.code == 0, done.err
        assert too_wide(done.out, columns) == [], command


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("name", "columns"), PROVED)
def test_certificates_are_made_and_checked_on_lines_that_fit(
    compiled: dict[tuple[str, int], str], name: str, columns: int
) -> None:
    verify = ("verify", name, "--up-to", 1, "--count", 2, "--longest", 9)
    for command in (
        verify,
        ("run", name, symbols_of(name, 200)),
        ("certify", name),
        ("check", name, "--explain", "--all"),
    ):
        done = attemper(*command, columns=columns)
        assert done.code == 0, done.err
        assert too_wide(done.out, columns) == [], command
    digest = re.compile(r"  digest: [0-9a-f]{64}")
    assert any(digest.fullmatch(line) for line in done.out.splitlines()), "a digest stands on one line"


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("expression", "columns"), [*zip(EXPRESSIONS, cycle((80, 80, 100)), strict=False)])
def test_classes_and_formulas_are_said_on_lines_that_fit(expression: tuple[str, str], columns: int) -> None:
    regex, alphabet = expression
    for command in ("classify", "to-formula"):
        done = attemper(command, f"regex:{regex}", "--alphabet", alphabet, columns=columns)
        if done.code != 4:  # formulas cannot say every language
            assert done.code == 0, done.err
        assert too_wide(done.out + done.err, columns) == [], command


@pytest.mark.parametrize("columns", WIDTHS)
def test_restrictions_are_shown_on_lines_that_fit(compiled: dict[tuple[str, int], str], columns: int) -> None:
    options = ("--length", 150, "--free", 0.1, "-o", "found.json")
    for language in (("net5", "zoo:parity"), ("net6", "dfa:odd.json")):
        symbols = ["w0", "w1", "r0", "r1", "i"]
        rows = {q: {s: q if s != "i" else str(1 - int(q)) for s in symbols} for q in "01"}
        record = {"alphabet": symbols, "states": ["0", "1"], "start": "0", "accepting": ["1"], "moves": rows}
        Path("odd.json").write_text(json.dumps(record), encoding="utf-8")
        found = attemper("refute", *language, *options, columns=columns)
        assert found.code == 0, found.out + found.err
        shown = attemper("show", "found.json", columns=columns)
        assert shown.code == 0, shown.err
        assert too_wide(found.out + shown.out, columns) == []
        begins = [int(number) for number in re.findall(r"^ +(\d+)  allowed", shown.out, re.MULTILINE)]
        assert len(begins) > 1
        assert {number % 10 for number in begins} == {1}, "lines begin with round numbers"


@pytest.mark.parametrize("columns", WIDTHS)
def test_lemma_help_and_errors_fit(columns: int, tmp_path: Path) -> None:
    names = [command.name for command in COMMANDS]
    assert len(names) >= 12
    for command in (
        ("lemma", "--c", 3),
        ("lemma", "--length", 30, "--k", 16),
        ("--help",),
        *((name, "--help") for name in names),
        ("compile", "O '1' & " * 30 + "(", "--alphabet", "01", "-o", tmp_path),
        ("compile", "X F a", "--alphabet", "ab", "-o", tmp_path, "--regime", "decoder", "--at", "first"),
        ("show", "no such folder"),
        ("run", "--nonsense"),
    ):
        done = attemper(*command, columns=columns)
        assert done.out + done.err != ""
        assert too_wide(done.out + done.err, columns) == [], command


def test_sixty_letters_are_shown_in_eighty_columns(tmp_path: Path) -> None:
    alphabet = " ".join(f"s{number}" for number in range(60))
    with chdir(tmp_path):
        assert attemper("compile", "O s7", "--alphabet", alphabet, "-o", "many").code == 0
        for command in (("show", "many"), ("trace", "many", "s1 s7 s59"), ("run", "many", "s1 s7")):
            done = attemper(*command, columns=80)
            assert done.code == 0
            assert too_wide(done.out, 80) == []
        assert "s0 s1 s2" in attemper("show", "many", columns=80).out


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_demo_fits(columns: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The table for all languages, with numbers as wide as they can be; the rows are computed elsewhere."""

    def row(entry: Entry, source: SourceText, regime: Any) -> demo.DemoRow:
        numbers = (5, 28, 10_364, 1_818, 2_000, 0.21284)
        return demo.DemoRow(demo.title(entry, source), regime.value, *numbers, True, "PROVED", 2_097_151)

    with mock.patch.object(demo, "demo_row", row), mock.patch.dict(os.environ, {"COLUMNS": str(columns)}):
        demo.main()
    shown = capsys.readouterr().out
    assert too_wide(shown, columns) == []
    assert shown.count("2,097,151") == 3 * len(demo.SHOWN), "no number is broken"
    assert "temperature" in shown


# What is shown is what was computed -----------------------------------------------------------------


def shaded_rows(text: str) -> dict[int, str]:
    """The rows of a shaded head, by their position."""
    shown = re.findall(rf"^>?(\d+) +\S+ +([{SHADES}]+)", text, flags=re.MULTILINE)
    return {int(position): shades for position, shades in shown}


def shade_of(weight: float) -> str:
    return SHADES[sum(weight >= step for step in STEPS)]


def test_shades_are_those_of_the_weights(compiled: dict[tuple[str, int], str]) -> None:
    word = symbols_of("net3", 19)
    (head,) = (
        one
        for one in attemper("trace", "net3", word, "--layer", 1, "--json").records
        if one["kind"] == "head"
    )
    done = attemper("trace", "net3", word, "--layer", 1, columns=80)
    assert shaded_rows(done.out) == {
        i: "".join(map(shade_of, row)) for i, row in enumerate(head["soft"], start=1)
    }
    assert "weights: · below 0.0005, ░ below 0.25, ▒ below 0.5, ▓ below 0.75, █ from 0.75" in done.out
    assert len(set(done.out) & set(SHADES)) >= 4


def test_a_window_says_how_much_lies_outside(compiled: dict[tuple[str, int], str]) -> None:
    word = symbols_of("net3", 200)
    options = ("--layer", 0, "--position", 100)
    done = attemper("trace", "net3", word, *options, columns=80)
    first, last, length = map(int, re.findall(r"; positions (\d+) to (\d+) of (\d+)", unwrapped(done.out))[0])
    assert first < 100 < last
    assert length == 200
    assert set(shaded_rows(done.out)) == set(range(first, last + 1))
    # Head 0 attends uniformly to positions up to i: first - 1 of them lie before the window.
    outside = re.findall(r"^>?(\d+) .* ([\d.]+) +1-\d+ *$", done.out, flags=re.MULTILINE)
    assert len(outside) == last - first + 1
    for i, weight in outside:
        assert float(weight) == pytest.approx((first - 1) / int(i), abs=0.0005)
    assert "\n>100 " in done.out, "the position asked for is marked"
    assert "position 100 attends to 1:0.010000, 2:0.010000" in done.out
    assert "others:0.920000" in unwrapped(done.out)


def unwrapped(text: str) -> str:
    return re.sub(r"\n +", " ", text)


def test_numbers_are_shown_where_they_fit(compiled: dict[tuple[str, int], str]) -> None:
    done = attemper("trace", "net3", "0110", "--layer", 0, "--position", 3, columns=80)
    rows = [line.split() for line in done.out.splitlines() if re.match(r">?\d ", line)]
    assert rows == [
        ["1", "0", "1.000", ".", ".", ".", "1"],
        ["2", "1", "0.500", "0.500", ".", ".", "1-2"],
        [">3", "1", "0.333", "0.333", "0.333", ".", "1-3"],
        ["4", "0", "0.250", "0.250", "0.250", "0.250", "1-4"],
    ]
    assert "position 3 attends to 1:0.333333, 2:0.333333, 3:0.333333; hard attention to 1-3" in done.out


def test_truth_stands_below_the_symbols(compiled: dict[tuple[str, int], str]) -> None:
    lines = attemper("trace", "net3", "0110010111", columns=80).out.splitlines()
    start = lines[3].index("1234567890")
    assert [line[start:].rstrip() for line in lines[2:5]] == ["         1", "1234567890", "0110010111"]
    assert lines[4].startswith("subformula ")
    assert (lines[6][:3], lines[6][start:].rstrip()) == ("'0'", "1..11.1...")


def test_symbols_of_several_characters_stand_above_their_truth(
    compiled: dict[tuple[str, int], str],
) -> None:
    lines = attemper("trace", "net6", "w0 i r0 r1", columns=80).out.splitlines()
    start = lines[3].index("w0")
    assert lines[3][start:].rstrip() == "w0 i  r0 r1"
    (row,) = (line for line in lines if line.startswith("w0 "))
    assert row[start:].rstrip() == "1  .  .  ."


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--layer", 2), "there is no layer 2: the network has 2, counted from 0"),
        (("--head", 1), "there is no head 1 in any layer: there are 1, counted from 0"),
        (("--layer", 1, "--head", 3), "there is no head 3 in layer 1: there are 1, counted from 0"),
        (("--position", 5), "there is no position 5: the word has 4"),
        (("--position", 2, "--json"), "--position is for the text: --json has all positions"),
    ],
)
def test_what_is_not_there_cannot_be_traced(
    compiled: dict[tuple[str, int], str], options: tuple[object, ...], message: str
) -> None:
    done = attemper("trace", "net3", "0110", *options)
    assert (done.code, done.out) == (2, "")
    assert message in done.err


def test_a_layer_and_a_head_can_be_picked(compiled: dict[tuple[str, int], str]) -> None:
    assert len({record["layer"] for record in heads_of("net10")}) > 2
    assert {record["layer"] for record in heads_of("net10", "--layer", 3)} == {3}
    assert {record["head"] for record in heads_of("net10", "--head", 1)} == {1}
    (only,) = heads_of("net10", "--layer", 4, "--head", 1)
    text = attemper("trace", "net10", "0110", "--layer", 4, "--head", 1).out
    assert re.findall(r"^layer (\d+), head (\d+)", text, flags=re.MULTILINE) == [("4", "1")]
    assert (only["layer"], only["head"]) == (4, 1)
    assert heads_of("net10", "--layer", 2) == []
    assert "\nno heads\n" in attemper("trace", "net10", "0110", "--layer", 2).out


def heads_of(name: str, *options: object) -> list[dict[str, Any]]:
    records = attemper("trace", name, "0110", *options, "--json").records
    return [record for record in records if record["kind"] == "head"]


def test_json_is_never_wrapped(compiled: dict[tuple[str, int], str]) -> None:
    for command in (("show", "net10"), ("trace", "net10", "0110"), ("run", "net10", "01" * 99)):
        done = attemper(*command, "--json", columns=80)
        assert done.records
        assert max(map(len, done.out.splitlines())) > 300


def test_a_terminal_that_knows_ascii_only_gets_ascii_shades(
    compiled: dict[tuple[str, int], str],
) -> None:
    raw = io.BytesIO()
    argv = ["attemper", "trace", "net3", symbols_of("net3", 19)]
    ascii_only = redirect_stdout(io.TextIOWrapper(raw, encoding="ascii"))
    with mock.patch.object(sys, "argv", argv), ascii_only, pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    text = raw.getvalue().decode("ascii")
    assert "\\u" not in text
    assert f"weights: {PLAIN_SHADES[0]} below 0.0005, {PLAIN_SHADES[1]} below 0.25" in text


# How wide a line is ---------------------------------------------------------------------------------


def test_a_pipe_has_a_hundred_columns(compiled: dict[tuple[str, int], str]) -> None:
    piped = attemper("show", "net10", columns=None).out
    assert re.search(" $", piped, flags=re.MULTILINE) is None, "tables do not end in blanks"
    assert piped == attemper("show", "net10", columns=100).out
    assert 80 < max(map(cell_len, piped.splitlines())) <= 100


@pytest.mark.parametrize(
    ("terminal", "said", "columns"),
    [
        (72, "", 72),
        (180, "", 100),
        (180, "150", 150),
        (72, "0", 72),
        (72, "wide", 72),
        (0, "", 100),
        (9, "", 40),
    ],
)
def test_a_terminal_is_as_wide_as_it_says(terminal: int, said: str, columns: int) -> None:
    leader, follower = os.openpty()
    try:
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 25, terminal, 0, 0))
        with (
            os.fdopen(os.dup(follower), "w", encoding="utf-8") as stream,
            redirect_stdout(stream),
            mock.patch.dict(os.environ, {"COLUMNS": said}),
        ):
            assert out.columns == columns
    finally:
        os.close(leader)
        os.close(follower)


def test_what_is_in_quotes_stays_on_one_line() -> None:
    text = "restore both files; 'attemper check DIR --edited' judges the weights as they are, model's too"
    assert wrapped(text, 45) == [
        "restore both files;",
        "  'attemper check DIR --edited' judges the",
        "  weights as they are, model's too",
    ]
    formula = "  error: 'O '1' & O '0'' is the formula"
    assert wrapped(formula, 30) == ["  error: 'O '1' & O '0'' is", "    the formula"]


def test_what_is_in_quotes_and_longer_than_a_line_is_broken_at_blanks() -> None:
    assert wrapped("say 'one two three four five six seven'", 20) == [
        "say 'one two three",
        "  four five six",
        "  seven'",
    ]


def test_blanks_alone_are_an_empty_line() -> None:
    assert wrapped(" " * 200, 80) == [""]


def test_wide_characters_count_twice() -> None:
    assert wrapped("日本語 日本語 日本語", 14) == ["日本語 日本語", "  日本語"]


@given(
    st.lists(st.text("ab'(=,日", min_size=1, max_size=30), min_size=1, max_size=30),
    st.integers(0, 6),
    st.integers(NARROWEST, 90),
)
def test_wrapping_loses_nothing(words: list[str], indent: int, width: int) -> None:
    text = " " * indent + " ".join(words)
    lines = wrapped(text, width)
    assert " ".join(lines).split() == words
    assert all(cell_len(line) <= width or len(line.split()) == 1 for line in lines)
    assert all(line.startswith(" " * (indent + 2)) for line in lines[1:])
