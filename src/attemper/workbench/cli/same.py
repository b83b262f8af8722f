"""attemper same"""

from __future__ import annotations

from typing import Annotated

import typer

from attemper.reading.machines import SECONDS
from attemper.workbench.cli.console import print_found
from attemper.workbench.cli.options import AtOption, EmptyOption, Json, LanguageArgument, LimitOption
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.limits import parse_limits
from attemper.workbench.same import UP_TO, same


@limited
def same_command(
    a: LanguageArgument,
    b: LanguageArgument,
    contained: Annotated[
        bool, typer.Option("--contained", help="Ask whether every word of A is in B, and no more.")
    ] = False,
    alphabet: Annotated[
        str | None,
        typer.Option(
            metavar="SYMBOLS",
            help="Of formulas and expressions (default: the other side's, else the symbols that both name); "
            "words over it are compared.",
        ),
    ] = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    up_to: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Where there is no proof, try all words of up to so many symbols."
        ),
    ] = UP_TO,
    limit: LimitOption = None,
    seconds: SecondsOption = SECONDS,
    json: Json = False,
) -> int:
    """Say whether A and B are one language, for words of every length; or show a word that tells them apart.

    SAME is proved: the checker shows both sides to be one automaton, or one formula. A network is what its
    weights compute in real arithmetic; floats are compared by no command.

    Exit codes: 0 SAME or CONTAINED, 1 DIFFERENT or NOT CONTAINED, with a word, 11 SAME or CONTAINED if a
    registered predicate is what is assumed, 12 UNKNOWN, with the reason.
    """
    limits = parse_limits(limit)
    with activity("comparing") as report:
        found = same(
            a,
            b,
            alphabet=alphabet,
            contained=contained,
            at=at,
            empty=empty,
            up_to=up_to,
            seconds=seconds,
            limits=limits,
            report=report,
        )
    print_found(found, json=json)
    return found.exit_code
