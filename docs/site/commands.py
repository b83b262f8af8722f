"""The reference of the commands: what each says of itself, and which exit codes are its own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from itertools import groupby

import typer

from attemper.errors import ExitCode
from attemper.registry import COMMANDS
from attemper.workbench.cli.app import application

WIDTH = 100
"""Columns of a help page."""

NAMES = re.compile(r"^`\w+`(?:, `\w+`)*:? ")
"""Commands that a part of the table begins with."""


def commands_page() -> str:
    """A heading for each panel of `attemper --help`, and a section for each command."""
    parts = []
    for panel, commands in groupby(COMMANDS, key=lambda command: getattr(command, "panel", "All commands")):
        parts += [f"## {panel}", *(section for command in commands for section in sections(command.name))]
    return "\n\n".join(parts) + "\n"


def sections(name: str) -> Iterator[str]:
    """The sections of a command; one with commands below it has theirs, too."""
    command = typer.main.get_command(application([name])).commands[name]
    pending = [(command, f"attemper {name}")]
    for one, spelling in pending:
        pending += [(below, f"{spelling} {last}") for last, below in getattr(one, "commands", {}).items()]
        context = one.make_context(spelling, ["--help"], resilient_parsing=True, terminal_width=WIDTH)
        yield f"### {spelling}"
        yield f"```text\n{one.get_help(context).strip()}\n```"
        yield own_codes(name)


def own_codes(name: str) -> str:
    """What the exit codes mean that the command has and others have not, from the table of `ExitCode`."""
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", inspect.getdoc(ExitCode) or "", re.MULTILINE)
    parts = ((code, part.strip()) for code, text in rows for part in text.split(";"))
    said = [f"{code} ({re.sub(NAMES, '', part)})" for code, part in parts if f"`{name}`" in part]
    own = f"Exit codes of its own: {', '.join(said)}. " if said else ""
    return f"{own}[All exit codes](../exit-codes.md)."
