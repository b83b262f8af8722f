"""A picture of whom a head attends to, as SVG text: squares, dark where the weight is great."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ceil

from attemper.exports.pictures.places import width_of
from attemper.html_tables import html_text

AttentionRows = Sequence[Sequence[float]]
"""Row i has the weights of the positions j for the query at i."""

CELL, SMALL, FEW = 14, 10, 16
"""The side of a square, and where there are more than a few rows. These lengths are pixels."""

SHADES = 16

LEAST = 0.0005
"""What weighs less has no shade."""

FONT, WIDE = 9, 9 / 13
"""The height of symbols, and how wide they are beside those of other pictures."""

SYMBOL = 6
"""How many characters of a symbol there is room for."""


def pattern_svg(
    soft: AttentionRows, hard: AttentionRows, symbols: Sequence[str], *, title: str, told: Sequence[str] = ()
) -> str:
    """Whom the positions of these symbols attend to: rows attend to columns, dots mark hard attention's.

    `told` are words about each row, for whoever points at it. Lines and symbols have the colour of the text
    around them.

    >>> picture = pattern_svg([[1, 0], [0.5, 0.5]], [[1, 0], [1, 1]], "ab", title="layer 0, head 0")
    >>> "M0 0h1v1h-1z" in picture, "M0 1h2v1h-2z" in picture
    (True, True)
    """
    n = len(symbols)
    cell = CELL if n <= FEW else SMALL
    names = [name if len(name) <= SYMBOL else f"{name[: SYMBOL - 2]}.." for name in symbols]
    edge = ceil(max(map(width_of, names), default=0) * WIDE) + 6
    side = edge + n * cell + 1
    rows = (
        f'<rect y="{i}" width="{n}" height="1" fill-opacity="0"><title>{html_text(line)}</title></rect>'
        for i, line in enumerate(told)
    )
    parts = [
        f"<title>{html_text(title)}</title>",
        "<desc>Rows attend to columns; a dot marks what hard attention takes.</desc>",
        *_names(names, edge, cell),
        f'<g transform="translate({edge} {edge}) scale({cell})">',
        *_shades(soft),
        _dots(hard),
        f'<rect width="{n}" height="{n}" fill="none" stroke="currentColor" stroke-width=".05"/>',
        *rows,
        "</g>",
    ]
    box = f'role="img" viewBox="0 0 {side} {side}" width="{side}" height="{side}"'
    font = f'font-family="ui-monospace, monospace" font-size="{FONT}" fill="currentColor"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box} {font}>{"".join(parts)}</svg>'


def _names(names: Sequence[str], edge: int, cell: int) -> Iterator[str]:
    """Each symbol before its row, and above its column, where it is turned if it has no room."""
    for place, name in enumerate(names):
        middle = edge + place * cell + cell // 2
        text = html_text(name)
        yield f'<text x="{edge - 4}" y="{middle + 3}" text-anchor="end">{text}</text>'
        if width_of(name) * WIDE < cell:
            yield f'<text x="{middle}" y="{edge - 4}" text-anchor="middle">{text}</text>'
        else:
            yield f'<text transform="translate({middle + 3} {edge - 4}) rotate(-90)">{text}</text>'


def _shades(soft: AttentionRows) -> Iterator[str]:
    """The squares of every shade as one path; neighbours in a row that have the same are one step of it."""
    steps: dict[int, list[str]] = {}
    for i, row in enumerate(soft):
        start = 0
        for shade, cells in groupby(map(_shade, row)):
            width = len(list(cells))
            steps.setdefault(shade, []).append(f"M{start} {i}h{width}v1h-{width}z")
            start += width
    for shade, found in sorted(steps.items()):
        if shade:
            yield f'<path d="{"".join(found)}" fill="#1f77b4" fill-opacity="{shade / SHADES:g}"/>'


def _shade(weight: float) -> int:
    """From 0, nothing, to the darkest; nothing, too, of what is no number."""
    return ceil(min(weight, 1) * SHADES) if weight >= LEAST else 0


def _dots(hard: AttentionRows) -> str:
    dots = (f"M{j}.5 {i}.5h0" for i, row in enumerate(hard) for j, weight in enumerate(row) if weight > 0)
    return f'<path d="{"".join(dots)}" stroke="#ff7f0e" stroke-width=".35" stroke-linecap="round"/>'
