"""Completion in a real bash: as `--show-completion` prints it, and as `--install-completion` leaves it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from attemper.languages.named.zoo import everything
from attemper.registry import COMMANDS
from attemper.workbench.cli.app import ASKED, commands, typed_in
from tests.support.slowly import mostly_slow

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")

COMMAND = f"""#!{sys.executable}
from attemper.__main__ import main
main()
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home directory whose `bin` has the command."""
    command = tmp_path / "bin" / "attemper"
    command.parent.mkdir()
    command.write_text(COMMAND)
    command.chmod(0o755)
    return tmp_path


def in_bash(home: Path, script: str, *options: str) -> list[str]:
    """The lines that a script prints in a bash that has the command on its path."""
    paths = {"HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    finished = subprocess.run(
        ["bash", *(options or ("--norc",)), "-c", script],
        env={**os.environ, **paths},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return finished.stdout.splitlines()


def completed(home: Path, *words: str) -> list[str]:
    """What bash offers for the last word, after the words before it."""
    line = " ".join(f"'{word}'" for word in ("attemper", *words))
    return in_bash(
        home,
        'eval "$(attemper --show-completion)"; '
        f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _attemper_completion attemper; "
        'printf "%s\\n" "${COMPREPLY[@]}"',
    )


OFFERED = [
    (("ch",), ["check"]),
    (("c",), ["compile", "classify", "check", "certify"]),
    (("run", "--d"), ["--dtype", "--device"]),
    (("run", "majority", "--dtype", "b"), ["bfloat16"]),
    (("run", "--dtype", "float32", "--w"), ["--words", "--weights"]),
    (("compile", "re"), ["regex:"]),
    (("same", "formula:a", "p"), ["program:"]),
    # bash makes words of colons, and completes what stands behind them: here a name, and files by itself.
    (("compile", "zoo", ":", "dyck-1"), ["dyck-1", "dyck-1-depth-3", "dyck-1-depth-10"]),
    (("depth", "zoo", ":"), [entry.name for entry in everything()]),
    (("classify", "dfa", ":", "x"), [""]),
    (("so",), ["source", "soften"]),
    (("source", "--b"), ["--bits"]),
    (("check", "majority", "--exp"), ["--explain"]),
    (("--vers",), ["--version"]),
    (("nothing", "--d"), [""]),
    # A folder is completed by bash itself, as it is where a command offers nothing.
    (("check", "maj"), [""]),
]
"""What is typed, and what is offered then."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("words", "offered"),
    mostly_slow(OFFERED, OFFERED[:3]),
)
def test_bash_completes(words: tuple[str, ...], offered: list[str], home: Path) -> None:
    assert completed(home, *words) == offered


def test_every_command_is_offered(home: Path) -> None:
    assert set(completed(home, "")) == {command.name for command in COMMANDS}


def test_what_is_installed_is_there_in_the_next_shell(home: Path) -> None:
    said = in_bash(home, "attemper --install-completion; true")
    assert any("bash completion installed" in line for line in said)
    (found,) = in_bash(home, "complete -p attemper", "--rcfile", str(home / ".bashrc"), "-i")
    assert found == "complete -o default -F _attemper_completion attemper"


@pytest.mark.parametrize(
    ("variables", "typed"),
    [
        ({}, ["run", "x"]),
        ({ASKED: ""}, ["run", "x"]),
        ({ASKED: "complete_bash", "COMP_WORDS": "attemper\ncheck\n--ex"}, ["check"]),
        ({ASKED: "complete_bash", "COMP_WORDS": "attemper\ncheck\n"}, ["check"]),
        ({ASKED: "complete_bash", "COMP_WORDS": "attemper\nche"}, []),
        ({ASKED: "complete_zsh", "_TYPER_COMPLETE_ARGS": "attemper compile zoo:x "}, ["compile", "zoo:x"]),
        ({ASKED: "complete_zsh", "_TYPER_COMPLETE_ARGS": "attemper source dyck2 "}, ["source", "dyck2"]),
        ({ASKED: "source_bash"}, []),
    ],
)
def test_a_line_is_what_stands_before_the_word_that_is_typed(
    variables: dict[str, str], typed: list[str]
) -> None:
    assert list(typed_in(["run", "x"], variables)) == typed


def test_only_the_command_that_is_typed_is_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASKED, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "attemper check --ex")
    assert set(commands([])) == {"check"}
