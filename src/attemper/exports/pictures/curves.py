"""The way of every arrow: from the edge of one circle to the edge of another, past the circles between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import cos, hypot, pi, sin
from typing import NamedTuple, final

from attemper.exports.pictures.graph import Arrow, Graph
from attemper.exports.pictures.layers import DrawnNode, Layered
from attemper.exports.pictures.places import RADIUS, Point

BULGE = 20.0
"""How far an arrow that has one back beside it bends away from the straight line."""

HEAD, LOOP = 9.0, 42.0
"""The length of an arrow's head, and the height of a loop."""

OPENING = 0.42
"""Half the angle between the two ends of a loop, seen from the state's centre."""

SIDES = (-pi / 2, pi / 2, 0.0, pi)
"""Where a loop may be: above, below, to the right, to the left."""

FREE = -cos(2 * pi / 9)
"""A side is free if no arrow is within 40 degrees of it: the first free one is taken, or the freest."""


@final
class Curve(NamedTuple):
    """An arrow's line as the control points of cubic curves, one after the other."""

    points: tuple[Point, ...]

    @property
    def pieces(self) -> Iterator[tuple[Point, Point, Point, Point]]:
        """The cubic curves."""
        for first in range(0, len(self.points) - 1, 3):
            one, two, three, four = self.points[first : first + 4]
            yield one, two, three, four

    def along(self, share: float) -> tuple[Point, Point]:
        """The point after that share of the pieces, and the unit vector to the left of the way there."""
        pieces = list(self.pieces)
        whole = min(int(share * len(pieces)), len(pieces) - 1)
        within = share * len(pieces) - whole
        before, after = (_on_cubic(pieces[whole], within + step) for step in (-1 / 64, 1 / 64))
        return _between(before, after), _left_of(before, after)


def curves(drawing: Layered, places: dict[DrawnNode, Point], graph: Graph) -> dict[Arrow, Curve]:
    """The curve of every arrow: first of those between two states, then of loops."""
    found = {arrow: _link(arrow, drawing, places) for arrow in drawing.paths}
    ways = _ways(found)
    ways.setdefault(graph.start, []).append(Point(-1.0, 0.0))
    for arrow in graph.loops:
        found[arrow] = _loop(places[DrawnNode(arrow.source)], _side(ways.get(arrow.source, [])))
    return found


def _side(ways: Sequence[Point]) -> float:
    """The side for a loop of a state whose other arrows go these ways."""
    free = [side for side in SIDES if _freedom(side, ways) >= FREE]
    return free[0] if free else max(SIDES, key=lambda side: _freedom(side, ways))


def _link(arrow: Arrow, drawing: Layered, places: dict[DrawnNode, Point]) -> Curve:
    """A straight line; a bow where another arrow leads back, or circles are in the way; or past its bends."""
    path = [places[node] for node in drawing.paths[arrow]]
    if len(path) > 2:
        return _past(path)
    start, end = path
    leads_back = any((one.source, one.target) == (arrow.target, arrow.source) for one in drawing.paths)
    stands_between = start.x == end.x and any(
        place.x == start.x and min(start.y, end.y) < place.y < max(start.y, end.y)
        for place in places.values()
    )
    bulge = hypot(end.x - start.x, end.y - start.y) / 3 + BULGE if stands_between else BULGE
    return _bow(start, end, bulge if leads_back or stands_between else 0.0)


def _bow(start: Point, end: Point, bulge: float) -> Curve:
    """From circle to circle, with the middle so far to the left of the straight line."""
    aside = _left_of(start, end)
    summit = _moved(_between(start, end), aside, 4 * bulge / 3)
    first, last = _towards(start, summit, RADIUS), _towards(end, summit, RADIUS + HEAD)
    controls = _between(first, summit, 2 / 3), _between(last, summit, 2 / 3)
    return Curve((first, *controls, last))


def _past(path: Sequence[Point]) -> Curve:
    """Through the bends, smoothly (the curves of Catmull and Rom)."""
    first = _towards(path[0], path[1], RADIUS)
    last = _towards(path[-1], path[-2], RADIUS + HEAD)
    through = [first, *path[1:-1], last]
    points = [first]
    for number, (one, other) in enumerate(pairwise(through)):
        before, after = through[max(number - 1, 0)], through[min(number + 2, len(through) - 1)]
        points += [
            Point(one.x + (other.x - before.x) / 6, one.y + (other.y - before.y) / 6),
            Point(other.x - (after.x - one.x) / 6, other.y - (after.y - one.y) / 6),
            other,
        ]
    return Curve(tuple(points))


def _loop(centre: Point, side: float) -> Curve:
    """From the circle out to that side and back."""
    ends = [
        Point(centre.x + radius * cos(side + turn), centre.y + radius * sin(side + turn))
        for turn, radius in ((-OPENING, RADIUS), (OPENING, RADIUS + HEAD))
    ]
    far = RADIUS + LOOP
    controls = [
        Point(centre.x + far * cos(side + turn), centre.y + far * sin(side + turn))
        for turn in (-OPENING, OPENING)
    ]
    return Curve((ends[0], *controls, ends[1]))


def _ways(found: dict[Arrow, Curve]) -> dict[int, list[Point]]:
    """For each state the ways, as vectors, in which arrows leave it or come in."""
    ways: dict[int, list[Point]] = {}
    for arrow, curve in found.items():
        first, second, *_, before, last = curve.points
        ways.setdefault(arrow.source, []).append(Point(second.x - first.x, second.y - first.y))
        ways.setdefault(arrow.target, []).append(Point(before.x - last.x, before.y - last.y))
    return ways


def _freedom(side: float, ways: Sequence[Point]) -> float:
    """How far the nearest arrow is from that side: minus the greatest cosine, rounded against noise."""
    cosines = ((way.x * cos(side) + way.y * sin(side)) / (hypot(way.x, way.y) or 1.0) for way in ways)
    return -round(max(cosines, default=-1.0), 6)


def _left_of(start: Point, end: Point) -> Point:
    """The unit vector to the left of the way, as one walks."""
    length = hypot(end.x - start.x, end.y - start.y)
    return Point((end.y - start.y) / length, -(end.x - start.x) / length)


def _moved(point: Point, way: Point, distance: float) -> Point:
    return Point(point.x + way.x * distance, point.y + way.y * distance)


def _between(one: Point, other: Point, share: float = 1 / 2) -> Point:
    return Point(one.x + (other.x - one.x) * share, one.y + (other.y - one.y) * share)


def _towards(start: Point, end: Point, distance: float) -> Point:
    """The point at that distance from the start, on the way to the end."""
    return _between(start, end, distance / hypot(end.x - start.x, end.y - start.y))


def _on_cubic(points: Sequence[Point], share: float) -> Point:
    """The point of one cubic curve (by de Casteljau's construction)."""
    level = list(points)
    while len(level) > 1:
        level = [_between(one, other, share) for one, other in pairwise(level)]
    return level[0]
