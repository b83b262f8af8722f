"""Every row of the registry: its help, every way to name a language, what is refused, and old spellings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import attemper as library
from attemper.errors import ExitCode
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.regex import parse_regex
from attemper.registry import COMMANDS, Command
from attemper.workbench.cli.retired import EVERYWHERE, RETIRED, Retired
from tests.support.cli.command_line import Outcome, attemper
from tests.support.cli.wheel_tour import ENCODERS

PANELS = ("Networks", "Languages", "Proofs", "Limits", "Data", "Exchange")

ASKED: dict[str, tuple[str, ...]] = {
    "compile": ("LANGUAGE", "-o", "out"),
    "classify": ("LANGUAGE",),
    "depth": ("LANGUAGE",),
    "same": ("LANGUAGE", "LANGUAGE"),
    "to-formula": ("LANGUAGE",),
    "check": ("pairs", "--against", "LANGUAGE"),
    "verify": ("pairs", "--against", "LANGUAGE", "--up-to", "4", "--count", "10", "--longest", "20"),
    "refute": ("pairs", "LANGUAGE", "--length", "6", "--free", "0.1", "--seconds", "5"),
    "judge": ("encoders:shares", "LANGUAGE", "--up-to", "2"),
    "data": ("LANGUAGE", "--lengths", "0-6", "--count", "8", "-o", "drawn"),
}
"""Every command about a language, and how it is asked."""

KINDS = {
    "formula": "formula:b & H (a <-> WY b)",
    "formula@last": "formula@last:b & H (a <-> WY b)",
    "bare": "b & H (a <-> WY b)",
    "regex": "regex:ab(ab)*",
    "dfa": "dfa:pairs.json",
    "bare dfa": "./pairs.json",
    "program": "program:pairs.rasp",
    "steps": "program:pairs.steps",
    "zoo": "zoo:tomita-1",
    "net": "net:pairs",
    "bare net": "pairs/",
}
"""A language in every way that there is; which one it is does not matter here."""

WITH_ALPHABET = ("compile", "classify", "depth", "same", "to-formula", "check", "verify", "judge", "data")
"""Those that have --alphabet: `refute` has the model's symbols."""

FINE = {ExitCode.OK, ExitCode.DISAGREEMENT, ExitCode.REFUTED, ExitCode.UNKNOWN, ExitCode.UNSUPPORTED}
"""Whatever the answer is: the language was read."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the language in each kind of file."""
    here = tmp_path_factory.mktemp("door")
    (here / "pairs.json").write_text(dfa_to_json(parse_regex("ab(ab)*", "ab")))
    text = "alphabet a b\nempty reject\nlate = previous in 'a'\noutput late & in 'b'\n"
    (here / "pairs.rasp").write_text(text)
    (here / "pairs.steps").write_text('alphabet ["a", "b"]\ns0 = letter ["b"]\noutput s0\n')
    model = library.compile("regex:ab(ab)*")
    model.save(here / "pairs", certificate=model.certify())
    (here / "encoders.py").write_text(ENCODERS)
    return here


@pytest.fixture
def here(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files)
    return files


def asked(command: str, language: str, *more: str) -> Outcome:
    """The command, asked about a language."""
    return attemper(command, *(language if one == "LANGUAGE" else one for one in ASKED[command]), *more)


def test_there_are_35_commands_in_six_panels() -> None:
    assert len(COMMANDS) == len({command.name for command in COMMANDS}) == 35
    assert tuple(dict.fromkeys(command.panel for command in COMMANDS)) == PANELS
    shown = attemper("--help", columns=200).out
    for panel in PANELS:
        listed = shown.partition(f"{panel}:\n")[2].partition("\n\n")[0]
        named = [line.split()[0] for line in listed.splitlines() if re.match(r"  \S", line)]
        assert named == [command.name for command in COMMANDS if command.panel == panel]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_help_has_the_words_of_the_page(command: Command) -> None:
    shown = attemper(command.name, "--help", columns=200).out
    assert command.help.split(":")[0] in " ".join(shown.split())
    assert not re.search(r"<(int|float|path|str)( [^>]*)?>", shown.partition("Options:")[2]), (
        "a metavar says what"
    )
    assert "range>" not in shown
    takes = command.name in ASKED
    assert takes == ("LANGUAGE" in shown)
    assert "--quiet" in shown
    panel = command.panel in {"Languages", "Proofs", "Limits"} and command.name not in {"zoo"}
    assert ("--seconds S" in shown) >= panel, "what can take long has an end"


