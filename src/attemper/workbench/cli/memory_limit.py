"""Commands that end where somebody's file makes them need more memory than was said."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated

import typer

from attemper.checker.child import MEGABYTE, memory_can_be_limited
from attemper.checker.limits import MEMORY, MOST_MEMORY
from attemper.errors import AttemperError, ExitCode, OptionError
from attemper.workbench.cli.time_limit import Arguments, Returned

MemoryOption = Annotated[int, typer.Option("--memory", metavar="MB", help="UNKNOWN beyond that (Linux).")]


class MemoryUpError(AttemperError):
    """A command that has no answer within its memory."""

    exit_code = ExitCode.UNKNOWN


def in_memory(command: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
    """The command, which has an option `memory`, with an end where it would need more."""

    @wraps(command)
    def with_an_end(*arguments: Arguments.args, **options: Arguments.kwargs) -> Returned:
        megabytes = options.get("memory", MEMORY)
        with memory_limit(megabytes if isinstance(megabytes, int) else MEMORY):
            return command(*arguments, **options)

    return with_an_end


@contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """A `MemoryUpError` where this process would need more in here, if the system can limit that.

    Raises `OptionError` for what is no number of megabytes.
    """
    if not 0 < megabytes <= MOST_MEMORY:
        raise OptionError(f"--memory must be from 1 to {MOST_MEMORY:,} MB, not {megabytes}")
    try:
        with _limited_to(megabytes * MEGABYTE):
            yield
    except MemoryError:
        raise MemoryUpError(f"more than {megabytes:,} MB are needed; allow more with --memory") from None


@contextmanager
def _limited_to(size: int) -> Iterator[None]:
    """At most so many bytes of addresses; what was allowed before is allowed afterwards."""
    if sys.platform == "win32" or not memory_can_be_limited():
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = size if hard == resource.RLIM_INFINITY else min(size, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))
