"""A tutorial's page: its cells, and below each what Jupyter showed when it ran."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import jupytext
from nbclient import NotebookClient
from nbformat import NotebookNode


def executed(path: Path) -> NotebookNode:
    """The notebook that a Python file with cells is, run in an empty folder; a cell that fails raises."""
    notebook = jupytext.read(path)
    with TemporaryDirectory() as folder:
        NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
    return notebook


def page_of(notebook: NotebookNode, name: str) -> str:
    """The page, which offers the notebook itself under that name."""
    parts = (part for cell in notebook.cells for part in _shown(cell))
    title, rest = next(parts).split("\n", 1)
    opening = f"{title}\n\n[This page as a notebook]({name}), with its outputs.\n{rest}"
    return "\n\n".join([opening, *parts]) + "\n"


def _shown(cell: NotebookNode) -> Iterator[str]:
    if cell.cell_type == "markdown":
        yield cell.source
        return
    yield f"```python\n{cell.source}\n```"
    for output in cell.outputs:
        data = output.get("data", {"text/plain": output.get("text", "")})
        for kind in ("text/html", "image/svg+xml"):
            if kind in data:
                yield f"<div>{data[kind]}</div>"
                break
        else:
            yield f"```text\n{data['text/plain'].rstrip()}\n```"
