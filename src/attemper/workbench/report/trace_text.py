"""A trace in words and tables, as wide as a console is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.table import Table

from attemper.running.numbers import show_number
from attemper.running.runs import verdict_text
from attemper.workbench.cli.console import out
from attemper.workbench.report import attention
from attemper.workbench.report.heads import HeadTrace
from attemper.workbench.report.windows import WordWindow, cut, cut_word

if TYPE_CHECKING:
    from attemper.workbench.trace import Trace


def text_of(trace: Trace) -> str:
    """What the command prints here."""
    with out.capture() as captured:
        for part in parts_of(trace):
            out.print(part)
    return captured.get().rstrip("\n")


def parts_of(trace: Trace, position: int | None = None) -> Iterator[str | Table]:
    """The verdict, or what is put out; then what happens on the way there.

    Where not all positions have room, those around the `position`, which is then marked, or else around the
    one that the verdict is read at.
    """
    shades = attention.PLAIN_SHADES if out.options.ascii_only else attention.SHADES
    centre = position or (1 if trace.reads_first else len(trace.word))
    seen = attention.View(out.columns, out.fits, shades, centre, marked=position is not None)
    yield cut(_told(trace), seen.room)
    yield f"word {cut_word(trace.word, seen.room - len('word '))}"
    if trace.word and trace.subformulas:
        yield from _truth(trace, seen)
    shaded = []
    for head in trace.heads:
        pattern = attention.attention_pattern(head, trace.word, seen)
        shaded.append(pattern.shaded)
        yield from _head(head, pattern, seen)
    if trace.word and not trace.heads:
        yield "no heads"
    for margin in trace.margins:
        yield f"layer {margin.layer}: smallest margin {margin.margin:.6f}"
    if any(shaded):
        yield attention.legend(seen.shades)
    elif trace.heads:
        yield f"weights: . below {attention.STEPS[0]}"


def _told(trace: Trace) -> str:
    if trace.puts_out:
        shown = (str(one) if isinstance(one, str) else show_number(one) for one in trace.outputs)
        return f"puts out {' '.join(shown)}"
    return verdict_text(trace.accepted)


def _truth(trace: Trace, seen: attention.View) -> Iterator[str | Table]:
    table, window = attention.truth_table(trace.subformulas, trace.word, seen)
    if not window.is_whole:
        yield f"{_positions(window)}; others are shown around another position, and all in JSON"
    yield table


def _head(head: HeadTrace, pattern: attention.Pattern, seen: attention.View) -> Iterator[str | Table]:
    yield ""
    where = "" if pattern.window.is_whole else f"; {_positions(pattern.window)}"
    yield f"layer {head.layer}, head {head.head}: {head.construction}, writes {', '.join(head.writes)}{where}"
    yield pattern.table
    if seen.marked:
        yield attention.attended_text(head, seen.centre)


def _positions(window: WordWindow) -> str:
    return f"positions {window.first} to {window.last} of {window.length}"
