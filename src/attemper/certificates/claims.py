"""A certificate: which network computes which language, in which arithmetic, for which lengths. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.certificates.evidence import Evidence
from attemper.languages.language import Language
from attemper.networks.layers import Coordinate


@final
@dataclass(frozen=True)
class RealClaim:
    """Right for all words of all lengths, in real arithmetic."""


@final
@dataclass(frozen=True)
class FloatClaim:
    """Right for all words of up to `horizon` symbols in a float format.

    `kernel` is the class of attention kernels, numerator-first or normalise-first; any order of summation.
    `bottleneck` says what no proof covers beyond the horizon: a remark, not part of the claim.
    """

    format: str
    kernel: str
    horizon: int
    bottleneck: str


Claim = RealClaim | FloatClaim


@final
@dataclass(frozen=True)
class SymbolGroup:
    """Bits that a layer makes, of which at most one is 1: which symbol it is.

    Each is a coordinate after the layer, and the step of the program that the coordinate holds.
    """

    layer: int
    bits: tuple[tuple[Coordinate, Ref], ...]


@final
@dataclass(frozen=True)
class Realisation:
    """The program that the network runs, which computes the language."""

    program: Program
    groups: tuple[SymbolGroup, ...] = ()


@final
@dataclass(frozen=True)
class Certificate:
    """Claims about the network with this digest, and the evidence for them."""

    network: str
    language: Language
    claims: tuple[Claim, ...]
    evidence: tuple[Evidence, ...]
