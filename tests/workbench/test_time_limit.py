"""Commands on somebody's files end when their time is up, whatever they do, and say so with code 12."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from attemper.errors import ExitCode
from attemper.networks import files
from attemper.workbench.cli import time_limit
from attemper.workbench.compiling import compile as compile_formula
from tests.support.cli.command_line import attemper

OPEN = os.open


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small network that says to compute a formula of 100,000 operators: minutes for whoever traces it."""
    folder = tmp_path_factory.mktemp("large") / "large"
    compile_formula("O a", "ab").save(folder)
    network, source = files.load(folder)[:2]
    files.save(network, replace(source, text=" & ".join(["Y " * 50 + "a"] * 2000)), folder)
    return folder


def test_a_trace_of_a_large_formula_ends(large: Path) -> None:
    """In a process of its own: it may be ended from outside."""
    command = [sys.executable, "-m", "attemper", "trace", large, "ab", "--seconds", "0.3", "--json"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (ExitCode.UNKNOWN, "")
    assert '"message": "no answer within 0.3 seconds' in ended.stderr


@pytest.mark.parametrize(("said", "given"), [(None, "1"), ("3", "3")])
@pytest.mark.parametrize("command", [("influence", "--lengths", "4"), ("bound",)])
def test_numpy_and_torch_are_given_one_thread(
    command: tuple[str, ...],
    said: str | None,
    given: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Their matrices are thin, so that more would wait for each other. Before anything is imported."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    if said is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
    module = f"notes_{command[0]}_{given}"
    noted = f"Path('noted').write_text(' '.join(os.environ[name] for name in {names}))"
    (tmp_path / f"{module}.py").write_text(f"import os\nfrom pathlib import Path\n{noted}\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert attemper(*command, f"{module}:model").code == ExitCode.USAGE  # there is no model
    assert Path("noted").read_text().split() == [given, given]


@pytest.mark.parametrize(
    "command",
    [
        ("trace", "DIR", "ab"),
        ("certify", "DIR"),
        ("verify", "DIR"),
        ("show", "DIR"),
        ("decompile", "DIR"),
        ("soften", "DIR", "-o", "out"),
        ("influence", "DIR", "--lengths", "4"),
        ("bound", "endless:model"),
        ("refute", "DIR", "zoo:parity", "--length", "9"),
    ],
    ids=lambda command: command[0],
)
def test_a_command_whose_reading_takes_for_ever_ends(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never_opened(path: Any, *rest: Any, **more: Any) -> int:
        while str(path).endswith(files.STRUCTURE):
            time.sleep(0.01)
        return OPEN(path, *rest, **more)

    compile_formula("O a", "ab").save(tmp_path / "DIR")
    (tmp_path / "endless.py").write_text("def model():\n    while True:\n        pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(os, "open", never_opened)
    ended = attemper(*command, "--seconds", 0.3)
    assert ended.code == ExitCode.UNKNOWN, ended
    assert "no answer within 0.3 seconds" in ended.err or "the time was up" in ended.out


IN_C = """
from attemper.workbench.cli import time_limit
time_limit.GRACE = 0.1
with time_limit.time_limit(0.2):
    sum(range(10**12))  # one step of Python, which hears no signal
"""


def test_one_long_step_of_a_library_ends_too() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", IN_C], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (ExitCode.UNKNOWN, "")
    assert ended.stderr == "error: no answer within 0.2 seconds; allow more with --seconds\n"


def test_what_was_being_done_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compile_formula("O a", "ab").save(tmp_path / "once")
    attempts = ("--up-to", 3, "--count", 0, "--seconds", 0.5)

    def stuck(*_: object) -> None:
        time.sleep(60)

    monkeypatch.setattr("attemper.workbench.verify.verify", stuck)
    ended = attemper("verify", tmp_path / "once", *attempts)
    assert ended.code == ExitCode.UNKNOWN
    assert "no answer within 0.5 seconds (no disagreement yet: 0 of 14); allow more" in ended.err


@pytest.mark.parametrize("seconds", ["0", "nan", "-1", "1e9"])
def test_a_time_that_is_none_is_refused(seconds: str, tmp_path: Path) -> None:
    compile_formula("O a", "ab").save(tmp_path / "once")
    refused = attemper("show", tmp_path / "once", "--seconds", seconds)
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert "--seconds must be more than 0" in refused.err


def test_compile_beyond_its_seconds_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_time(*_: object) -> None:
        raise time_limit.TimeUp("the time was up")

    monkeypatch.setattr("attemper.workbench.cli.compiling.choose", out_of_time)
    late = attemper("compile", "O a", "--alphabet", "ab", "-o", tmp_path / "net")
    assert (late.code, late.out) == (ExitCode.UNKNOWN, "")
    assert "no answer within 600 seconds (compiling" in late.err
    assert not (tmp_path / "net").exists()


def test_compile_whose_certificate_is_late_writes_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_time(*_: object) -> None:
        raise time_limit.TimeUp("the time was up")

    assert attemper("compile", "H a", "--alphabet", "ab", "-o", tmp_path / "net").code == ExitCode.OK
    monkeypatch.setattr("attemper.workbench.cli.compiling.certificate_of", out_of_time)
    late = attemper("compile", "O a", "--alphabet", "ab", "-o", tmp_path / "net")
    assert late.code == ExitCode.UNKNOWN
    assert "NOT certified, it may be wrong: the time was up; 'attemper certify' goes on" in late.out
    assert sorted(path.name for path in (tmp_path / "net").iterdir()) == [
        "network.json",
        "weights.safetensors",
    ]
    assert attemper("run", tmp_path / "net", "ab").out == "accepted  ab  11\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
@pytest.mark.parametrize("where", ["a finalizer", "the garbage collector"])
def test_time_that_is_up_where_errors_are_lost_is_said_a_moment_later(where: str) -> None:
    """Python prints an error that is raised there, and goes on."""

    def busy(*_: object) -> None:
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            pass

    class Late:
        def __del__(self) -> None:
            busy()

    def never_done() -> None:
        if where == "a finalizer":
            late = Late()
            del late
        else:
            gc.freeze()  # what thousands of tests have left takes longer than a command has to answer
            gc.callbacks.append(busy)
            try:
                gc.collect()
            finally:
                gc.callbacks.remove(busy)
                gc.unfreeze()
        while True:
            pass

    with pytest.raises(time_limit.TimeUpError), time_limit.time_limit(0.1):
        never_done()
