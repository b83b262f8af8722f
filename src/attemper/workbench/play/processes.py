"""A process for each question: with so much time and memory, and killed as soon as nobody waits for it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from attemper.checker.child import Failure
from attemper.checker.limits import MOST_MEMORY, MOST_SECONDS
from attemper.errors import OptionError
from attemper.workbench.play.question import Question

LONGEST_LINE = 32_000_000
"""An answer has at most so many bytes: a page holds less of a network, and some text beside it."""

# The package is imported from where it is now; the folder people stand in is not searched for modules.
_START = (
    "import sys, typing; sys.path.insert(0, sys.argv.pop(1)); import attemper; del sys.path[0]; "
    "from attemper.workbench.play.child import main; main()"
)


@final
@dataclass(frozen=True)
class AnswerLimits:
    """What an answer may take: seconds until there is a network, seconds for its certificate within those,
    and megabytes (10^6 bytes); and how many may be in the making at once.

    Raises `OptionError`, naming the limit, unless all are positive and seconds and megabytes no more than a
    check may take.
    """

    seconds: float = 10.0
    proving: float = 4.0
    memory: int = 1_000
    at_once: int = 4

    def __post_init__(self) -> None:
        most = {"seconds": MOST_SECONDS, "memory": MOST_MEMORY}
        for name, limit in vars(self).items():
            if not 0 < limit <= most.get(name, limit):
                up_to = f" and at most {most[name]:,}" if name in most else ""
                raise OptionError(f"{name} must be more than 0{up_to}, not {limit}")


JsonAnswer = dict[str, object]
"""`{"contents": ..., "notes": [...]}`, where contents are what the page shows; or `{"error": ...}`."""


async def answer_to(question: Question, limits: AnswerLimits) -> JsonAnswer:
    """What a process of its own makes of the question, or why it came to no end.

    The process is killed when its time is over and when this task is cancelled; it ends with this process,
    too, whatever happens.
    """
    clock = asyncio.get_running_loop().time
    end = clock() + limits.seconds
    async with _child(question, limits.memory) as process:
        first = await _line(process, limits.seconds)
        if first is None:
            return await _no_answer(process, limits, is_late=clock() >= end)
        if "error" in first:
            return first
        second = await _line(process, min(limits.proving, end - clock()))
    if second is None:
        return {**first, "notes": [*_notes(first), _UNCERTIFIED]}
    return second


_UNCERTIFIED = "not certified in the time and memory of an answer: 'attemper compile' has no such limits"


def _notes(answer: JsonAnswer) -> list[object]:
    notes = answer["notes"]
    return notes if isinstance(notes, list) else []


async def _line(process: Process, seconds: float) -> JsonAnswer | None:
    """The next line of the process, read; None if there is none, or it comes too late."""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(max(seconds, 0)):
            text = await process.stdout.readline()
    except TimeoutError:
        return None
    return json.loads(text) if text.endswith(b"\n") else None


async def _no_answer(process: Process, limits: AnswerLimits, *, is_late: bool) -> JsonAnswer:
    """Why a process has put out no line."""
    if is_late:
        return {
            "error": f"no network within {limits.seconds:g} seconds: 'attemper play --seconds S' allows more"
        }
    code = await process.wait()
    if code == Failure.MEMORY or code < 0:  # libraries in C end a process that gets no memory by a signal
        return {
            "error": f"more than {limits.memory:,} MB are needed: 'attemper play --memory MB' allows more"
        }
    return {"error": "a fault of attemper itself: 'attemper compile' shows it, so that it can be reported"}


@asynccontextmanager
async def _child(question: Question, memory: int) -> AsyncIterator[Process]:
    """The process that compiles, which ends with this context; its input ends with this process."""
    root = str(Path(__file__).parents[3])
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-c", _START, root, str(memory)),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        limit=LONGEST_LINE,
        # Each thread reserves memory of its own, and each of a numerical library more.
        env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1", **os.environ},
    )
    try:
        assert process.stdin is not None
        process.stdin.write(question.as_json().encode() + b"\n")
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
