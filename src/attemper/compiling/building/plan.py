"""What the compiler knows of a construction: a plan for one head, the same for every construction.

With r = e^-B the mass off the chosen position (for sign heads: off the positions of its sign) is at most what
`stray_mass` says. Each bound is rounded up to a rational by ball arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, Protocol, final

import flint

from attemper.attention_program.ops import Mask
from attemper.compiling.building.weights import Coordinates
from attemper.exact.balls import precision, upper_bound
from attemper.networks import layers
from attemper.networks.regime import Regime

CarriedValues = tuple[tuple[layers.LinearForm, layers.Coordinate], ...]
"""What a head carries: each value with the coordinate it is written to."""

Rename = Callable[[layers.LinearForm], layers.LinearForm]

MASKINGS = {
    Mask.UP_TO: layers.Masking.FUTURE,
    Mask.BEFORE: layers.Masking.STRICT_FUTURE,
    Mask.FROM: layers.Masking.PAST,
    Mask.AFTER: layers.Masking.STRICT_PAST,
    Mask.ALL: layers.Masking.NONE,
}


@final
@dataclass(frozen=True)
class Rows:
    """Where a head looks: its score, and what becomes of it.

    `construction` is the plan's, about other coordinates, where the rows do not read those of the plan.
    """

    query: tuple[layers.LinearForm, ...]
    key: tuple[layers.LinearForm, ...]
    weighting: layers.Weighting
    construction: layers.Construction | None = None


class HeadPlan(Protocol):
    """A head's construction and masking; heads of one layer with equal plans are one head."""

    @property
    def construction(self) -> layers.Construction:
        """What the head is for, with the coordinates that it is about."""

    @property
    def masking(self) -> layers.Masking:
        """Which positions the head sees."""

    value_range: ClassVar[int]
    """The largest value minus the smallest: with all attention astray the output is off by as much."""

    def hard(self, stream: Coordinates) -> Rows:
        """The rows of the hard head."""

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """The rows of the softmax head: its choice leads by `margin` logits for each step away."""

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """A bound on the mass off the right positions, for every word."""

    def renamed(self, rename: Rename) -> layers.Construction:
        """The construction about other coordinates."""


def with_rows(plan: HeadPlan, rows: Rows, values: CarriedValues) -> layers.Head:
    """The head of a plan."""
    forms = tuple(value for value, _ in values)
    targets = tuple(target for _, target in values)
    construction = rows.construction or plan.construction
    return layers.Head(construction, plan.masking, rows.weighting, rows.query, rows.key, forms, targets)


def one_sided(leftmost: bool) -> layers.HardWeighting:
    """The hard attention of heads that look for the leftmost, or the rightmost, of the best."""
    return layers.HardWeighting.LEFTMOST if leftmost else layers.HardWeighting.RIGHTMOST


@cache
def exponential(exponent: int) -> Fraction:
    """e^exponent, rounded up."""
    with precision(64):
        return upper_bound(flint.arb(exponent).exp())
