"""The process that checks: its limits, its answer, and its end.

It is this process itself here, with other streams.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

import attemper
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import save as save_certificate
from attemper.checker import child
from attemper.checker.child import Failure, limit_memory, memory_can_be_limited
from attemper.checker.folders import check_path
from attemper.checker.verdict import VERDICT, Status
from attemper.errors import ExitCode
from attemper.workbench.model import Model

NO_LIMIT = 10**9
"""Megabytes that no process uses."""


@cache
def model() -> Model:
    return attemper.compile("a", "ab")


def prepare() -> None:
    """What all tests share."""
    model()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A network that is proved."""
    model().save(tmp_path / "net")
    save_certificate(
        Certificate(model().digest, model().language.definition, (RealClaim(),)), tmp_path / "net"
    )
    return tmp_path / "net"


class EndedError(Exception):
    """The process would have ended here, with a code."""


@dataclass
class Child:
    """This process in the place of the one that checks: what it hears, says and does to itself."""

    monkeypatch: pytest.MonkeyPatch
    folder: Path
    codes: list[int] = field(default_factory=list)
    signals: list[tuple[int, object]] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)
    threads: list[threading.Thread] = field(default_factory=list)
    has_ended: bool = False

    def __post_init__(self) -> None:
        reading, self.writing = os.pipe()
        self.input = os.fdopen(reading)
        self.output, self.errors = (
            (self.folder / "out").open("w+", encoding="utf-8"),
            (self.folder / "err").open("w+", encoding="utf-8"),
        )
        self.monkeypatch.setattr(os, "_exit", self.end)
        self.monkeypatch.setattr(signal, "signal", lambda *what: self.signals.append(what))
        self.monkeypatch.setattr(child, "limit_memory", self.limits.append)
        self.monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def take_streams(self) -> None:
        """Only in a test itself: pytest exchanges them between its steps."""
        streams = {"stdin": self.input, "stdout": self.output, "stderr": self.errors}
        for name, stream in streams.items():
            self.monkeypatch.setattr(sys, name, stream)

    def end(self, code: int) -> None:
        self.codes.append(code)
        raise EndedError

    def main(self, path: Path, *, edited: bool = False) -> None:
        """Check what the first argument says, after the program's name."""
        said = {"memory": 77, "path": str(path), "model": None, "ignore_rounding": False, "edited": edited}
        self.take_streams()
        self.monkeypatch.setattr(sys, "argv", ["program", json.dumps(said)])
        before = {*threading.enumerate()}
        try:
            child.main()
        finally:
            self.threads = [thread for thread in threading.enumerate() if thread not in before]

    @property
    def written(self) -> str:
        return (self.folder / "out").read_text(encoding="utf-8")

    @property
    def complained(self) -> str:
        return (self.folder / "err").read_text(encoding="utf-8")

    def end_input(self) -> None:
        """The input ends, which nobody ever wrote to; and with it what waits for that."""
        if not self.has_ended:
            self.has_ended = True
            os.close(self.writing)
        for thread in self.threads:
            thread.join(10)


@pytest.fixture
def process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    with monkeypatch.context() as changes:
        found = Child(changes, tmp_path)
        yield found
        found.end_input()
    for stream in (found.input, found.output, found.errors):
        stream.close()


# The answer ------------------------------------------------------------------------------------------


def test_the_answer_is_the_verdict(process: Child, folder: Path) -> None:
    process.main(folder)
    assert json.loads(process.written) == VERDICT.encode(check_path(folder))
    assert VERDICT.read(json.loads(process.written)).status is Status.PROVED
    assert process.limits == [77]
    assert process.signals == [(signal.SIGINT, signal.SIG_IGN)]
    assert process.codes == []


def test_what_is_printed_meanwhile_is_no_answer(process: Child, folder: Path) -> None:
    def printing(**_: object) -> dict[str, object]:
        os.write(sys.stdout.fileno(), b"PROVED")
        return {"verdict": "UNKNOWN"}

    process.monkeypatch.setattr(child, "_answer", printing)
    process.main(folder)
    assert (process.written, process.complained) == ('{"verdict": "UNKNOWN"}', "PROVED")


