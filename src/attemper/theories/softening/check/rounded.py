"""What the hard network does on some words, as float64 bounds on exact numbers: all that temperatures meet.

Bounds are float64 numbers, 0 or at least 2^-300: so no product of two or three of them vanishes, and a bound
is 0 only where what it bounds is exactly 0. Roundings are counted as in `enclosures.forms`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Floats
from attemper.models.enclosures.forms import GAMMA
from attemper.models.exact_arrays import integers
from attemper.models.exact_arrays.integers import product
from attemper.models.exact_arrays.limbs import lower_bounds
from attemper.networks.layers import Coordinate, Head, Layer, LinearForm
from attemper.theories.softening.check.streams import Attended, LayerRun, ScoreGaps

LEAST = 2.0**-300
"""A bound is 0 or at least this."""


def up(value: Floats, terms: int) -> Floats:
    """At least the exact value of a sum of up to `terms` products of bounds, as numpy computed it.

    As `forms.upward`; with operands that are 0 or at least 2^-300 nothing underflows, so the computed value
    is at least (1 - u)^(terms + 2) times the exact one, and 0 only where that is.
    """
    found = np.asarray(value * (1 + (terms + 8) * GAMMA))
    return np.maximum(found, LEAST, out=found, where=np.asarray(value) != 0)


def size_bounds(rows: integers.ExactArray) -> Floats:
    """At least the absolute values."""
    return up(np.abs(integers.nearest(rows)), 3)


# Maps: what does not depend on words ----------------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class HeadMaps:
    """|V| (M, d) and |A| (d, d) as bounds, and exactly the forms x -> (A x)_c, x -> (x^T A)_c.

    `read` lists the coordinates c of queries, to which the first ones belong; of the second ones there is
    one for each coordinate.
    """

    targets: tuple[Coordinate, ...]
    values: Floats
    product: Floats
    read: tuple[Coordinate, ...]
    pulled: tuple[LinearForm, ...]
    pushed: tuple[LinearForm, ...]

    @staticmethod
    def of(head: Head, width: int) -> HeadMaps:
        pulled = [_outer(c, head.query, head.key) for c in range(width)]
        pushed = [_outer(c, head.key, head.query) for c in range(width)]
        read = tuple(c for c in range(width) if pulled[c])
        return HeadMaps(
            head.targets,
            size_bounds(_matrix(head.values, width)),
            size_bounds(_matrix(pulled, width)),
            read,
            tuple(pulled[c] for c in read),
            tuple(pushed),
        )


def _outer(coordinate: Coordinate, left: Sequence[LinearForm], right: Sequence[LinearForm]) -> LinearForm:
    """The row of (sum of left^T right) that belongs to the coordinate."""
    found: dict[Coordinate, Fraction] = {}
    for one, other in zip(left, right, strict=True):
        factor = dict(one).get(coordinate, Fraction(0))
        for c, value in other:
            found[c] = found.get(c, Fraction(0)) + factor * value
    return tuple((c, value) for c, value in sorted(found.items()) if value)


def _matrix(forms: Sequence[LinearForm], width: int) -> integers.ExactArray:
    """The forms as rows of `width` entries."""
    rows = [dict(form) for form in forms]
    return integers.exactly([[row.get(c, Fraction(0)) for c in range(width)] for row in rows], width)


@final
class LayerMaps:
    """A layer's heads, and its feed-forward layer: |W_1| (h, d) and |W_2| (d, h), and both exactly."""

    def __init__(self, layer: Layer, width: int) -> None:
        self.heads = tuple(HeadMaps.of(head, width) for head in layer.heads)
        inner = _matrix([unit.form for unit in layer.hidden], width)
        outer = _matrix([unit.outputs for unit in layer.hidden], width)
        self.inner, self.outer = size_bounds(inner), size_bounds(outer).T
        self._inner, inner_scale = _common(inner)
        self._outer, outer_scale = _common(outer)
        self._scale = inner_scale * outer_scale
        self._known: dict[bytes, Floats] = {}

    def slopes(self, active: NDArray[np.bool_]) -> Floats:
        """|I + W_2 S W_1| (d, d) as bounds, S the units that are active."""
        name = active.tobytes()
        if name not in self._known:
            width = self._inner.shape[1]
            written = product(self._outer[active].T, self._inner[active])
            diagonal = integers.narrow(np.diag([self._scale] * width).astype(object))
            whole = integers.plus(written, diagonal)
            self._known[name] = size_bounds(integers.ExactArray(whole, (self._scale,) * width))
        return self._known[name]


