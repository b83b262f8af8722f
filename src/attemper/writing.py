"""Writing files: completely, or with a clear error. Nothing that checks needs this."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex

from attemper.errors import MalformedFileError
from attemper.files import kind_of


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
        raise MalformedFileError(f"cannot write '{path}': it is {kind_of(mode)}, no file; name another place")
