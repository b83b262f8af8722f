"""A certificate: which network computes which language, in which arithmetic, for which lengths. Data only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from attemper.languages.definition import Definition

if TYPE_CHECKING:
    from attemper.attention_program.realisation import Realisation


@final
@dataclass(frozen=True, repr=False)
class RealClaim:
    """Right in real arithmetic for all words of up to `horizon` symbols; None: of all lengths."""

    horizon: int | None = None

    def __repr__(self) -> str:
        return "RealClaim()" if self.horizon is None else f"RealClaim(horizon={self.horizon})"


@final
@dataclass(frozen=True)
class FloatClaim:
    """Right for all words of up to `horizon` symbols in a float format.

    `kernel` is the class of attention kernels: numerator-first, normalise-first or scan. Sums are formed in
    any order.
    `bottleneck` says what no proof covers beyond the horizon: a remark, not part of the claim.
    """

    format: str
    kernel: str
    horizon: int
    bottleneck: str = field(repr=False)


Claim = RealClaim | FloatClaim


@final
@dataclass(frozen=True)
class Certificate:
    """Claims about the network with this digest.

    `realisation` is the program that the network is said to run, where the proof goes by way of one. Whatever
    it is, nothing is concluded from it but what the weights are seen to do.
    """

    network: str
    language: Definition = field(repr=False)
    claims: tuple[Claim, ...]
    realisation: Realisation | None = field(default=None, repr=False)
