"""attemper compile"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from attemper.compiling.regimes import Regime
from attemper.languages.temporal.reading import At
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json
from attemper.workbench.model import compile as compile_formula
from attemper.workbench.report.summary import summary_of


class EmptyOption(StrEnum):
    """The verdict on the empty word."""

    ACCEPT = "accept"
    REJECT = "reject"


def compile_command(
    formula: Annotated[str, typer.Argument(metavar="FORMULA", help="For example: H ('1' -> Y '0')")],
    alphabet: Annotated[
        str, typer.Option(help="Single characters (01) or symbols separated by blanks ('push pop').")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    at: Annotated[
        At | None, typer.Option(help="Where the verdict is read. Must be said for pure future formulas.")
    ] = None,
    regime: Annotated[
        Regime, typer.Option(help="Unbounded position embeddings, temperatures, or decoder-only.")
    ] = Regime.UNBOUNDED,
    empty: Annotated[EmptyOption, typer.Option(help="The verdict on the empty word.")] = EmptyOption.REJECT,
    json: Json = False,
) -> None:
    """Compile a temporal or counting formula into a softmax transformer."""
    model = compile_formula(
        formula,
        alphabet,
        at=at.value if at else None,
        regime=regime.value,
        empty=empty.value,
    )
    model.save(output)
    summary = summary_of(model)
    if json:
        print_json({"directory": str(output), **summary.as_record()})
        return
    out.print(f"compiled {model.formula} ({summary.regime}) to {output}")
    out.print(
        f"{summary.layers} layers, {summary.heads} heads, {summary.parameters} parameters", markup=False
    )
