"""A refutation as data, and its file: two words that a hard-attention transformer cannot tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import assert_never, final

from attemper.certificates.files import decode_dfa, read_as, write_as_json
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Blocks, Dyck, Target

FORMAT = "attemper-refutation/1"


@final
@dataclass(frozen=True)
class Refutation:
    """The model gives one answer to all words of a restriction, to one in the language and one outside.

    `digest` and `semantics` are the model's, `source` says where it was found (a folder or MODULE:OBJECT; a
    remark). The restriction is over the numbers of the model's `symbols`, for all positions 1..n, that of the
    end marker included. The answer is the same for all words that agree at the positions `decided_by`: none,
    if it is constant. `member` is in the language, `stranger` is not; both without the end marker.
    """

    digest: str
    source: str
    semantics: str
    symbols: tuple[str, ...]
    ending: str | None
    restriction: Restriction
    decided_by: tuple[int, ...]
    language: Target
    member: Word
    stranger: Word
    answer: bool


def save(refutation: Refutation, path: Path) -> None:
    """Write the file. Raises `MalformedFileError` if that fails."""
    write_as_json(encode(refutation), path)


def load(path: Path) -> Refutation:
    """Read the file. Raises `MalformedFileError` with what is wrong."""
    return read_as("refutation", path, decode, "make one with 'attemper refute ... -o FILE'")


def encode(refutation: Refutation) -> dict[str, object]:
    """The refutation as JSON data."""
    return {
        "format": FORMAT,
        "model": refutation.digest,
        "source": refutation.source,
        "semantics": refutation.semantics,
        "symbols": list(refutation.symbols),
        "ending": refutation.ending,
        "restriction": [list(allowed) for allowed in refutation.restriction.allowed],
        "decided_by": list(refutation.decided_by),
        "language": _encoded(refutation.language),
        "member": list(refutation.member),
        "stranger": list(refutation.stranger),
        "answer": refutation.answer,
    }


def decode(data: object) -> Refutation:
    """Read a refutation from JSON data; raises ValueError for every other shape."""
    match data:
        case {
            "format": str(version),
            "model": str(digest),
            "source": str(source),
            "semantics": str(semantics),
            "symbols": list(symbols),
            "ending": str() | None as ending,
            "restriction": list(allowed),
            "decided_by": list(decided_by),
            "language": dict(language),
            "member": list(member),
            "stranger": list(stranger),
            "answer": bool(answer),
            **rest,
        } if version == FORMAT and not rest:
            names = _words(symbols)
            restriction = Restriction(tuple(_numbers(entry, len(names)) for entry in allowed))
            if len(set(names)) < len(names) or (ending is not None and ending not in names):
                raise ValueError("its symbols are not distinct, or lack the end marker")
            length = len(allowed) - (ending is not None)
            if not allowed or len(member) != length or len(stranger) != length:
                raise ValueError(f"its restriction has {len(allowed)} positions, and its words do not fit")
            positions = tuple(number - 1 for number in _numbers(decided_by, len(allowed) + 1))
            if -1 in positions or len(set(positions)) < len(positions):
                raise ValueError("'decided_by' must list positions from 1, each once")
            return Refutation(
                digest,
                source,
                semantics,
                names,
                ending,
                restriction,
                tuple(position + 1 for position in positions),
                _decoded(language),
                _words(member),
                _words(stranger),
                answer,
            )
        case _:
            raise ValueError(f"it does not have the entries of {FORMAT}")


def _encoded(language: Target) -> dict[str, object]:
    match language:
        case Dfa():
            return language.tree()
        case Dyck(pairs):
            return {"dyck": [list(pair) for pair in pairs]}
        case Blocks(first, second):
            return {"blocks": [first, second]}
        case _:
            assert_never(language)


def _decoded(entry: dict[str, object]) -> Target:
    match entry:
        case {"dyck": list(pairs), **rest} if not rest and pairs:
            found = tuple(_words(pair) for pair in pairs)
            flat = [symbol for pair in found for symbol in pair]
            if any(len(pair) != 2 for pair in found) or len(set(flat)) < len(flat):
                raise ValueError("brackets must be pairs of different symbols")
            return Dyck(tuple((pair[0], pair[1]) for pair in found))
        case {"blocks": [str(first), str(second)], **rest} if not rest and first != second:
            return Blocks(first, second)
        case _:
            return decode_dfa(entry)


def _words(entry: object) -> tuple[str, ...]:
    if not isinstance(entry, list) or not all(isinstance(symbol, str) for symbol in entry):
        raise ValueError(f"not a list of symbols: {str(entry)[:80]}")
    return tuple(entry)


def _numbers(entry: object, below: int) -> tuple[int, ...]:
    if not isinstance(entry, list) or not all(
        type(number) is int and 0 <= number < below for number in entry
    ):
        raise ValueError(f"not a list of numbers below {below}: {str(entry)[:80]}")
    return tuple(entry)
