"""A picture of an automaton as SVG text: circles, arrows and labels, and all of them told in words."""

from __future__ import annotations

from math import hypot

from attemper.errors import UnsupportedError
from attemper.exports.pictures.curves import HEAD, Curve, curves
from attemper.exports.pictures.elements import CENTRED, SHAPES, STANDALONE, number, plain, whole
from attemper.exports.pictures.graph import Arrow, Graph, graph_of
from attemper.exports.pictures.labels import STEPS, Box, labelled
from attemper.exports.pictures.layers import DrawnNode, layered
from attemper.exports.pictures.places import RADIUS, Point, placed, width_of
from attemper.languages.regular.dfa import Dfa

MOST_STATES = 40
"""Nobody can read the picture of a larger automaton."""

MARGIN, LINE = 14.0, 18.0
"""Around the picture, and the height of a line of text."""


def automaton_svg(dfa: Dfa, *, standalone: bool = False) -> str:
    """The picture of an automaton: an arrow leads to its start, and accepting states have double circles.

    A state from which no word is accepted is left out, which a line below the picture says. Lines and labels
    have the colour of the text around them; a picture that stands alone brings its own, light or dark as the
    reader has it. The same automaton has the same picture, byte for byte.

    Raises `UnsupportedError` for more than 40 states.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> picture = automaton_svg(parse_regex("(ab)*", "ab"))
    >>> "<title>Automaton with 3 states</title>" in picture, picture.count("<circle")
    (True, 3)
    """
    count = len(dfa.moves)
    if count > MOST_STATES:
        raise UnsupportedError(
            f"an automaton of {count:,} states is not drawn: nobody can read more than {MOST_STATES}"
        )
    graph = graph_of(dfa)
    drawing = layered(graph)
    places = placed(drawing)
    lines = curves(drawing, places, graph)
    states = {state: places[DrawnNode(state)] for state in graph.states}
    labels = labelled(lines, states.values())
    note = "" if graph.trap is None else f"not drawn: state {graph.trap}, from which no word is accepted"
    parts = [
        f"<title>Automaton with {count} state{'' if count == 1 else 's'}</title>",
        f"<desc>{plain(_told(graph))}</desc>",
        STANDALONE if standalone else "",
        *(_arrow(arrow, lines[arrow], labels[arrow]) for arrow in lines),
        _start(states[graph.start]),
        *(_state(state, place, graph) for state, place in states.items()),
    ]
    return _framed(parts, _corners(states, lines, labels, graph.start), note)


def _framed(parts: list[str], corners: list[Point], note: str) -> str:
    """The parts in an SVG element that is as large as they are; the note stands below them."""
    left, top = (min(point[axis] for point in corners) - MARGIN for axis in (0, 1))
    width = max(max(point.x for point in corners) + MARGIN - left, width_of(note) + 2 * MARGIN)
    height = max(point.y for point in corners) + MARGIN - top
    if note:
        at = f'x="{number(left + MARGIN)}" y="{number(top + height)}"'
        parts = [*parts, f'<text {at} fill="currentColor" font-size="12">{plain(note)}</text>']
        height += LINE
    return whole(parts, left, top, width, height)


def _corners(
    states: dict[int, Point], lines: dict[Arrow, Curve], labels: dict[Arrow, Box], start: int
) -> list[Point]:
    """Points such that a box with all of them has the whole picture."""
    found = [Point(states[start].x - RADIUS - 3 * HEAD, states[start].y)]
    boxes = [*labels.values(), *(Box(place, RADIUS, RADIUS) for place in states.values())]
    for (x, y), width, height in boxes:
        found += [Point(x - width, y - height), Point(x + width, y + height)]
    return found + [line.along(step / STEPS)[0] for line in lines.values() for step in range(STEPS + 1)]


def _state(state: int, place: Point, graph: Graph) -> str:
    at = f'cx="{number(place.x)}" cy="{number(place.y)}"'
    circle = f'<circle {at} r="{number(RADIUS)}" {SHAPES}/>'
    inner = f'<circle {at} r="{number(RADIUS - 4)}" {SHAPES}/>' if state in graph.accepting else ""
    return f'{circle}{inner}<text x="{number(place.x)}" y="{number(place.y)}" {CENTRED}>{state}</text>'


def _start(place: Point) -> str:
    """The short arrow to the start, which comes from nowhere."""
    tip = Point(place.x - RADIUS, place.y)
    tail = Point(tip.x - 3 * HEAD, tip.y)
    end = Point(tip.x - HEAD, tip.y)
    return f'<path d="M {_pair(tail)} L {_pair(end)}" {SHAPES}/>{_head(end, tail)}'


def _arrow(arrow: Arrow, curve: Curve, label: Box) -> str:
    first, *others = curve.points
    told = f"from {arrow.source} to {arrow.target}: {', '.join(arrow.symbols)}"
    path = f'<path d="M {_pair(first)} C {" ".join(map(_pair, others))}" {SHAPES}/>'
    at = f'x="{number(label.centre.x)}" y="{number(label.centre.y)}"'
    text = f"<text {at} {CENTRED}>{plain(arrow.label)}</text>"
    return f"<g><title>{plain(told)}</title>{path}{_head(curve.points[-1], curve.points[-2])}{text}</g>"


def _head(end: Point, before: Point) -> str:
    """The triangle at a line's end, which goes on as the line came."""
    length = hypot(end.x - before.x, end.y - before.y)
    along = Point((end.x - before.x) / length, (end.y - before.y) / length)
    tip = Point(end.x + HEAD * along.x, end.y + HEAD * along.y)
    wings = [Point(end.x - side * along.y * HEAD / 2, end.y + side * along.x * HEAD / 2) for side in (-1, 1)]
    return f'<path d="M {_pair(wings[0])} L {_pair(tip)} L {_pair(wings[1])} Z" fill="currentColor"/>'


def _told(graph: Graph) -> str:
    """The picture in words."""
    accepting = ", ".join(str(state) for state in graph.states if state in graph.accepting) or "none"
    moves = ". ".join(
        f"From {arrow.source} to {arrow.target}: {', '.join(arrow.symbols)}" for arrow in graph.arrows
    )
    return f"Start: {graph.start}. Accepting: {accepting}. {moves}."


def _pair(point: Point) -> str:
    return f"{number(point.x)} {number(point.y)}"
