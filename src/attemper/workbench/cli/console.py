"""How commands speak: tables for people, JSON lines for programs, progress only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class ReaderLeftError(Exception):
    """Whoever read our output has closed the pipe: there is nobody to talk to."""


class _Console(Console):
    def __init__(self, *, stderr: bool) -> None:
        # Words and formulas are printed as they are: no markup, no emoji codes, no colours in them.
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def on_broken_pipe(self) -> None:
        raise ReaderLeftError


out = _Console(stderr=False)
"""For results."""

err = _Console(stderr=True)
"""For errors and progress."""

if not out.is_terminal:
    # Tables in a pipe are as wide as they need, not cut to a terminal that is not there.
    out.width = 200


def print_json(record: object) -> None:
    """One JSON object on a line of its own."""
    try:
        sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")
    except BrokenPipeError:
        raise ReaderLeftError from None


@contextmanager
def progress_bar(title: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function that says how much more is done. Silent when quiet or not on a terminal."""
    if quiet or not err.is_terminal:
        yield lambda _: None
        return
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as progress:
        task = progress.add_task(title, total=total)
        yield lambda steps: progress.advance(task, steps)


@contextmanager
def activity(title: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A function that says what is going on, for work of unknown length. Silent as `progress_bar` is."""
    if quiet or not err.is_terminal:
        yield lambda _: None
        return
    with err.status(title) as status:
        yield lambda text: status.update(f"{title}: {text}")
