"""The state of a stream as JSON: every number exactly, the network it belongs to, and a digest of all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, final

from attemper.documents import Document, brief, text_of
from attemper.errors import MalformedFileError
from attemper.exact.codec import Codec, Within
from attemper.files import parse_json, read_bytes
from attemper.writing import write_together

LONGEST = 2**53
"""Positions up to here are floats exactly, and no stream goes further."""

DIGEST = "digest"
"""The entry beside those of the state that seals them."""


@final
@dataclass(frozen=True)
class Saved:
    """All that a stream of the network has kept: its own numbers, and of each head a row for each kind."""

    network: str
    position: Annotated[int, Within(0, LONGEST)]
    margin: float
    first: tuple[float, ...]
    last: tuple[float, ...]
    heads: tuple[tuple[tuple[float, ...], ...], ...]


STREAM: Document[Saved] = Document(
    "attemper-stream/2", "state of a stream", Codec(Saved), "give the file that a stream was saved to"
)


def data_of(saved: Saved) -> dict[str, object]:
    """The state of a stream as JSON data, with its digest."""
    data = STREAM.encode(saved)
    return {**data, DIGEST: _digest(data)}


def write_saved(data: Mapping[str, object], path: Path) -> None:
    """Write a state completely; raises `MalformedFileError` if that cannot be done."""
    write_together({path: text_of(data)})


def saved_of(state: str | Path | Mapping[str, object], digest: str) -> Saved:
    """The state in a file, or as data, for the network with that digest.

    Raises `MalformedFileError` for anything else, and for the state of another network.
    """
    if isinstance(state, Mapping):
        return _decoded(state, digest, "the state")
    path = Path(state)
    data = read_bytes(path, STREAM.remedy)
    try:
        found = parse_json(data)
    except (ValueError, RecursionError):
        raise _malformed(f"'{path}'", "it is no JSON, or only a part of it") from None
    return _decoded(found, digest, f"'{path}'")


def _decoded(data: object, digest: str, name: str) -> Saved:
    entries = dict(data) if isinstance(data, Mapping) else {}
    said = entries.pop(DIGEST, None)
    try:
        saved = STREAM.decode(entries)
    except (ValueError, RecursionError) as error:
        raise _malformed(name, brief(error)) from None
    if saved.network != digest:
        raise MalformedFileError(
            f"{name} holds the state of a stream of the network {saved.network[:80]}, and this is the "
            f"network {digest}: a state fits only the network that it was saved from"
        )
    if said != _digest(entries):
        raise _malformed(name, "it was changed after it was written: the digest does not fit")
    return saved


def _digest(data: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def _malformed(name: str, why: str) -> MalformedFileError:
    return MalformedFileError(f"{name} holds no state of a stream: {why}; begin without it")
