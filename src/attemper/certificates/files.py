"""A certificate on disk: `certificate.json` beside the network. FORMAT.md specifies it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.errors import AlphabetError, AutomatonError, MalformedFileError
from attemper.exact.predicates import PredicateError
from attemper.files import CERTIFICATE, parse_json, read_bytes
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.trees import formula_from_nodes
from attemper.languages.words import Alphabet

if TYPE_CHECKING:
    from attemper.attention_program.realisation import Realisation

FORMAT = "attemper-certificate/2"
OLDER = {"attemper-certificate/1": "0.1"}

UNREADABLE = (ValueError, RecursionError, OverflowError, AlphabetError, AutomatonError, PredicateError)
"""What other data than a certificate's raises."""


Decoded = TypeVar("Decoded")


def write_as_json(data: object, path: Path) -> None:
    """Write a file of JSON data, on one line. Raises `MalformedFileError` if that fails."""
    # Who checks only reads, and rests on nothing that writes.
    from attemper.writing import write_together

    write_together({path: (json.dumps(data, ensure_ascii=False) + "\n").encode()})


def read_as(kind: str, path: Path, decode: Callable[[object], Decoded], remedy: str) -> Decoded:
    """Read a file of JSON data, of this kind. Raises `MalformedFileError` with what is wrong."""
    data = read_bytes(path, remedy)
    try:
        return decode(parse_json(data))
    except UNREADABLE as error:
        raise MalformedFileError(f"'{path}' is not a {kind}: {str(error)[:300]}") from None


def save(certificate: Certificate, folder: Path) -> None:
    """Write the certificate into the network's folder. Raises `MalformedFileError` if that fails."""
    write_as_json(encode(certificate), folder / CERTIFICATE)


def discard(folder: Path) -> None:
    """Remove the certificate of another network that may stand in the folder."""
    (folder / CERTIFICATE).unlink(missing_ok=True)


def load(folder: Path, other: Path | None = None) -> Certificate:
    """Read the certificate of a network's folder, or another file that has one.

    Raises `MalformedFileError` with what is wrong.
    """
    return read_as(
        "certificate", other or folder / CERTIFICATE, decode, "make one with 'attemper certify DIR'"
    )


def load_if_any(folder: Path) -> Certificate | None:
    """The certificate of a network's folder; None if there is none that can be read."""
    try:
        return load(folder)
    except MalformedFileError:
        return None


def format_of(path: Path) -> str:
    """The format that a file says it has; the empty text where it says none, or cannot be read."""
    try:
        data = parse_json(read_bytes(path, ""))
    except (*UNREADABLE, MalformedFileError):
        return ""
    return str(data.get("format", "")) if isinstance(data, dict) else ""


def encode(certificate: Certificate) -> dict[str, object]:
    """The certificate as JSON data.

    A formula's has no program, and that of a claim about a program stands in its source only.
    """
    from attemper.attention_program.trees import program_to_tree

    language = certificate.language
    said = None if isinstance(language, TemporalLanguage) else certificate.realisation
    program = said.program if said is not None and isinstance(language, Dfa) else None
    return {
        "format": FORMAT,
        "network": certificate.network,
        "source": language.tree(),
        "claims": [_encode_claim(claim) for claim in certificate.claims],
        "program": None if program is None else program_to_tree(program),
        "groups": [] if said is None else [[g.layer, [list(bit) for bit in g.bits]] for g in said.groups],
    }


def decode(data: object) -> Certificate:
    """Read a certificate from JSON data; raises ValueError for every other shape."""
    match data:
        case {
            "format": str(version),
            "network": str(network),
            "source": dict(source),
            "claims": list(claims),
            "program": None | dict() as program,
            "groups": list(groups),
            **rest,
        } if version == FORMAT and not rest:
            language = decode_language(source)
            read = tuple(_claim(claim) for claim in claims)
            return Certificate(network, language, read, _realisation(language, program, groups))
        case {"format": str(version)} if version in OLDER:
            raise ValueError(f"it was made by attemper {OLDER[version]}: compile again")
        case _:
            raise ValueError(f"it does not have the entries of {FORMAT}")


