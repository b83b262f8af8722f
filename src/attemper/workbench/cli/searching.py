"""What commands have in common that run a model and write what they found."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import typer

from attemper.html_tables import Tabled
from attemper.workbench.cli.console import out, print_found


def require_file(output: Path | None) -> None:
    """Raises `typer.BadParameter` if -o names a folder."""
    if output is not None and output.is_dir():
        raise typer.BadParameter(f"'{output}' is a folder; -o needs a file")


def use_few_threads() -> None:
    """Have numpy and torch, which must not be loaded yet, use one thread, or as many as OMP_NUM_THREADS says.

    More are of no use for matrices as thin as these: they wait for the next one, and take as much of the
    processor again.
    """
    threads = os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("OPENBLAS_NUM_THREADS", threads)


def shown_and_written(
    found: Tabled, save: Callable[[Path], None] | None, output: Path | None, *, json: bool
) -> None:
    """Print what was found, and write it, if that was asked for and there is something to write."""
    print_found(found, json=json)
    if output is not None and save is not None:
        save(output)
        if not json:
            out.print(f"wrote {output}")
