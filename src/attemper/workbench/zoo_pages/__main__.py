"""`python -m attemper.workbench.zoo_pages FOLDER`, which `make gallery` runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from attemper.files import read_bytes
from attemper.languages.named.entry import ZooEntry
from attemper.languages.named.zoo import everything
from attemper.workbench.cli.console import out
from attemper.workbench.cli.progress import counting, progress_shown
from attemper.workbench.zoo_pages.index import TITLE, index_text
from attemper.workbench.zoo_pages.making import INDEX, ZooPage, zoo_page
from attemper.writing import require_own, write_together


def write_pages(entries: Sequence[ZooEntry], folder: Path) -> list[ZooPage]:
    """Write a page for each entry, and the index; all at once, when all are made.

    Raises `MalformedFileError` if the folder cannot be written, or has something else;
    what stood there is then untouched.
    """
    require_own(folder, "pages of the zoo", _is_zoo)
    pages = []
    with counting("making pages", len(entries)) as progress:
        for entry in entries:
            pages.append(zoo_page(entry))
            progress(1)
    files = {folder / page.file: page.html.encode() for page in pages if page.html}
    write_together({**files, folder / INDEX: index_text(pages).encode()})
    return pages


def _is_zoo(folder: Path) -> bool:
    """Whether the folder's index is one of the zoo."""
    index = folder / INDEX
    return index.exists() and f"<title>{TITLE}</title>".encode() in read_bytes(index, "")


def main(folder: Path) -> None:
    """Write the pages of the whole zoo, and say which there are not."""
    with progress_shown("zoo"):
        pages = write_pages(everything(), folder)
    for page in pages:
        if page.refusal:
            out.print(f"no page of {page.entry.name}: {page.refusal}")
    out.print(f"wrote {sum(bool(page.html) for page in pages)} pages; open {folder / INDEX} in a browser")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
