"""The gallery in docs/gallery: pages that run networks, which a reader opens without Python.

`python -m tests.support.writers.gallery` writes them; a test compares what stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path

import attemper
from attemper import Model
from attemper.exports.page.writing import page_text
from attemper.exports.pictures.source import source_picture
from attemper.exports.subject import Exported
from attemper.writing import write_together
from tests import ROOT
from tests.support.writers import depth_reduction

FOLDER = ROOT / "docs" / "gallery"


@dataclass(frozen=True)
class Piece:
    """A page of the gallery: its file's name, its title, what to look for, the word that it opens with."""

    name: str
    title: str
    text: str
    build: Callable[[], Model]
    word: str


BUSY_BEAVER_4 = "1RB1LB_1LA0LC_1RZ1LD_1RD0RA"


def collatz_text() -> str:
    """The machine that docs/machines.md shows."""
    page = (ROOT / "docs" / "machines.md").read_text(encoding="utf-8")
    return page.split("```machine\n# collatz.machine\n")[1].split("```")[0]


PIECES = (
    Piece(
        "majority",
        "MAJORITY: at least as many 1s as 0s",
        "One head averages over all symbols so far; the next reads whether the average is negative.",
        lambda: attemper.compile("zoo:majority"),
        "0110100111",
    ),
    Piece(
        "dyck-1",
        "DYCK-1: well-nested brackets",
        "Averages count; two heads read their signs, and one looks for a prefix that closed too much.",
        lambda: attemper.compile("zoo:dyck-1"),
        "(()(()))()",
    ),
    Piece(
        "parity",
        "PARITY: an even number of 1s",
        "One head counts the 1s, and another looks up the position of that number: is it even?",
        lambda: attemper.compile("zoo:parity"),
        "1101001110",
    ),
    Piece(
        "induction",
        "An induction head: what followed this symbol when it stood here last",
        "A head looks one back; three find the last place after an a, a b or a c: the step of copying.",
        lambda: attemper.compile("zoo:induction-head"),
        "abcabacb",
    ),
    Piece(
        "automaton",
        "An automaton: binary numbers that three divides",
        "The automaton of (0|1(01*0)*1)*, taken apart into counters, each of which looks up a remainder.",
        lambda: attemper.compile(attemper.regex("(0|1(01*0)*1)*", "01")),
        "110110",
    ),
    Piece(
        "collatz",
        "A counter machine: the Collatz sequence of 6",
        "Press step: the network writes the run of nine lines, and the registers are drawn beside it.",
        lambda: attemper.compile(attemper.machine(collatz_text()), regime="decoder"),
        "x1 x1 x1 x1 x1 x1 start",
    ),
    Piece(
        "busy-beaver-4",
        "A Turing machine: the busy beaver of four states",
        "Press run: the network writes 107 steps on a blank tape, and halts.",
        lambda: attemper.compile(f"tm:{BUSY_BEAVER_4}", regime="unbounded"),
        "start",
    ),
)

INDEX = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Softmax transformers to open \u00b7 attemper</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }}
:root {{ background: #fbfaf7; color: #1d2430; }}
body {{ max-width: 46rem; margin: 0 auto; padding: 2rem 1.25rem; }}
h1 {{ font-size: 1.5rem; }}
li {{ margin: 0 0 1.1rem; }}
ul {{ list-style: none; padding: 0; }}
a {{ font-weight: 600; color: #2458c5; }}
p {{ margin: .1rem 0; }}
small {{ color: #5d6675; }}
@media (prefers-color-scheme: dark) {{
  :root {{ background: #14171c; color: #e7e9ee; }}
  a {{ color: #7fa8ff; }}
  small {{ color: #9aa3b2; }}
}}
</style>
</head>
<body>
<h1>Softmax transformers to open</h1>
<p>Each page but the last is one file with a network in it, which runs as you type.
Nothing is installed, loaded or sent.</p>
<ul>
{items}
</ul>
</body>
</html>
"""


def gallery() -> dict[Path, bytes]:
    """What stands in docs/gallery, but for the picture of a page."""
    files, items = {}, []
    for piece in PIECES:
        model = piece.build()
        subject = Exported(model.network, model.source, model.certify())
        picture, _ = source_picture(subject)
        text = page_text(subject, model.word(piece.word), piece.title, picture=picture)
        files[FOLDER / f"{piece.name}.html"] = text.encode()
        items.append(_item(piece, model))
    files[FOLDER / "depth-reduction.html"] = depth_reduction.page()
    items.append(
        _listed("depth-reduction", depth_reduction.TITLE, "Step by step in pictures, without a network.")
    )
    files[FOLDER / "index.html"] = INDEX.format(items="\n".join(items)).encode()
    return files


def _item(piece: Piece, model: Model) -> str:
    heads = sum(len(layer.heads) for layer in model.network.layers)
    size = f"{len(model.network.layers)} layers, {heads} heads"
    return _listed(piece.name, piece.title, piece.text, size)


def _listed(name: str, title: str, text: str, size: str = "") -> str:
    link = f'<a href="{name}.html">{escape(title)}</a>'
    return f"<li>{link}<p>{escape(text)}{f' <small>{size}</small>' if size else ''}</p></li>"


if __name__ == "__main__":
    write_together(gallery())
