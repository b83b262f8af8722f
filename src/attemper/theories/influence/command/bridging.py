"""attemper influence --logit-range: a compiled network whose logits have a range of at most s(n)."""

from __future__ import annotations

from pathlib import Path

import typer
from rich.table import Table

from attemper.errors import ExitCode
from attemper.theories.influence.search.bridge import DEFAULT_LENGTHS, DEFAULT_SAMPLES, Bridge
from attemper.theories.influence.search.bridge import bridge as bridge_of
from attemper.theories.influence.search.logit_ranges import TRIED, parse_logit_range
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.progress import activity
from attemper.workbench.folder import load
from attemper.workbench.report.tables import table


def bridge_command(
    source: str,
    logit_range: str,
    lengths: tuple[int, ...] | None,
    samples: int | None,
    seed: int,
    seconds: float,
    *,
    json: bool,
) -> int:
    """Print the influence with the cap and without it, and what each head needs."""
    cap = parse_logit_range(logit_range)
    if ":" in source and not Path(source).is_dir():
        raise typer.BadParameter("--logit-range is for compiled networks, whose heads have a known purpose")
    model = load(Path(source))
    with activity("measuring") as report:
        found = bridge_of(
            model,
            cap,
            lengths or DEFAULT_LENGTHS,
            samples=samples or DEFAULT_SAMPLES,
            seed=seed,
            seconds=seconds,
            report=report,
        )
    if json:
        print_json({"model": source, **found.as_record()})
    else:
        _print(found)
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.OK


def _print(found: Bridge) -> None:
    out.print(
        "measured in float64, not proved: the largest change of the output by one symbol, with the logits of "
        f"every head capped at the range {found.logit_range}, and uncapped"
    )
    out.print(_rows(found))
    tried, shown = ", ".join(cap.text for cap in TRIED), ", ".join(map(str, found.lengths))
    out.print(
        f"each head capped alone: the slowest of {tried} at which the network still works at n = {shown}"
    )
    out.print(_heads(found))
    if not found.finished:
        why = "interrupted" if found.interrupted else "the time was up; --seconds gives more"
        out.print(f"not finished: {why}")


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
