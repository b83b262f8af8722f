"""`check DIR --program FILE`, of both command lines: is this the program that the network runs?"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.certificates.files import CERTIFICATE, FORMAT
from attemper.errors import ExitCode
from attemper.languages.temporal.reading import At
from attemper.networks.files import WEIGHTS
from tests.support.cli.command_line import attemper as run_command_line

EVER = """alphabet ["a", "b"]
s0 = letter ["b"]
s1 = attend <= rightmost where s0 value s0
output s1
"""


@dataclass(frozen=True)
class Said:
    """What a command line said."""

    code: int
    out: str
    err: str


def checker(*arguments: object) -> Said:
    """The checker alone."""
    run = [sys.executable, "-m", "attemper.checker", *map(str, arguments)]
    finished = subprocess.run(run, capture_output=True, text=True, check=False)
    return Said(finished.returncode, finished.stdout, finished.stderr)


def command(*arguments: object) -> Said:
    """The command of the whole library."""
    outcome = run_command_line("check", *arguments)
    return Said(outcome.code, outcome.out, outcome.err)


BOTH = pytest.mark.parametrize("check", [command, checker])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network without any certificate."""
    folder = tmp_path_factory.mktemp("network") / "since"
    attemper.compile("a S b | O b", "ab").save(folder)
    assert not (folder / CERTIFICATE).exists()
    return folder


