"""attemper export and attemper import"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from attemper.exports.kinds import FORMATS, ExportTarget
from attemper.exports.subject import Exported
from attemper.workbench.cli.compiled import shortened
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Force, Json
from attemper.workbench.cli.places import require_network_place
from attemper.workbench.cli.progress import activity


class FormatOption(StrEnum):
    """The number format of exported weights."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"


assert tuple(FormatOption) == FORMATS


def export_command(
    folder: Folder,
    kind: Annotated[
        ExportTarget, typer.Argument(metavar="KIND", help="One of: " + ", ".join(ExportTarget) + ".")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="The folder, or the file, to write.")
    ],
    dtype: Annotated[
        FormatOption, typer.Option(metavar="|".join(FormatOption), help="The number format of weights.")
    ] = FormatOption.FLOAT64,
    positions: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="gpt2: the greatest length that can be read.")
    ] = None,
    uniform_heads: Annotated[
        bool,
        typer.Option(
            "--uniform-heads", help="transformer-lens: as many heads in each layer; added ones are 0."
        ),
    ] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a network for other people's tools, with the same numbers (docs/exports.md).

    hugging-face, gpt2 and transformer-lens write a folder; onnx, torch (.pt2) and circuit (JSON) a file.
    """
    from attemper.exports.export import export

    subject = Exported.load(folder)
    with activity(f"exporting as {kind}"):
        export(
            subject,
            kind,
            output,
            dtype=dtype,
            positions=positions,
            uniform_heads=uniform_heads,
            force=force,
        )
    if json:
        print_json({"kind": kind, "output": str(output), "digest": subject.digest})
        return
    out.print(f"exported {_named(subject)} as {kind} to {output}")


def import_command(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="A folder made by 'attemper export DIR hugging-face'.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="The network's folder to write.")
    ],
    force: Force = False,
    json: Json = False,
) -> None:
    """Restore a network's folder, with the same digest, from what was exported.

    What it was exported as is seen from the files. Nothing of it is believed: 'attemper check DIR' says what
    is proved. Weights that were changed since, or rounded to another format, are refused.
    """
    from attemper.exports.restoring import restored_from

    require_network_place(output, force=force)
    with activity("restoring"):
        kind, subject = restored_from(source)
    subject.save(output)
    if json:
        print_json({"kind": kind, "output": str(output), "digest": subject.digest})
        return
    out.print(f"restored {_named(subject)} to {output}; 'attemper check {output}' says what is proved")


def _named(subject: Exported) -> str:
    """What was compiled, on one line: texts of programs and automata have many."""
    named = {"program": "an attention program", "automaton": "an automaton", "machine": "a counter machine"}
    return named.get(subject.source.kind) or shortened(subject.title)
