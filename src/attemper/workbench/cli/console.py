"""How commands speak: lines and tables that fit, JSON lines for programs, and a line that goes away again.

A line is as wide as COLUMNS says; else as the terminal, and at most 100 columns. What is not printed to a
terminal is 100 columns wide. JSON is never wrapped.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from attemper.escapes import escaped, escaped_json

if TYPE_CHECKING:
    from attemper.html_tables import Tabled

WIDEST = 100
"""How wide lines are in a pipe, and at most in a terminal, unless COLUMNS says otherwise."""

NARROWEST = 40
"""Lines are not made narrower than this, whatever COLUMNS says."""

HANG = 2
"""How much deeper the further lines of a wrapped line stand."""

_QUOTED = re.compile(r"(?<![^\s(\[{])'.+?'(?=[\s,.;:)\]}]|$)")
"""What stands in quotes, also where it has quoted letters in it: `'O '1''`."""

_WORD = re.compile(r" *[^ ]+")

_GLUE = "\ue000"
"""Stands for a blank that is no place to break a line. It is not printable, so no escaped text has it."""

_ENDLESS = 10**6
"""Columns enough for any table: rich never measures one as wider than it may be."""


class ReaderLeftError(Exception):
    """Whoever read our output has closed the pipe: there is nobody to talk to."""


def wrapped(text: str, width: int, hang: int = HANG) -> list[str]:
    """The text in lines of at most `width` columns, broken at blanks; the further ones are indented.

    What stands in quotes is not broken if it fits on a line of its own. Nothing is ever broken but at
    blanks: a digest, a path or a word longer than the line stays whole, and is the one thing on its line.

    >>> wrapped("PROVED: lengths up to 13 in 'push pop'", 28)
    ['PROVED: lengths up to 13 in', "  'push pop'"]
    >>> wrapped("digest: 22b543a35d69a25bd638", 12)
    ['digest:', '  22b543a35d69a25bd638']
    """
    if cell_len(text) <= width:
        return [text]
    if text.isspace():
        return [""]
    indent = " " * (len(text) - len(text.lstrip(" ")) + hang)
    line, *others = _pieces(text, width - len(indent))
    lines = []
    for piece in others:
        if cell_len(line) + cell_len(piece) <= width:
            line += piece
        else:
            lines.append(line)
            line = indent + piece.lstrip(" ")
    return [*lines, line]


def _pieces(text: str, room: int) -> Iterator[str]:
    """What stays on one line, each with the blanks before it: words, and quoted texts that have room."""
    glued = _QUOTED.sub(lambda quoted: quoted[0].replace(" ", _GLUE), text)
    for piece in _WORD.findall(glued):
        whole = piece.replace(_GLUE, " ")
        yield from [whole] if cell_len(whole.lstrip(" ")) <= room else _WORD.findall(whole)


class _Console(Console):
    def __init__(self, *, stderr: bool) -> None:
        # Words and formulas are printed as they are: no markup, no emoji codes, no colours in them.
        super().__init__(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)

    @property
    def columns(self) -> int:
        """How wide lines may be, at this moment."""
        said = os.environ.get("COLUMNS", "")[:6]
        if said.isdecimal() and int(said) > 0:
            return max(int(said), NARROWEST)
        try:
            terminal = os.get_terminal_size(self.file.fileno()).columns
        except (OSError, ValueError):
            return WIDEST
        return min(max(terminal, NARROWEST), WIDEST) if terminal else WIDEST

    def print(self, *objects: Any, hang: int = HANG, **options: Any) -> None:
        """Print a table, or a text on lines that fit; `hang` is how much deeper its further lines stand."""
        self.width = self.columns
        with status_line.out_of_the_way():
            match objects:
                case [str() as text]:
                    for line in wrapped(escaped(text), self.width, hang):
                        super().print(line, **options)
                case [Table() as table]:
                    self._print_table(table, options)
                case _:
                    super().print(*objects, **options)

    def _print_table(self, table: Table, options: dict[str, Any]) -> None:
        if self.is_terminal:
            self._narrow(table)
            super().print(table, **options)
            return
        for line in self.lines_of(table):
            super().print(Text(line))

    def lines_of(self, table: Table) -> list[str]:
        """The table as lines that fit, whose cells are not filled up with blanks at the end of a line."""
        self.width = self.columns
        self._narrow(table)
        drawn = self.render_lines(table, self.options, pad=False)
        return ["".join(segment.text for segment in line).rstrip() for line in drawn]

    def _narrow(self, table: Table) -> None:
        """Let all cells take several lines, if the table has no room else."""
        if self._widths(table).minimum > self.width:
            for column in table.columns:
                column.no_wrap = False

    def _widths(self, table: Table) -> Measurement:
        """How narrow and how wide the table can be, whatever the terminal is."""
        return Measurement.get(self, self.options.update_width(_ENDLESS), table)

    def fits(self, table: Table) -> bool:
        """Whether the table can be printed without wrapping its cells."""
        return self._widths(table).maximum <= self.columns

    def render_str(self, text: str, **options: Any) -> Text:
        """Every text comes through here, cells of tables too: what files say cannot command the terminal."""
        return super().render_str(escaped(text), **options)

    def print_lines(self, text: str) -> None:
        """Print a text of our own that has several lines; a line break in any other text is escaped."""
        for line in text.split("\n"):
            self.print(line)

    def on_broken_pipe(self) -> None:
        raise ReaderLeftError


@final
class _StatusLine:
    """What is going on, in the terminal's last line, from where it goes before anything else is printed."""

    def __init__(self) -> None:
        self._lock, self._is_shown = threading.RLock(), False

    def show(self, text: str) -> None:
        """Show a text in the place of the one before, as much of it as fits."""
        room = err.columns - 1
        with self._lock:
            self._write(f"\r\x1b[K{text if cell_len(text) <= room else set_cell_size(text, room)}")
            self._is_shown = True

    def clear(self) -> None:
        """Take it away."""
        with self.out_of_the_way():
            pass

    @contextmanager
    def out_of_the_way(self) -> Iterator[None]:
        """The line is away in here."""
        with self._lock:
            if self._is_shown:
                self._is_shown = False
                self._write("\r\x1b[K")
            yield

    def _write(self, text: str) -> None:
        err.file.write(text)
        err.file.flush()


status_line = _StatusLine()

out = _Console(stderr=False)
"""For results."""

err = _Console(stderr=True)
"""For errors and progress."""


def text_of(parts: Iterable[str | Table]) -> str:
    """Lines, and tables as wide as lines may be here, as one text: what results are as `str`."""
    lines = ([part] if isinstance(part, str) else out.lines_of(part) for part in parts)
    return "\n".join(line for some in lines for line in some)


def print_json(record: object) -> None:
    """One JSON object on a line of its own."""
    try:
        sys.stdout.write(escaped_json(record) + "\n")
    except BrokenPipeError:
        raise ReaderLeftError from None


def print_found(found: Tabled, *, json: bool) -> None:
    """A result as one JSON object, or as its lines."""
    if json:
        print_json(found.record)
    else:
        out.print_lines(str(found))


def print_program(text: str) -> None:
    """A text of our own as it stands, such as a program's steps, which are read again: nothing is wrapped."""
    try:
        with status_line.out_of_the_way():
            sys.stdout.write(text)
    except BrokenPipeError:
        raise ReaderLeftError from None


def print_json_error(details: Mapping[str, object]) -> None:
    """All that a command with --json writes to standard error: why there is no (further) result."""
    sys.stderr.write(escaped_json({"error": details}) + "\n")
