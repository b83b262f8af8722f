"""The command line: one function per command, and one place where errors become exit codes."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any, final

import typer
from typer.core import TyperGroup

from attemper.errors import ExitCode
from attemper.registry import COMMANDS, Command
from attemper.workbench.cli.console import ReaderLeftError, out
from attemper.workbench.cli.failing import failed, silence
from attemper.workbench.cli.retired import refuse_retired

EPILOG = (
    "Exit codes: 0 done, 1 verify found a wrong word, same says DIFFERENT, 2 usage or an extra that is not "
    "installed, 3 formula, "
    "expression or automaton, 4 refused, 5 word or alphabet, 6 file, 7 output undecided in this number "
    "format, 8 an error in your own module; check: 10 refuted, 11 proved under assumptions, 12 unknown; "
    "compile and certify: 12 no proof; refute: 12 nothing found; decompile, same, depth, "
    "classify and to-formula: 12 not known; generate: 12 not halted; "
    "70 a fault of attemper, 130 interrupted. "
    "With --json an error is one JSON object on the standard error."
)
"""`errors.ExitCode` in short."""

Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing of what goes on.")]

ASKED = "_ATTEMPER_COMPLETE"
"""The variable by which a shell asks how a line goes on, with typer's scripts."""


def _print_version(wanted: bool) -> None:
    if wanted:
        from attemper.version import __version__

        out.print(__version__)
        raise typer.Exit


def _common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    del version


@final
class _InPanels(TyperGroup):
    """The commands under their headings, in the registry's order."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [command.name for command in COMMANDS if command.name in self.commands]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        width = max(len(command.name) for command in COMMANDS)
        for panel in dict.fromkeys(one.panel for one in COMMANDS):
            rows = [(one.name.ljust(width), one.help) for one in COMMANDS if one.panel == panel]
            with formatter.section(panel):
                formatter.write_dl(rows)


def application(arguments: Sequence[str]) -> typer.Typer:
    """The command line that understands the arguments."""
    app = typer.Typer(
        name="attemper",
        cls=_InPanels,
        help="What attention can and cannot compute, with proof. A LANGUAGE is formula:TEXT, regex:TEXT, "
        "dfa:FILE, program:FILE, machine:FILE, tm:TEXT, zoo:NAME, net:DIR, or a bare formula.",
        epilog=EPILOG,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_common)
    for name, command in commands(arguments).items():
        app.command(name)(_with_quiet(command))
    return app


def _with_quiet(command: Callable[..., object]) -> Callable[..., object]:
    """The command with the option --quiet, which the frame has heard before (`progress_shown`)."""

    @wraps(command)
    def with_quiet(*arguments: object, quiet: bool = False, **options: object) -> object:
        del quiet
        return command(*arguments, **options)

    signature = inspect.signature(command, eval_str=True)
    quiet = inspect.Parameter("quiet", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Quiet)
    parameters = [*signature.parameters.values(), quiet]
    vars(with_quiet)["__signature__"] = signature.replace(parameters=parameters)
    with_quiet.__annotations__ = {one.name: one.annotation for one in parameters}
    return with_quiet


def commands(arguments: Sequence[str]) -> dict[str, Callable[..., object]]:
    """The command that the arguments are about, by its name; the others are not imported.

    Help, and a name that is none, are about all of them, of which there is then no more than what the table
    says. Where a shell asks how a line goes on, that line has the arguments.
    """
    typed = typed_in(arguments, os.environ)
    first = _first(typed)
    if first == "--version":
        return {}
    named = [command for command in COMMANDS if command.name == first]
    return {command.name: _loaded(command) for command in named} or {
        command.name: _only_listed(command) for command in COMMANDS
    }


def typed_in(arguments: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """The arguments; where a shell asks how a line goes on, those that stand on that line."""
    if not environment.get(ASKED):
        return arguments
    from attemper.workbench.cli.completion import being_typed  # only where a shell asks

    return being_typed(environment)


def _loaded(command: Command) -> Callable[..., object]:
    module, _, name = command.home.partition(":")
    loaded: Callable[..., object] = getattr(import_module(module), name)
    return loaded


def _only_listed(command: Command) -> Callable[..., object]:
    def never_called() -> None:
        """Stand for a command that nobody has named."""

    never_called.__doc__ = command.help
    return never_called


def main() -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A symbol that the terminal cannot show is escaped, not a reason to stop.
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_exit_code())


def _first(arguments: Sequence[str]) -> str:
    """Where a command's name stands."""
    return next((argument for argument in arguments if argument != "--"), "")


@contextmanager
def _running(arguments: Sequence[str]) -> Iterator[None]:
    """While a command runs it is said what it is doing, or that it needs torch where that is missing."""
    if _first(arguments) not in {command.name for command in COMMANDS}:
        yield
        return
    from attemper.missing import torch_needed  # to help needs neither
    from attemper.workbench.cli.progress import progress_shown

    title = f"attemper {_first(arguments)}"
    with torch_needed(title), progress_shown(title):
        yield


def _exit_code() -> int:
    code = None
    arguments = sys.argv[1:]
    try:
        if os.environ.get(ASKED):
            from attemper.workbench.cli.completion import take_kind  # only where a shell asks

            take_kind(os.environ)
        # Whoever says nothing is told what can be said; that is wrong usage all the same.
        refuse_retired(arguments)
        with _running(arguments):
            code = application(arguments)(arguments or ["--help"], standalone_mode=False)
        code = code if arguments else ExitCode.USAGE
        sys.stdout.flush()
        if code == ExitCode.INTERRUPTED:  # typer's own code for Ctrl-C inside a command
            raise KeyboardInterrupt
        return int(code or ExitCode.OK)
    except (ReaderLeftError, BrokenPipeError):
        silence()
        return int(code or ExitCode.OK)
    except (KeyboardInterrupt, Exception) as error:  # noqa: BLE001 - a fault of ours has its code, too
        return failed(error)
