"""How commands speak: tables for people, JSON lines for programs, progress only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from attemper.escapes import escaped, escaped_json


class ReaderLeftError(Exception):
    """Whoever read our output has closed the pipe: there is nobody to talk to."""


class _Console(Console):
    def __init__(self, *, stderr: bool) -> None:
        # Words and formulas are printed as they are: no markup, no emoji codes, no colours in them.
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def render_str(self, text: str, **options: Any) -> Text:
        """Every text comes through here, cells of tables too: what files say cannot command the terminal."""
        return super().render_str(escaped(text), **options)

    def print_lines(self, text: str) -> None:
        """Print a text of our own that has several lines; a line break in any other text is escaped."""
        for line in text.split("\n"):
            self.print(line)

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
        sys.stdout.write(escaped_json(record) + "\n")
    except BrokenPipeError:
        raise ReaderLeftError from None


def print_json_error(details: Mapping[str, object]) -> None:
    """All that a command with --json writes to standard error: why there is no (further) result."""
    sys.stderr.write(escaped_json({"error": details}) + "\n")


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
