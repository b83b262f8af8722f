"""attemper simulate"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.checker.limits import MEMORY
from attemper.networks.regime import Regime
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.memory_limit import MemoryOption, in_memory
from attemper.workbench.cli.options import Force, Json, LimitOption
from attemper.workbench.cli.places import require_network_place
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.limits import parse_limits

SECONDS = 600
"""How long all of it may take; reading the model takes at most half of that."""


@limited
@in_memory
def simulate_command(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="MODULE:OBJECT", help="Somebody's masked hard-attention model (docs/simulate.md)."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    regime: Annotated[
        Regime | None,
        typer.Option(help="Unbounded position embeddings, temperatures, or decoder-only."),
    ] = None,
    count: Annotated[
        int, typer.Option(min=0, metavar="N", help="Run so many words by the model's definition.")
    ] = 10_000,
    limit: LimitOption = None,
    seconds: SecondsOption = SECONDS,
    memory: MemoryOption = MEMORY,
    force: Force = False,
    json: Json = False,
) -> int:
    """Make a certified softmax network of somebody's masked hard-attention model, in the same language.

    Yang, Strobl, Chiang and Angluin's Corollary 17, for a model that is given as functions: heads may look to
    the left, to the right or everywhere, and ties go to the left or to the right. The model's automaton is
    MEASURED: its functions are believed. That the network computes this automaton is PROVED. --limit has
    configurations (of reading), and the caps of a cascade.

    Exit codes: 0 written and proved, 1 a model's own runs differ from the tables (nothing is written).
    """
    del memory
    from attemper.workbench.simulating import simulate  # models are functions of arrays

    require_network_place(output, force=force)
    limits = parse_limits(limit)
    with activity("reading the model") as report:
        found = simulate(
            subject,
            regime=None if regime is None else regime.value,
            count=count,
            seconds=seconds / 2,
            limits=limits,
            progress=report,
        )
        if found.network is not None:
            found.save(output)
    if json:
        print_json({**found.record, "directory": None if found.network is None else str(output)})
        return found.exit_code
    for line in found.lines():
        out.print(line)
    if found.network is not None:
        out.print(f"wrote {output}")
    return found.exit_code
