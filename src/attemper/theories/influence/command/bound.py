"""attemper bound"""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from attemper.workbench.cli.options import Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file, shown_and_written, use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited


@limited
def bound_command(
    model: Annotated[
        str, typer.Argument(metavar="MODULE:OBJECT", help="An encoder, or a function that gives one.")
    ],
    n0: Annotated[
        int, typer.Option("--n0", min=2, metavar="N", help="A bound C/n is for all n from here on.")
    ] = 4096,
    length: Annotated[
        int | None,
        typer.Option("--length", min=2, metavar="N", help="The n, where positions or a mask need one."),
    ] = None,
    typical: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only words typical of parity-even or parity-odd; with --tau."),
    ] = None,
    p: Annotated[str, typer.Option("--p", metavar="P", help="The source's probability of ending.")] = "1/2",
    tau: Annotated[
        str, typer.Option("--tau", metavar="T", help="How far frequencies of 1s may be from the source's.")
    ] = "0.1",
    margin: Annotated[
        str, typer.Option(metavar="M", help="From which n on no margin M is possible on PARITY.")
    ] = "1",
    seconds: SecondsOption = 60,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the bound here.")
    ] = None,
    json: Json = False,
) -> int:
    """Bound what one symbol can change in an encoder with soft attention, and what follows, with proof.

    Without mask and positions, or with periodic ones, the bound is C/n, for all words of all lengths n >= N0
    (n = N0 modulo the period); else for all words of the length N. n counts the end marker. Half of the time
    is for the search, the rest for the checker. Interrupted (Ctrl-C), the search ends with the best so far.

    Positions by a function in a box (Bounded), without LayerNorm and mask, have a bound for every n >= 2, for
    which no length is given; N0 then names lengths of cross-entropies. Over ( ) [ ] they are those of dyck2.

    Exit codes: 0 found and PROVED, 12 nothing found, 130 interrupted.
    """
    began = monotonic()
    require_file(output)
    use_few_threads()
    from attemper.theories.influence.ask.bounding import bound

    with activity("bounding") as report:
        found = bound(
            model,
            n0=n0,
            length=length,
            typical=typical,
            tau=tau,
            p=p,
            margin=margin,
            seconds=seconds - (monotonic() - began),
            report=report,
        )
    shown_and_written(found, None if found.verdict is None else found.save, output, json=json)
    return found.exit_code
