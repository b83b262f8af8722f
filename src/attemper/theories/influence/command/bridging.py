"""attemper influence --logit-range: a compiled network whose logits have a range of at most s(n)."""

from __future__ import annotations

from pathlib import Path

import typer

from attemper.errors import ExitCode
from attemper.theories.influence.report.bridged import bridge_parts
from attemper.theories.influence.search.bridge import DEFAULT_LENGTHS, DEFAULT_SAMPLES
from attemper.theories.influence.search.bridge import bridge as bridge_of
from attemper.theories.influence.search.logit_ranges import parse_logit_range
from attemper.workbench.cli.console import out, print_json, text_of
from attemper.workbench.cli.progress import activity
from attemper.workbench.folder import load


def bridge_command(
    source: str,
    logit_range: str,
    lengths: tuple[int, ...] | None,
    count: int | None,
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
            samples=count or DEFAULT_SAMPLES,
            seed=seed,
            seconds=seconds,
            report=report,
        )
    if json:
        print_json({"model": source, **found.as_record()})
    else:
        out.print_lines(text_of(bridge_parts(found)))
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.OK
