"""No command is silent for long: on a terminal one line that goes away, elsewhere a line now and then."""

from __future__ import annotations

import io
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from attemper.registry import COMMANDS
from attemper.training import datasets
from attemper.workbench.cli import app, progress
from attemper.workbench.cli.console import err, out, status_line
from attemper.workbench.cli.progress import activity, counting, doing, duration, waiting_for_the_user
from tests.support.cli.command_line import attemper

SOON = 0.02


def until(there: Callable[[], bool]) -> None:
    """Wait for what another thread does; it is not to take long."""
    end = time.monotonic() + 30
    while not there():
        assert time.monotonic() < end
        time.sleep(0.005)


def written() -> str:
    return sys.stderr.getvalue()  # type: ignore[attr-defined]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(err, "_force_terminal", True)
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], None]], None]]:
    """Says what every command does in the place of its own work."""

    def does(work: Callable[[], None]) -> None:
        def application(_: object) -> Callable[..., int]:
            def run(*_: object, **__: object) -> int:
                work()
                return 0

            return run

        monkeypatch.setattr(app, "application", application)

    return does


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_no_command_can_forget_to_say_that_it_takes_long(name: str, slow: Callable[..., None]) -> None:
    slow(lambda: until(lambda: written().count("\n") > 1))
    lines = attemper(name, patience=SOON).err.splitlines()
    assert lines[:2] == [f"attemper {name}: 0 s so far"] * 2


def test_what_a_command_does_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object) -> bytes:
        until(lambda: "drawing" in written())
        return b""

    monkeypatch.setattr(datasets, "write_together", stuck)
    arguments = ["data", "zoo:parity", "--lengths", "0-4", "--count", 2, "-o", tmp_path]
    said = attemper(*arguments, patience=SOON)
    assert said.code == 0
    assert "attemper data: drawing words, 0 s so far\n" in said.err


def test_nothing_is_said_of_what_is_quick_and_nothing_with_json(slow: Callable[..., None]) -> None:
    slow(lambda: None)
    assert attemper("check").err == ""
    slow(lambda: time.sleep(10 * SOON))
    assert attemper("check", "--json", patience=SOON).err == ""


@pytest.mark.usefixtures("terminal")
def test_on_a_terminal_it_is_one_line_that_goes_away_before_anything_is_printed(
    slow: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        with activity("trying words"):
            until(lambda: written().count("so far") > 1)
            with monkeypatch.context() as patched:
                patched.setattr(doing, "is_waiting", True)  # no other line comes between
                time.sleep(5 * SOON)
                out.print("a result")
                assert written().endswith("\r\x1b[K")
                status_line.show("again")

    slow(work)
    said = attemper("verify", patience=SOON)
    assert said.out == "a result\n"
    assert "\n" not in said.err
    line = "\r\x1b[Kattemper verify: trying words, 0 s so far"
    assert said.err.startswith(line * 2)
    assert said.err.endswith("again\r\x1b[K"), "it goes away at the end, too"


@pytest.mark.usefixtures("terminal")
def test_a_terminal_s_line_is_no_longer_than_it_and_says_no_commands_to_it(
    slow: Callable[..., None],
) -> None:
    def work() -> None:
        with activity("\x1b[2J" + "x" * 200):
            until(lambda: "attemper" in written())

    slow(work)
    first = attemper("verify", columns=60, patience=SOON).err.split("\r\x1b[K")[1]
    assert len(first) == 59
    assert first.startswith("attemper verify: \\x1b[2Jxxx")


@pytest.mark.usefixtures("terminal")
def test_whoever_is_to_type_a_word_sees_nothing_move(slow: Callable[..., None]) -> None:
    def work() -> None:
        with waiting_for_the_user():
            time.sleep(10 * SOON)

    slow(work)
    assert attemper("run", patience=SOON).err == ""


def test_what_is_left_is_estimated_from_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(progress, "monotonic", lambda: now)
    with counting("training", 1000) as count:
        assert doing.said("attemper train", since=95) == "attemper train: training: 0 of 1,000, 5 s so far"
        now = 130.0
        count(250)
        shown = "attemper train: training: 250 of 1,000, 35 s so far, about 90 s left"
        assert doing.said("attemper train", since=95) == shown
        now = 220.0
        count(750)
        assert doing.said("attemper train", since=95).endswith("1,000 of 1,000, 2 min 5 s so far")
    with activity("measuring") as report:
        report("length 3")
        assert doing.said("attemper train", since=220) == "attemper train: measuring: length 3, 0 s so far"
    assert doing.said("attemper train", since=0) == "attemper train: 3 min 40 s so far"
    assert duration(99.4) == "99 s"


def test_a_standard_error_that_is_closed_is_nobody_s_loss(
    slow: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def work() -> None:
        closed = io.StringIO()
        closed.close()
        with monkeypatch.context() as patched:
            patched.setattr(sys, "stderr", closed)
            time.sleep(5 * SOON)
        time.sleep(5 * SOON)

    slow(work)
    assert attemper("run", patience=2 * SOON).code == 0
