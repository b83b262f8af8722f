"""Settings as entries of tables: read from TOML, changed one by one, written again, and named by a digest."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from attemper.errors import OptionError
from attemper.files import read_bytes
from attemper.training.settings import Settings

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_TEXT = 2**16
"""The most bytes of a file of settings."""


def read_settings(path: Path, changes: Sequence[str] = ()) -> Settings:
    """The settings of a TOML file, with changes such as `training.steps=500`, whose values are TOML, too.

    A value that is no TOML is a text. Raises `MalformedFileError` if there is no such file, `OptionError` for
    what is no TOML, for an unknown entry, and for a value that an entry cannot have: each is named.
    """
    return settings_from(read_entries(path, changes))


def read_entries(path: Path, changes: Sequence[str] = ()) -> dict[str, object]:
    """The entries of a TOML file, with changes, whatever they mean. Raises as `read_settings`."""
    try:
        entries = tomllib.loads(read_bytes(path, "write one, as docs/training.md shows", MOST_TEXT).decode())
    except RecursionError:
        raise OptionError(f"'{path}' is no TOML that can be read: it nests too deeply") from None
    except ValueError as error:
        raise OptionError(f"'{path}' is no TOML: {error}") from None
    return changed(entries, map(_change, changes))


def changed(entries: Mapping[str, object], changes: Iterable[tuple[str, object]]) -> dict[str, object]:
    """The entries with other values, each under `TABLE.ENTRY`. Raises `OptionError` for another name."""
    found: dict[str, object] = dict(entries)
    for name, value in changes:
        table, dot, entry = name.partition(".")
        own = found.get(table, {})
        if not (dot and table and entry and isinstance(own, Mapping)):
            raise OptionError(f"'{name}' names no entry: write TABLE.ENTRY=VALUE, as training.steps=500")
        found[table] = {**own, entry: value}
    return found


def settings_from(entries: Mapping[str, object]) -> Settings:
    """The settings that these tables are. Raises `OptionError`, naming each entry that is wrong.

    >>> settings_from({"task": {"name": "parity-even", "p": "1/2"}}).training.steps
    1000
    >>> settings_from({"task": {"name": "parity-even", "p": "1/2", "q": "1/2"}})
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: settings: task.q: there is no such entry
    """
    task = entries.get("task")
    if isinstance(task, Mapping):
        entries = {**entries, "task": {"kind": "source", **task}}
    try:
        return Settings.model_validate(dict(entries))
    except ValidationError as error:
        raise OptionError("settings: " + "; ".join(map(_said, _innermost(error.errors())))) from None
    except UnicodeEncodeError:
        raise OptionError("settings: a text, or an entry's name, is no Unicode") from None


def entries_of(settings: Settings) -> dict[str, dict[str, object]]:
    """The settings as tables of entries, all of them, also those that were not given."""
    found: dict[str, dict[str, object]] = settings.model_dump(mode="json")
    return found


def as_toml(settings: Settings) -> str:
    """The settings as the text of a TOML file, which reads back as the same; what has no value is left out.

    >>> print(as_toml(settings_from({"task": {"name": "dyck2", "p": "2/5"}})).splitlines()[2])
    name = "dyck2"
    """
    lines = []
    for name, table in entries_of(settings).items():
        said = (f"{entry} = {_as_toml(value)}" for entry, value in table.items() if value is not None)
        lines += [f"[{name}]", *said, ""]
    return "\n".join(lines)


def digest_of(settings: Settings) -> str:
    """What names these settings: 64 digits of SHA-256 over all entries, in a fixed order."""
    return sha256(json.dumps(entries_of(settings), sort_keys=True).encode()).hexdigest()


def _as_toml(value: object) -> str:
    """JSON, but that TOML has no surrogates and no bare DEL."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _change(text: str) -> tuple[str, object]:
    """An entry's name and its value, which is a text if it is no TOML."""
    name, _, value = (part.strip() for part in text.partition("="))
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except (ValueError, RecursionError):
        return name, value


def _innermost(errors: Sequence[ErrorDetails]) -> Iterator[ErrorDetails]:
    """One complaint for each mistake: pydantic also says of what holds a wrong value that it is wrong."""
    for error in errors:
        place = error["loc"]
        if not any(other["loc"][: len(place)] == place for other in errors if len(other["loc"]) > len(place)):
            yield error


def _said(error: ErrorDetails) -> str:
    """One complaint of pydantic, in our words where they are plainer."""
    path = error["loc"]
    # pydantic puts the kind of task behind the table's name.
    place = ".".join(str(part) for at, part in enumerate(path) if not (at == 1 and path[0] == "task"))
    match error["type"]:
        case "extra_forbidden":
            return f"{place}: there is no such entry"
        case "missing":
            return f"{place}: it is missing"
        case "model_type" | "model_attributes_type":
            return f"{place}: it is a table of entries"
        case "union_tag_invalid":
            return f"{place}.kind: there are 'source', 'recognition' and 'next'"
        case _:
            said = str(error["msg"]).removeprefix("Value error, ")
            return f"{place}: {said}" if place else said
