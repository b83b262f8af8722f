"""attemper trace"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from attemper.languages.words import show_word
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.model import load

if TYPE_CHECKING:
    from attemper.workbench.trace import HeadTrace, Trace

WIDEST = 24
"""Words longer than this are traced in full with --json only."""


def trace_command(
    folder: Folder,
    word: Annotated[str, typer.Argument(metavar="WORD", help="The word to read.")],
    json: Json = False,
) -> None:
    """Show every subformula at every position, every head's attention (soft and hard), and margins."""
    trace = load(folder).trace(word)
    if json:
        _print_records(trace)
        return
    shown = show_word(trace.word)
    out.print(f"word {shown if len(shown) < 200 else shown[:200] + '...'}")
    _print_subformulas(trace)
    for head in trace.heads:
        _print_head(head)
    for margin in trace.margins:
        out.print(f"layer {margin.layer}: smallest margin {margin.margin:.6f}")


def _print_records(trace: Trace) -> None:
    """One JSON object per subformula, head and layer, each with its kind."""
    for formula, truth in trace.subformulas:
        print_json({"kind": "subformula", "formula": formula, "positions": [int(bit) for bit in truth]})
    for head in trace.heads:
        print_json({"kind": "head", **asdict(head)})
    for margin in trace.margins:
        print_json({"kind": "margin", **asdict(margin)})
    print_json({"kind": "output", "word": list(trace.word), "values": list(trace.output)})


def _print_subformulas(trace: Trace) -> None:
    if len(trace.word) > WIDEST:
        out.print(f"(the word has {len(trace.word)} positions: use --json to see them all)")
        return
    table = Table("subformula", *(f"{i}" for i in range(1, len(trace.word) + 1)))
    for formula, truth in trace.subformulas:
        table.add_row(formula, *("1" if bit else "." for bit in truth))
    out.print(table)


def _print_head(head: HeadTrace) -> None:
    writes = ", ".join(head.writes)
    out.print(f"layer {head.layer}, head {head.head}: {head.construction}, writes {writes}")
    if len(head.soft) > WIDEST:
        return
    table = Table("i", *(f"j={j}" for j in range(1, len(head.soft) + 1)), "hard")
    for i, (soft, hard) in enumerate(zip(head.soft, head.hard, strict=True), start=1):
        attended = [str(j) for j, weight in enumerate(hard, start=1) if weight > 0]
        table.add_row(str(i), *(_weight(weight) for weight in soft), " ".join(attended))
    out.print(table)


def _weight(weight: float) -> str:
    return f"{weight:.3f}" if weight >= 0.0005 else "."
