"""Which program a network runs, and where it keeps the bits of which at most one is 1. Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.exact.codec import Natural


@final
@dataclass(frozen=True)
class SymbolGroup:
    """Bits that a layer makes, of which at most one is 1: which symbol it is.

    Each is a coordinate of the residual stream after the layer, and the step that the coordinate holds.
    """

    layer: Natural
    bits: tuple[tuple[Natural, Ref], ...]


@final
@dataclass(frozen=True)
class Realisation:
    """The program that a network runs."""

    program: Program
    groups: tuple[SymbolGroup, ...] = ()
