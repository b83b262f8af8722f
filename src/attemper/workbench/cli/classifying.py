"""attemper classify"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.languages.regular.dfa import Dfa
from attemper.workbench.classifying import classify
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Json,
    LanguageArgument,
    LimitOption,
    require_ending,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.cli.written import written_language
from attemper.workbench.limits import parse_limits
from attemper.writing import write_together


@limited
def classify_command(
    language: LanguageArgument,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the minimal automaton to this file, x.svg."),
    ] = None,
    limit: LimitOption = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> int:
    """Say what class a regular language is in: star-free, quasi-aperiodic, solvable or neither; and why.

    Exit codes: 0 the class is known, 12 the time was up before the class, or before forcing numbers.
    """
    del seconds
    limits = parse_limits(limit)
    spoken = written_language(language, alphabet, at, empty)
    with activity("making the automaton") as report:
        if svg is not None:
            _draw(spoken.automaton(), svg)
        found = classify(spoken, limits=limits, report=report)
    if json:
        print_json({**found.record, **({} if svg is None else {"picture": str(svg)})})
        return found.exit_code
    out.print_lines(str(found))
    if svg is not None:
        out.print(f"wrote a picture to {svg}")
    return found.exit_code


def _draw(automaton: Dfa, svg: Path) -> None:
    """Write the picture. Raises `UnsupportedError` for too many states, before anything is classified."""
    require_ending(svg, (".svg",), "as a picture does: --svg x.svg")
    from attemper.exports.pictures.svg import automaton_svg

    write_together({svg: automaton_svg(automaton, standalone=True).encode()})
