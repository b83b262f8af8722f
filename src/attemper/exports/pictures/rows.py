"""Words and truths as rows of cells, one below the other, and what each attends to in the row below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    Lines are `dashed` where it is not by attention that a cell depends on another.
    """

    name: str
    texts: Sequence[str]
    shaded: Sequence[bool]
    weights: Sequence[Sequence[float]] = ()
    dashed: bool = False


@final
class Panel(NamedTuple):
    """Rows of a picture that has several such parts, below what is said of them; "" for nothing."""

    caption: str
    rows: Sequence[Cells]


def rows_svg(title: str, rows: Sequence[Cells], *, standalone: bool = False) -> str:
    """The picture of these rows; the more weight a line has, the darker it is.

    Lines and texts have the colour of the text around them; a picture that stands alone brings its own.

    >>> attending = Cells("O a", ["1", "."], [True, False], [[1.0, 0.0], [0.5, 0.5]])
    >>> picture = rows_svg("a head", [attending, Cells("word", "ab", [False, False])])
    >>> picture.count("<rect"), picture.count("<line")
    (4, 3)
    """
    return panels_svg(title, [Panel("", rows)], standalone=standalone)


def panels_svg(title: str, panels: Sequence[Panel], *, standalone: bool = False) -> str:
    """The picture of these parts, one below the other; else as `rows_svg`.

    >>> word = Cells("word", "ab", [False, True])
    >>> panels_svg("two words", [Panel("(a)", [word]), Panel("(b)", [word])]).count("<rect")
    4
    """
    left = MARGIN + max(width_of(row.name) for panel in panels for row in panel.rows) + MARGIN
    parts = [f"<title>{plain(title)}</title>", STANDALONE if standalone else ""]
    bottom = 0.0
    for panel in panels:
        top = bottom + MARGIN
        if panel.caption:
            parts.append(_text(panel.caption, top + SIDE / 2))
            top += SIDE + CLOSE
        for row in panel.rows:
            bottom = top + SIDE
            parts += _row(row, left, top)
            top = bottom + (AWAY if row.weights else CLOSE)
        bottom += MARGIN
    widest = max(len(row.texts) for panel in panels for row in panel.rows)
    written = max(width_of(panel.caption) for panel in panels)
    return whole(parts, 0, 0, max(left + widest * SIDE, written + MARGIN) + MARGIN, bottom)


def _row(row: Cells, left: float, top: float) -> Iterator[str]:
    yield _text(row.name, top + SIDE / 2)
    for place, (text, is_shaded) in enumerate(zip(row.texts, row.shaded, strict=True)):
        yield _cell(text, is_shaded, left + place * SIDE, top)
    for place, weights in enumerate(row.weights):
        for other, weight in enumerate(weights):
            if weight >= FAINTEST:
                start, end = (left + SIDE * (x + 1 / 2) for x in (place, other))
                yield _line(weight, start, end, top + SIDE, dashed=row.dashed)


def _text(text: str, middle: float) -> str:
    at = f'x="{number(MARGIN)}" y="{number(middle)}" fill="currentColor" dominant-baseline="central"'
    return f"<text {at}>{plain(text)}</text>"


def _cell(text: str, is_shaded: bool, x: float, y: float) -> str:
    box = f'x="{number(x)}" y="{number(y)}" width="{number(SIDE)}" height="{number(SIDE)}"'
    shade = 'fill="currentColor" fill-opacity="0.18"' if is_shaded else 'fill="none"'
    at = f'x="{number(x + SIDE / 2)}" y="{number(y + SIDE / 2)}"'
    rectangle = f'<rect {box} {shade} stroke="currentColor" stroke-opacity="0.35"/>'
    return f"{rectangle}<text {at} {CENTRED}>{plain(text)}</text>"


def _line(weight: float, start: float, end: float, top: float, *, dashed: bool) -> str:
    """From below a cell to above one of the next row."""
    ends = f'x1="{number(start)}" y1="{number(top)}" x2="{number(end)}" y2="{number(top + AWAY)}"'
    dashes = ' stroke-dasharray="3 3"' if dashed else ""
    stroke = f'stroke="currentColor" stroke-width="2" stroke-opacity="{round(weight, 2):g}"{dashes}'
    return f"<line {ends} {stroke}/>"
