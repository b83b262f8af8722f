"""attemper check: of the rest of the package only what starts the process that checks is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from attemper.checker import limits
from attemper.checker.report import lines_of, record_of
from attemper.workbench.cli.console import ReaderLeftError, err, out, print_json, print_program
from attemper.workbench.cli.options import Json
from attemper.workbench.cli.progress import activity

TEXT = ".rasp"
"""How the names of programs' texts end."""


def _print_rules(wanted: bool) -> None:
    if wanted:
        rules = resources.files("attemper.certificates").joinpath("FORMAT.md")
        print_program(rules.read_text(encoding="utf-8"))
        raise typer.Exit


def check_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="DIR|FILE",
            help="A network's folder, or the file of a refutation, of a bound on influence or of a depth.",
        ),
    ],
    json: Json = False,
    ignore_rounding: Annotated[
        bool,
        typer.Option(
            "--ignore-rounding",
            help="Take float operations to be exact: what then holds is PROVED_UNDER_ASSUMPTIONS at best.",
        ),
    ] = False,
    edited: Annotated[
        bool,
        typer.Option(
            "--edited",
            help="Judge the weights as they are now, whoever changed them after they were certified.",
        ),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="DIR|MODULE:OBJECT", help="The model that a refutation is about."),
    ] = None,
    program: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="An attention program, FILE.rasp or its steps: whether the network in DIR runs it.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Print the proof layer by layer, or how far it goes and what stands in its way."
        ),
    ] = False,
    seconds: Annotated[float, typer.Option(metavar="S", help="UNKNOWN after so long.")] = limits.SECONDS,
    memory: Annotated[int, typer.Option(metavar="MB", help="UNKNOWN beyond that.")] = limits.MEMORY,
    rules: Annotated[
        bool,
        typer.Option(
            "--rules",
            callback=_print_rules,
            is_eager=True,
            help="Print FORMAT.md, the rules that verdicts name by their sections, and leave.",
        ),
    ] = False,
) -> int:
    """Check a network's certificate, or a refutation, from the raw weights, trusting nothing that it says.

    With --edited the certificate's language and claims are judged of whatever weights stand in the folder;
    its digest is about the weights as they were, and is not looked at. With --program no certificate is
    needed: the network is judged against the program in the file. A text (FILE.rasp) is turned into steps
    first, and the checker reads these; 'attemper show FILE.rasp --steps' prints them.

    Exit codes: 0 PROVED, 10 REFUTED, 11 PROVED_UNDER_ASSUMPTIONS, 12 UNKNOWN, 6 MALFORMED.
    """
    del rules
    note = limits.memory_note()
    if note is not None:
        err.print(note)
    with _steps(program, path, edited) as steps:
        request = limits.Request(str(path), model, steps, ignore_rounding, edited, explain)
        with activity(f"checking, for at most {seconds:g} seconds"):
            verdict = limits.check_within(
                request, limits.ProcessLimits(seconds, memory), limits.seconds_since_start()
            )
    lowered = program is not None and program.suffix == TEXT
    # Whoever reads only the first line still gets the exit code.
    with suppress(ReaderLeftError):
        if json:
            print_json({**record_of(verdict), **({"lowered_from": str(program)} if lowered else {})})
        else:
            for line in lines_of(verdict):
                out.print(line)
            if lowered:
                out.print(
                    f"  judged: the steps of {program}, as 'attemper show {program} --steps' prints them"
                )
    return verdict.exit_code


@contextmanager
def _steps(program: Path | None, folder: Path, edited: bool) -> Iterator[str | None]:
    """The file that the checker reads: it knows steps, and no texts."""
    if program is None or program.suffix != TEXT:
        yield None if program is None else str(program)
        return
    from attemper.workbench.cli.lowered import steps_of  # other checks need neither texts nor lark

    with steps_of(program, folder, edited=edited) as steps:
        yield str(steps)
