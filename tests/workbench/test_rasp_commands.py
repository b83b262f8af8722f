"""Programs as people write them, from the text to a proved network: Python and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

import attemper
from attemper import rasp
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, OptionError, SourceError
from attemper.languages.rasp.program import parse_rasp
from attemper.rasp import i, j
from attemper.workbench.options import RegimeName
from tests.support.cli.command_line import attemper as command
from tests.support.judges.rasp import RaspMeaning, words_to

BRACKETS = """alphabet ( [ ) ]
empty accept
left    = in '(' '['
depth   = count[j <= i] left - count[j <= i] !left
kind    = in '(' ')' ? round : square
opened  = rightmost[j < i : left(j)] kind(j) else none
output !some[j <= i] (depth < 0 | !left & previous left & opened != kind) & depth = 0
"""
"""Brackets that balance, and a bracket right behind an opening one is of its kind."""

FIRST = "alphabet a b\nempty accept\noutput at first next in 'a' else true\n"

LAST_OF_KIND = """alphabet a b c
kind   = in 'a' ? vowel : consonant
before = rightmost[j < i : kind(j) = kind(i)] symbol(j) else none
output before
"""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("text", [BRACKETS, FIRST])
@pytest.mark.parametrize("regime", ["temperature", "unbounded"])
def test_a_text_is_what_its_network_computes(text: str, regime: RegimeName) -> None:
    model = attemper.compile(attemper.program(text), regime=regime)
    found = parse_rasp(text)
    assert model.accepts("") == found.accepts_empty
    for word in words_to(found.program.alphabet, 5 if text == FIRST else 4):
        truth = RaspMeaning(found.source, word).outputs()
        assert model.accepts(word) == truth[0 if str(found.at) == "first" else -1], word
    assert model.check(model.certify()).status is Status.PROVED


def test_python_values_compile() -> None:
    seen = rasp.some(where=rasp.symbol(i) == rasp.symbol(j), mask="<")
    found = rasp.program(~rasp.some(seen), alphabet="abc", accepts_empty=True)
    model = attemper.compile(attemper.program(found), regime="temperature")
    assert [model.accepts(word) for word in ("", "abc", "aba", "abca")] == [True, True, False, False]


def test_a_text_says_itself_how_it_is_read() -> None:
    for options in ({"at": "last"}, {"empty": "accept"}):
        with pytest.raises(OptionError, match="already says this itself: leave it out"):
            attemper.compile(attemper.program(FIRST), **options)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="the first line is the alphabet"):
        attemper.program("empty accept\noutput true\n")


@pytest.mark.sweep(0)
def test_commands_on_a_text(tmp_path: Path) -> None:
    file, folder = tmp_path / "kinds.rasp", tmp_path / "kinds"
    # Some editors begin a file with a mark that says how bytes become characters, and end lines by two.
    file.write_bytes(b"\xef\xbb\xbf" + LAST_OF_KIND.replace("\n", "\r\n").encode())
    outcome = command("compile", f"program:{file}", "--regime", "temperature", "-o", folder)
    assert outcome.code == 0, outcome.err
    assert command("check", folder).code == 0
    assert command("run", folder, "abca").out.split() == ["abca", "none", "none", "b", "a"]
    assert command("verify", folder, "--up-to", "4", "--count", "20", "--longest", "40").code == 0
    (record,) = command("show", file, "--json").records
    assert record == {
        "class": "B-RASP: star-free",
        "alphabet": "a b c",
        "puts out": "one of a b c none at every position",
        "steps": "9",
        "types": {"kind": "Symbol{vowel, consonant}", "before": "Symbol{a, b, c, none}"},
    }


NAMED = """alphabet ( [ ) ]
empty accept
left    = in '(' '['
depth   = count[j <= i] left - count[j <= i] !left
kind    = in '(' ')' ? round : square
partner = nearest rightmost[j <= i : left(j), depth(j) ~ depth(i) + 1] kind
wrong   = !left & partner != kind
output !some[j <= i] (depth < 0 | wrong) & depth = 0
"""


@pytest.mark.sweep(0)
def test_names_of_a_text_are_seen_in_labels_and_traces(tmp_path: Path) -> None:
    file, folder = tmp_path / "dyck.rasp", tmp_path / "net"
    file.write_text(NAMED)
    assert command("compile", f"program:{file}", "-o", folder).code == ExitCode.OK
    model = attemper.load(folder)
    assert model.rasp == NAMED
    labels = model.network.coordinates
    assert {"attended partner = round", "key of depth"} <= set(labels)
    assert any(label.startswith("average <= of") and "(left)" in label for label in labels)
    traced = command("trace", folder, "([])").out
    for line in ('left: s0 = letter ["(", "["]', "wrong: s", "partner = round: s", "partner = square: s"):
        assert line in traced
    assert "writes attended partner = round" in traced
    assert command("check", folder).code == ExitCode.OK


def test_a_text_beside_another_network_names_nothing(tmp_path: Path) -> None:
    attemper.compile(attemper.program(NAMED)).save(tmp_path)
    (tmp_path / "network.rasp").write_text(NAMED.replace("square", "angular"))
    shown = [text for text, _ in attemper.load(tmp_path).trace("([])").subformulas]
    assert any(text.startswith("partner = angular: s") for text in shown)
    for other in (NAMED.replace("!left &", "left &"), "nonsense", "\ud800", ""):
        (tmp_path / "network.rasp").write_text(other, errors="surrogatepass")
        shown = [text for text, _ in attemper.load(tmp_path).trace("([])").subformulas]
        assert shown[0] == "'(' or '[': s0 = letter [\"(\", \"[\"]"
    attemper.compile(attemper.program(FIRST)).save(tmp_path)
    assert attemper.load(tmp_path).language.written == FIRST
    attemper.compile("O a", "ab").save(tmp_path)
    assert not (tmp_path / "network.rasp").exists()


def test_values_of_python_have_their_names_too() -> None:
    late = rasp.previous(rasp.is_in("a")).named("late")
    model = attemper.compile(attemper.program(rasp.program(~late, alphabet="ab", accepts_empty=True)))
    assert "late: s1 = previous s0 default 0" in [text for text, _ in model.trace("ab").subformulas]


@pytest.mark.sweep(0)
def test_a_network_is_checked_against_a_text(tmp_path: Path) -> None:
    """The checker reads the steps that the text is turned into, and the output says so."""
    file, other, folder = tmp_path / "first.rasp", tmp_path / "other.rasp", tmp_path / "net"
    file.write_text(FIRST)
    assert command("compile", f"program:{file}", "-o", folder).code == ExitCode.OK
    (folder / "certificate.json").unlink()
    checked = command("check", folder, "--against", f"program:{file}")
    assert checked.code == ExitCode.OK
    said = "PROVED: all lengths, in real arithmetic\n  language: an attention program of 2 steps: s0 = letter"
    assert checked.out.startswith(said)
    assert command("check", folder, "--against", f"program:{file}", "--edited").code == ExitCode.OK
    record = command("check", folder, "--against", f"program:{file}", "--json").record
    assert (record["verdict"], record["against"]) == ("PROVED", f"program:{file}")
    steps = tmp_path / "first.program"
    steps.write_text(command("show", file, "--steps").out)
    assert command("show", folder, "--steps").out == steps.read_text()
    assert command("check", folder, "--against", f"program:{steps}").out == checked.out
    other.write_text(FIRST.replace("true", "false"))
    assert command("check", folder, "--against", f"program:{other}").code == ExitCode.REFUTED


@pytest.mark.parametrize(
    ("changed", "code", "said"),
    [
        (("at first ", ""), ExitCode.REFUTED, "it is read in another way than is claimed"),
        (("accept", "reject"), ExitCode.REFUTED, "it is read in another way than is claimed"),
        (("'a'", "'c'"), ExitCode.SOURCE, "symbol 'c' is not in the alphabet"),
    ],
)
def test_a_text_that_is_read_in_another_way_is_no_text_of_the_network(
    tmp_path: Path, changed: tuple[str, str], code: ExitCode, said: str
) -> None:
    file, folder = tmp_path / "first.rasp", tmp_path / "net"
    attemper.compile(attemper.program(FIRST)).save(folder)
    file.write_text(FIRST.replace(*changed))
    checked = command("check", folder, "--against", f"program:{file}")
    assert checked.code == code
    assert said in " ".join((checked.out + checked.err).split())


def test_a_text_without_a_network_is_what_the_checker_says(tmp_path: Path) -> None:
    file = tmp_path / "first.rasp"
    file.write_text(FIRST)
    assert command("check", tmp_path / "nowhere", "--against", f"program:{file}").code == ExitCode.FILE
    assert (
        command("check", tmp_path / "nowhere", "--against", f"program:{tmp_path / 'no.rasp'}").code
        != ExitCode.OK
    )
    attemper.compile("O a", "ab").save(tmp_path / "formula")
    for folder, options in ((tmp_path / "formula", ("--steps",)), (file, ("--steps", "--json"))):
        assert command("show", folder, *options).code == ExitCode.USAGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alphabet a\nempty reject\noutput count[j <= i] true > 2", "C-RASP: counting only"),
        ("alphabet a\nempty reject\noutput len > 2", "neither B-RASP nor C-RASP"),
    ],
)
def test_the_class_is_shown(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "one.rasp"
    file.write_text(text, encoding="utf-8")
    lines = command("show", file).out.splitlines()
    assert lines[0] == f"class     {expected}"
    assert "read at   the last position; empty word: reject" in lines


@pytest.mark.parametrize(
    ("text", "options", "code", "said"),
    [
        ("alphabet a\nempty reject\noutput in 'b'", (), ExitCode.SOURCE, "line 3, column 11"),
        ("alphabet a\nempty reject\noutput pos", (), ExitCode.SOURCE, "line 3, column 8"),
        ("alphabet a\noutput pos + len", (), ExitCode.UNSUPPORTED, "line 2, column 8"),
        ("alphabet a\noutput {a: 1/2}", (), ExitCode.SOURCE, "line 2, column 8"),
        (FIRST, ("--at", "last"), ExitCode.USAGE, "a program says this itself"),
        (FIRST, ("--alphabet", "ab"), ExitCode.USAGE, "a program has its own"),
        (FIRST, ("--regime", "decoder"), ExitCode.UNSUPPORTED, "decoder"),
    ],
)
def test_errors_of_texts(
    tmp_path: Path, text: str, options: tuple[str, ...], code: ExitCode, said: str
) -> None:
    file = tmp_path / "bad.rasp"
    file.write_text(text, encoding="utf-8")
    outcome = command("compile", f"program:{file}", *options, "-o", tmp_path / "out")
    assert outcome.code == code
    assert said in outcome.err
    assert "Traceback" not in outcome.err
    assert not (tmp_path / "out").exists()


def test_a_missing_text_is_a_missing_file(tmp_path: Path) -> None:
    for arguments in (
        ("show", tmp_path / "none.rasp"),
        ("compile", f"program:{tmp_path / 'none.rasp'}", "-o", "x"),
    ):
        outcome = command(*arguments)
        assert outcome.code == ExitCode.FILE
        assert "Traceback" not in outcome.err
