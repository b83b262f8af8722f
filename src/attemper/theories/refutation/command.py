"""attemper refute"""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Annotated

import typer

from attemper.workbench.cli.completion import languages_begun
from attemper.workbench.cli.options import AtOption, EmptyOption, Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file, shown_and_written, use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.spelling import KINDS

SEARCHING = 0.75
"""So much of the time is for the search: then the checker looks at what was found."""

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="DIR|MODULE:OBJECT",
        help="A folder made by 'attemper compile', or a Python object.",
    ),
]
LengthOption = Annotated[
    int | None,
    typer.Option("--length", min=1, metavar="N", help="The number of positions, an end marker included."),
]


@limited
def refute_command(
    model: ModelArgument,
    language: Annotated[
        str,
        typer.Argument(
            metavar="LANGUAGE",
            help=f"{KINDS}: over the model's symbols, which in their order stand for those of the zoo.",
            autocompletion=languages_begun,
        ),
    ],
    at: AtOption = None,
    empty: EmptyOption = None,
    length: LengthOption = None,
    free: Annotated[
        float | None,
        typer.Option(
            min=0, max=1, metavar="SHARE", help="Stop when this part of the symbols is free (default: go on)."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For the random choices of the search.")] = 0,
    seconds: SecondsOption = 60,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the refutation here.")
    ] = None,
    json: Json = False,
) -> int:
    """Find two words that a hard-attention transformer cannot tell apart, though a language does, with proof.

    Most of the time is for the search, the rest for the checker. Interrupted (Ctrl-C), the search ends with
    the best so far, which is checked and written, too.

    Exit codes: 0 found and PROVED, 11 found and PROVED_UNDER_ASSUMPTIONS, 12 nothing found, 130 interrupted.
    """
    began = monotonic()
    require_file(output)
    # numpy is loaded where models are run, not with the command line.
    use_few_threads()
    from attemper.theories.refutation.ask import refute

    with activity("refuting") as report:
        found = refute(
            model,
            language,
            at=at,
            empty=empty,
            length=length,
            free=free,
            seconds=SEARCHING * (seconds - (monotonic() - began)),
            seed=seed,
            report=report,
        )
    shown_and_written(found, None if found.verdict is None else found.save, output, json=json)
    return found.exit_code
