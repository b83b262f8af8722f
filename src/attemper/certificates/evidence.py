"""What a pass leaves behind about its step, as data: claims that others can recompute."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final


@final
@dataclass(frozen=True)
class SoftenedHead:
    """Softmax stands for hard attention in one head.

    In every word and at every position where the construction applies (not at its guarded edges),
    at most `stray_mass` of the attention lies off the positions that the hard head averages over,
    in real arithmetic. `margin` is B, the lead in logits per step away from the chosen position.
    """

    layer: int
    head: int
    margin: int
    stray_mass: Fraction


@final
@dataclass(frozen=True)
class RoundedLayer:
    """Every clamp of the layer sees approximate bits that are off by at most `error` <= 1/4 in total."""

    layer: int
    error: Fraction


Evidence = SoftenedHead | RoundedLayer
