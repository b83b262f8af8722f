"""attemper depth"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.errors import ExitCode
from attemper.languages.temporal.show import show_within
from attemper.theories.depth import certificate
from attemper.theories.depth.ask import depth
from attemper.theories.depth.check.claims import describe
from attemper.theories.depth.check.pairs import MOST_LAYERS, in_layers, shown
from attemper.theories.depth.search.caps import CLASSES, SECONDS
from attemper.theories.depth.search.climb import Depth
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import AlphabetOption, AtOption, EmptyOption, Json, LanguageArgument
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file
from attemper.workbench.cli.written import lines_on, record_of_language, written_language

LONGEST = 200
"""A longer formula is not printed."""


def depth_command(
    language: LanguageArgument,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    layers: Annotated[
        int | None,
        typer.Option(
            "--layers", metavar="K", help=f"Look for a pair for each k up to K (at most {MOST_LAYERS})."
        ),
    ] = None,
    period: Annotated[
        int, typer.Option(metavar="M", help="Position embeddings with this period; 1: none.")
    ] = 1,
    prefix: Annotated[
        int, typer.Option(metavar="P", help="The position from which on the embeddings have their period.")
    ] = 1,
    choice: Annotated[
        certificate.TieBreaking,
        typer.Option(help="Which of several best positions heads take: each its own side, or all one."),
    ] = certificate.TieBreaking.BOTH,
    same_length: Annotated[
        bool,
        typer.Option(
            "--same-length", help="Look for pairs of one length: also for weights that depend on it."
        ),
    ] = False,
    classes: Annotated[
        int, typer.Option(metavar="N", help="List at most so many classes for a k.")
    ] = CLASSES,
    seconds: Annotated[
        float, typer.Option(metavar="S", help="How long to search, give or take a step.")
    ] = SECONDS,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write all that is proved here.")
    ] = None,
    json: Json = False,
) -> int:
    """Say how many layers of unique hard attention a regular language needs at least and at most, with proof.

    For k = 0, 1, ... two words are looked for that no future-masked transformer with k layers tells apart,
    whatever its width, heads and functions. Interrupted (Ctrl-C), the search ends with what is known so far.

    Exit codes: 0 the least number is known, or K was reached; 12 a cap or an interrupt came before.
    """
    require_file(output)
    spoken = written_language(language, alphabet, at, empty)
    with activity("depth") as report:
        found = depth(
            spoken,
            layers=layers,
            period=period,
            prefix=prefix,
            choice=choice,
            same_length=same_length,
            classes=classes,
            seconds=seconds,
            report=report,
        )
    if output is not None and found.claims.claims:
        found.save(output)
    if json:
        print_json({**record_of_language(spoken), **_record(found)})
    else:
        for line in lines_on(spoken):
            out.print(line)
        _print(found)
        if output is not None:
            out.print(f"wrote {output}" if found.claims.claims else f"nothing is proved: no {output}")
    return ExitCode.UNKNOWN if found.capped else ExitCode.OK


def _print(found: Depth) -> None:
    for k, claim in found.layers:
        out.print(f"{in_layers(k)}: {claim if isinstance(claim, str) else _line(claim)}")
    if isinstance(found.by, certificate.EnoughByFormula):
        out.print(f"{in_layers(found.by.layers)}: {_line(found.by)}")
    out.print(depth_text(found))
    about, _, outside = describe(found.claims.networks).partition("; not: ")
    out.print(f"proved for {about}; not: {outside}")
    if found.pair is not None and len(found.pair[0]) == len(found.pair[1]):
        out.print("the last pair has one length: that bound holds for weights that depend on the length, too")


def _line(claim: certificate.DepthClaim) -> str:
    match claim:
        case certificate.Inseparable(_, (first, second) as words):
            return f"not enough, {shown(first, words)} against {shown(second, words)}"
        case certificate.EnoughByClasses(_, classes):
            return f"enough ({classes:,} classes)"
        case certificate.EnoughByFormula(_, formula):
            text = show_within(formula, LONGEST)
            return "enough (a past formula)" if text is None else f"enough ({text})"


def depth_text(found: Depth) -> str:
    """The bounds in one line.

    >>> depth_text(depth("regex:a*b"))
    'least depth: 1'
    """
    if found.least is not None:
        return f"least depth: {found.least}"
    above = "" if found.upper is None else f", at most {found.upper:,}"
    return f"at least {in_layers(found.lower)}{above} ({found.stopped})"


def _record(found: Depth) -> dict[str, object]:
    """The bounds as JSON data."""
    networks = found.claims.networks
    return {
        "at_least": found.lower,
        "at_most": found.upper,
        "least": found.least,
        "layers": [{"layers": k, **_entry(claim)} for k, claim in found.layers],
        "by": None if found.by is None else {"layers": found.by.layers, **_entry(found.by)},
        "stopped": found.stopped or None,
        "period": [networks.prefix, networks.period],
        "choice": str(networks.choice),
        "networks": describe(networks),
    }


def _entry(claim: str | certificate.DepthClaim) -> dict[str, object]:
    match claim:
        case certificate.Inseparable(_, words):
            return {"words": [list(word) for word in words]}
        case certificate.EnoughByClasses(_, classes):
            return {"classes": classes}
        case certificate.EnoughByFormula(_, formula):
            return {"formula": show_within(formula, 10**6)}
        case str():
            return {"open": claim}
