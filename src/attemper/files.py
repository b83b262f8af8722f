"""Reading files: completely, or with a clear error."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

from attemper.errors import MalformedFileError

MOST_TEXT = 64_000_000
"""The most bytes of a JSON file that are read: networks' structures, certificates, refutations, automata."""

CERTIFICATE = "certificate.json"
"""The file in a folder that claims something of what stands beside it."""

_OPENED = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)
"""Opening a pipe that nobody writes to must not wait; not every system knows every one of these."""


def read_bytes(path: Path, remedy: str, most: int = MOST_TEXT) -> bytes:
    """The content of a regular file of at most `most` bytes; a symbolic link stands for what it names.

    Nothing is read of a larger file, and nothing waits for a pipe or a device. Raises `MalformedFileError`,
    with the remedy if the file does not exist.
    """
    try:
        descriptor = os.open(path, _OPENED)
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise MalformedFileError(f"cannot read '{path}': it is {kind_of(status.st_mode)}, no file")
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                # A file can grow while it is read.
                data = b"" if status.st_size > most else stream.read(most + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise MalformedFileError(f"there is no '{path}'; {remedy}") from None
    except (OSError, ValueError) as error:
        raise MalformedFileError(f"cannot read {str(path)!r}: {error}") from None
    size = max(status.st_size, len(data))
    if size > most:
        raise MalformedFileError(f"'{path}' has {size:,} bytes, more than the {most:,} that it can need")
    return data


def read_utf8(path: Path, remedy: str) -> str:
    """The text of a file in UTF-8, without a byte order mark. Raises `MalformedFileError` as `read_bytes`."""
    try:
        return read_bytes(path, remedy).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise MalformedFileError(f"'{path}' is not a text in UTF-8: {error.reason}") from None


def parse_json(data: bytes) -> object:
    """The JSON value that the bytes are, in UTF-8.

    Raises ValueError if the bytes are no JSON, or if an object has a key twice: of two entries with one
    name some readers take the first, some the last. Raises RecursionError if the JSON nests too deeply.
    """
    value: object = json.loads(data.decode("utf-8"), object_pairs_hook=_without_twins)
    return value


def _without_twins(entries: list[tuple[str, object]]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, value in entries:
        if name in found:
            raise ValueError(f"an object has the key '{name[:80]}' twice")
        found[name] = value
    return found


def kind_of(mode: int) -> str:
    """What else than a regular file something of that mode is."""
    names = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for is_one, name in names if is_one(mode)), "a device")
