"""What commands have in common that run a model and write what they found."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

import typer

from attemper.checker.verdict import Verdict
from attemper.errors import ExitCode
from attemper.workbench.cli.console import out


class CheckedFinding(Protocol):
    """What a search found, and what the checker says to that."""

    @property
    def verdict(self) -> Verdict | None:
        """None where nothing was found."""

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""

    def save(self, path: str | Path) -> None:
        """Write what was found."""


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


def written(found: CheckedFinding, output: Path | None, *, json: bool) -> ExitCode:
    """Write what was found, if that was asked for, and say how the command ends."""
    if found.verdict is None:
        return ExitCode.UNKNOWN
    if output is not None:
        found.save(output)
        if not json:
            out.print(f"wrote {output}")
    return ExitCode.INTERRUPTED if found.interrupted else found.verdict.exit_code
