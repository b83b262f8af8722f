"""attemper source"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from attemper.languages.sources.levels import LONGEST_WINDOW
from attemper.languages.sources.values import NAMES, Brackets, source_named
from attemper.theories.influence.report.sources import report_of
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json, share
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.options import polarity_note, with_polarity

WINDOW = 10
"""Levels are shown of up to so many last symbols, unless --k says otherwise."""


@limited
def source_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help=f"{', '.join(NAMES)}: which words, with their polarity.")
    ],
    length: Annotated[
        int, typer.Option("--length", metavar="N", help="The number of symbols that are read.")
    ],
    p: Annotated[
        str,
        typer.Option("--p", metavar="P", help="Of END where a word may end; dyck2: of an opening bracket."),
    ] = "1/2",
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", help=f"PARITY: levels of up to K last symbols (else {WINDOW})."),
    ] = None,
    bits: Annotated[bool, typer.Option("--bits", help="Losses in bits, not in nats.")] = False,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> None:
    """Say what a source of words gives out: lengths, levels of cross-entropy, and floors below it."""
    source = source_named(with_polarity(name), share(p, "--p"))
    if k is not None and isinstance(source, Brackets):
        raise typer.BadParameter("--k is for parity-even and parity-odd")
    if k is not None and not 0 <= k <= LONGEST_WINDOW:
        raise typer.BadParameter(f"--k must be from 0 to {LONGEST_WINDOW:,}")
    found = report_of(source, length, WINDOW if k is None else k, bits=bits)
    if json:
        print_json(found.record)
    else:
        out.print_lines(str(replace(found, note=polarity_note(name, "1s") or "")))
