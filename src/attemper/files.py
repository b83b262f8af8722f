"""Reading and writing files: completely, or with a clear error."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from attemper.errors import MalformedFileError


def write_together(files: Mapping[Path, bytes]) -> None:
    """Write all files completely beside their places, then move them there; folders are made if needed.

    Raises `MalformedFileError` if that is not possible; what stood there before is then untouched.
    """
    parts: dict[Path, Path] = {}
    try:
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            parts[path] = path.with_name(path.name + ".part")
            with parts[path].open("wb") as stream:
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


def read_bytes(path: Path, remedy: str) -> bytes:
    """The file's content. Raises `MalformedFileError`, with the remedy if it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise MalformedFileError(f"there is no '{path}'; {remedy}") from None
    except (OSError, ValueError) as error:
        raise MalformedFileError(f"cannot read {str(path)!r}: {error}") from None


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
