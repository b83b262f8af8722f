"""What pictures are made of: texts and numbers as SVG has them, and the element around all."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from attemper.escapes import escaped

SHAPES = 'fill="none" stroke="currentColor" stroke-width="1.5"'
CENTRED = 'fill="currentColor" text-anchor="middle" dominant-baseline="central"'
STANDALONE = "<style>svg { color-scheme: light dark; color: CanvasText; background: Canvas }</style>"
"""The colours of a picture that stands alone, light or dark as the reader has it."""


def whole(parts: Sequence[str], left: float, top: float, width: float, height: float) -> str:
    """The picture with these parts, which lie in that box; empty parts are left out."""
    drawn = "".join(f"{part}\n" for part in parts if part)
    box = " ".join(map(number, (left, top, width, height)))
    space = ' xmlns="http://www.w3.org/2000/svg"'
    size = f'width="{number(width)}" height="{number(height)}"'
    font = 'font-family="ui-monospace, monospace" font-size="13"'
    return f'<svg{space} role="img" viewBox="{box}" {size} {font}>\n{drawn}</svg>\n'


def plain(text: str) -> str:
    """A text as it is read: no markup, and nothing that cannot be shown."""
    return escape(escaped(text))


def number(value: float) -> str:
    """To a tenth: finer than a pixel, and far coarser than what floats of two machines differ in."""
    return f"{round(value, 1) + 0.0:g}"
