"""attemper train"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.workbench.cli.console import print_found, print_json
from attemper.workbench.cli.options import Force, Json
from attemper.workbench.cli.progress import counting
from attemper.writing import require_own

if TYPE_CHECKING:
    from attemper.training.runs import TrainingRun
    from attemper.training.settings import Settings


def train_command(
    config: Annotated[Path, typer.Argument(metavar="FILE", help="The settings: docs/training.md.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder of the run.")],
    changes: Annotated[
        list[str] | None,
        typer.Argument(metavar="[KEY=VALUE]...", help="Other values of entries, as training.steps=500."),
    ] = None,
    over: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=[...]", help="A sweep over values, as seeds.init=[0,1]; may be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a run that is not finished.")] = False,
    threads: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Threads of each run.")] = 1,
    jobs: Annotated[int, typer.Option(min=1, metavar="N", help="A sweep: so many runs at a time.")] = 1,
    device: Annotated[
        str, typer.Option(metavar="NAME", help="Where the model computes: cpu, cuda or mps.")
    ] = "cpu",
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write RUN/tensorboard, which TensorBoard shows.")
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Train a small model on a source or on a language, and measure it at several lengths.

    The budget is a number of steps, and all chance comes from the seeds: the same settings give the same
    numbers on the same machine. A sweep (--over) has a folder for each run, named by its settings; runs that
    are finished are not run again, and those that are not go on.
    """
    from attemper.training.entries import read_entries, settings_from

    if tensorboard:
        from attemper.training.events import require_tensorboard

        require_tensorboard()
    entries = read_entries(config, changes or ())
    from attemper.training.runs import has_runs

    require_own(output, "those of a run", has_runs, force=force)
    if over:
        _sweep(entries, over, output, threads, jobs, device, tensorboard=tensorboard, json=json)
        return
    run = _run(settings_from(entries), output, threads, device, resume=resume)
    if tensorboard:
        _write_events(run)
    if json:
        for row in run.rows:
            print_json(row)
    print_found(run, json=json)


def _write_events(run: TrainingRun) -> None:
    from attemper.training.events import write_events

    write_events(run)


def _run(settings: Settings, folder: Path, threads: int, device: str, *, resume: bool) -> TrainingRun:
    import torch

    from attemper.training.runs import train

    torch.set_num_threads(threads)
    with counting("training", settings.training.steps) as progress:
        return train(settings, folder, resume=resume, device=device, progress=progress)


def _sweep(
    entries: Mapping[str, object],
    axes: Sequence[str],
    folder: Path,
    threads: int,
    jobs: int,
    device: str,
    *,
    tensorboard: bool,
    json: bool,
) -> None:
    from attemper.training.runs import is_finished, load_run
    from attemper.training.sweeps import folder_of, products, swept

    runs = products(entries, axes)
    finished = [is_finished(folder_of(settings, folder)) for settings in runs]
    with (
        ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as executor,
        counting("runs", len(runs)) as progress,
    ):
        for _ in swept(runs, folder, executor, threads, progress, device):
            pass
    for settings, was_finished in zip(runs, finished, strict=True):
        run = replace(load_run(folder_of(settings, folder)), was_finished=was_finished)
        if tensorboard:
            _write_events(run)
        print_found(run, json=json)
