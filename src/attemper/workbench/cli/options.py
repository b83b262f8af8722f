"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by 'attemper compile'.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of text.")]

RegexOption = Annotated[
    str | None,
    typer.Option("--regex", metavar="R", help="A regular expression: see docs/automata.md."),
]
DfaOption = Annotated[Path | None, typer.Option("--dfa", metavar="FILE", help="An automaton's JSON file.")]
AlphabetOption = Annotated[
    str | None,
    typer.Option(help="Single characters (01) or symbols separated by blanks ('push pop'); not with --dfa."),
]
CapOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=NUMBER",
        help="Another cap on an automaton's cascade, as a refusal names it; may be repeated.",
    ),
]


_LARGEST_DENOMINATOR = 10**6


class WeightsOption(StrEnum):
    """How heads attend: softmax, or average-hard attention on the same scores."""

    SOFT = "soft"
    HARD = "hard"


class DTypeOption(StrEnum):
    """The number format of weights and activations."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


def share(text: str, option: str) -> Fraction:
    """A number between 0 and 1, read exactly."""
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1 or found.denominator > _LARGEST_DENOMINATOR:
        raise typer.BadParameter(f"{option} must be between 0 and 1, for example 0.9 or 9/10")
    return found