def decode_language(source: Mapping[str, object]) -> Definition:
    """Read a formula, an automaton or a program from JSON data; raises one of `UNREADABLE` else."""
    match source:
        case {"formula": nodes, "at": str(at), "accepts_empty": bool(accepts_empty), **rest} if not rest:
            return TemporalLanguage(formula_from_nodes(nodes), At(at), accepts_empty)
        case {"program": tree, "at": str(at), "accepts_empty": bool(accepts_empty), **rest} if not rest:
            # A formula's certificate says nothing of programs, and loads nothing of them.
            from attemper.attention_program.language import ProgramLanguage
            from attemper.attention_program.trees import program_from_tree

            return ProgramLanguage(program_from_tree(tree), At(at), accepts_empty)
        case _:
            return decode_dfa(source)


def _realisation(language: Definition, tree: object, groups: list[object]) -> Realisation | None:
    if isinstance(language, TemporalLanguage) and tree is not None:
        raise ValueError("its source is a formula, so that 'program' must be null")
    if isinstance(language, TemporalLanguage | Dfa) and tree is None:
        if groups:
            raise ValueError("it has groups of bits, but no program")
        return None
    from attemper.attention_program.language import ProgramLanguage
    from attemper.attention_program.realisation import Realisation, SymbolGroup
    from attemper.attention_program.trees import program_from_tree

    if not isinstance(language, ProgramLanguage):
        program = program_from_tree(tree)
    elif tree is not None:
        raise ValueError("its source is a program, so that 'program' must be null")
    else:
        program = language.program
    return Realisation(program, tuple(SymbolGroup(*_group(entry)) for entry in groups))


def _group(entry: object) -> tuple[int, tuple[tuple[int, int], ...]]:
    """A layer, and the coordinates and steps of its bits."""
    match entry:
        case [layer, list(bits)] if bits:
            return count_of(layer), tuple(map(_bit, bits))
        case _:
            raise ValueError(f"not a group of bits: {str(entry)[:80]}")


def _bit(entry: object) -> tuple[int, int]:
    match entry:
        case [coordinate, step]:
            return count_of(coordinate), count_of(step)
        case _:
            raise ValueError(f"not a coordinate and a step: {str(entry)[:80]}")


def decode_dfa(entry: Mapping[str, object]) -> Dfa:
    """Read an automaton from JSON data; raises one of `UNREADABLE` for every other shape."""
    match entry:
        case {
            "alphabet": list(symbols),
            "moves": list(moves),
            "start": start,
            "accepting": list(accepting),
            **rest,
        } if not rest:
            rows = tuple(tuple(map(count_of, row)) if isinstance(row, list) else () for row in moves)
            ends = [count_of(state) for state in accepting]
            return Dfa(Alphabet(tuple(symbols)), rows, count_of(start), frozenset(ends))
        case _:
            raise ValueError("its language is none of those that are known")


def _encode_claim(claim: Claim) -> dict[str, object]:
    match claim:
        case RealClaim(None):
            return {"arithmetic": "real"}
        case RealClaim(horizon):
            return {"arithmetic": "real", "horizon": horizon}
        case FloatClaim(name, kernel, horizon, bottleneck):
            return {"arithmetic": name, "kernel": kernel, "horizon": horizon, "bottleneck": bottleneck}


def _claim(entry: object) -> Claim:
    match entry:
        case {"arithmetic": "real", **rest} if not rest:
            return RealClaim()
        case {"arithmetic": "real", "horizon": horizon, **rest} if not rest:
            return RealClaim(count_of(horizon))
        case {
            "arithmetic": str(name),
            "kernel": str(kernel),
            "horizon": horizon,
            "bottleneck": str(bottleneck),
            **rest,
        } if not rest:
            return FloatClaim(name, kernel, count_of(horizon), bottleneck)
        case _:
            raise ValueError(f"not a claim: {str(entry)[:80]}")


def count_of(entry: object) -> int:
    """A number from 0 on that 63 bits hold; raises ValueError for everything else."""
    if type(entry) is not int or not 0 <= entry < 2**63:
        raise ValueError(f"not a number from 0 on: {str(entry)[:80]}")
    return entry
