"""What a head's scores are made of, from its raw weights, masks and closed forms alone.

A coordinate of the residual stream is *pure* where nothing but a position embedding writes it: no letter,
head or hidden unit. What a key reads of pure coordinates is a closed form of its position j; all else that
a key reads is its *content*. Labels, and what a head is said to be for, are never read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, final

from attemper.exact.closed_forms import ClosedForm
from attemper.networks.layers import Masking
from attemper.running.engines.scan.waves import WaveSum, waves_of

if TYPE_CHECKING:
    from torch import Tensor

Combination = tuple[tuple[int, float], ...]
"""The sum of factor * x[coordinate]; no factor is 0."""


@final
@dataclass(frozen=True)
class ScoreProduct:
    """One product of the scores: the query's number at i times the key's at j."""

    query: Combination
    key: Combination


@final
@dataclass(frozen=True)
class HeadShape:
    """A soft head from its raw weights: rows that are not 0, and values that are not 0.

    The score is the sum over the rows of query(i) key(j), times the inverse temperature at i, divided by
    `root`. `values` has of each number that is averaged its place in d_head, what it is, and
    where the average is added, with which factors.
    """

    masking: Masking
    inverse_temperature: ClosedForm
    root: float
    rows: tuple[ScoreProduct, ...]
    values: tuple[tuple[int, Combination, Combination], ...]

    def without_unread(self) -> HeadShape:
        """The head without the numbers that W_O writes nowhere, which only hooks can see."""
        return replace(self, values=tuple(value for value in self.values if value[2]))


@final
@dataclass(frozen=True)
class KeyRow:
    """A row's key for words of one length: `content` is read from the stream, `waves` are of the position."""

    content: Combination
    waves: WaveSum


def pure_forms(
    positions: Iterable[tuple[int, ClosedForm]], written: Iterable[Tensor]
) -> dict[int, ClosedForm]:
    """The closed forms of the coordinates that nothing else writes.

    `written` are the weights that end in the residual stream, [..., d_model] each.
    """
    found: dict[int, ClosedForm] = {}
    several: set[int] = set()
    for coordinate, form in positions:
        if coordinate in found:
            several.add(coordinate)
        found[coordinate] = form
    for weights in written:
        touched = (weights != 0).reshape(-1, weights.shape[-1]).any(dim=0)
        several |= set(touched.nonzero()[:, 0].tolist())
    return {coordinate: form for coordinate, form in found.items() if coordinate not in several}


def head_shape(
    masking: Masking,
    inverse_temperature: ClosedForm,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
) -> HeadShape:
    """The shape of a head with W_Q, W_K, W_V [d_model, d_head] and W_O [d_head, d_model]."""
    width = query.shape[1]
    rows = [ScoreProduct(combination(query[:, r]), combination(key[:, r])) for r in range(width)]
    values = [(m, combination(value[:, m]), combination(out[m])) for m in range(width)]
    return HeadShape(
        masking,
        inverse_temperature,
        width**0.5,
        tuple(row for row in rows if row.query and row.key),
        tuple(own for own in values if own[1]),
    )


def key_rows(shape: HeadShape, pure: Mapping[int, ClosedForm], length: int) -> tuple[KeyRow, ...]:
    """The keys of all rows in words of that length; what is no wave is content."""
    return tuple(key_row(row.key, pure, length) for row in shape.rows)


def key_row(key: Combination, pure: Mapping[int, ClosedForm], length: int) -> KeyRow:
    """A linear form of the stream at j, as content and as waves of the position."""
    content: list[tuple[int, float]] = []
    total: WaveSum = {}
    for coordinate, factor in key:
        form = pure.get(coordinate)
        waves = None if form is None else waves_of(form, length)
        if waves is None:
            content.append((coordinate, factor))
            continue
        for name, own in waves.items():
            total[name] = total.get(name, Fraction(0)) + Fraction(factor) * own
    return KeyRow(tuple(content), {name: factor for name, factor in total.items() if factor})


def combination(column: Tensor) -> Combination:
    """A column of weights without its zeros."""
    places = column.nonzero()[:, 0].tolist()
    return tuple((place, float(column[place])) for place in places)
