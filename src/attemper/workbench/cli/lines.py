"""Files with one word a line: regular files, pipes and the standard input, line by line."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from attemper.errors import MalformedFileError
from attemper.files import kind_of
from attemper.workbench.cli.progress import waiting_for_the_user

LONGEST_LINE = 10_000_000
"""A line of more characters is not read: no word of so many symbols is run at once."""


def lines_in(name: str) -> Iterator[str]:
    """The lines of a file, a pipe or, for -, of stdin, without their ends; a pipe waits for who writes to it.

    Raises `MalformedFileError`, also for a device, which may have no end, and for a line that has none.
    """
    try:
        with _opened(name) as stream:
            number = 0
            while line := _next_line(stream):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise MalformedFileError(
                        f"{place_in(name, number)} has more than {LONGEST_LINE:,} characters: longer words "
                        "are read by --stream"
                    )
                # Some editors begin a file with a mark that says how bytes become characters.
                yield (line.removeprefix("\ufeff") if number == 1 else line).rstrip("\r\n")
    except OSError as error:
        raise MalformedFileError(f"cannot read the words in '{name}': {error.strerror}") from None
    except UnicodeDecodeError:
        raise MalformedFileError(f"the words in '{name}' are not UTF-8 text") from None


def _next_line(stream: TextIO) -> str:
    with waiting_for_the_user():
        return stream.readline(LONGEST_LINE + 1)


def place_in(name: str, number: int) -> str:
    """Where a line stands, as errors say it.

    >>> place_in("words.txt", 2), place_in("-", 1)
    ("line 2 of 'words.txt'", 'line 1 of the standard input')
    """
    return f"line {number} of {'the standard input' if name == '-' else repr(name)}"


def _opened(name: str) -> TextIO:
    if name == "-":
        return sys.stdin
    mode = Path(name).stat().st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise MalformedFileError(
            f"cannot read the words in '{name}': it is {kind_of(mode)}, no file and no pipe"
        )
    return Path(name).open(encoding="utf-8")
