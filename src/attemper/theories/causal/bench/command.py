"""attemper bench and attemper score"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from attemper.theories.causal.bench.making import every_case
from attemper.theories.causal.bench.scoring import read_found, scored
from attemper.workbench.cli.console import out, print_found
from attemper.workbench.cli.options import Json, require_one_pool
from attemper.workbench.cli.progress import activity, counting
from attemper.workbench.cli.searching import use_few_threads
from attemper.workbench.cli.time_limit import SecondsOption, limited


@limited
def bench_command(
    bench: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the cases.")],
    count: Annotated[int, typer.Option("--count", min=1, metavar="N", help="So many cases.")] = 20,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Another seed makes other cases.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="Make them in so many processes (1: in this one).")
    ] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Make them on a dask cluster, a trusted one: cases are pickles."
        ),
    ] = None,
    seconds: SecondsOption = 600,
) -> int:
    """Make networks whose causal edges are labelled by proof, for methods that look for circuits.

    Interrupted (Ctrl-C), or when its time is up, what is made so far stands in the folder.
    """
    if bench.exists():
        raise typer.BadParameter(f"'{bench}' is there already: name a new folder")
    require_one_pool(jobs, scheduler)
    use_few_threads()
    digits = len(str(count - 1))
    with counting("cases", count) as progress, _workers(jobs, scheduler) as workers:
        for number, case in enumerate(every_case(count, seed, workers)):
            folder = bench / f"{number:0{digits}}"
            folder.parent.mkdir(parents=True, exist_ok=True)
            case.save(folder)
            out.print(f"{folder}: {case.how}")
            progress(1)
    return 0


def _workers(jobs: int, scheduler: str | None) -> AbstractContextManager[Executor | None]:
    if jobs == 1 and scheduler is None:
        return nullcontext()
    from attemper.workbench.verifying import executors

    return executors.process_pool(jobs) if scheduler is None else executors.scheduler(scheduler)


@limited
def score_command(
    bench: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that 'attemper bench' has made.")],
    found: Annotated[
        Path, typer.Argument(metavar="FILE", help="JSON: by case, by edge, a number; greater: it matters.")
    ],
    seconds: SecondsOption = 600,
    json: Json = False,
) -> int:
    """Prove the labels of a benchmark again, and say how well numbers for edges tell them.

    Of each case it says in which share of pairs, of an edge that matters and an irrelevant one, the first has
    the greater number (1 at best, 1/2 by chance), and how many edges, the greatest numbers first, are enough.
    """
    with activity("score"):
        scores = scored(bench, read_found(found))
    print_found(scores, json=json)
    return 0