def test_an_error_of_the_users_is_an_answer(process: Child, folder: Path) -> None:
    process.main(folder / "network.json", edited=True)
    assert json.loads(process.written) == {
        "error": "'edited', 'against' and 'explain' are about networks, not about a refutation or another "
        "file",
        "exit_code": ExitCode.USAGE,
        "details": {"options": ["edited", "against", "explain"]},
        "place": "",
    }


def test_without_memory_there_is_no_answer(process: Child, folder: Path) -> None:
    def hungry(**_: object) -> dict[str, object]:
        raise MemoryError

    process.monkeypatch.setattr(child, "_answer", hungry)
    with pytest.raises(EndedError):
        process.main(folder)
    assert (process.codes, process.written) == ([Failure.MEMORY], "")


# Its parent ------------------------------------------------------------------------------------------


def test_it_ends_with_its_input(process: Child, folder: Path) -> None:
    process.main(folder)
    assert process.codes == []
    process.end_input()
    assert process.codes == [Failure.ORPHANED]


def test_it_does_not_end_before_its_input(process: Child) -> None:
    process.take_streams()
    threading.Timer(0.1, process.end_input).start()
    with pytest.raises(EndedError):
        child.end_with_the_parent()
    assert process.has_ended
    assert process.codes == [Failure.ORPHANED]


def test_nothing_keeps_it_alive_once_it_has_answered(process: Child, folder: Path) -> None:
    """A process ends with its last thread that is no daemon; its input may be open still."""
    process.main(folder)
    assert all(thread.daemon for thread in process.threads)


# Memory ----------------------------------------------------------------------------------------------

Limit = tuple[int, int]


def limited(megabytes: int, hard: int, monkeypatch: pytest.MonkeyPatch) -> dict[int, Limit]:
    """Which limits are set, where there was a hard one."""
    found: dict[int, Limit] = {}
    monkeypatch.setattr(resource, "getrlimit", lambda what: {resource.RLIMIT_AS: (hard, hard)}[what])
    monkeypatch.setattr(resource, "setrlimit", found.__setitem__)
    limit_memory(megabytes)
    return found


@pytest.mark.parametrize(
    ("megabytes", "hard", "most"),
    [
        (1, resource.RLIM_INFINITY, 10**6),
        (400, resource.RLIM_INFINITY, 400 * 10**6),
        (400, 400 * 10**6 + 1, 400 * 10**6),
        (400, 400 * 10**6, 400 * 10**6),
        (400, 400 * 10**6 - 1, 400 * 10**6 - 1),
        (NO_LIMIT, 123, 123),
    ],
)
def test_the_address_space_is_limited_and_no_memory_is_dumped(
    megabytes: int, hard: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A megabyte is 10^6 bytes; what is limited already stays so."""
    monkeypatch.setattr(child, "memory_can_be_limited", lambda: True)
    assert limited(megabytes, hard, monkeypatch) == {
        resource.RLIMIT_AS: (most, most),
        resource.RLIMIT_CORE: (0, 0),
    }


def test_nothing_is_limited_where_the_system_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "memory_can_be_limited", lambda: False)
    assert limited(400, resource.RLIM_INFINITY, monkeypatch) == {}


@pytest.mark.parametrize(("system", "can"), [("linux", True), ("darwin", False), ("win32", False)])
def test_linux_limits_the_address_space(system: str, can: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert memory_can_be_limited() is can


def test_the_limits_hold() -> None:
    """What a process needs beyond them it does not get."""
    fork = os.fork()
    if fork == 0:
        try:
            pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0])
            limit_memory(pages * resource.getpagesize() // 10**6 + 100)
            bytearray(200 * 10**6)
        except MemoryError:
            os._exit(7)
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(fork, 0)[1]) == 7
