"""attemper data"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from attemper.training.datasets import DatasetFormat, is_data, parse_splits, write_data
from attemper.training.labelled import task_named
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Force, Json
from attemper.workbench.cli.progress import activity
from attemper.writing import require_own


def data_command(
    task: Annotated[
        str, typer.Argument(metavar="TASK", help="A name of the zoo, regex:TEXT or formula:TEXT.")
    ],
    split: Annotated[
        str, typer.Option(metavar="LENGTHS", help="The lengths of words: 0-40, or '[2,50],[51,100]'.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same bytes.")] = 0,
    count: Annotated[int, typer.Option(min=1, metavar="K", help="How many words each split has.")] = 10_000,
    alphabet: Annotated[str, typer.Option(help="Of regex:TEXT and formula:TEXT, as in ab.")] = "",
    at: Annotated[str, typer.Option(metavar="first|last", help="Where a formula is read.")] = "last",
    layout: Annotated[
        DatasetFormat, typer.Option(help="JSON lines, or the folders of FLaRe.")
    ] = DatasetFormat.JSONL,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draw words with their verdicts, half of them in the language, for training (docs/training.md).

    Every verdict is the oracle's. Words of regex:TEXT, and of past formulas without numbers, are counted in
    the automaton: all of one length and verdict are drawn with the same probability. Where a length has words
    of one verdict alone, or hardly any others are found, that is said.
    """
    if at not in {"first", "last"}:
        raise typer.BadParameter(f"--at {at}: a formula is read at first or at last")
    require_own(output, "those of a data set", is_data, force=force)
    named = task_named(task, alphabet, at)
    splits = parse_splits(split)
    with activity("drawing words"):
        manifest = write_data(named, splits, count, seed, output, layout)
    if json:
        print_json({"output": str(output), **manifest})
        return
    if named.polarity:
        out.print(f"{named.name}: {named.polarity}")
    for one in cast("list[dict[str, Any]]", manifest["splits"]):
        out.print(f"{one['name']}: {one['words']:,} words, {one['members']:,} of them in the language")
        if one["warning"]:
            out.print(f"  warning: {one['warning']}")
    out.print(f"wrote {output}")
