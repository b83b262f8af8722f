"""A check with an end: in a process of its own, with so much memory, and ended after so many seconds.

Whatever a file makes the checker do, there is an answer: the child's verdict, or UNKNOWN with the reason why
there is none. PROVED is said only by a child that came to its end.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import final

from attemper.checker.child import ERROR, Failure, memory_can_be_limited
from attemper.checker.verdict import VERDICT, About, ClaimVerdict, Status, Subject, Verdict
from attemper.errors import AttemperError, ExitCode, OptionError

SECONDS = 600.0
"""How long an answer may take unless it is said."""

MEMORY = 4_096
"""How many megabytes a check may use unless it is said."""

MOST_SECONDS, MOST_MEMORY = 1_000_000, 1_000_000_000
"""No computer needs greater limits."""

LEAST_SECONDS = 0.001
"""So long a process is waited for in any case."""

RESERVE = 2.0
"""The seconds that are kept for starting and ending, or a fifth of all if that is less."""

NO_MEMORY_LIMIT = "note: this system cannot limit the memory of a process; only the time is limited"

# The package is imported from where it is now; the folder people stand in is not searched for modules.
_START = (
    "import sys, typing; sys.path.insert(0, sys.argv.pop(1)); import attemper; del sys.path[0]; "
    "from attemper.checker.child import main; main()"
)


@final
@dataclass(frozen=True)
class Request:
    """What is to be checked, and how; see `folders.check_path`."""

    path: str
    model: str | None = None
    against: str | None = None
    ignore_rounding: bool = False
    edited: bool = False
    explain: bool = False


@final
@dataclass(frozen=True)
class ProcessLimits:
    """Seconds until there is an answer, and megabytes (10^6 bytes) of the process that checks.

    Raises `OptionError` for what is no such number.
    """

    seconds: float = SECONDS
    memory: int = MEMORY

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= MOST_SECONDS:
            raise OptionError(
                f"seconds={self.seconds} must be more than 0 and at most {MOST_SECONDS:,}",
                options=("seconds",),
            )
        if not 0 < self.memory <= MOST_MEMORY:
            raise OptionError(
                f"memory={self.memory} must be from 1 to {MOST_MEMORY:,} MB", options=("memory",)
            )


def check_within(request: Request, limits: ProcessLimits, spent: float = 0.0) -> Verdict:
    """The verdict of `folders.check_path`, or UNKNOWN if that takes more than the limits.

    `spent` is how many of the seconds are over: those of a program that was started for this check. A program
    that has been running for more than half of the time was not. Raises what `check_path` raises. On an
    interrupt the child ends, too. A proof is explained by a process of its own, in what is left of the time,
    so that no verdict depends on that.
    """
    begun = time.monotonic()
    explains = request.explain and not Path(request.path).is_file()
    verdict = _answer(replace(request, explain=request.explain and not explains), limits, spent)
    left = limits.seconds - (time.monotonic() - begun)
    if not explains or verdict.status is Status.MALFORMED:
        return verdict
    told = _answer(request, replace(limits, seconds=max(left, LEAST_SECONDS)), 0.0)
    why = f"the proof is not explained: {told.claims[0].text}"
    return replace(verdict, explanation=told.explanation or (why,))


def _answer(request: Request, limits: ProcessLimits, spent: float) -> Verdict:
    """The verdict of one process."""
    allowed = limits.seconds - min(RESERVE, limits.seconds / 5)
    allowed -= spent if 0 < spent <= limits.seconds / 2 else 0
    with _child(request, limits) as process:
        try:
            answer, _ = process.communicate(timeout=allowed)
        except subprocess.TimeoutExpired:
            return _unknown(request, f"no answer within {limits.seconds:g} seconds; allow more seconds")
    if process.returncode == Failure.MEMORY:
        return _unknown(request, f"more than {limits.memory:,} MB are needed; allow more memory")
    try:
        record = json.loads(answer) if process.returncode == ExitCode.OK else None
    except ValueError:
        record = None
    if record is None:
        end = _ending(process.returncode)
        return _unknown(request, f"the check ended without an answer ({end}); it may need more memory")
    if ERROR in record:
        error = AttemperError(record[ERROR], record["place"], **record["details"])
        error.exit_code = ExitCode(record["exit_code"])
        raise error
    return VERDICT.read(record)


@contextmanager
def _child(request: Request, limits: ProcessLimits) -> Iterator[subprocess.Popen[bytes]]:
    """The process that checks, which ends with this context, and with this process: its input ends then."""
    root = str(Path(__file__).parents[2])
    said = json.dumps({"memory": limits.memory, **vars(request)})
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, root, said],
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if request.model is None else None,
            # Each thread of a numerical library reserves memory of its own.
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ},
        )
    finally:
        os.close(reading)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()
        os.close(writing)


def seconds_since_start() -> float:
    """How long this process has been running; 0 where the system does not say."""
    try:
        ticks = int(Path("/proc/self/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0


def memory_note() -> str | None:
    """What people are to know where memory cannot be limited."""
    return None if memory_can_be_limited() else NO_MEMORY_LIMIT


def _unknown(request: Request, reason: str) -> Verdict:
    is_folder = Path(request.path).is_dir()
    place = request.path if is_folder else request.model or ""
    subject = Subject(About.NETWORK if is_folder else About.MODEL, place)
    return Verdict((ClaimVerdict(Status.UNKNOWN, reason),), subject)


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"
