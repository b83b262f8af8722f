"""attemper decompile"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.checker.limits import MEMORY
from attemper.errors import ExitCode, OptionError
from attemper.reading.machines import SECONDS
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.memory_limit import MemoryOption, in_memory
from attemper.workbench.cli.options import Force, Json, LimitOption
from attemper.workbench.cli.places import require_network_place
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.decompiled import Decompiled, PrintAs, Remarks, lines_of, record_of, verdict_line
from attemper.workbench.decompiling import decompile
from attemper.workbench.limits import parse_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from attemper.workbench.reading_models import ModelReading

WORDS = 10_000
"""So many words are run by the definition of somebody's model unless it is said otherwise."""


@limited
@in_memory
def decompile_command(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A network's folder, or MODULE:OBJECT, somebody's masked hard-attention model.",
        ),
    ],
    form: Annotated[
        PrintAs | None,
        typer.Option(
            "--as", help="Print this, in place of what is said of it; -o writes it (default: the automaton)."
        ),
    ] = None,
    edited: Annotated[
        bool, typer.Option("--edited", help="Read the weights as they are now, whoever changed them.")
    ] = False,
    count: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help=f"Of a model: run so many words by its definition ({WORDS:,})."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write what was read.")
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the same weights, certified to compute what was read."),
    ] = None,
    limit: LimitOption = None,
    seconds: SecondsOption = SECONDS,
    memory: MemoryOption = MEMORY,
    force: Force = False,
    json: Json = False,
) -> int:
    """Say which language a network computes, from its weights alone, proved for all lengths.

    What is printed of a folder is PROVED by the checker from the weights; neither its certificate nor its
    source is looked at. Of somebody's model the automaton is MEASURED: its functions are believed. The only
    --limit is configurations: how many the network may go through.

    Exit codes: 0 read back, 1 a model's own runs differ from the tables, 12 UNKNOWN, with the reason.
    """
    del memory
    limits = parse_limits(limit)
    if network is not None:
        require_network_place(network, force=force)
    if ":" in subject and not Path(subject).exists():
        if edited or form not in {None, PrintAs.AUTOMATON} or network is not None:
            raise OptionError("--edited, --as and --network are about a network's folder, not about a model")
        return _model(subject, WORDS if count is None else count, limits, seconds, output, json)
    if count is not None:
        raise OptionError("--count is for somebody's model, MODULE:OBJECT: a folder's weights are proved")
    try:
        with activity("reading the weights") as report:
            found = decompile(subject, edited=edited, limits=limits, seconds=seconds, report=report)
            if found.held is not None:
                report("writing down what was read")
                shown = "" if form is None else found.text(form)
                _write(found, form, output, network)
    except KeyboardInterrupt as end:
        return _unknown(subject, str(end) or "interrupted", json)
    if found.held is None:
        _print(found, None, json)
        return found.exit_code
    if form is not None and not json:
        for line in (verdict_line(found), *shown.splitlines()):
            out.print(line)
        _print_written(output, network)
        return found.exit_code
    remarks = _remarks(found)
    _print(found, remarks, json)
    if not json:
        _print_written(output, network)
        if remarks is None:
            out.print("interrupted: class, formula and claim were not looked at")
    return ExitCode.UNKNOWN if remarks is None else found.exit_code


def _remarks(found: Decompiled) -> Remarks | None:
    """What is said beside what was read; None if that is interrupted."""
    try:
        with activity("looking for its class, and a formula"):
            return found.remarks
    except KeyboardInterrupt:
        return None


def _print(found: Decompiled, remarks: Remarks | None, json: bool) -> None:
    if json:
        print_json(record_of(found, remarks))
        return
    for line in lines_of(found, remarks):
        out.print(line)


def _unknown(subject: str, reason: str, json: bool) -> int:
    if json:
        print_json({"subject": subject, "status": "UNKNOWN", "reason": reason})
    else:
        out.print(f"UNKNOWN: {reason}")
    return ExitCode.UNKNOWN


def _write(found: Decompiled, form: PrintAs | None, output: Path | None, network: Path | None) -> None:
    """What was asked for, as a file; the weights, certified to compute what was read, as a folder."""
    if output is not None:
        found.save(output, form or PrintAs.AUTOMATON)
    if network is not None:
        found.model.save(network, certificate=found.certificate())


def _print_written(*places: Path | None) -> None:
    for place in places:
        if place is not None:
            out.print(f"wrote {place}")


# Somebody's model -----------------------------------------------------------------------------------------


def _model(
    subject: str, count: int, limits: Mapping[str, int], seconds: float, output: Path | None, json: bool
) -> int:
    from attemper.workbench.reading_models import read_model  # models are functions of arrays

    try:
        with activity("reading the model") as report:
            found: ModelReading = read_model(
                subject, count=count, limits=limits, seconds=seconds, progress=report
            )
    except KeyboardInterrupt as end:
        return _unknown(subject, str(end) or "interrupted", json)
    is_written = output is not None and found.disagreement is None
    if output is not None and is_written:
        found.save(output)
    if json:
        print_json(found.record)
    else:
        for line in found.lines():
            out.print(line)
        _print_written(output if is_written else None)
    return found.exit_code
