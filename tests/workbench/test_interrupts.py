"""Ctrl-C at any time ends a command with 130 and one line: while modules are imported, in a search, twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from attemper.errors import ExitCode
from attemper.theories.refutation.search.search import Search
from attemper.workbench.compiling import compile as compile_formula
from tests.support.cli.command_line import attemper

INTERRUPT = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n"


def interrupted_in(
    module: str, folder: Path, *arguments: object, text: str = INTERRUPT
) -> subprocess.CompletedProcess[str]:
    """A command in whose process Ctrl-C is pressed while the module is being imported."""
    (folder / "shadows").mkdir()
    (folder / "shadows" / f"{module}.py").write_text(text)
    path = os.pathsep.join([str(folder / "shadows"), *sys.path])
    return subprocess.run(
        [sys.executable, "-m", "attemper", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
        # Whoever runs the tests in the background may ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


@pytest.mark.sweep(2)
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize(
    ("module", "command"),
    [
        ("typer", ["--version"]),
        ("rich", ["--version"]),
        ("lark", ["compile", "O a", "--alphabet", "ab", "-o", "once"]),
        ("numpy", ["refute", ".", "zoo:parity", "--length", "9"]),
    ],
)
def test_ctrl_c_while_a_command_is_imported(module: str, command: list[str], tmp_path: Path) -> None:
    ended = interrupted_in(module, tmp_path, *command)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_ctrl_c_while_a_command_imports_what_runs_networks(tmp_path: Path) -> None:
    compile_formula("O a", "ab").save(tmp_path / "once")
    ended = interrupted_in("torch", tmp_path, "run", tmp_path / "once", "ab", "--engine", "matrix")
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent as POSIX has them")
def test_ctrl_c_inside_of_text_that_is_executed_ends_with_the_code(tmp_path: Path) -> None:
    compile_formula("O a", "ab").save(tmp_path / "once")
    inside = f"exec({INTERRUPT!r})\n"
    ended = interrupted_in(
        "torch", tmp_path, "run", tmp_path / "once", "ab", "--engine", "matrix", text=inside
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")


def test_the_command_runs_as_a_module_too() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["scripts"] == {"attemper": "attemper.__main__:main"}
    ended = subprocess.run(
        [sys.executable, "-m", "attemper", "--version"], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_an_interrupted_search_writes_the_best_so_far_and_ends_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_small = Search._start_small

    def interrupted(search: Search) -> None:
        start_small(search)
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "_start_small", interrupted)
    monkeypatch.chdir(tmp_path)
    compile_formula("O (b & Y a)", "ab").save(tmp_path / "reader")
    result = attemper("refute", "reader", "zoo:parity", "--length", "20", "-o", "out.json")
    assert result.code == ExitCode.INTERRUPTED
    assert result.err == "interrupted\n"
    assert "PROVED: the model gives the same answer to all words of the restriction" in result.out
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert attemper("check", "out.json").code == ExitCode.OK
