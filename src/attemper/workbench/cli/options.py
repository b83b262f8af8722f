"""Options that several commands share."""

from __future__ import annotations

import os
import re
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import typer

from attemper.workbench.cli.completion import languages_begun
from attemper.workbench.spelling import KINDS

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder made by 'attemper compile'.")]
Force = Annotated[bool, typer.Option("--force", help="Write into a folder that has other files, too.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON lines instead of text.")]

LanguageArgument = Annotated[
    str,
    typer.Argument(metavar="LANGUAGE", help=f"{KINDS}: see docs/naming.md.", autocompletion=languages_begun),
]
AlphabetOption = Annotated[
    str | None,
    typer.Option(
        metavar="SYMBOLS",
        help="Of a formula or an expression (default: the symbols that it names), or in place of those of "
        "zoo:NAME: single characters (01) or symbols separated by blanks ('push pop').",
    ),
]
AtOption = Annotated[
    Literal["first", "last"] | None,
    typer.Option(
        help="Where a formula, or a program's steps, are read; must be said for pure future formulas."
    ),
]
EmptyOption = Annotated[
    Literal["accept", "reject"] | None,
    typer.Option(help="What a formula, or a program's steps, say of the empty word (default: reject)."),
]
LimitOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=N", help="Another cap on what is made, as a refusal names it; may be repeated."
    ),
]


def require_one_pool(jobs: int, scheduler: str | None) -> None:
    """Raises `typer.BadParameter` where work is given to processes and to a scheduler."""
    if scheduler is not None and jobs > 1:
        raise typer.BadParameter("--scheduler has workers of its own: leave --jobs out")


_LARGEST_DENOMINATOR = 10**6

_NUMBER = re.compile(r"(?P<base>\d{1,40})\^(?P<power>-?\d{1,3})|[\d./eE+-]{1,60}")
_LARGEST_EXPONENT = 60


class WeightsOption(StrEnum):
    """How heads attend: softmax, or average-hard attention on the same scores."""

    SOFT = "soft"
    HARD = "hard"


class DTypeOption(StrEnum):
    """The number format of weights and activations."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class ConstructionOption(StrEnum):
    """Whose network is compiled."""

    OURS = "ours"
    PAPER = "paper"


class DeviceOption(StrEnum):
    """Where torch computes."""

    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


def require_ending(path: Path, endings: tuple[str, ...], as_what: str) -> None:
    """Refuse a file to write whose name, or that of what a link stands for, has none of the endings."""
    for named in (path, Path(os.path.realpath(path))):
        if named.suffix.lower() not in endings:
            raise typer.BadParameter(f"'{named}' does not end in {endings[0]}, {as_what}")


def share(text: str, option: str) -> Fraction:
    """A number between 0 and 1, read exactly."""
    try:
        found = Fraction(text)
    except (ValueError, ZeroDivisionError):
        found = Fraction(0)
    if not 0 < found < 1 or found.denominator > _LARGEST_DENOMINATOR:
        raise typer.BadParameter(f"{option} must be between 0 and 1, for example 0.9 or 9/10")
    return found


def rational(text: str, option: str) -> Fraction:
    """A number of 0 or more, read exactly: 2^-40, 1e-5, 0.001 or 1/100000."""
    found = _NUMBER.fullmatch(text.strip())
    try:
        if found is not None and found["base"] is not None:
            value = Fraction(found["base"]) ** int(found["power"])
        elif found is not None and abs(int(text.lower().partition("e")[2] or 0)) <= _LARGEST_EXPONENT:
            value = Fraction(text.strip())
        else:
            value = Fraction(-1)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if value < 0:
        raise typer.BadParameter(
            f"{option} '{text[:80]}' is no number that can be taken: write one from 0 on, of few digits, for "
            "example 2^-40, 1e-5 or 1/8"
        )
    return value
