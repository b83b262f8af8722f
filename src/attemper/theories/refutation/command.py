"""attemper refute"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from attemper.checker.report import record_of
from attemper.checker.verdict import Status, Verdict
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import AtOption, EmptyOption, Json, LanguageArgument
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.searching import require_file, use_few_threads, written
from attemper.workbench.options import polarity_note
from attemper.workbench.spelling import Kind, spelling_of

if TYPE_CHECKING:
    from attemper.theories.refutation.search.finding import Finding

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="DIR|MODULE:OBJECT",
        help="A folder made by 'attemper compile', or a Python object.",
    ),
]
LengthOption = Annotated[
    int | None,
    typer.Option("--length", min=1, metavar="N", help="The number of positions, an end marker included."),
]


def refute_command(
    model: ModelArgument,
    language: LanguageArgument,
    at: AtOption = None,
    empty: EmptyOption = None,
    length: LengthOption = None,
    free: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="Stop when this part of the symbols is free (default: go on)."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="For the random choices of the search.")] = 0,
    seconds: Annotated[float, typer.Option(min=0, help="How long to search, give or take a step.")] = 60,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the refutation here.")
    ] = None,
    json: Json = False,
) -> int:
    """Find two words that a hard-attention transformer cannot tell apart, though a language does, with proof.

    Interrupted (Ctrl-C), the search ends with the best so far, which is checked and written, too.

    Exit codes: 0 found and PROVED, 11 found and PROVED_UNDER_ASSUMPTIONS, 12 nothing found, 130 interrupted.
    """
    require_file(output)
    # numpy is loaded where models are run, not with the command line.
    use_few_threads()
    from attemper.models.hard.loading import load_model
    from attemper.theories.refutation.search.finding import search_and_check
    from attemper.theories.refutation.search.named import target_of

    with activity("refuting") as report:
        found = search_and_check(
            lambda: load_model(model, length),
            lambda found: target_of(language, found, at, empty),
            source=model,
            free=free,
            seconds=seconds,
            seed=seed,
            report=report,
        )
    spelling = spelling_of(language)
    is_named = spelling.kind is Kind.ZOO
    note = polarity_note(spelling.text, "the model's second symbol") if is_named else None
    if note is not None and not json:
        out.print(note)
    _print_found(found, json=json)
    return written(found, output, json=json)


def _print_found(found: Finding, *, json: bool) -> None:
    """The claims and the words, or why there are none."""
    from attemper.theories.refutation.report import picture

    seconds = {"seconds": round(found.seconds, 1)}
    if found.refutation is None or found.verdict is None:
        if json:
            print_json({"verdict": str(Status.UNKNOWN), "reason": found.reason, **seconds})
        else:
            out.print(f"not refuted: {found.reason}")
    elif json:
        print_json({**record_of(found.verdict), **seconds})
    else:
        _print_claims(found.verdict)
        for line in picture(found.refutation, out.columns):
            out.print(line)


def _print_claims(verdict: Verdict) -> None:
    for claim in verdict.claims:
        out.print(f"{claim.status}: {claim.text}")
    for assumption in dict.fromkeys(a for claim in verdict.claims for a in claim.assumptions):
        out.print(f"assuming {assumption}")
    for arithmetic in dict.fromkeys(claim.arithmetic for claim in verdict.claims if claim.arithmetic):
        out.print(f"arithmetic: {arithmetic}")
