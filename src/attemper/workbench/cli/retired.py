"""Old spellings, each of which is an error that says the new one. Goes with version 1.0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from attemper.errors import OptionError

EVERYWHERE = ""
"""A spelling that retired in all commands that had it."""


@final
@dataclass(frozen=True)
class Retired:
    """An option of a command, or without any the command itself, and what is written now."""

    command: str
    option: str
    now: str


def _language(command: str, before: str) -> tuple[Retired, ...]:
    """The options that named a language, and the place where it stands now."""
    place = f"attemper {command}{before}"
    return (
        Retired(command, "--regex", f"{place} 'regex:TEXT'"),
        Retired(command, "--dfa", f"{place} dfa:FILE"),
        Retired(command, "--program", f"{place} program:FILE"),
        Retired(command, "--formula", f"{place} 'formula:TEXT'"),
    )


RETIRED = (
    *_language("compile", ""),
    *_language("classify", ""),
    *_language("depth", ""),
    *_language("to-formula", ""),
    *_language("refute", " MODEL"),
    Retired("refute", "--language", "attemper refute MODEL zoo:NAME"),
    Retired("refute", "--n", "--length N"),
    Retired("influence", "--n", "--lengths A,B"),
    Retired("influence", "--samples", "--count N"),
    Retired("bound", "--n", "--length N"),
    Retired("source", "--n", "--length N"),
    Retired("lemma", "--run", "--length N"),
    Retired("zoo", "--words", "--count N"),
    Retired("zoo", "--length", "--longest N"),
    Retired("zoo", "--output", "attemper compile zoo:NAME -o DIR"),
    Retired("zoo", "-o", "attemper compile zoo:NAME -o DIR"),
    Retired("zoo", "--pages", "make gallery"),
    Retired("check", "--program", "attemper check DIR --against program:FILE"),
    Retired("verify", "--random", "--count N"),
    Retired("verify", "--length", "--longest N"),
    Retired("data", "--split", "--lengths A-B"),
    Retired("decompile", "--words", "--count N"),
    Retired("soften", "--words", "--limit words=N"),
    Retired("depth", "--classes", "--limit classes=N"),
    Retired("decompile", "--configurations", "--limit configurations=N"),
    Retired("same", "--configurations", "--limit configurations=N"),
    Retired(EVERYWHERE, "--cap", "--limit NAME=N"),
    Retired("formula", "", "attemper to-formula LANGUAGE"),
    Retired("restrict", "", "attemper show FILE"),
    Retired("limits", "", "attemper bound MODEL or attemper source NAME"),
)


KIND_FIRST = {"export": "attemper export DIR KIND -o OUT", "import": "attemper import IN -o DIR"}
"""Commands whose first argument was a kind of export, and what is written now."""


def refuse_retired(arguments: Sequence[str]) -> None:
    """Raise `OptionError`, with the new spelling, for arguments that have an old one.

    >>> refuse_retired(["compile", "--regex", "(ab)*"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: 'attemper compile' has no --regex any more: write attemper compile ...
    """
    command = arguments[0] if arguments else ""
    options = {argument.partition("=")[0] for argument in _before_texts(arguments[1:])}
    for old in RETIRED:
        if old.command == command and not old.option:
            raise OptionError(f"'attemper {command}' is spelled anew: write {old.now}")
        if old.command in {command, EVERYWHERE} and old.option in options:
            raise OptionError(f"'attemper {command}' has no {old.option} any more: write {old.now}")
    if command in KIND_FIRST and _begins_with_a_kind(arguments[1:]):
        raise OptionError(f"'attemper {command}' is spelled anew: write {KIND_FIRST[command]}")


def _begins_with_a_kind(arguments: Sequence[str]) -> bool:
    """Whether a kind of export stands where a folder does, and behind it something that is none."""
    from attemper.exports.kinds import ExportTarget  # of which other commands know nothing

    first, second = [*arguments, "", ""][:2]
    kinds = set(ExportTarget)
    return first in kinds and second not in kinds and not second.startswith("-") and second != ""


def _before_texts(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments before --, behind which everything is a text."""
    return arguments[: list(arguments).index("--")] if "--" in arguments else arguments
