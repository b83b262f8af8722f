"""What `attemper show` says of a file, or of a folder's certificate, that a theory wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, final


@final
@dataclass(frozen=True)
class ShownFile:
    """Lines for people, and the same as JSON data."""

    lines: tuple[str, ...]
    data: Mapping[str, object]


class ShowsFile(Protocol):
    """What shows a kind of file that `attemper.registry.FORMATS` lists; lines have at most so many columns.

    Raises `MalformedFileError` for what is none, and what loading the `model` raises that it is about.
    """

    def __call__(self, path: Path, model: str | None, columns: int) -> ShownFile:
        """What stands at the path."""
