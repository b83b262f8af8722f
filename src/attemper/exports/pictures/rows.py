"""Words and truths as rows of cells, one below the other, and what each attends to in the row below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, final

from attemper.exports.pictures.elements import CENTRED, STANDALONE, number, plain, whole
from attemper.exports.pictures.places import width_of

SIDE = 22.0
"""Of a cell, which is a square."""

AWAY = 58.0
"""From a row to the next one, where lines lead from one to the other; else rows stand close together."""

CLOSE, MARGIN = 8.0, 10.0

FAINTEST = 0.02
"""A line with less weight is not drawn."""


@final
class Cells(NamedTuple):
    """A row of cells with these texts, some of them shaded, with its name to the left.

    `weights[i][j]` is how much cell i attends to cell j of the next row; an empty tuple if nothing does.
    """

    name: str
    texts: Sequence[str]
    shaded: Sequence[bool]
    weights: Sequence[Sequence[float]] = ()


def rows_svg(title: str, rows: Sequence[Cells], *, standalone: bool = False) -> str:
    """The picture of these rows; the more weight a line has, the darker it is.

    Lines and texts have the colour of the text around them; a picture that stands alone brings its own.

    >>> attending = Cells("O a", ["1", "."], [True, False], [[1.0, 0.0], [0.5, 0.5]])
    >>> picture = rows_svg("a head", [attending, Cells("word", "ab", [False, False])])
    >>> picture.count("<rect"), picture.count("<line")
    (4, 3)
    """
    left = MARGIN + max(width_of(row.name) for row in rows) + MARGIN
    heights = [MARGIN]
    for row in rows[:-1]:
        heights.append(heights[-1] + SIDE + (AWAY if row.weights else CLOSE))
    parts = [f"<title>{plain(title)}</title>", STANDALONE if standalone else ""]
    for row, top in zip(rows, heights, strict=True):
        middle = number(top + SIDE / 2)
        name = f'x="{number(MARGIN)}" y="{middle}" fill="currentColor" dominant-baseline="central"'
        parts.append(f"<text {name}>{plain(row.name)}</text>")
        parts += [
            _cell(text, is_shaded, left + place * SIDE, top)
            for place, (text, is_shaded) in enumerate(zip(row.texts, row.shaded, strict=True))
        ]
        parts += [
            _line(weight, left + SIDE * (place + 1 / 2), left + SIDE * (other + 1 / 2), top + SIDE)
            for place, weights in enumerate(row.weights)
            for other, weight in enumerate(weights)
            if weight >= FAINTEST
        ]
    widest = max(len(row.texts) for row in rows)
    return whole(parts, 0, 0, left + widest * SIDE + MARGIN, heights[-1] + SIDE + MARGIN)


def _cell(text: str, is_shaded: bool, x: float, y: float) -> str:
    box = f'x="{number(x)}" y="{number(y)}" width="{number(SIDE)}" height="{number(SIDE)}"'
    shade = 'fill="currentColor" fill-opacity="0.18"' if is_shaded else 'fill="none"'
    at = f'x="{number(x + SIDE / 2)}" y="{number(y + SIDE / 2)}"'
    rectangle = f'<rect {box} {shade} stroke="currentColor" stroke-opacity="0.35"/>'
    return f"{rectangle}<text {at} {CENTRED}>{plain(text)}</text>"


def _line(weight: float, start: float, end: float, top: float) -> str:
    """From below a cell to above one of the next row."""
    ends = f'x1="{number(start)}" y1="{number(top)}" x2="{number(end)}" y2="{number(top + AWAY)}"'
    return f'<line {ends} stroke="currentColor" stroke-width="2" stroke-opacity="{round(weight, 2):g}"/>'
