"""Where nodes stand: columns from left to right, and in each as near to their neighbours as can be."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean
from typing import NamedTuple, final
from unicodedata import east_asian_width

from attemper.exports.pictures.layers import DrawnNode, Layered

RADIUS = 20.0
"""Of a state's circle. This and all other lengths are in units of the picture, pixels unless it is scaled."""

CHARACTER = 7.8
"""How wide a character of a label is."""

ROOM = 66.0
"""Between the circles of two columns, besides the widest label there."""

BETWEEN_STATES, BETWEEN_BENDS = 96.0, 52.0
"""The least distance of neighbours in a column; the second if one of them is a bend."""

ROUNDS = 24
"""How often every node is moved towards its neighbours."""


@final
class Point(NamedTuple):
    """A place in the picture: x to the right, y down."""

    x: float
    y: float


def placed(drawing: Layered) -> dict[DrawnNode, Point]:
    """The centre of every node."""
    heights = _heights(drawing)
    places, x = {}, 0.0
    for number, column in enumerate(drawing.columns):
        if number:
            x += 2 * RADIUS + ROOM + _widest_label(drawing, drawing.columns[number - 1], column)
        places.update({node: Point(x, heights[node]) for node in column})
    return places


def width_of(text: str) -> float:
    """How wide the text is: that of ideographs is double.

    >>> width_of("ab") == width_of("\u65e5")
    True
    """
    return CHARACTER * sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _widest_label(drawing: Layered, left: Sequence[DrawnNode], right: Sequence[DrawnNode]) -> float:
    """The widest label of an arrow that passes between the two columns."""
    between = set(left), set(right)
    widths = [
        width_of(arrow.label)
        for arrow, path in drawing.paths.items()
        for one, other in pairwise(path)
        if (one in between[0] and other in between[1]) or (one in between[1] and other in between[0])
    ]
    return max(widths, default=0.0)


def _heights(drawing: Layered) -> dict[DrawnNode, float]:
    """The y of every node: near the mean of its neighbours, and apart from the others of its column."""
    neighbours: dict[DrawnNode, list[DrawnNode]] = {}
    for path in drawing.paths.values():
        for one, other in pairwise(path):
            neighbours.setdefault(one, []).append(other)
            neighbours.setdefault(other, []).append(one)
    heights = {}
    for column in drawing.columns:
        offsets = _offsets(column)
        heights.update({node: offset - offsets[-1] / 2 for node, offset in zip(column, offsets, strict=True)})
    for _ in range(ROUNDS):
        for column in drawing.columns:
            wanted = [fmean([heights[one] for one in neighbours.get(node, [node])]) for node in column]
            heights.update(zip(column, _apart(wanted, _offsets(column)), strict=True))
    return heights


def _offsets(column: Sequence[DrawnNode]) -> list[float]:
    """The y of a column's nodes if they stand as close as they may, and the first at 0."""
    offsets = [0.0]
    for one, other in pairwise(column):
        offsets.append(offsets[-1] + (BETWEEN_BENDS if one.is_bend or other.is_bend else BETWEEN_STATES))
    return offsets[: len(column)]


def _apart(wanted: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The heights that are nearest to those wanted, by squares, among those at least the offsets apart.

    Less the offsets they are to ascend: neighbours that do not are pooled at their mean.

    >>> _apart([0.0, 0.0, 90.0], [0.0, 60.0, 120.0])
    [-30.0, 30.0, 90.0]
    """
    pools: list[tuple[float, int]] = []
    for height, offset in zip(wanted, offsets, strict=True):
        pools.append((height - offset, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (upper, many), (lower, few) = pools[-2:]
            pools[-2:] = [((upper * many + lower * few) / (many + few), many + few)]
    levels = [level for level, count in pools for _ in range(count)]
    return [level + offset for level, offset in zip(levels, offsets, strict=True)]
