"""A certificate on disk: `certificate.json` beside the network. FORMAT.md specifies it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import assert_never

from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.certificates.evidence import Evidence, MeansSubformula, RoundedLayer, SoftenedHead
from attemper.errors import AlphabetError, AutomatonError, MalformedFileError
from attemper.exact.predicates import PredicateError
from attemper.files import parse_json, read_bytes, write_together
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.trees import formula_from_nodes, formula_to_nodes
from attemper.languages.words import Alphabet

FORMAT = "attemper-certificate/1"
CERTIFICATE = "certificate.json"

UNREADABLE = (ValueError, RecursionError, OverflowError, AlphabetError, AutomatonError, PredicateError)
"""What other data than a certificate's raises."""


def save(certificate: Certificate, folder: Path) -> None:
    """Write the certificate into the network's folder. Raises `MalformedFileError` if that fails."""
    text = json.dumps(encode(certificate), ensure_ascii=False) + "\n"
    write_together({folder / CERTIFICATE: text.encode()})


def discard(folder: Path) -> None:
    """Remove the certificate of another network that may stand in the folder."""
    (folder / CERTIFICATE).unlink(missing_ok=True)


def load(folder: Path) -> Certificate:
    """Read the certificate of a network's folder. Raises `MalformedFileError` with what is wrong."""
    path = folder / CERTIFICATE
    data = read_bytes(path, "make one with 'attemper certify DIR'")
    try:
        return decode(parse_json(data))
    except UNREADABLE as error:
        raise MalformedFileError(f"'{path}' is not a certificate: {str(error)[:300]}") from None


def encode(certificate: Certificate) -> dict[str, object]:
    """The certificate as JSON data."""
    evidence = certificate.evidence
    return {
        "format": FORMAT,
        "network": certificate.network,
        "source": _encode_language(certificate.language),
        "claims": [_encode_claim(claim) for claim in certificate.claims],
        "heads": [
            [e.layer, e.head, str(e.margin), str(e.stray_mass)]
            for e in evidence
            if isinstance(e, SoftenedHead)
        ],
        "layers": [[e.layer, str(e.error)] for e in evidence if isinstance(e, RoundedLayer)],
        "meanings": [
            [e.layer, e.coordinate, e.subformula] for e in evidence if isinstance(e, MeansSubformula)
        ],
    }


def decode(data: object) -> Certificate:
    """Read a certificate from JSON data; raises ValueError for every other shape."""
    match data:
        case {
            "format": str(version),
            "network": str(network),
            "source": dict(source),
            "claims": list(claims),
            "heads": list(heads),
            "layers": list(layers),
            "meanings": list(meanings),
        } if version == FORMAT and isinstance(data, Mapping) and len(data) == 7:
            language = _language(source)
            evidence: list[Evidence] = [_head(entry) for entry in heads]
            evidence += [_layer(entry) for entry in layers]
            evidence += [_meaning(entry) for entry in meanings]
            return Certificate(network, language, tuple(_claim(c) for c in claims), tuple(evidence))
        case _:
            raise ValueError(f"it does not have the entries of {FORMAT}")


def _encode_language(language: Language) -> dict[str, object]:
    match language:
        case TemporalLanguage(formula, at, accepts_empty):
            return {"formula": formula_to_nodes(formula), "at": str(at), "accepts_empty": accepts_empty}
        case Dfa():
            return encode_dfa(language)
        case _:
            assert_never(language)


def _language(source: Mapping[str, object]) -> Language:
    match source:
        case {"formula": nodes, "at": str(at), "accepts_empty": bool(accepts_empty), **rest} if not rest:
            return TemporalLanguage(formula_from_nodes(nodes), At(at), accepts_empty)
        case _:
            return decode_dfa(source)


def encode_dfa(dfa: Dfa) -> dict[str, object]:
    """An automaton as JSON data."""
    return {
        "alphabet": list(dfa.alphabet.symbols),
        "moves": [list(row) for row in dfa.moves],
        "start": dfa.start,
        "accepting": sorted(dfa.accepting),
    }


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
            rows = tuple(tuple(map(_count, row)) if isinstance(row, list) else () for row in moves)
            ends = [_count(state) for state in accepting]
            return Dfa(Alphabet(tuple(symbols)), rows, _count(start), frozenset(ends))
        case _:
            raise ValueError("its language is none of those that are known")


def _encode_claim(claim: Claim) -> dict[str, object]:
    match claim:
        case RealClaim():
            return {"arithmetic": "real"}
        case FloatClaim(name, kernel, horizon, bottleneck):
            return {"arithmetic": name, "kernel": kernel, "horizon": horizon, "bottleneck": bottleneck}


def _claim(entry: object) -> Claim:
    match entry:
        case {"arithmetic": "real", **rest} if not rest:
            return RealClaim()
        case {
            "arithmetic": str(name),
            "kernel": str(kernel),
            "horizon": horizon,
            "bottleneck": str(bottleneck),
            **rest,
        } if not rest:
            return FloatClaim(name, kernel, _count(horizon), bottleneck)
        case _:
            raise ValueError(f"not a claim: {str(entry)[:80]}")


def _head(entry: object) -> SoftenedHead:
    match entry:
        case [layer, head, str(margin), str(mass)]:
            return SoftenedHead(_count(layer), _count(head), _rational(margin), _rational(mass))
        case _:
            raise ValueError(f"not evidence of a head: {str(entry)[:80]}")


def _layer(entry: object) -> RoundedLayer:
    match entry:
        case [layer, str(error)]:
            return RoundedLayer(_count(layer), _rational(error))
        case _:
            raise ValueError(f"not evidence of a layer: {str(entry)[:80]}")


def _meaning(entry: object) -> MeansSubformula:
    match entry:
        case [layer, coordinate, subformula]:
            return MeansSubformula(_count(layer, -1), _count(coordinate), _count(subformula))
        case _:
            raise ValueError(f"not the meaning of a coordinate: {str(entry)[:80]}")


def _count(entry: object, least: int = 0) -> int:
    if type(entry) is not int or not least <= entry < 2**63:
        raise ValueError(f"not a number from {least} on: {str(entry)[:80]}")
    return entry


def _rational(text: str) -> Fraction:
    if not re.fullmatch(r"[0-9]{1,300}(/[1-9][0-9]{0,299})?", text, re.ASCII):
        raise ValueError(f"not a non-negative rational number: '{text[:80]}'")
    return Fraction(text)
