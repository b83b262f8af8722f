"""How a command says that it failed: a message for people, one JSON object for programs, both on stderr."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Mapping

import typer.exceptions

from attemper.errors import AmbiguousReadingError, AttemperError, ExitCode
from attemper.escapes import escaped
from attemper.workbench.cli.console import err, print_json_error


def failed(error: BaseException) -> int:
    """Say what went wrong, as the command line asks (`--json` or not), and return the exit code."""
    code, message = _code_of(error), _message_of(error)
    if wants_json():
        plain = message.removesuffix(error.place) if isinstance(error, AttemperError) else message
        print_json_error({"code": int(code), "name": code.name.lower(), "message": plain, **_details(error)})
        return code
    match error:
        case KeyboardInterrupt():
            err.print(message)
        case AmbiguousReadingError():
            err.print_lines(f"error: {message}")
        case AttemperError(place=str(place)) if place:
            # The place has lines of its own; what the message quotes from a file has none.
            err.print_lines(f"error: {escaped(message.removesuffix(place))}{place}")
        case _:
            err.print(f"error: {message}")
    if code is ExitCode.USAGE and isinstance(error, typer.exceptions.TyperException):
        err.print(f"Try '{' '.join(_command_of(error))} --help'.")
    if code is ExitCode.INTERNAL:
        err.print_lines(_traceback(error))
    return code


def silence() -> None:
    """Keep Python from complaining when it flushes what nobody will read."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def wants_json() -> bool:
    """Whether `--json` stands on the command line: what cannot be read there is answered in kind."""
    return _is_said("--json")


def wants_quiet() -> bool:
    """Whether nothing is to be said of what goes on."""
    return wants_json() or _is_said("--quiet")


def _is_said(option: str) -> bool:
    arguments = sys.argv[1:]
    return option in arguments[: arguments.index("--") if "--" in arguments else None]


def _command_of(error: typer.exceptions.TyperException) -> list[str]:
    """The command that was used wrongly, as it is typed: attemper itself where none was found."""
    names, context = list[str](), getattr(error, "ctx", None)
    while context is not None and context.parent is not None:
        names.insert(0, context.info_name)
        context = context.parent
    return ["attemper", *names]


def _details(error: BaseException) -> Mapping[str, object]:
    """What programs are told beside code and message."""
    if isinstance(error, AttemperError):
        if arguments := _arguments_of(error):
            from attemper.workbench.cli.spelling import option_of  # only where arguments are spoken of

            return {**error.details, "options": list(map(option_of, arguments))}
        return error.details
    if _code_of(error) is ExitCode.INTERNAL:
        return {"traceback": _traceback(error)}
    return {}


def _arguments_of(error: AttemperError) -> list[str]:
    """Which arguments the message speaks of, by Python's names."""
    arguments = error.details.get("options", ())
    assert isinstance(arguments, list | tuple)
    return [*arguments]


def _traceback(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).rstrip()


def _code_of(error: BaseException) -> ExitCode:
    match error:
        case AttemperError():
            return error.exit_code
        case KeyboardInterrupt():
            return ExitCode.INTERRUPTED
        case typer.exceptions.TyperException():
            return ExitCode.USAGE
        case MemoryError():
            return ExitCode.UNKNOWN
        case OSError(filename=str()):
            # A place that somebody named, of which the system says more than whether something is there.
            return ExitCode.FILE
        case _:
            return ExitCode.INTERNAL


def _message_of(error: BaseException) -> str:
    match error:
        case AttemperError() if arguments := _arguments_of(error):
            from attemper.workbench.cli.spelling import as_typed  # only where arguments are spoken of

            return f"{as_typed(str(error).removesuffix(error.place), arguments)}{error.place}"
        case AttemperError():
            return str(error)
        case KeyboardInterrupt():
            return "interrupted"
        case typer.exceptions.TyperException():
            said = error.format_message() if hasattr(error, "format_message") else str(error)
            # The library that reads the options says so before its message.
            return str(said).replace("Value error, ", "")
        case MemoryError():
            return "more memory is needed than there is: ask for shorter words, or for a smaller model"
        case OSError(filename=str() as name):
            return f"cannot use '{name[:80]}': {error.strerror}"
        case _:
            where = "a fault of attemper itself; please report it with the lines below"
            return f"{where}: {type(error).__name__}: {error}"
