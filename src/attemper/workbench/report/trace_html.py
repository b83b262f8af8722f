"""A trace as HTML for notebooks: a table of truth, and a table a head whose cells are shaded by weight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from attemper.escapes import escaped
from attemper.languages.words import Word
from attemper.workbench.report.attention import weight_text
from attemper.workbench.report.heads import HeadTrace, LayerMargin, Truths
from attemper.workbench.report.windows import WordWindow, cut_word, window_around

SHOWN = 24
"""Of a longer word the last positions are shown."""

WORD = 100


def trace_html(
    word: Word, subformulas: Truths, heads: Iterable[HeadTrace], margins: Iterable[LayerMargin]
) -> str:
    """A trace as HTML without scripts; a cell's title has its positions and weight."""
    window = window_around(len(word), len(word), SHOWN)
    parts = [f"<p>word <code>{_text(cut_word(word, WORD))}</code></p>"]
    if not window.is_whole:
        parts.append(f"<p>positions {window.first} to {window.last} of {window.length}</p>")
    if word:
        parts += [_truth(subformulas, word, window), *(_head(head, word, window) for head in heads)]
    parts += [f"<p>layer {one.layer}: smallest margin {one.margin:.6f}</p>" for one in margins]
    return f"<div>{''.join(parts)}</div>"


def _truth(subformulas: Truths, word: Word, window: WordWindow) -> str:
    rows = (
        _row(f"<td><code>{_text(name)}</code></td>", (_bit(truth[i - 1]) for i in window.positions))
        for name, truth in subformulas
    )
    return _table("<th>subformula</th>", word, window, rows)


def _head(head: HeadTrace, word: Word, window: WordWindow) -> str:
    writes = _text(", ".join(head.writes))
    title = f"<p>layer {head.layer}, head {head.head}: {head.construction}, writes {writes}</p>"
    rows = (
        _row(f"<th>{_label(word, i)}</th>", _weights(head, i, window.positions)) for i in window.positions
    )
    return title + _table("<th></th>", word, window, rows)


def _weights(head: HeadTrace, i: int, positions: range) -> Iterator[str]:
    for j in positions:
        weight = head.soft[i - 1][j - 1]
        colours = f"background: rgba(31, 119, 180, {weight:.3f})"
        yield f'<td style="{colours}" title="i={i}, j={j}: {weight:.6f}">{weight_text(weight)}</td>'


def _bit(bit: bool) -> str:
    return f"<td>{'1' if bit else '.'}</td>"


def _table(corner: str, word: Word, window: WordWindow, rows: Iterable[str]) -> str:
    heads = (f"<th>{_label(word, j)}</th>" for j in window.positions)
    return f"<table>{_row(corner, heads)}{''.join(rows)}</table>"


def _row(first: str, cells: Iterable[str]) -> str:
    return f"<tr>{first}{''.join(cells)}</tr>"


def _label(word: Word, position: int) -> str:
    return f"{position}<br>{_text(word[position - 1])}"


def _text(text: str) -> str:
    return escape(escaped(text))
