"""attemper zoo --pages"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from attemper.files import read_bytes
from attemper.languages.named.entry import ZooEntry
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.progress import counting
from attemper.workbench.zoo_pages.index import TITLE, index_text
from attemper.workbench.zoo_pages.making import INDEX, ZooPage, zoo_page
from attemper.writing import require_own, write_together


def write_pages(entries: Sequence[ZooEntry], folder: Path, *, json: bool) -> None:
    """Write a page for each entry, and the index; all at once, when all are made. Says what was written.

    Raises `MalformedFileError` if the folder cannot be written, or has something else; what stood there is
    then untouched.
    """
    require_own(folder, "pages of the zoo", _is_zoo)
    pages = []
    with counting("making pages", len(entries)) as progress:
        for entry in entries:
            pages.append(zoo_page(entry))
            progress(1)
    files = {folder / page.file: page.html.encode() for page in pages if page.html}
    write_together({**files, folder / INDEX: index_text(pages).encode()})
    if json:
        for page in pages:
            print_json(_record(page, folder))
        print_json({"index": str(folder / INDEX), "pages": len(files)})
        return
    for page in pages:
        if page.refusal:
            out.print(f"no page of {page.entry.name}: {page.refusal}")
    out.print(f"wrote {len(files)} pages; open {folder / INDEX} in a browser")


def _is_zoo(folder: Path) -> bool:
    """Whether the folder's index is one of the zoo."""
    index = folder / INDEX
    return index.exists() and f"<title>{TITLE}</title>".encode() in read_bytes(index, "")


def _record(page: ZooPage, folder: Path) -> dict[str, object]:
    """What was made of an entry, as JSON data."""
    return {
        "name": page.entry.name,
        "file": str(folder / page.file) if page.html else None,
        "bytes": len(page.html.encode()),
        "class": page.entry.kind.value,
        "layers": page.layers,
        "heads": page.heads,
        "horizons": page.horizons,
        "picture": page.has_picture,
        "refusal": page.refusal or None,
    }
