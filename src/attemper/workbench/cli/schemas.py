"""attemper schema"""

from __future__ import annotations

import json
from typing import Annotated

import typer

from attemper.registry import DOCUMENTS
from attemper.workbench.cli.console import out
from attemper.workbench.schemas import schema

KindArgument = Annotated[str, typer.Argument(metavar="KIND", help=f"One of {', '.join(DOCUMENTS)}.")]


def schema_command(kind: KindArgument) -> None:
    """Print the JSON Schema of a kind of file that attemper writes (certificates/FORMAT.md).

    It says of a file's shape what reading it says, but for what no schema can say: lowest terms, and
    numbers of steps and positions that must fit each other. What a file means, `attemper check` judges.
    """
    out.print_lines(json.dumps(schema(kind), indent=1, ensure_ascii=False))
