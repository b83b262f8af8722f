"""attemper page"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from attemper.exports.page.writing import page_text
from attemper.exports.pictures.source import source_picture
from attemper.exports.subject import Exported
from attemper.languages.words import parse_word
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Folder, Json, require_ending
from attemper.writing import write_together


def page_command(
    folder: Folder,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The HTML file to write, as in x.html.")
    ],
    word: Annotated[
        str, typer.Option(metavar="WORD", help="The word that the page opens with; another can be typed.")
    ] = "",
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What stands above it, in place of the source.")
    ] = None,
    json: Json = False,
) -> None:
    """Write one HTML file that runs the network in a browser, on any word (docs/page.md).

    The file needs no server and no library, and asks nothing of anybody; its address has what is typed.
    """
    _require_file(output)
    subject = Exported.load(folder)
    picture, why_not = source_picture(subject)
    start = parse_word(word, subject.network.alphabet)
    text = page_text(subject, start, title, picture=picture).encode()
    write_together({output: text})
    if json:
        print_json({"output": str(output), "bytes": len(text), "digest": subject.digest})
        return
    if why_not:
        out.print(f"without a picture of the automaton: {why_not}")
    out.print(f"wrote {output}: open it in a browser")


def _require_file(output: Path) -> None:
    """Refuse a folder, and a place of which a browser would not see that there is a page."""
    if output.is_dir():
        raise typer.BadParameter(f"'{output}' is a folder; -o needs a file")
    require_ending(output, (".html", ".htm"), "as a page does: -o x.html")
