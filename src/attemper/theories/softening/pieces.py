"""The least affine pieces of a continuous function through the points of a table; so, the least hidden units.

Of points x_0 < x_1 < ..., let c_i be the slope of the chord from x_i to x_(i+1). A function is affine but for
finitely many breaks. With one break between two points it can leave x_i with slope s and reach x_(i+1) with
slope t if and only if s < c_i < t or t < c_i < s; with none if s = c_i = t; with two always. So follow the
slopes M with which x_i can be reached after the least number m of breaks; m + 1 let it be left with any.

* c_i in M: m stays, and M becomes {c_i}.
* M below c_i: m grows by 1, and M becomes [c_i, infinity): a break at x_i for c_i, behind it for all above.
* M above c_i: the mirror image.

At x_0 every slope is in M, so that M is a ray or a point ever after. (Yang et al., Lemma 27, is about
functions that round; any table, and the exact number, are ours.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple, final

from attemper.errors import OptionError


@final
class Knot(NamedTuple):
    """A point of the plane."""

    x: Fraction
    y: Fraction


@final
class Ramp(NamedTuple):
    """factor * ReLU(x - start)."""

    start: Fraction
    factor: Fraction


@final
@dataclass(frozen=True)
class Pieces:
    """A continuous function through the points of a table, affine between knots, in the least pieces."""

    knots: tuple[Knot, ...]

    @property
    def count(self) -> int:
        """How many affine pieces it has: no continuous function through the points has fewer."""
        return len(self.knots) - 1

    def least_width(self, hidden_layers: int = 1) -> int:
        """A ReLU network with so many hidden layers is at least so wide, if it computes the table.

        W units in one layer make at most W + 1 pieces, and L layers at most (2 W)^L (Telgarsky). Raises
        `OptionError` for fewer layers than one.
        """
        if hidden_layers < 1:
            raise OptionError(f"hidden_layers={hidden_layers}: at least one")
        if hidden_layers == 1:
            return self.count - 1
        width = 1
        while (2 * width) ** hidden_layers < self.count:
            width += 1
        return width

    @property
    def units(self) -> tuple[Ramp, ...]:
        """One hidden layer that computes it: f(x) = f(x_0) + the sum of the units, for x >= x_0.

        They are `least_width()`, or one more where the first piece is not level.
        """
        slopes = [Fraction(0), *(_slope(*pair) for pair in pairwise(self.knots))]
        units = (
            Ramp(knot.x, after - before)
            for knot, (before, after) in zip(self.knots, pairwise(slopes), strict=False)
        )
        return tuple(unit for unit in units if unit.factor)


def least_pieces(points: Sequence[Knot]) -> Pieces:
    """Those through two points or more, which are sorted by x, each with an x of its own."""
    return Pieces(tuple(_knots(points)))


def _slope(start: Knot, end: Knot) -> Fraction:
    return (end.y - start.y) / (end.x - start.x)


@final
@dataclass(frozen=True)
class _Reached:
    """The slopes with which a point can be reached after the least breaks: from low to high, None: no end."""

    low: Fraction | None
    high: Fraction | None

    def __contains__(self, slope: Fraction) -> bool:
        return (self.low is None or self.low <= slope) and (self.high is None or slope <= self.high)

    def through(self, chord: Fraction) -> _Reached:
        """Those at the next point."""
        if chord in self:
            return _Reached(chord, chord)
        return _Reached(chord, None) if self.high is not None and self.high < chord else _Reached(None, chord)


def _knots(points: Sequence[Knot]) -> Iterator[Knot]:
    """Ends and breaks of one such function, from left to right."""
    chords = [_slope(*pair) for pair in pairwise(points)]
    reached = [_Reached(None, None)]
    for chord in chords:
        reached.append(reached[-1].through(chord))
    breaks = []
    arriving = chords[-1]
    for i in range(len(chords) - 1, -1, -1):
        # The slope with which x_i is reached; that of the chord before it is always possible.
        if chords[i] in reached[i]:
            arriving = chords[i]
            continue
        before = chords[i - 1]
        breaks.append(_break(points[i], points[i + 1], before, arriving))
        arriving = before
    yield points[0]
    yield from reversed(breaks)
    yield points[-1]


def _break(start: Knot, end: Knot, leaving: Fraction, arriving: Fraction) -> Knot:
    """Where lines of these slopes through two points meet: in `start` where the second one is their chord."""
    along = (end.y - start.y - arriving * (end.x - start.x)) / (leaving - arriving)
    return Knot(start.x + along, start.y + leaving * along)
