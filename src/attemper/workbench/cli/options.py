"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
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


class WeightsOption(StrEnum):
    """How heads attend: softmax, or average-hard attention on the same scores."""

    SOFT = "soft"
    HARD = "hard"


class DTypeOption(StrEnum):
    """The number format of weights and activations."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"
