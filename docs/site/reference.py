"""What the reference is made of: help and exit codes of the commands, and the public names."""

from __future__ import annotations

import inspect
import re
from itertools import groupby

import typer

import attemper
from attemper.errors import ExitCode
from attemper.registry import COMMANDS
from attemper.workbench.cli.app import application

WIDTH = 80
"""Columns of a help page, as many as a page of the site has."""

NAMES = re.compile(r"^`\w+`(?:, `\w+`)*:? ")
"""Commands that a part of the table begins with."""


def commands_page() -> str:
    """A heading for each panel of `attemper --help`, and a section for each command."""
    parts = []
    for panel, commands in groupby(COMMANDS, key=lambda command: command.panel):
        parts += [f"## {panel}", *(_section(command.name) for command in commands)]
    return "\n\n".join(parts) + "\n"


def names_page() -> str:
    """A place for every public name, where mkdocstrings puts its signature and docstring."""
    return "\n".join(f"::: attemper.{name}\n" for name in attemper.__all__)


def own_codes(name: str) -> str:
    """What the exit codes mean that the command has and others have not, from the table of `ExitCode`.

    >>> own_codes("verify")
    '1 (found a word on which the model is wrong)'
    """
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", inspect.getdoc(ExitCode) or "", re.MULTILINE)
    parts = ((code, part.strip()) for code, text in rows for part in text.split(";"))
    return ", ".join(f"{code} ({NAMES.sub('', part)})" for code, part in parts if f"`{name}`" in part)


def _section(name: str) -> str:
    command = typer.main.get_command(application([name])).commands[name]
    context = command.make_context(f"attemper {name}", [], resilient_parsing=True, terminal_width=WIDTH)
    codes = own_codes(name)
    own = f"Exit codes of its own: {codes}. " if codes else ""
    told = command.get_help(context).strip()
    return f"### {name}\n\n```text\n{told}\n```\n\n{own}[All exit codes](../exit-codes.md)."
