"""Checks in the test's own process: one of its own costs a fifth of a second, nearly all of it for imports.

What that process does is tested in `tests/checker/`: its limits, its end, and how it is started.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import Popen
from typing import Any
from unittest import mock

from attemper.checker import child, limits


@dataclass(frozen=True)
class _Answered:
    """What a process would have written that came to its end."""

    answer: bytes
    returncode: int = 0

    def communicate(self, timeout: float) -> tuple[bytes, None]:
        del timeout
        return self.answer, None


@contextmanager
def checked_here() -> Iterator[None]:
    """Let `check_within` start no process, but where a user's module is imported: that one might stay."""
    started = limits._child

    @contextmanager
    def answered(request: limits.Request, most: limits.ProcessLimits) -> Iterator[_Answered | Popen[bytes]]:
        if request.model is not None:
            with started(request, most) as process:
                yield process
            return
        options: dict[str, Any] = vars(request)
        yield _Answered(json.dumps(child._answer(**options)).encode())

    with mock.patch.object(limits, "_child", answered):
        yield
