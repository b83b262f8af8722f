"""What was found of a network whose logits are capped, as lines and tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from attemper.theories.influence.search.bridge import Bridge
from attemper.theories.influence.search.logit_ranges import TRIED
from attemper.workbench.report.tables import table


def bridge_parts(found: Bridge) -> Iterator[str | Table]:
    """Lines and tables on a network with capped logits."""
    yield (
        "measured in float64, not proved: the largest change of the output by one symbol, with the logits of "
        f"every head capped at the range {found.logit_range}, and uncapped"
    )
    yield _rows(found)
    tried, shown = ", ".join(cap.text for cap in TRIED), ", ".join(map(str, found.lengths))
    yield (f"each head capped alone: the slowest of {tried} at which the network still works at n = {shown}")
    yield _heads(found)
    if not found.finished:
        why = "interrupted" if found.interrupted else "the time was up; allow more seconds"
        yield f"not finished: {why}"


def _rows(found: Bridge) -> Table:
    shown = table("n", "capped random", "capped simple", "wrong", "uncapped random", "uncapped simple")
    for row in found.rows:
        shown.add_row(
            f"{row.n:,}",
            f"{row.capped_random:.3g}",
            f"{row.capped_simple:.3g}",
            f"{row.wrong} of {row.words}",
            f"{row.uncapped_random:.3f}",
            f"{row.uncapped_simple:.3f}",
        )
    return shown


def _heads(found: Bridge) -> Table:
    shown = table(
        "layer",
        "head",
        "construction",
        "logits needed",
        "one symbol can change",
        wraps=("one symbol can change",),
    )
    for head in found.heads:
        shown.add_row(
            str(head.layer), str(head.head), head.construction, head.needs or "none of them", head.breaks
        )
    return shown
