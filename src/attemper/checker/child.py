"""The process that checks: it limits itself, then loads the checker; the answer is one line of JSON."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from enum import IntEnum
from pathlib import Path
from typing import Any

MEGABYTE = 1_000_000

ERROR = "error"
"""The entry of an answer that is no verdict but the message of an error of the user's."""


class Failure(IntEnum):
    """How the process ends if it has no answer."""

    MEMORY = 71
    ORPHANED = 72


def main() -> None:
    """Check what the first argument says, as JSON, and write the answer to standard output."""
    request = json.loads(sys.argv[1])
    # Who interrupts the terminal interrupts the parent, and the parent ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(request.pop("memory"))
    threading.Thread(target=end_with_the_parent, daemon=True).start()
    answer = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a user's model may print
    try:
        text = json.dumps(_answer(**request)).encode()
    except MemoryError:
        os._exit(Failure.MEMORY)
    with os.fdopen(answer, "wb") as stream:
        stream.write(text)


def _answer(path: str, **options: Any) -> dict[str, object]:
    from attemper.checker.folders import check_path
    from attemper.checker.verdict import VERDICT
    from attemper.errors import AttemperError

    try:
        verdict = check_path(Path(path), **options)
    except AttemperError as error:
        return {
            ERROR: str(error).removesuffix(error.place),
            "place": error.place,
            "exit_code": int(error.exit_code),
            "details": error.details,
        }
    answer: dict[str, object] = VERDICT.encode(verdict)
    return answer


def limit_memory(megabytes: int) -> None:
    """Let no more address space be used, and no memory be dumped, where the system can do that."""
    if not memory_can_be_limited():
        return
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = megabytes * MEGABYTE
    most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def memory_can_be_limited() -> bool:
    """Whether the system limits the address space of a process: Linux does, Windows and macOS do not."""
    return sys.platform == "linux"


def end_with_the_parent() -> None:
    """Wait for the end of the input, which is never written to: then there is nobody to answer."""
    os.read(sys.stdin.fileno(), 1)
    os._exit(Failure.ORPHANED)
