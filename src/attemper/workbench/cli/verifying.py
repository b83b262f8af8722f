"""attemper verify"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.errors import OptionError
from attemper.workbench.cli.completion import languages_begun
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Folder,
    Json,
    require_one_pool,
)
from attemper.workbench.cli.progress import counting
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.cli.written import written_language
from attemper.workbench.folder import load

if TYPE_CHECKING:
    from attemper.workbench.model import Model
    from attemper.workbench.verify import Plan, Verification


@limited
def verify_command(
    folder: Folder,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE",
            help="Compare with this language, in place of the network's own.",
            autocompletion=languages_begun,
        ),
    ] = None,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    up_to: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Try all words up to this length (default 8, less for large alphabets)."
        ),
    ] = None,
    count: Annotated[
        int, typer.Option(min=0, metavar="N", help="Try this many random and boundary words as well.")
    ] = 200,
    longest: Annotated[int, typer.Option(min=1, metavar="N", help="The greatest length of those.")] = 512,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The seed of the random words.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Try them in so many processes (1: in this one).")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Try them on a dask cluster, a trusted one: tasks are pickles."),
    ] = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> int:
    """Compare soft run, hard run and exact meaning; exit 1 with the word where they differ.

    The hard run is average-hard attention on the same scores. Agreement is not a proof.
    """
    from attemper.workbench.verify import Plan, count_words, longest_exhaustive, said_of, tested_against

    require_one_pool(jobs, scheduler)
    model = load(folder)
    if against is not None:
        model = tested_against(model, written_language(against, alphabet, at, empty, like=model.network))
    elif alphabet is not None or at is not None or empty is not None:
        raise OptionError("--alphabet, --at and --empty are about --against LANGUAGE: give it, too")
    plan = Plan(longest_exhaustive(model) if up_to is None else up_to, count, longest, seed)
    words = count_words(model, plan)
    if words == 0:
        raise typer.BadParameter("there is no word to try: raise --up-to or --count")
    with counting("no disagreement yet", words) as progress:
        found = said_of(model, _verified(model, plan, progress, jobs, scheduler))
    if json:
        print_json(found.record)
    else:
        for line in found.lines():
            out.print(line)
    return found.exit_code


def _verified(
    model: Model, plan: Plan, progress: Callable[[int], None], jobs: int, scheduler: str | None
) -> Verification:
    """The words tried in this process, in several, or by the workers of a scheduler."""
    from attemper.workbench.verify import Sweep, verify
    from attemper.workbench.verifying import executors

    if scheduler is not None:
        return executors.run_on_scheduler(Sweep(model, plan), scheduler, progress)
    if jobs > 1:
        return executors.run_on_processes(Sweep(model, plan), jobs, progress)
    return verify(model, plan, progress)
