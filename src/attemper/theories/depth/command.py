"""attemper depth"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.theories.depth import certificate
from attemper.theories.depth.ask import depth
from attemper.theories.depth.check.pairs import MOST_LAYERS
from attemper.theories.depth.search.caps import SECONDS
from attemper.workbench.cli.console import out, print_found
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Json,
    LanguageArgument,
    LimitOption,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.cli.written import written_language
from attemper.workbench.limits import parse_limits


@limited
def depth_command(
    language: LanguageArgument,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    layers: Annotated[
        int | None,
        typer.Option(
            "--layers", metavar="K", help=f"Look for a pair for each k up to K (at most {MOST_LAYERS})."
        ),
    ] = None,
    period: Annotated[
        int, typer.Option(metavar="M", help="Position embeddings with this period; 1: none.")
    ] = 1,
    prefix: Annotated[
        int, typer.Option(metavar="P", help="The position from which on the embeddings have their period.")
    ] = 1,
    choice: Annotated[
        certificate.TieBreaking,
        typer.Option(help="Which of several best positions heads take: each its own side, or all one."),
    ] = certificate.TieBreaking.BOTH,
    same_length: Annotated[
        bool,
        typer.Option(
            "--same-length", help="Look for pairs of one length: also for weights that depend on it."
        ),
    ] = False,
    limit: LimitOption = None,
    seconds: SecondsOption = SECONDS,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write all that is proved here.")
    ] = None,
    json: Json = False,
) -> int:
    """Say how many layers of unique hard attention a regular language needs at least and at most, with proof.

    For k = 0, 1, ... two words are looked for that no future-masked transformer with k layers tells apart,
    whatever its width, heads and functions. Interrupted (Ctrl-C), the search ends with what is known so far.

    Exit codes: 0 the least number is known, or K was reached; 12 a cap or an interrupt came before.
    """
    require_file(output)
    limits = parse_limits(limit)
    spoken = written_language(language, alphabet, at, empty)
    with activity("depth") as report:
        found = depth(
            spoken,
            layers=layers,
            period=period,
            prefix=prefix,
            choice=choice,
            same_length=same_length,
            limits=limits,
            seconds=seconds,
            report=report,
        )
    if output is not None and found.claims.claims:
        found.save(output)
    print_found(found, json=json)
    if output is not None and not json:
        out.print(f"wrote {output}" if found.claims.claims else f"nothing is proved: no {output}")
    return found.exit_code
