"""attemper paper"""

from __future__ import annotations

from typing import Annotated

import typer

from attemper.errors import ExitCode
from attemper.workbench.cli.console import out, print_found, print_json
from attemper.workbench.cli.options import Json
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.papers.listing import meant, of_paper, record_of, shown, statements


@limited
def paper_command(
    paper: Annotated[
        str | None,
        typer.Argument(metavar="PAPER", help="yang, hahn or supplement; without it, the list of all."),
    ] = None,
    statement: Annotated[
        list[str] | None,
        typer.Argument(metavar="STATEMENT", help="As the paper numbers it: 15, theorem-15, lemma 5, app-e."),
    ] = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> int:
    """List the statements of the papers, or show one: what it is here, and a small run that could fail.

    yang is Simulating Hard Attention Using Soft Attention, hahn is Theoretical Limitations of
    Self-Attention in Neural Sequence Models, supplement the note to it. docs/papers.md has them as one table.

    Exit codes: 0 what was seen is as it has to be, 1 something is not, 2 no such statement, 4 not built,
    12 no answer in so many seconds.
    """
    del seconds
    use_few_threads()
    if paper is None or not statement:
        own = [one for one in statements() if paper is None or one.paper is of_paper(paper)]
        width = max(len(f"{one.paper} {one.keys[0]}") for one in own)
        for one in own:
            if json:
                print_json(record_of(one))
            else:
                built = "" if one.run else " (not built)"
                out.print(f"{f'{one.paper} {one.keys[0]}':{width}}  {one.title}{built}", hang=width + 2)
        return ExitCode.OK
    codes = []
    for one in meant(of_paper(paper), " ".join(statement)):
        with activity(f"running {one.keys[0]}"):
            found = shown(one)
        print_found(found, json=json)
        codes.append(found.exit_code)
    return max(codes)