def program(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.program"
    path.write_text(text, encoding="utf-8")
    return path


@BOTH
def test_a_network_that_runs_the_program_is_proved(check, folder: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    attemper.compile("O b", "ab").save(tmp_path / "once")
    said = check(tmp_path / "once", "--program", program(tmp_path, EVER))
    assert (said.code, said.err) == (ExitCode.OK, "")
    lines = said.out.splitlines()
    assert lines[0] == "PROVED"
    assert lines[1].startswith('  language: an attention program of 2 steps: s0 = letter ["b"]; ')
    assert lines[2:] == [
        f"  network: {tmp_path / 'once'}",
        f"  digest: {attemper.load(tmp_path / 'once').digest}",
        "  PROVED: all lengths, in real arithmetic",
    ]


@pytest.mark.sweep(1)
@BOTH
def test_a_program_says_what_it_is_where_there_is_nothing(check, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    attemper.compile("O b", "ab").save(tmp_path / "once")
    for default, code in (("0", ExitCode.OK), ("1", ExitCode.REFUTED)):
        path = program(tmp_path, EVER.replace("value s0", f"value s0 default {default}"))
        said = check(tmp_path / "once", "--program", path)
        assert (said.code, said.err) == (code, "")
        assert f"default {default}" in said.out


@BOTH
def test_a_network_that_does_not_is_refuted_with_a_word(check, folder: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = program(tmp_path, EVER.replace("<=", "<"))
    said = check(folder, "--program", path, "--json")
    assert said.code == ExitCode.REFUTED
    record = json.loads(said.out)
    assert (record["verdict"], record["claims"][0]["witness"]) == ("REFUTED", ["b"])


@pytest.mark.sweep(1)
@BOTH
@pytest.mark.parametrize(
    ("text", "code", "fragment"),
    [
        ("", ExitCode.SOURCE, "a program starts with 'alphabet' and ends with 'output'"),
        (EVER.replace("letter", "leter"), ExitCode.SOURCE, "line 2"),
        (EVER.replace("where s0", "where s9"), ExitCode.SOURCE, "s1: s9 is not an earlier step"),
        (EVER.replace("value s0", "value s0 default 2"), ExitCode.SOURCE, "line 3"),
        (EVER.replace("where s0", "where s0:s0 s1:s0"), ExitCode.SOURCE, "s1: s1 is not an earlier step"),
        (EVER.replace("where s0", "where s0 s0"), ExitCode.SOURCE, "stands alone"),
        (EVER.replace('["a", "b"]', '["a", "a"]'), ExitCode.SOURCE, "occurs twice"),
    ],
)
def test_a_bad_program_is_a_clear_error(  # type: ignore[no-untyped-def]
    check, text: str, code: ExitCode, fragment: str, folder: Path, tmp_path: Path
) -> None:
    said = check(folder, "--program", program(tmp_path, text))
    assert (said.code, said.out) == (code, "")
    assert fragment in said.err
    assert "Traceback" not in said.err


@BOTH
def test_a_missing_or_binary_program_is_malformed(check, folder: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    said = check(folder, "--program", tmp_path / "none")
    assert (said.code, said.err) == (ExitCode.FILE, "")
    assert "give the file of an attention program" in " ".join(said.out.split())
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    said = check(folder, "--program", tmp_path / "binary")
    assert (said.code, said.err) == (ExitCode.FILE, "")
    assert "is not a text in UTF-8: invalid start byte" in " ".join(said.out.split())


@BOTH
def test_a_program_over_other_symbols_is_malformed(check, folder: Path, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    text = EVER.replace('["a", "b"]', '["b", "a"]')
    said = check(folder, "--program", program(tmp_path, text))
    assert said.code == ExitCode.FILE
    assert "the language is over other symbols than the network, or in another order" in said.out


def test_changed_weights_are_judged_with_edited_only(tmp_path: Path) -> None:
    folder, path = tmp_path / "once", program(tmp_path, EVER)
    attemper.compile("O b", "ab").save(folder)
    weights = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(weights.replace(b'{"', b'{"', 1)[:-1] + bytes([weights[-1] ^ 0x80]))
    assert command(folder, "--program", path).code == ExitCode.FILE
    assert command(folder, "--program", path, "--edited").code in {ExitCode.OK, ExitCode.REFUTED}


@pytest.mark.sweep(0)
def test_the_certificate_of_an_automaton_says_where_its_groups_are(tmp_path: Path) -> None:
    """Its program is proved with the groups that stand in the certificate, and with others is not."""
    folder = tmp_path / "net"
    assert run_command_line("compile", "regex:a*b", "--alphabet", "ab", "-o", folder).code == 0
    realisation = attemper.load(folder).realisation
    assert realisation is not None
    path = program(tmp_path, show_program(realisation.program))
    assert command(folder, "--program", path).code == ExitCode.OK
    certificate = json.loads((folder / CERTIFICATE).read_text(encoding="utf-8"))
    certificate["groups"][0][0] = 9
    (folder / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")
    assert command(folder, "--program", path).code == ExitCode.UNKNOWN


def test_another_networks_certificate_says_nothing_about_groups(folder: Path, tmp_path: Path) -> None:
    copy, path = shutil.copytree(folder, tmp_path / "copy"), program(tmp_path, EVER)
    attemper.compile("O b", "ab").save(copy)
    certificate = {
        "format": FORMAT,
        "network": "1" * 64,
        "source": ProgramLanguage(parse_program(EVER), At.LAST, False).tree(),
        "claims": [{"arithmetic": "real"}],
        "program": None,
        "groups": [[99, [[9999, 0]]]],
    }
    (copy / CERTIFICATE).write_text(json.dumps(certificate), encoding="utf-8")
    assert command(copy, "--program", path).code == ExitCode.OK


def test_a_refutation_has_no_program(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("{}", encoding="utf-8")
    said = command(path, "--program", program(tmp_path, EVER))
    assert said.code == ExitCode.USAGE
    assert "not about a refutation" in said.err


@BOTH
def test_what_cannot_be_read_is_shown_below_its_message(
    check: Callable[..., Said], folder: Path, tmp_path: Path
) -> None:
    text = 'alphabet ["a", "b"]\ns0 = lettr ["a"]\noutput s0\n'
    said = check(folder, "--program", program(tmp_path, text))
    assert said.code == ExitCode.SOURCE
    assert said.err.splitlines()[1:] == ['    s0 = lettr ["a"]', "    ^"]


@BOTH
@pytest.mark.parametrize(
    "step",
    ['letter ["a\\nPROVED"]', 'place "1/x\\nPROVED"', 'place ["test", ["named", "x\\nPROVED"], 1, 0, 0]'],
)
def test_what_a_message_quotes_has_no_line_of_its_own(
    check: Callable[..., Said], step: str, folder: Path, tmp_path: Path
) -> None:
    said = check(folder, "--program", program(tmp_path, f'alphabet ["a", "b"]\ns0 = {step}\noutput s0\n'))
    assert said.code == ExitCode.SOURCE
    assert r"\nPROVED" in said.err
    assert not any(line.strip().startswith("PROVED") for line in said.err.splitlines())
