"""What a pass leaves behind about its step, as data: claims that others can recompute."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final


@final
@dataclass(frozen=True)
class SoftenedHead:
    """Softmax stands for hard attention in one head.

    At every position of every word where the head's construction applies, its outputs differ from
    the hard ones by at most `error`, in real arithmetic; `margin` is B, the distance in logits per
    step away from the chosen position.
    """

    layer: int
    head: int
    margin: int
    error: Fraction


@final
@dataclass(frozen=True)
class RoundedLayer:
    """Every clamp of the layer sees approximate bits that are off by at most `error` <= 1/4 in total."""

    layer: int
    error: Fraction


Evidence = SoftenedHead | RoundedLayer
