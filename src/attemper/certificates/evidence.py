"""What a proof leaves behind about its steps, as data: claims that others can recompute."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final


@final
@dataclass(frozen=True)
class SoftenedHead:
    """Softmax stands for hard attention in one head.

    In every word and at every position where the construction applies (not at its guarded edges),
    at most `stray_mass` of the attention lies off the position that the head is for (off the positions
    of the right parity for the two kinds of sign heads), in real arithmetic. `margin` is B, the lead in
    logits per step away from the chosen position (0 for a uniform head, which has none).
    """

    layer: int
    head: int
    margin: Fraction
    stray_mass: Fraction


@final
@dataclass(frozen=True)
class RoundedLayer:
    """In real arithmetic, every linear form that hidden units read is off by at most `error` <= 1/4."""

    layer: int
    error: Fraction


@final
@dataclass(frozen=True)
class MeansSubformula:
    """After the layer (-1: in the embedding) the coordinate is the truth of a subformula, at every position.

    `subformula` numbers the source's distinct subformulas from 0, operands before what they are part of.
    """

    layer: int
    coordinate: int
    subformula: int


Evidence = SoftenedHead | RoundedLayer | MeansSubformula
