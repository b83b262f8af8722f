"""attemper data"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.training.ask import data
from attemper.training.datasets import DatasetFormat, is_data
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Force,
    Json,
    LanguageArgument,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.written import written_language
from attemper.workbench.lengths import ranges_of
from attemper.writing import require_own


def data_command(
    language: LanguageArgument,
    lengths: Annotated[
        str, typer.Option(metavar="A-B[,A-B]...", help="The lengths of words: 0-40, or splits: 2-50,51-100.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    count: Annotated[int, typer.Option(min=1, metavar="N", help="How many words each split has.")] = 10_000,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same bytes.")] = 0,
    layout: Annotated[
        DatasetFormat, typer.Option(help="JSON lines, or the folders of FLaRe.")
    ] = DatasetFormat.JSONL,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draw words with their verdicts, half of them in the language, for training (docs/training.md).

    Every verdict is exact. Where the language's automaton is found soon, words are counted in it: all of one
    length and verdict are drawn with the same probability. Where a length has words of one verdict alone, or
    hardly any others are found, that is said.
    """
    require_own(output, "those of a data set", is_data, force=force)
    splits = ranges_of(lengths)
    spoken = written_language(language, alphabet, at, empty)
    with activity("drawing words"):
        found = data(spoken, lengths=splits, count=count, seed=seed, layout=layout.value)
        found.save(output)
    if json:
        print_json({**found.record, "output": str(output)})
        return
    out.print_lines(str(found))
    out.print(f"wrote {output}")
