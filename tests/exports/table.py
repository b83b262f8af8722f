"""The table of `docs/exports.md`: how far each export's outputs are from `DenseTransformer`'s.

`python -m tests.exports.table --write` writes the table; it needs every extra, and node for the page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from attemper.errors import UnsupportedError
from attemper.exports.subject import Exported
from tests.exports.runs_hf import run_exported_program, run_hugging_face, run_onnx
from tests.exports.runs_lens import run_transformer_lens
from tests.exports.runs_page import run_page
from tests.support.drawn.exported import Difference, RunExport, difference, subjects, words_for

PAGE = Path("docs/exports.md")
REFUSED = "refused"
BEGIN, END = "<!-- the table -->", "<!-- the end of the table -->"

Open = Callable[[Exported, torch.dtype, Path], RunExport]
"""An export of the subject in that format, written to a folder and read from there again, as it runs."""


def _traceable(subject: Exported, dtype: torch.dtype, folder: Path) -> RunExport:
    del folder
    return subject.traceable(dtype)


WAYS: dict[str, Open] = {
    "traceable": _traceable,
    "hugging-face": run_hugging_face,
    "onnx": run_onnx,
    "torch": run_exported_program,
    "transformer-lens": run_transformer_lens,
    "page": lambda subject, _, folder: run_page(subject, folder),
}
FORMATS = {"float64": torch.float64, "float32": torch.float32}


def formats_of(way: str) -> tuple[str, ...]:
    """The formats that a way has: a page's numbers are float64."""
    return ("float64",) if way == "page" else tuple(FORMATS)


def measured(name: str, subject: Exported, way: str) -> Iterator[tuple[str, Difference]]:
    """Of one network and way, each format and the differences on all words that are tried.

    Raises `UnsupportedError` where the way refuses the network.
    """
    words = words_for(subject.network)
    for dtype in formats_of(way):
        with TemporaryDirectory() as folder, torch.no_grad():
            run = WAYS[way](subject, FORMATS[dtype], Path(folder) / name.replace(" ", "-"))
            yield dtype, difference(subject.network, run, FORMATS[dtype], words)


def cell(name: str, subject: Exported, way: str) -> str:
    """A cell of the table: the largest differences of outputs, by format, or that the way refuses."""
    try:
        found = list(measured(name, subject, way))
    except UnsupportedError:
        return REFUSED
    shown = [f"{one.outputs:.1e}" if one.outputs else "0" for _, one in found]
    return shown[0] if len(set(shown)) == 1 else " / ".join(shown)


def table() -> str:
    """The whole table."""
    rows = [f"| network | {' | '.join(WAYS)} |", "|---|" + "---|" * len(WAYS)]
    for name, subject in subjects():
        cells = [cell(name, subject, way) for way in WAYS]
        rows.append(f"| {name} ({subject.source.regime}) | {' | '.join(cells)} |")
        sys.stderr.write(f"{rows[-1]}\n")
    return "\n".join(rows)


def stated() -> dict[str, dict[str, str]]:
    """The cells of the table as the page has them, by network and way."""
    text = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = [[part.strip() for part in line.strip("|").split("|")] for line in text.strip().splitlines()]
    ways = rows[0][1:] if rows else []
    return {row[0].rpartition(" (")[0]: dict(zip(ways, row[1:], strict=True)) for row in rows[2:]}


def main() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    if "--write" in sys.argv:
        PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
