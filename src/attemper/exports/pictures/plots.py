"""Lines over numbers, both on logarithmic axes: how something grows or vanishes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple, final

from attemper.exports.pictures.elements import SHAPES, STANDALONE, number, plain, whole
from attemper.exports.pictures.places import width_of

WIDTH, HEIGHT = 420.0, 300.0
"""Of the box between the axes."""

MARGIN, LEFT, BELOW = 12.0, 58.0, 44.0
APART = 17.0
"""The least distance between the names of two lines."""

DASHES = ("", "8 4", "2 3", "10 3 2 3", "5 5", "1 5", "14 4")
"""By which lines are told apart, in black and white."""


@final
class Line(NamedTuple):
    """A name and its points; those that are not above 0 are on no logarithmic axis, and are left out."""

    name: str
    points: Sequence[tuple[float, float]]


def plot_svg(title: str, across: str, up: str, lines: Sequence[Line], *, standalone: bool = False) -> str:
    """The picture of these lines, with the names of both axes; each line's name stands where it ends.

    A line without any point above 0 is only named, at the bottom, with "not above 0".

    >>> lines = [Line("n^-2", [(1, 1), (10, 0.01)]), Line("no", [(1, -1)])]
    >>> picture = plot_svg("how it falls", "n", "gap", lines)
    >>> picture.count("<polyline"), "no: not above 0" in picture
    (1, True)
    """
    seen = [[point for point in line.points if point[1] > 0] for line in lines]
    places = sorted({x for points in seen for x, _ in points})
    heights = [y for points in seen for _, y in points]
    least, most = floor(log10(min(heights))), ceil(log10(max(heights)))
    axes = _Axes(log10(places[0]), log10(places[-1]), least, max(most, least + 1))
    names = [
        line.name if points else f"{line.name}: not above 0" for line, points in zip(lines, seen, strict=True)
    ]
    ends = [axes.at(*points[-1])[1] if points else axes.bottom for points in seen]
    parts = [
        f"<title>{plain(title)}</title>",
        STANDALONE if standalone else "",
        *axes.drawn(places, across, up),
    ]
    for points, dash in zip(seen, DASHES, strict=False):
        if points:
            parts.append(_polyline([axes.at(*point) for point in points], dash))
    right = LEFT + WIDTH + MARGIN
    for name, y in zip(names, _spread(ends), strict=True):
        parts.append(_text(right, y, name, "start"))
    width = right + max(map(width_of, names)) + MARGIN
    return whole(parts, 0, 0, width, max(axes.bottom, *_spread(ends)) + BELOW)


@final
class _Axes(NamedTuple):
    """The ends of both axes, as logarithms."""

    left: float
    right: float
    low: int
    high: int

    @property
    def bottom(self) -> float:
        return MARGIN + HEIGHT

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is in the picture."""
        along = (log10(x) - self.left) / ((self.right - self.left) or 1.0)
        above = (log10(y) - self.low) / (self.high - self.low)
        return LEFT + along * WIDTH, self.bottom - above * HEIGHT

    def drawn(self, places: Sequence[float], across: str, up: str) -> Iterator[str]:
        """The frame, a line for each power of 10, a number for each place, and the names of the axes."""
        size = f'width="{number(WIDTH)}" height="{number(HEIGHT)}"'
        yield f'<rect x="{number(LEFT)}" y="{number(MARGIN)}" {size} {SHAPES}/>'
        for power in range(self.low, self.high + 1):
            _, y = self.at(10**self.left, 10.0**power)
            ends = f'x1="{number(LEFT)}" y1="{number(y)}" x2="{number(LEFT + WIDTH)}" y2="{number(y)}"'
            yield f'<line {ends} stroke="currentColor" stroke-opacity="0.25"/>'
            yield _text(LEFT - 6, y, f"1e{power}" if power else "1", "end")
        for place in places:
            yield _text(self.at(place, 10.0**self.low)[0], self.bottom + 14, f"{place:g}", "middle")
        yield _text(LEFT + WIDTH / 2, self.bottom + 32, across, "middle")
        yield _text(LEFT + 6, MARGIN + 12, up, "start")


def _spread(ends: Sequence[float]) -> list[float]:
    """Heights in the same order, from the top down, none too near to another."""
    found = [0.0] * len(ends)
    last = float("-inf")
    for index in sorted(range(len(ends)), key=lambda own: ends[own]):
        last = found[index] = max(ends[index], last + APART)
    return found


def _polyline(points: Sequence[tuple[float, float]], dash: str) -> str:
    drawn = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<polyline points="{drawn}" {SHAPES}{dashes}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    how = f'fill="currentColor" text-anchor="{anchor}" dominant-baseline="central"'
    return f'<text x="{number(x)}" y="{number(y)}" {how}>{plain(text)}</text>'
