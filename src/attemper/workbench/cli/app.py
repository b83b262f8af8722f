"""The command line: one function per command, and one place where errors become exit codes."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from attemper import __version__
from attemper.errors import ExitCode
from attemper.workbench.cli.certifying import certify_command, check_command
from attemper.workbench.cli.classifying import classify_command
from attemper.workbench.cli.compiling import compile_command
from attemper.workbench.cli.console import ReaderLeftError, out
from attemper.workbench.cli.failing import failed, silence
from attemper.workbench.cli.lemma import lemma_command
from attemper.workbench.cli.refuting import refute_command, restrict_command
from attemper.workbench.cli.running import run_command
from attemper.workbench.cli.showing import show_command
from attemper.workbench.cli.tracing import trace_command
from attemper.workbench.cli.translating import formula_command
from attemper.workbench.cli.verifying import verify_command
from attemper.workbench.cli.zoo import zoo_command

EPILOG = (
    "Exit codes: 0 done, 1 verify found a wrong word, 2 usage or an extra that is not installed, 3 formula, "
    "expression or automaton, 4 refused, 5 word or alphabet, 6 file, 7 output undecided in this number "
    "format, 8 an error in your own module; check: 10 refuted, 11 proved under assumptions, 12 unknown; "
    "compile and certify: 12 no proof; refute: 12 nothing found; 70 a fault of attemper, 130 interrupted. "
    "With --json an error is one JSON object on the standard error."
)
"""`errors.ExitCode` in short."""

app = typer.Typer(
    name="attemper",
    help="From formulas, regular expressions and automata to softmax transformers, right at every length; "
    "and what hard attention cannot do.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        out.print(__version__)
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    del version


app.command("compile")(compile_command)
app.command("classify")(classify_command)
app.command("formula")(formula_command)
app.command("zoo")(zoo_command)
app.command("certify")(certify_command)
app.command("check")(check_command)
app.command("refute")(refute_command)
app.command("restrict")(restrict_command)
app.command("lemma")(lemma_command)
app.command("run")(run_command)
app.command("trace")(trace_command)
app.command("verify")(verify_command)
app.command("show")(show_command)


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A symbol that the terminal cannot show is escaped, not a reason to stop.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_exit_code())


def _exit_code() -> int:
    code = None
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
        if code == ExitCode.INTERRUPTED:  # typer's own code for Ctrl-C inside a command
            raise KeyboardInterrupt
        return int(code or ExitCode.OK)
    except (ReaderLeftError, BrokenPipeError):
        silence()
        return int(code or ExitCode.OK)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - a fault of ours has its code, too
        return failed(error)
