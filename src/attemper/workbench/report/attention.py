"""What a trace says of one word, as tables that fit: what is true where, and who attends to whom.

The weights of a head are numbers where they fit; else one shaded character each; and where that does not fit
either, those in a window of positions, with how much lies outside.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from rich.table import Table
from rich.text import Text

from attemper.escapes import escaped
from attemper.languages.words import Word
from attemper.workbench.report import windows
from attemper.workbench.report.heads import HeadTrace, Truths
from attemper.workbench.report.tables import table

SHADES = "·░▒▓█"
PLAIN_SHADES = ".-+*#"
"""The shades where the terminal knows ASCII only."""

STEPS = (0.0005, 0.25, 0.5, 0.75)
"""The weights at which the second shade begins, the third, and so on."""

LABEL = "subformula"
NUMBER = len("0.000 ")
HARD = 16
"""How many columns the list of positions that hard attention takes may have in a table."""

LONG = 200
"""The same in a sentence."""

SYMBOL = 8
LISTED = 8
LEAST = 5e-7
"""The least weight that is not 0 with six digits."""


@final
@dataclass(frozen=True)
class View:
    """How a trace is shown: on lines of `room` columns, around the position `centre` where not all fit."""

    room: int
    fits: Callable[[Table], bool]
    """Whether a table can be printed without wrapping its cells."""
    shades: str
    centre: int
    marked: bool
    """Whether the row of the centre is marked."""


@final
@dataclass(frozen=True)
class Pattern:
    """A head's attention as a table, the positions in it, and whether its weights are shaded or numbers."""

    table: Table
    window: windows.WordWindow
    shaded: bool


def truth_table(subformulas: Truths, word: Word, view: View) -> tuple[Table, windows.WordWindow]:
    """The truth of every subformula, one character a position, and the positions that there is room for.

    Symbols stand above their positions where there is room for them, too.
    """
    longest = max((len(name) for name, _ in subformulas), default=0)
    space = view.room - max(len(LABEL), min(longest, view.room // 3)) - 2
    window = windows.window_around(view.centre, len(word), space)
    # A heading is not escaped by the console, as it has two lines.
    symbols = [escaped(word[i - 1]) for i in window.positions]
    named = windows.width_of(symbols) * len(symbols) <= space
    width = windows.width_of(symbols) if named else 1
    heading = windows.ruler(window, width) + (f"\n{windows.strip(symbols, width)}" if named else "")
    shown = table(LABEL, wraps=(LABEL,))
    shown.add_column(Text(heading), no_wrap=True)
    for name, truth in subformulas:
        shown.add_row(name, windows.strip(("1" if truth[i - 1] else "." for i in window.positions), width))
    return shown, window


def attention_pattern(head: HeadTrace, word: Word, view: View) -> Pattern:
    """A head's attention in the best form that fits."""
    if NUMBER * len(word) <= view.room:
        numbers = _numbers(head, word, view)
        if view.fits(numbers):
            return Pattern(numbers, windows.window_around(view.centre, len(word), len(word)), shaded=False)

    def fits(window: windows.WordWindow) -> bool:
        return view.fits(_shaded(head, word, window, view))

    window = windows.widest_window(view.centre, len(word), view.room, fits)
    return Pattern(_shaded(head, word, window, view), window, shaded=True)


def legend(shades: str) -> str:
    """What the shades stand for."""
    below = (f"{shade} below {step}" for shade, step in zip(shades, STEPS, strict=False))
    return f"weights: {', '.join(below)}, {shades[-1]} from {STEPS[-1]}"


def attended_text(head: HeadTrace, position: int) -> str:
    """Where one position attends to: the greatest weights, and what the others have together."""
    weights = head.soft[position - 1]
    greatest = sorted(sorted(range(len(weights)), key=lambda j: -weights[j])[:LISTED])
    listed = ", ".join(f"{j + 1}:{weights[j]:.6f}" for j in greatest if weights[j] >= STEPS[0])
    others = 1 - sum(weights[j] for j in greatest if weights[j] >= STEPS[0])
    more = f", others:{others:.6f}" if others >= LEAST else ""
    return f"position {position} attends to {listed}{more}; hard attention to {_hard(head, position, LONG)}"


def _numbers(head: HeadTrace, word: Word, view: View) -> Table:
    shown = table("i", "")
    for j, symbol in enumerate(word, start=1):
        shown.add_column(Text(f"j={j}\n{windows.cut(symbol, SYMBOL)}"), no_wrap=True)
    shown.add_column("hard", no_wrap=True)
    for i, symbol in enumerate(word, start=1):
        weights = map(weight_text, head.soft[i - 1])
        shown.add_row(_number(i, view), windows.cut(symbol, SYMBOL), *weights, _hard(head, i))
    return shown


def _shaded(head: HeadTrace, word: Word, window: windows.WordWindow, view: View) -> Table:
    shown = table("i", "")
    shown.add_column(Text(windows.ruler(window)), no_wrap=True)
    if not window.is_whole:
        shown.add_column("outside", no_wrap=True)
    shown.add_column("hard", no_wrap=True)
    for i in window.positions:
        weights = head.soft[i - 1]
        before, inside, after = (
            weights[: window.first - 1],
            weights[window.first - 1 : window.last],
            weights[window.last :],
        )
        row = "".join(view.shades[bisect_right(STEPS, weight)] for weight in inside)
        outside = [] if window.is_whole else [weight_text(sum(before) + sum(after))]
        shown.add_row(_number(i, view), windows.cut(word[i - 1], SYMBOL), row, *outside, _hard(head, i))
    return shown


def weight_text(weight: float) -> str:
    """A weight with three digits, or a dot if these are zeros."""
    return f"{weight:.3f}" if weight >= STEPS[0] else "."


def _number(i: int, view: View) -> str:
    return f">{i}" if view.marked and i == view.centre else str(i)


def _hard(head: HeadTrace, i: int, room: int = HARD) -> str:
    """The positions that hard attention takes, or as many as have room."""
    return windows.cut(
        windows.spans(j for j, weight in enumerate(head.hard[i - 1], start=1) if weight > 0), room
    )
