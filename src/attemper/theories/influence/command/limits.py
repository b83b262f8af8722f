"""attemper limits: what one symbol can change, and the cross-entropy that follows."""

from __future__ import annotations

import typer

from attemper.theories.influence.command.bound import bound_command
from attemper.theories.influence.command.source import source_command

app = typer.Typer(
    help="What one symbol can change where attention is soft, and the cross-entropy that follows.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _several() -> None:
    """Have commands below this one, also where it is a single one."""


app.command("source")(source_command)
app.command("bound")(bound_command)
