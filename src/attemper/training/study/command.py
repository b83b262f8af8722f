"""attemper study"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Force, Json
from attemper.workbench.cli.progress import counting
from attemper.writing import require_own


def study_command(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    quick: Annotated[bool, typer.Option("--quick", help="Few steps, short words: minutes.")] = False,
    jobs: Annotated[
        int, typer.Option(min=1, metavar="N", help="So many models at a time, each on one thread.")
    ] = 2,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train small models on PARITY and 2DYCK, and show Hahn's Theorem 6 on what they do (docs/training.md).

    Writes one HTML page, which loads nothing, and its numbers as CSV. Runs stand in DIR/runs; what is
    finished is not run again. Needs the extra 'report'.
    """
    from attemper.training.runs import load_run
    from attemper.training.study.files import PAGE, write_study
    from attemper.training.study.page import require_plotly
    from attemper.training.study.plans import plans
    from attemper.training.study.results import study_of
    from attemper.training.sweeps import folder_of, swept

    require_own(output, "those of a study", lambda own: (own / "runs").is_dir(), force=force)
    require_plotly()
    asked, runs = plans(quick=quick), output / "runs"
    with (
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor,
        counting("models", len(asked)) as progress,
    ):
        for _ in swept([plan.settings for plan in asked], runs, executor, 1, progress):
            pass
    study = study_of(asked, [load_run(folder_of(plan.settings, runs)) for plan in asked])
    write_study(study, output)
    if json:
        for record in study.records():
            print_json(record)
        return
    out.print_lines(str(study))
    out.print(f"wrote {output / PAGE}")
