"""Where labels stand: beside their arrows, and off states and other labels wherever there is such a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, final

from attemper.exports.pictures.curves import Curve
from attemper.exports.pictures.graph import Arrow
from attemper.exports.pictures.places import RADIUS, Point, width_of

HEIGHT, GAP = 16.0, 4.0
"""How high a label is, and how far from its line."""

SHARES = (1 / 2, 5 / 12, 7 / 12, 1 / 3, 2 / 3, 1 / 4, 3 / 4)
"""How far along its line a label may stand; the first free place is taken, on the left of the way first."""

STEPS = 24
"""In so many points a line is looked at."""


@final
class Box(NamedTuple):
    """What a label covers: its centre, and half its width and height."""

    centre: Point
    width: float
    height: float

    def meets(self, other: Box) -> bool:
        """Whether two labels cover each other in part."""
        near = abs(self.centre.x - other.centre.x) < self.width + other.width
        return near and abs(self.centre.y - other.centre.y) < self.height + other.height

    def has(self, point: Point) -> bool:
        """Whether a point is covered."""
        near = abs(self.centre.x - point.x) < self.width
        return near and abs(self.centre.y - point.y) < self.height


def labelled(lines: dict[Arrow, Curve], states: Iterable[Point]) -> dict[Arrow, Box]:
    """A place for the label of every arrow, in their order.

    It covers as few states, labels and points of lines as any of the candidates; the first of the best.
    """
    taken = [Box(state, RADIUS, RADIUS) for state in states]
    points = [line.along(step / STEPS)[0] for line in lines.values() for step in range(STEPS + 1)]
    found: dict[Arrow, Box] = {}
    for arrow, line in lines.items():
        candidates = list(_candidates(arrow, line))
        found[arrow] = min(candidates, key=lambda box: _covered(box, taken, points))
        taken.append(found[arrow])
    return found


def _covered(box: Box, taken: list[Box], points: list[Point]) -> int:
    """How much is covered: states and labels weigh more than all points of a line."""
    return STEPS * sum(map(box.meets, taken)) + sum(map(box.has, points))


def _candidates(arrow: Arrow, line: Curve) -> Iterator[Box]:
    """Places beside the line, so far off that the label does not touch the line there."""
    width, height = width_of(arrow.label) / 2, HEIGHT / 2
    is_loop = arrow.source == arrow.target
    for share in (1 / 2,) if is_loop else SHARES:
        point, left = line.along(share)
        for side in (1, -1):
            away = abs(left.x) * width + abs(left.y) * height + GAP
            centre = Point(point.x + side * away * left.x, point.y + side * away * left.y)
            yield Box(centre, width, height)
