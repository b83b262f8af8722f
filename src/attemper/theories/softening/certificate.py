"""What is claimed of a softened network: how far it is from its hard network, as data, and its file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import assert_never, final

from attemper.certificates.files import read_as, write_as_json
from attemper.files import CERTIFICATE

FORMAT = "attemper-approximation/1"


class GapBy(StrEnum):
    """What a number about the hard network rests on."""

    RULE = "rule"
    """On the rules of heads: proved for all lengths."""
    GIVEN = "given"
    """On somebody's word: checked word by word up to some length, and an assumption beyond."""


@final
@dataclass(frozen=True)
class Monomial:
    """factor * n^power, n the length of the word; the factor is at least 0, the power any rational."""

    factor: Fraction
    power: Fraction = Fraction(0)


@final
@dataclass(frozen=True)
class HeadGap:
    """In words of n symbols every visible score that is not the greatest is at least `gap` below that, and at
    all visible positions of the greatest the head's values are the same.

    By rule a score may also be as great, or nearer, where the head's values are those at the greatest.
    """

    by: GapBy
    gap: Monomial


@final
@dataclass(frozen=True)
class LayerError:
    """One layer: of the hard network, bounds on what it reads and on gaps; of the soft one, its error.

    `magnitude` bounds the size of every coordinate before the layer. `gaps` has one entry for each head, None
    for uniform ones. `error` bounds how far any coordinate of the soft network is from the hard one's after
    the layer; behind the last layer, any that is put out.
    """

    magnitude: Monomial
    magnitude_by: GapBy
    gaps: tuple[HeadGap | None, ...]
    error: Monomial


@final
@dataclass(frozen=True)
class Enumerated:
    """At each of finitely many lengths all words are tried."""


@final
@dataclass(frozen=True)
class ClosedFormErrors:
    """A chain of errors, layer by layer, for all lengths at once.

    What is given is checked for all words of up to `checked_to` symbols.
    """

    layers: tuple[LayerError, ...]
    checked_to: int


Evidence = Enumerated | ClosedFormErrors


@final
@dataclass(frozen=True)
class Approximation:
    """For all words of `first` to `last` symbols (None: from `first` on) and at every position, each
    coordinate that the soft network puts out is within `epsilon` of the hard network's, in real arithmetic.

    `network` is the digest of the soft network, `hard` that of the hard one, without a source.
    """

    network: str
    hard: str
    epsilon: Fraction
    first: int
    last: int | None
    evidence: Evidence


def save(found: Approximation, folder: Path) -> None:
    """Write the certificate into the network's folder. Raises `MalformedFileError` if that fails."""
    write_as_json(encode(found), folder / CERTIFICATE)


def load(folder: Path) -> Approximation:
    """Read the certificate of a softened network's folder. Raises `MalformedFileError` with what is wrong."""
    return read_as(
        "certificate of an approximation", folder / CERTIFICATE, decode, "make one with 'attemper soften'"
    )


def encode(found: Approximation) -> dict[str, object]:
    """The certificate as JSON data: `decode(encode(found)) == found`."""
    return {
        "format": FORMAT,
        "network": found.network,
        "hard": found.hard,
        "epsilon": str(found.epsilon),
        "first": found.first,
        "last": found.last,
        "evidence": _encode_evidence(found.evidence),
    }


def _encode_evidence(evidence: Evidence) -> dict[str, object]:
    match evidence:
        case Enumerated():
            return {"form": "enumerated"}
        case ClosedFormErrors(layers, checked_to):
            return {
                "form": "closed form",
                "checked_to": checked_to,
                "layers": [_encode_layer(layer) for layer in layers],
            }
        case _:
            assert_never(evidence)


def _encode_layer(layer: LayerError) -> dict[str, object]:
    gaps = [None if own is None else [str(own.by), *_encode_monomial(own.gap)] for own in layer.gaps]
    return {
        "magnitude": [str(layer.magnitude_by), *_encode_monomial(layer.magnitude)],
        "gaps": gaps,
        "error": _encode_monomial(layer.error),
    }


def _encode_monomial(monomial: Monomial) -> list[str]:
    return [str(monomial.factor), str(monomial.power)]


def decode(data: object) -> Approximation:
    """Read a certificate from JSON data; raises ValueError for every other shape."""
    match data:
        case {
            "format": str(version),
            "network": str(network),
            "hard": str(hard),
            "epsilon": str(epsilon),
            "first": first,
            "last": last,
            "evidence": dict(evidence),
            **rest,
        } if version == FORMAT and not rest:
            lengths = _length(first), None if last is None else _length(last)
            if lengths[1] is not None and lengths[1] < lengths[0]:
                raise ValueError("the last length is less than the first")
            return Approximation(network, hard, _size(epsilon), *lengths, _evidence(evidence))
        case _:
            raise ValueError(f"it does not have the entries of {FORMAT}")


def _evidence(entry: dict[str, object]) -> Evidence:
    match entry:
        case {"form": "enumerated", **rest} if not rest:
            return Enumerated()
        case {"form": "closed form", "checked_to": checked_to, "layers": list(layers), **rest} if not rest:
            return ClosedFormErrors(tuple(map(_layer, layers)), _length(checked_to, least=0))
        case _:
            raise ValueError(f"no evidence has these entries: {str(entry)[:80]}")


def _layer(entry: object) -> LayerError:
    match entry:
        case {"magnitude": [str(by), *magnitude], "gaps": list(gaps), "error": list(error), **rest} if (
            not rest
        ):
            found = tuple(None if gap is None else _gap(gap) for gap in gaps)
            return LayerError(_monomial(magnitude), GapBy(by), found, _monomial(error))
        case _:
            raise ValueError(f"no layer has these entries: {str(entry)[:80]}")


def _gap(entry: object) -> HeadGap:
    match entry:
        case [str(by), *gap]:
            return HeadGap(GapBy(by), _monomial(gap))
        case _:
            raise ValueError(f"not a head's gap: {str(entry)[:80]}")


def _monomial(entry: list[object]) -> Monomial:
    match entry:
        case [str(factor), str(power)]:
            return Monomial(_size(factor), _power(power))
        case _:
            raise ValueError(f"not a factor and a power: {str(entry)[:80]}")


MOST_LENGTH = 2**40
"""Longer words than this are nobody's."""


def _length(number: object, least: int = 1) -> int:
    if type(number) is not int or not least <= number <= MOST_LENGTH:
        raise ValueError(f"a length is an integer from {least} to {MOST_LENGTH:,}")
    return number


_SIZE = re.compile(r"(0|[1-9][0-9]{0,999})(/[1-9][0-9]{0,999})?")
_POWER = re.compile(r"-?(0|[1-9][0-9]{0,8})(/[1-9][0-9]{0,8})?")


def _size(text: str) -> Fraction:
    """A fraction from 0 on, as p or p/q in lowest terms, with up to 1,000 digits each."""
    return _fraction(_SIZE, text)


def _power(text: str) -> Fraction:
    """A fraction, as p or p/q in lowest terms, with up to 9 digits each."""
    return _fraction(_POWER, text)


def _fraction(shape: re.Pattern[str], text: str) -> Fraction:
    if not shape.fullmatch(text) or str(Fraction(text)) != text:
        raise ValueError(f"'{text[:80]}' is no fraction in lowest terms, such as 3/2")
    return Fraction(text)
