"""A trace as HTML for notebooks: a table of truth, and a picture of every head's attention."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attemper.exports.pictures.patterns import pattern_svg
from attemper.html_tables import MOST, html_text, left_out, row_html
from attemper.languages.words import Word
from attemper.workbench.report.attention import SYMBOL, attended_text
from attemper.workbench.report.heads import HeadTrace, LayerMargin, Truths
from attemper.workbench.report.windows import WordWindow, cut_word, window_around

SHOWN = 40
"""Of a longer word the last positions are shown."""

WORD = 100

SQUARES = 10_000
"""How many squares all pictures have together, so that a page stays small; the first heads are drawn."""

LABEL = 60
"""How much is shown of a subformula, and of what a head writes."""


def trace_html(
    word: Word, subformulas: Truths, heads: Sequence[HeadTrace], margins: Sequence[LayerMargin]
) -> str:
    """A trace as HTML without scripts; whoever points at a row of a picture reads its weights."""
    window = window_around(len(word), len(word), SHOWN)
    parts = [f"<p>word <code>{html_text(cut_word(word, WORD))}</code></p>"]
    if not window.is_whole:
        parts.append(f"<p>positions {window.first} to {window.last} of {window.length}, and no others</p>")
    if word:
        drawn = heads[: min(MOST, SQUARES // len(window.positions) ** 2)]
        parts += [
            _truth(subformulas[:MOST], word, window),
            *left_out(len(subformulas) - MOST, "subformulas: see .subformulas"),
            *(_figure(head, word, window) for head in drawn),
            *left_out(len(heads) - len(drawn), "heads: see .heads"),
        ]
    parts += [f"<p>layer {one.layer}: smallest margin {one.margin:.6f}</p>" for one in margins[:MOST]]
    parts += left_out(len(margins) - MOST, "margins: see .margins")
    return f"<div>{''.join(parts)}</div>"


def head_svg(head: HeadTrace, word: Word, window: WordWindow) -> str:
    """A head's attention at the positions of a window."""
    inside = slice(window.first - 1, window.last)
    return pattern_svg(
        [row[inside] for row in head.soft[inside]],
        [row[inside] for row in head.hard[inside]],
        word[inside],
        title=f"layer {head.layer}, head {head.head}",
        told=[attended_text(head, i) for i in window.positions],
    )


def written_html(writes: Sequence[str]) -> str:
    """What a head writes, cut to what a cell has room for."""
    return f"<code>{html_text(', '.join(writes), LABEL)}</code>"


def _figure(head: HeadTrace, word: Word, window: WordWindow) -> str:
    said = f"layer {head.layer}, head {head.head}: {head.construction}<br/>writes {written_html(head.writes)}"
    style = "display: inline-block; margin: 8px; vertical-align: top"
    return f'<figure style="{style}">{head_svg(head, word, window)}<figcaption>{said}</figcaption></figure>'


def _truth(subformulas: Truths, word: Word, window: WordWindow) -> str:
    symbols = (f"{i}<br/>{html_text(word[i - 1], SYMBOL)}" for i in window.positions)
    rows = [row_html("", symbols), *_truth_rows(subformulas, window)]
    return f"<table>{''.join(rows)}</table>"


def _truth_rows(subformulas: Truths, window: WordWindow) -> Iterator[str]:
    for name, truth in subformulas:
        bits = ("1" if truth[i - 1] else "." for i in window.positions)
        yield row_html(f"<code>{html_text(name, LABEL)}</code>", bits)
