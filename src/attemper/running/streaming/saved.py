"""The state of a stream as JSON: every number exactly, the network it belongs to, and a digest of all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from attemper.errors import MalformedFileError
from attemper.files import parse_json, read_bytes
from attemper.running.streaming.heads import Row
from attemper.writing import write_together

FORMAT = "attemper stream 1"

LONGEST = 2**53
"""Positions up to here are floats exactly, and no stream goes further."""


@final
@dataclass(frozen=True)
class Saved:
    """All that a stream has kept of what it read: its own numbers, and of each head a row for each kind."""

    position: int
    margin: float
    first: tuple[float, ...]
    last: tuple[float, ...]
    heads: tuple[tuple[Row, ...], ...]


def data_of(saved: Saved, digest: str) -> dict[str, object]:
    """The state of a stream of the network with that digest, as JSON data; floats are written in hex."""
    data: dict[str, object] = {
        "format": FORMAT,
        "network": digest,
        "position": saved.position,
        "margin": saved.margin.hex(),
        "first": _texts(saved.first),
        "last": _texts(saved.last),
        "heads": [[_texts(row) for row in rows] for rows in saved.heads],
    }
    return {**data, "digest": _digest(data)}


def write_saved(data: Mapping[str, object], path: Path) -> None:
    """Write a state completely; raises `MalformedFileError` if that cannot be done."""
    write_together({path: json.dumps(data, indent=1).encode() + b"\n"})


def saved_of(state: str | Path | Mapping[str, object], digest: str) -> Saved:
    """The state in a file, or as data, for the network with that digest.

    Raises `MalformedFileError` for anything else, and for the state of another network.
    """
    if isinstance(state, Mapping):
        return _decoded(state, digest, "the state")
    path = Path(state)
    data = read_bytes(path, "give the file that a stream was saved to")
    try:
        found = parse_json(data)
    except (ValueError, RecursionError):
        raise _malformed(f"'{path}'", "it is no JSON, or only a part of it") from None
    if not isinstance(found, dict):
        raise _malformed(f"'{path}'", "it is no JSON object")
    return _decoded(found, digest, f"'{path}'")


def _decoded(data: Mapping[str, object], digest: str, name: str) -> Saved:
    if data.get("format") != FORMAT:
        raise _malformed(name, f"its format is not '{FORMAT}'")
    theirs = data.get("network")
    if theirs != digest:
        raise MalformedFileError(
            f"{name} holds the state of a stream of the network {str(theirs)[:80]}, and this is the network "
            f"{digest}: a state fits only the network that it was saved from"
        )
    try:
        said = data.get("digest")
        if said != _digest({key: value for key, value in data.items() if key != "digest"}):
            raise ValueError("it was changed after it was written: the digest does not fit")
        return _saved(data)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise _malformed(name, str(error)) from None


def _saved(data: Mapping[str, object]) -> Saved:
    """The numbers of a state; raises ValueError for another shape."""
    if set(data) != {"format", "network", "position", "margin", "first", "last", "heads", "digest"}:
        raise ValueError("an entry is missing, or there is one too many")
    position = data["position"]
    if type(position) is not int or not 0 <= position <= LONGEST:
        raise ValueError("its position is none")
    heads = tuple(tuple(list(_numbers(row)) for row in _list(rows)) for rows in _list(data["heads"]))
    return Saved(position, _number(data["margin"]), _numbers(data["first"]), _numbers(data["last"]), heads)


def _texts(numbers: tuple[float, ...] | Row) -> list[str]:
    return [float(number).hex() for number in numbers]


def _numbers(entry: object) -> tuple[float, ...]:
    return tuple(map(_number, _list(entry)))


def _number(entry: object) -> float:
    if not isinstance(entry, str):
        raise ValueError("a number is not written as a text in hex")
    return float.fromhex(entry)


def _list(entry: object) -> list[object]:
    if not isinstance(entry, list):
        raise ValueError("a list of numbers is none")
    return entry


def _digest(data: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _malformed(name: str, why: str) -> MalformedFileError:
    return MalformedFileError(f"{name} holds no state of a stream: {why}; begin without it")
