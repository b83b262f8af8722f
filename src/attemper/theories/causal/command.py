"""attemper causal"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from attemper.attention_program.show import show_program
from attemper.errors import OptionError
from attemper.theories.causal.ask import UP_TO, causal, realisation_of
from attemper.theories.causal.certificate import CAUSAL
from attemper.workbench.cli.console import out, print_found, print_program
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file, use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.folder import load


@limited
def causal_command(
    network: Folder,
    step: Annotated[
        int | None, typer.Option("--step", min=0, metavar="S", help="Of your own: the program's step.")
    ] = None,
    layer: Annotated[
        int | None, typer.Option("--layer", min=0, metavar="L", help="Of your own: held after this layer.")
    ] = None,
    coordinates: Annotated[
        str | None,
        typer.Option(
            "--coordinates",
            metavar="C:SIGN,...",
            help="Of your own: coordinates that hold it, as 2:+, or 1:- for 1 less the bit.",
        ),
    ] = None,
    edges: Annotated[
        list[str] | None,
        typer.Option(
            "--edges",
            metavar="TEXT",
            help="Label 'all', each alone; or a set, as 'head 1.0 query <- s8, feed-forward 1 <- s8'.",
        ),
    ] = None,
    claim: Annotated[
        Path | None,
        typer.Option(
            "--claim", metavar="FILE", help="Take program and variables of a file, as causal -o writes."
        ),
    ] = None,
    up_to: Annotated[
        int, typer.Option(min=1, metavar="N", help="Where nothing is proved, try words of so many symbols.")
    ] = UP_TO,
    program: Annotated[
        bool, typer.Option("--program", help="Print the program's steps, by their numbers, and stop.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write what is proved, together.")
    ] = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> int:
    """Say which coordinates are causal variables of a network's program, for all words; or show two words.

    Of each variable it is proved that setting it, or taking it from another word, at any positions does in
    the network what it does in the program; or two words and a position are shown where it does not.
    Of edges, from a variable to a head, a feed-forward layer or the output that reads it, it is proved that
    they are IRRELEVANT, or shown by two words that they MATTER.

    Interrupted (Ctrl-C), or when its time is up, it ends with what is known so far.

    Exit codes: 0 PROVED, all that are proved together; 10 the only one is REFUTED; 12 nothing is proved, or
    not all were looked at.
    """
    require_file(output)
    use_few_threads()
    model, said = load(network), None if claim is None else CAUSAL.load(claim)
    if program:
        print_program(show_program(realisation_of(model).program if said is None else said.program))
        return 0
    with activity("causal") as report:
        found = causal(
            model,
            step=step,
            layer=layer,
            coordinates=_signs(coordinates),
            edges=edges or (),
            claim=said,
            up_to=up_to,
            report=report,
        )
    if output is not None and found.claim is not None:
        found.save(output)
    print_found(found, json=json)
    if output is not None and not json:
        out.print(f"wrote {output}" if found.claim is not None else f"nothing is proved: no {output}")
    return found.exit_code


def _signs(text: str | None) -> dict[int, str] | None:
    """What stands on the command line, as 1:-,2:+."""
    if text is None:
        return None
    found: dict[int, str] = {}
    for part in text.split(","):
        said = re.fullmatch(r"(\d{1,9}):([+-])", part)
        if said is None or int(said[1]) in found:
            raise OptionError(
                f"'{part}' is no coordinate with a sign, or the second of one: write 1:-,2:+",
                options=("coordinates",),
            )
        found[int(said[1])] = said[2]
    return found
