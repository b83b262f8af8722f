"""What network.json holds: all of a network but its weights, and where it comes from. Data only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, final

from attemper.exact import closed_forms
from attemper.exact.closed_forms import ClosedForm
from attemper.exact.codec import Natural, Rational
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet
from attemper.networks.layers import (
    Construction,
    Coordinate,
    Foreign,
    Head,
    Masking,
    Network,
    Softmax,
    Weighting,
)

SourceKind = Literal["formula", "regex", "automaton", "program", "machine", "hard"]
"""What a network comes from: a text of a language, or another network, by its digest."""


HARD: Final = "hard"


@final
@dataclass(frozen=True)
class Provenance:
    """Where a network comes from: a text of one kind, and how it is read."""

    kind: SourceKind
    text: str
    at: str
    regime: str


@final
@dataclass(frozen=True)
class HeadStructure:
    """One head: `rows` of its query and key, and `values`, are in use."""

    construction: Construction | Foreign
    masking: Masking
    weighting: Weighting
    rows: Natural
    values: Natural


@final
@dataclass(frozen=True)
class LayerStructure:
    """One layer, with so many hidden units."""

    heads: tuple[HeadStructure, ...]
    hidden: Natural
    clamps: tuple[tuple[Natural, Natural], ...]


@final
@dataclass(frozen=True)
class NormStructure:
    """A `layers.Normalisation` without its norms."""

    eps: Rational
    unit: Rational
    is_centred: bool


@final
@dataclass(frozen=True)
class Structure:
    """A network without its weights; entries of the same name are those of `layers.Network`."""

    source: Provenance
    alphabet: Alphabet
    coordinates: tuple[str, ...]
    positions: tuple[tuple[Coordinate, ClosedForm], ...]
    head_width: Natural
    output: Coordinate
    symbols: tuple[tuple[str, Coordinate], ...]
    measure: Measure | None
    over: Masking | None
    reads_first: bool
    accepts_empty: bool
    normalisation: NormStructure | None
    layers: tuple[LayerStructure, ...]


def complaints(structure: Structure | Network) -> Iterator[str]:
    """What is wrong with closed forms, of a network or of its structure."""
    weightings = [head.weighting for layer in structure.layers for head in layer.heads]
    colds = [own.inverse_temperature for own in weightings if isinstance(own, Softmax)]
    for form in (*(form for _, form in structure.positions), *colds):
        yield from closed_forms.complaints(form)


def structure_of(network: Network, source: Provenance) -> Structure:
    """The structure of a network that comes from there."""
    norm = network.normalisation
    return Structure(
        source=source,
        alphabet=network.alphabet,
        coordinates=network.coordinates,
        positions=network.positions,
        head_width=network.head_width,
        output=network.output,
        symbols=network.symbols,
        measure=network.measure,
        over=network.over,
        reads_first=network.reads_first,
        accepts_empty=network.accepts_empty,
        normalisation=None if norm is None else NormStructure(norm.eps, norm.unit, norm.is_centred),
        layers=tuple(
            LayerStructure(tuple(map(_head, layer.heads)), len(layer.hidden), layer.clamps)
            for layer in network.layers
        ),
    )


def _head(head: Head) -> HeadStructure:
    return HeadStructure(head.construction, head.masking, head.weighting, len(head.query), len(head.values))
