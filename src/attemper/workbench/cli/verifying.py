"""attemper verify"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.errors import ExitCode
from attemper.languages.words import show_word
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json
from attemper.workbench.cli.progress import counting
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.folder import load

if TYPE_CHECKING:
    from attemper.running.numbers import OutputNumber
    from attemper.workbench.model import Model
    from attemper.workbench.verify import Expected, Plan, Verification


@limited
def verify_command(
    folder: Folder,
    up_to: Annotated[
        int | None,
        typer.Option(min=0, help="Try all words up to this length (default 8, less for large alphabets)."),
    ] = None,
    random: Annotated[
        int, typer.Option(min=0, help="Try this many random and boundary words as well.")
    ] = 200,
    length: Annotated[int, typer.Option(min=1, help="The greatest length of those.")] = 512,
    seed: Annotated[int, typer.Option(help="The seed of the random words.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Try them in so many processes (1: in this one).")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Try them on a dask cluster, a trusted one: tasks are pickles."),
    ] = None,
    seconds: SecondsOption = 600,
    json: Json = False,
) -> None:
    """Compare soft run, hard run and exact meaning; exit 1 with the word where they differ.

    The hard run is average-hard attention on the same scores. Agreement is not a proof.
    """
    from attemper.workbench.verify import Plan, count_words, longest_exhaustive

    if scheduler is not None and jobs > 1:
        raise typer.BadParameter("--scheduler has workers of its own: leave --jobs out")
    model = load(folder)
    plan = Plan(longest_exhaustive(model) if up_to is None else up_to, random, length, seed)
    words = count_words(model, plan)
    if words == 0:
        raise typer.BadParameter("there is no word to try: raise --up-to or --random")
    with counting("no disagreement yet", words) as progress:
        result = _verified(model, plan, progress, jobs, scheduler)
    margin = result.smallest_margin if math.isfinite(result.smallest_margin) else None
    wrong = result.disagreement
    if json:
        print_json(
            {
                "agree": wrong is None,
                "words": result.words,
                "longest": result.longest,
                "smallest_margin": margin,
                "disagreement": wrong
                and {
                    "word": list(wrong.word),
                    "position": wrong.position,
                    "which": wrong.which,
                    "expected": _plain(wrong.expected),
                    "got": _plain(wrong.got),
                },
            }
        )
    elif wrong is None:
        shown = "no clamps" if margin is None else f"smallest margin {margin:.6f}"
        out.print(
            f"soft = hard = exact meaning on {result.words} words up to length {result.longest}; {shown}",
        )
    else:
        out.print(
            f"WRONG at position {wrong.position}: {wrong.which} says {_plain(wrong.got)}, "
            f"the {model.source.kind} {_plain(wrong.expected)}, on the word {show_word(wrong.word)}",
        )
    if wrong is not None:
        raise typer.Exit(ExitCode.DISAGREEMENT)


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


def _plain(found: bool | OutputNumber | Expected | None) -> object:
    """As JSON has it: fractions as numbers."""
    match found:
        case Fraction():
            return float(found)
        case dict():
            return {name: float(value) for name, value in found.items()}
        case _:
            return found
