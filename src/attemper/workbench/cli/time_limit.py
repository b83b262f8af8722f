"""Commands that end: interrupted when their time is up, and ended from outside if they do not hear that.

Whatever somebody's file makes a command do, there is an end. When its seconds are over it is interrupted, as
Ctrl-C does it, so that it says what it knows. That waits for the step that a library is taking, which may be
long; so a process of its own stands by, and ends this one a moment later.
"""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Annotated, ParamSpec, TypeVar

import typer

from attemper.checker.limits import MOST_SECONDS
from attemper.errors import AttemperError, ExitCode, OptionError
from attemper.escapes import escaped_json
from attemper.workbench.cli.console import err
from attemper.workbench.cli.failing import wants_json
from attemper.workbench.cli.progress import doing

AGAIN = 0.01
"""So many seconds later it is tried again where an interrupt would be lost."""

GRACE = 1.5
"""So many seconds a command that was interrupted has to say what it knows."""

SecondsOption = Annotated[float, typer.Option("--seconds", metavar="S", help="UNKNOWN after so long.")]

Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")

_STANDING_BY = """
import os, sys, threading
pid, seconds, code, said = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]

def end():
    os.kill(pid, code)
    os.write(2, said.encode())
    os._exit(0)

threading.Timer(seconds, end).start()
os.read(0, 1)  # the input ends with the process that is watched
os._exit(0)
"""


class TimeUp(KeyboardInterrupt):
    """The interrupt of a command whose time is up: who puts things in order on Ctrl-C does so here."""


class TimeUpError(AttemperError):
    """A command that has no answer within its seconds."""

    exit_code = ExitCode.UNKNOWN


def limited(command: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The command, which has an option `seconds`, with an end after that time."""

    @wraps(command)
    def with_an_end(*arguments: Arguments.args, **options: Arguments.kwargs) -> Returned:
        with time_limit(options["seconds"]):
            return command(*arguments, **options)

    return with_an_end


@contextmanager
def time_limit(seconds: object) -> Iterator[None]:
    """`TimeUp` is raised in here after so many seconds, and becomes a `TimeUpError` unless it is answered.

    If nothing has come of that after `GRACE` seconds more, this process ends with the same message and code.
    Raises `OptionError` for what is no number of seconds.
    """
    if not isinstance(seconds, float | int) or not 0 < seconds <= MOST_SECONDS:
        raise OptionError(f"--seconds must be more than 0 and at most {MOST_SECONDS:,}, not {seconds}")
    doing.text = ""
    try:
        with _watched(seconds + GRACE, _message(seconds)), _interrupted_after(seconds):
            yield
    except TimeUp:
        raise TimeUpError(_message(seconds)) from None


def _message(seconds: float) -> str:
    """What is said when the time is up, with what was going on."""
    known = f" ({doing.text})" if doing.text else ""
    return f"no answer within {seconds:g} seconds{known}; allow more with --seconds"


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """`TimeUp`, between two steps of Python, where the system has such a signal."""
    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, _raise_time_up)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise_time_up(_: int, frame: FrameType | None) -> None:
    """Interrupt; a moment later where Python would only print the interrupt and go on."""
    if _is_lost_in(frame):
        signal.setitimer(signal.ITIMER_REAL, AGAIN)
        return
    raise TimeUp("the time was up; allow more with --seconds")


def _is_lost_in(frame: FrameType | None) -> bool:
    """Whether errors raised there go no further: in finalizers, and in what the garbage collector calls."""
    called = {getattr(each, "__code__", None) for each in gc.callbacks}
    while frame is not None:
        if frame.f_code.co_name == "__del__" or frame.f_code in called:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _watched(seconds: float, message: str) -> Iterator[None]:
    """A process that ends this one after so many seconds, with the exit code UNKNOWN and the message."""
    code = ExitCode.UNKNOWN
    record = {"error": {"code": int(code), "name": code.name.lower(), "message": message}}
    said = escaped_json(record) if wants_json() else f"error: {message}"
    cleared = "\r\x1b[K" if err.is_terminal else ""  # what was going on
    watching = [str(os.getpid()), str(seconds), str(int(code)), f"{cleared}{said}\n"]
    with (
        _ended_by(int(code)),
        subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _STANDING_BY, *watching],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is meant for the command: it would end the one that stands by
        ),
    ):
        yield


@contextmanager
def _ended_by(code: int) -> Iterator[None]:
    """The signal of this number ends this process at once, and the number is its exit code.

    A handler in Python would wait for the step of a library that is going on; the C library's `_exit` does
    not, and takes the signal's number for the code. Windows ends processes with a code anyway.
    """
    if sys.platform == "win32":
        yield
        return
    library = ctypes.CDLL(None)
    library.signal.restype, library.signal.argtypes = ctypes.c_void_p, [ctypes.c_int, ctypes.c_void_p]
    before = library.signal(code, ctypes.cast(library._exit, ctypes.c_void_p))
    try:
        yield
    finally:
        library.signal(code, before)
