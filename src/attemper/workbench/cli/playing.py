"""attemper play"""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from attemper.workbench.cli.console import out
from attemper.workbench.cli.progress import waiting_for_the_user

PORT = 8765
"""Where the page is served unless another port is given."""


def play_command(
    port: Annotated[
        int, typer.Option(min=0, max=65_535, metavar="P", help="The port to serve on; 0: any that is free.")
    ] = PORT,
    seconds: Annotated[
        float, typer.Option(metavar="S", help="A network that is not there after so long is not made.")
    ] = 10,
    memory: Annotated[
        int, typer.Option(metavar="MB", help="So many megabytes compiling a network may use.")
    ] = 1_000,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in your browser.")] = False,
) -> None:
    """Serve a page on this computer in which you type a language, and see its network run (docs/play.md).

    Needs the extra: pip install 'attemper[play]'. Nobody but this computer reaches the page. Ctrl-C ends it.
    """
    from attemper.workbench.play.processes import AnswerLimits
    from attemper.workbench.play.serving import serve

    def started(address: str) -> None:
        out.print(f"the page is at {address} (Ctrl-C ends it)")
        if opens:
            webbrowser.open(address)

    with waiting_for_the_user():
        serve(port, AnswerLimits(seconds, memory=memory), started)
    out.print("ended")
