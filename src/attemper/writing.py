"""Writing files: completely, or with a clear error. Nothing that checks needs this."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from secrets import token_hex

from attemper.errors import MalformedFileError
from attemper.files import kind_of


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write all files completely beside their places, then move them there; folders are made if needed.

    A symbolic link stands for what it names, and a file that is replaced keeps its rights. Raises
    `MalformedFileError` if a place is that of a folder, a pipe or a device, if two places are one, or if the
    files cannot be written; what stood there before is then untouched. Moves are made one by one: what stops
    the process between two of them leaves some files new and some old.
    """
    parts: dict[Path, Path] = {}
    try:
        places = {Path(os.path.realpath(path)): data for path, data in files.items()}
        if len(places) < len(files):
            raise MalformedFileError("two of the files to write are one, by a link: remove the link")
        rights = {path: _rights(path) for path in places}
        for path, data in places.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            # A name that nobody can foresee, and a file that is new: neither another's, nor a link.
            part = path.with_name(f".{token_hex(8)}.part")
            with part.open("xb") as stream:
                parts[path] = part
                if (mode := rights[path]) is not None:
                    part.chmod(mode)
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


def require_own(folder: Path, what: str, is_own: Callable[[Path], bool], *, force: bool = False) -> None:
    """Refuse a folder in which something else stands than what was written there before; hidden files may.

    `what` names that in the message, and `is_own` says of a folder with files whether it has that. With
    `force` every folder may be written to. Raises `MalformedFileError`.
    """
    others = [] if force or not folder.is_dir() else [p.name for p in folder.iterdir() if p.name[0] != "."]
    if others and not is_own(folder):
        raise MalformedFileError(
            f"'{folder}' has other files than {what}, such as '{min(others)}': name a new folder, or an "
            "empty one, or say force=True",
            options=("force",),
        )


def _rights(path: Path) -> int | None:
    """Who may read and write the file that stands there; None where none does. Refuses what is no file."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return None
    if not stat.S_ISREG(mode):
        raise MalformedFileError(f"cannot write '{path}': it is {kind_of(mode)}, no file; name another place")
    return stat.S_IMODE(mode)
