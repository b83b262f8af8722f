"""Reading and writing files: completely, or with a clear error."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from attemper.errors import MalformedFileError

MOST_TEXT = 64_000_000
"""The most bytes of a JSON file that are read: networks' structures, certificates, refutations, automata."""

_OPENED = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC", "O_BINARY")
)
"""Opening a pipe that nobody writes to must not wait; not every system knows every one of these."""


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write all files completely beside their places, then move them there; folders are made if needed.

    A symbolic link stands for what it names. Raises `MalformedFileError` if a place is that of a folder, a
    pipe or a device, or if the files cannot be written; what stood there before is then untouched. Moves are
    made one by one: what stops the process between two of them leaves some files new and some old.
    """
    parts: dict[Path, Path] = {}
    try:
        places = {Path(os.path.realpath(path)): data for path, data in files.items()}
        for path in places:
            _require_replaceable(path)
        for path, data in places.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # A name that nobody can foresee, and a file that is new: neither another's, nor a link.
            part = path.with_name(f".{token_hex(8)}.part")
            with part.open("xb") as stream:
                parts[path] = part
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
        for path, part in parts.items():
            part.replace(path)
    except OSError as error:
        folders = ", ".join(sorted({f"'{path.parent}'" for path in files}))
        raise MalformedFileError(f"cannot write to {folders}: {error.strerror}") from None
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _require_replaceable(path: Path) -> None:
    """Refuse a place where something stands that is no file."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if not stat.S_ISREG(mode):
        raise MalformedFileError(f"cannot write '{path}': it is {_kind(mode)}, no file; name another place")


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
                raise MalformedFileError(f"cannot read '{path}': it is {_kind(status.st_mode)}, no file")
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


def _kind(mode: int) -> str:
    """What else than a regular file something is."""
    names = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for is_one, name in names if is_one(mode)), "a device")