@pytest.mark.sweep(33)
@pytest.mark.parametrize("command", ASKED)
@pytest.mark.parametrize("kind", KINDS)
def test_a_language_is_named_in_every_way(command: str, kind: str, here: Path) -> None:
    outcome = asked(command, KINDS[kind])
    if kind == "zoo" and command in {"check", "verify"}:
        assert outcome.code == ExitCode.WORD
        assert "the network reads {a b} in this order, and zoo:tomita-1 is over {0 1}" in outcome.err
        return
    assert outcome.code in FINE, outcome.err


@pytest.mark.parametrize("command", ASKED)
def test_a_wrong_kind_is_answered_with_all_kinds(command: str, here: Path) -> None:
    outcome = asked(command, "regexp:(ab)*")
    assert outcome.code == ExitCode.USAGE
    assert "'regexp:' is no kind of language: write formula:TEXT, regex:TEXT, dfa:FILE" in outcome.err


@pytest.mark.parametrize("command", sorted(set(ASKED) - {"check", "verify", "refute"}))
def test_an_alphabet_that_is_missing_is_asked_for(command: str, here: Path) -> None:
    outcome = asked(command, "regex:a.")
    assert outcome.code == ExitCode.USAGE
    assert re.search(r"say which there are, for example --alphabet ab", outcome.err)


@pytest.mark.parametrize("command", sorted(set(WITH_ALPHABET) - {"same"}))
def test_an_alphabet_that_is_superfluous_is_refused(command: str, here: Path) -> None:
    outcome = asked(command, "dfa:pairs.json", "--alphabet", "ab")
    assert outcome.code == ExitCode.USAGE
    assert "an automaton has its own: leave it out" in outcome.err


@pytest.mark.parametrize("command", WITH_ALPHABET)
def test_an_alphabet_that_was_read_is_said(command: str, here: Path) -> None:
    outcome = asked(command, "regex:ab(ab)*")
    said = command not in {"check", "verify"}
    assert ("alphabet a b (from the text)" in outcome.out) == said
    assert "from the text" not in asked(command, "regex:ab(ab)*", "--alphabet", "ab").out


@pytest.mark.parametrize("old", RETIRED, ids=lambda old: f"{old.command}{old.option}")
def test_an_old_spelling_is_answered_with_the_new_one(old: Retired) -> None:
    command = old.command or "compile"
    outcome = attemper(command, *([old.option] if old.option else []), "x")
    assert outcome.code == ExitCode.USAGE
    assert old.now in outcome.err
    as_json = attemper(command, f"{old.option}=x" if old.option else "x", "--json")
    assert old.now in as_json.err


@pytest.mark.parametrize("old", RETIRED, ids=lambda old: f"{old.command}{old.option}")
def test_what_an_old_spelling_is_answered_with_is_there(old: Retired) -> None:
    """The new command is in the registry, the new option in its help, and the old one is not."""
    names = re.findall(r"attemper ([a-z-]+)", old.now) or [old.command or "compile"]
    for name in names:
        assert name in {command.name for command in COMMANDS}
        shown = attemper(name, "--help", columns=200).out
        for option in re.findall(r"(?<![\w-])--[a-z-]+", old.now):
            assert option in shown
    if old.option and old.command != EVERYWHERE:
        options = attemper(old.command, "--help", columns=200).out.partition("Options:")[2]
        assert not re.search(rf"^ +(?:-o, )?{old.option}\b(?!-)", options, re.MULTILINE)


def test_what_stands_behind_two_dashes_is_no_option(here: Path) -> None:
    assert "any more" not in attemper("run", "pairs", "--", "--cap").err


@pytest.mark.parametrize("begun", ["", "f", "re", "z", "net"])
def test_kinds_complete_in_shells(begun: str) -> None:
    from attemper.workbench.cli.completion import languages_begun

    found = languages_begun(begun)
    assert found
    assert all(kind.startswith(begun) and kind.endswith(":") for kind in found)
    assert languages_begun("x") == []
