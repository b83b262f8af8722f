"""Which positions of a word are shown where not all of them have room, and texts that are cut to fit."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import final

from rich.cells import cell_len

from attemper.escapes import escaped
from attemper.languages.words import Word, show_word


@final
@dataclass(frozen=True)
class WordWindow:
    """The positions `first` to `last`, counted from 1, of the `length` positions of a word."""

    first: int
    last: int
    length: int

    @property
    def positions(self) -> range:
        return range(self.first, self.last + 1)

    @property
    def is_whole(self) -> bool:
        """Whether no position is left out."""
        return len(self.positions) == self.length


def window_around(position: int, length: int, room: int) -> WordWindow:
    """As many as `room` positions, with the given one in the middle where the word has enough on both sides.

    >>> window_around(50, 100, 10), window_around(99, 100, 10)
    (WordWindow(first=45, last=54, length=100), WordWindow(first=91, last=100, length=100))
    """
    size = min(room, length)
    first = min(max(position - size // 2, 1), length - size + 1)
    return WordWindow(first, first + size - 1, length)


def widest_window(position: int, length: int, room: int, fits: Callable[[WordWindow], bool]) -> WordWindow:
    """The widest window around a position that `fits`, of at most `room` positions and at least one.

    Where a window fits the narrower ones are taken to fit, too.
    """
    sizes = range(1, min(length, room) + 1)
    fitting = bisect_left(sizes, True, key=lambda size: not fits(window_around(position, length, size)))
    return window_around(position, length, max(fitting, 1))


def ruler(window: WordWindow, width: int = 1) -> str:
    """The numbers of the window's positions, read from top to bottom, each in `width` columns.

    >>> print(ruler(WordWindow(8, 12, 12)))
      111
    89012
    """
    digits = len(str(window.last))
    rows = zip(*(str(position).rjust(digits) for position in window.positions), strict=True)
    return "\n".join(strip(row, width) for row in rows)


def strip(cells: Iterable[str], width: int = 1) -> str:
    """The cells beside each other, each in `width` columns."""
    return "".join(cell + " " * (width - cell_len(cell)) for cell in cells)


def width_of(symbols: Sequence[str]) -> int:
    """How many columns a symbol takes beside others: one, or the longest and a blank between them."""
    longest = max((cell_len(escaped(symbol)) for symbol in symbols), default=1)
    return 1 if longest == 1 else longest + 1


def spans(positions: Iterable[int]) -> str:
    """Increasing numbers as a text, with those that follow each other as from-to.

    >>> spans([1, 2, 3, 7, 9, 10])
    '1-3 7 9-10'
    """
    runs: list[list[int]] = []
    for position in positions:
        if runs and runs[-1][-1] + 1 == position:
            runs[-1][1:] = [position]
        else:
            runs.append([position])
    return " ".join("-".join(map(str, run)) for run in runs)


def cut(text: str, room: int) -> str:
    """The text, or as much of it as leaves room for the three dots that say there is more.

    >>> cut("0110", 4), cut("01101", 4)
    ('0110', '0...')
    """
    text = escaped(text)
    if cell_len(text) <= room:
        return text
    kept = ""
    for character in text:
        if cell_len(kept) + cell_len(character) + 3 > room:
            break
        kept += character
    return f"{kept}..."


def cut_word(word: Word, room: int) -> str:
    """The word on one line; if it is cut its length is said.

    >>> cut_word(tuple("01" * 20), 30)
    '010101010101... (length 40)'
    """
    text = show_word(word)
    shown, note = cut(text, room), length_note(word)
    return shown if shown == escaped(text) else cut(text, room - len(note)) + note


def length_note(word: Word) -> str:
    """What stands behind a word that is cut."""
    return f" (length {len(word)})"
