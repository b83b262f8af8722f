"""What a command is doing and for how long, said on standard error while it takes long.

`app` runs every command in `progress_shown`, so that none can forget it. On a terminal that is one line, from
the first second on, which goes away before anything is printed; elsewhere it is a line now and then. With
--json and with --quiet nothing is said. What it is doing a command says by `activity` and `counting`; else
its name is shown.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import final

from attemper.escapes import escaped
from attemper.workbench.cli.console import err, status_line
from attemper.workbench.cli.failing import wants_quiet

SHOWN_AFTER, RENEWED_AFTER = 1.0, 1.0
"""On a terminal: after so many seconds there is a line, and after so many more it is renewed."""

FIRST_LINE, NEXT_LINE = 10.0, 30.0
"""Elsewhere: after so many seconds there is a line, and after so many more another one."""


@final
@dataclass
class _Doing:
    """What this process is busy with, also where nobody is shown that: its end is told with it."""

    text: str = ""
    share: float = 0
    """How much of it is done; 0 where that is not known."""
    begun: float = field(default_factory=monotonic)
    is_waiting: bool = False
    """Whether it is the user for whom it waits."""

    def begin(self, text: str) -> None:
        """Turn to something else."""
        self.text, self.share, self.begun = text, 0, monotonic()

    def said(self, title: str, since: float) -> str:
        """The line about a command of this title that began then."""
        now = monotonic()
        parts = [self.text] if self.text else []
        parts.append(f"{duration(now - since)} so far")
        if 0 < self.share < 1:
            parts.append(f"about {duration((now - self.begun) * (1 - self.share) / self.share)} left")
        return escaped(f"{title}: {', '.join(parts)}")


doing = _Doing()


def duration(seconds: float) -> str:
    """So many seconds, in words.

    >>> duration(27.4), duration(200)
    ('27 s', '3 min 20 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 100 else f"{whole // 60} min {whole % 60} s"


@contextmanager
def activity(title: str) -> Iterator[Callable[[str], None]]:
    """A function that says what is going on, for work of unknown length."""

    def note(text: str) -> None:
        doing.text = f"{title}: {text}"

    doing.begin(title)
    yield note
    doing.begin("")


@contextmanager
def counting(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A function that says how much more is done, of so many steps."""
    done = 0

    def count(steps: int) -> None:
        nonlocal done
        done += steps
        doing.text, doing.share = f"{title}: {done:,} of {total:,}", done / max(total, 1)

    doing.begin(title)
    count(0)
    yield count
    doing.begin("")


@contextmanager
def waiting_for_the_user() -> Iterator[None]:
    """Nothing is shown in here: it is not the command that takes long."""
    status_line.clear()
    doing.is_waiting = True
    try:
        yield
    finally:
        doing.is_waiting = False


@contextmanager
def progress_shown(title: str) -> Iterator[None]:
    """What a command of this title does is shown as long as it is in here, unless it is to be quiet."""
    doing.begin("")
    if wants_quiet():
        yield
        return
    ended = threading.Event()
    shows = threading.Thread(target=_show, args=(title, monotonic(), ended), daemon=True)
    shows.start()
    try:
        yield
    finally:
        ended.set()
        shows.join(1)  # nobody waits for a line that nobody reads
        status_line.clear()


def _show(title: str, since: float, ended: threading.Event) -> None:
    on_terminal = err.is_terminal and not err.is_dumb_terminal
    due, step = (SHOWN_AFTER, RENEWED_AFTER) if on_terminal else (FIRST_LINE, NEXT_LINE)
    while not ended.wait(max(0, since + due - monotonic())):
        due += step
        if doing.is_waiting:
            continue
        try:
            if on_terminal:
                status_line.show(doing.said(title, since))
            else:
                err.file.write(doing.said(title, since) + "\n")
                err.file.flush()
        except (OSError, ValueError):
            return  # the standard error is closed