def _common(rows: integers.ExactArray) -> tuple[integers.ExactIntegers, int]:
    """The same numbers as integers over one denominator."""
    scale = lcm(1, *rows.scales)
    factors = np.array([scale // old for old in rows.scales], dtype=object)
    return integers.narrow(rows.numbers.astype(object) * factors), scale


# Facts: what does not depend on temperatures --------------------------------------------------------


@final
@dataclass(frozen=True, eq=False)
class GapFacts:
    """A head that is not uniform, on B words of n symbols.

    `winner` (B, n) and `best` (B, n, n) are those of `streams.ScoreGaps`, and `rivals` marks all other
    visible positions. `below` is at most the distance of their scores to the greatest, `apart` (B, n, n, M)
    at least that of their values to the winner's, `pulls` (B, n, n, C) at least |A (x_j - x_*)|, and `slopes`
    (B, n, d) at least |x_i^T A|.
    """

    winner: NDArray[np.int64]
    best: NDArray[np.bool_]
    rivals: NDArray[np.bool_]
    below: Floats
    apart: Floats
    pulls: Floats
    slopes: Floats


@final
@dataclass(frozen=True, eq=False)
class LayerFacts:
    """What heads see (n, n), the score gaps of those that are not uniform, and each unit's sum (B, n, h).

    A unit's sum before ReLU is between `low` and `high`.
    """

    visible: tuple[NDArray[np.bool_], ...]
    gaps_by_head: tuple[GapFacts | None, ...]
    low: Floats
    high: Floats

    @property
    def size(self) -> int:
        """In bytes."""
        arrays = [self.low, self.high]
        for score_gaps in self.gaps_by_head:
            arrays += [] if score_gaps is None else [value for value in vars(score_gaps).values()]
        return sum(array.nbytes for array in arrays)


def facts_of(maps: LayerMaps, step: LayerRun, *, is_first: bool) -> LayerFacts:
    """The facts of a layer on a batch. Before the first layer there are no errors, so no pulls."""
    hidden = integers.nearest(step.hidden)
    off = 8 * GAMMA * np.abs(hidden)
    gaps_by_head = (
        None
        if attended.score_gaps is None
        else _gap_facts(own, attended, attended.score_gaps, step, is_first)
        for own, attended in zip(maps.heads, step.heads, strict=True)
    )
    visible = tuple(attended.visible for attended in step.heads)
    return LayerFacts(visible, tuple(gaps_by_head), hidden - off, hidden + off)


def _gap_facts(
    maps: HeadMaps, attended: Attended, score_gaps: ScoreGaps, step: LayerRun, is_first: bool
) -> GapFacts:
    pulled = integers.mapped(step.stream, () if is_first else maps.pulled)
    return GapFacts(
        score_gaps.winner,
        score_gaps.best,
        attended.visible & ~score_gaps.best,
        lower_bounds(score_gaps.below, score_gaps.scale),
        _apart(attended.values, score_gaps),
        _apart(pulled, score_gaps),
        size_bounds(integers.mapped(step.stream, maps.pushed)),
    )


def _apart(rows: integers.ExactArray, score_gaps: ScoreGaps) -> Floats:
    """At least |y_j - y_*| (B, n, n, M) for numbers y (B, n, M) of positions."""
    chosen = np.take_along_axis(rows.numbers, score_gaps.winner[:, :, None], 1)
    return size_bounds(
        integers.ExactArray(integers.plus(rows.numbers[:, None], -chosen[:, :, None]), rows.scales)
    )
