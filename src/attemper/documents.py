"""Files of JSON data, each of one format: a data class, and a header that names format and version."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, final

from attemper.errors import MalformedFileError
from attemper.exact.codec import Codec, CodecError
from attemper.files import parse_json, read_bytes

Value = TypeVar("Value")

LONGEST = 300
"""So many characters of what is wrong are shown."""


def text_of(data: object) -> bytes:
    """JSON data as they stand in a file: on one line."""
    return (json.dumps(data, ensure_ascii=False) + "\n").encode()


def brief(error: Exception) -> str:
    """What an error says, without the middle where that is long: a path in a file may be."""
    said = str(error)
    return said if len(said) <= LONGEST else f"{said[: LONGEST // 2]} ... {said[-LONGEST // 2 :]}"


def _nothing(_: object) -> Iterable[str]:
    return ()


@final
@dataclass(frozen=True)
class Document(Generic[Value]):
    """One format, such as `attemper-depth/2`, which holds values of `codec`; a `noun` says what they are.

    `complaints` says what is wrong with a value as a whole, `remedy` what helps where there is no file.
    """

    format: str
    noun: str
    codec: Codec[Value]
    remedy: str
    complaints: Callable[[Value], Iterable[str]] = _nothing

    def encode(self, value: Value) -> dict[str, object]:
        """The value as JSON data, below its header."""
        return {"format": self.format, **self.codec.encode(value)}

    def decode(self, data: object) -> Value:
        """The value that the data are; raises `CodecError`."""
        version = data.get("format") if isinstance(data, dict) else None
        if not isinstance(data, dict) or version != self.format:
            raise CodecError(self._other_format(version))
        value = self.codec.read({name: entry for name, entry in data.items() if name != "format"})
        for complaint in self.complaints(value):
            raise CodecError(complaint)
        return value

    def save(self, value: Value, path: Path) -> None:
        """Write a file, on one line. Raises `MalformedFileError` if that fails."""
        # Who checks only reads, and rests on nothing that writes.
        from attemper.writing import write_together

        write_together({path: text_of(self.encode(value))})

    def load(self, path: Path) -> Value:
        """Read a file. Raises `MalformedFileError` with what is wrong, and where."""
        data = read_bytes(path, self.remedy)
        try:
            return self.decode(parse_json(data))
        except (ValueError, RecursionError) as error:
            raise MalformedFileError(f"'{path}' is not a {self.noun}: {brief(error)}") from None

    def _other_format(self, version: object) -> str:
        """What is said of data of another format: of an older one that it must be made again."""
        name, _, number = self.format.partition("/")
        older = re.fullmatch(rf"{name}/([1-9][0-9]?)", version) if isinstance(version, str) else None
        if older and int(older[1]) < int(number):
            return f"it was made by an older attemper, as {version}: compile it again, or make it again"
        return f"it is not of the format {self.format}"
