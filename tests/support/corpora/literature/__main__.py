"""Print the page of the ninety languages, or write it:
`python -m tests.support.corpora.literature --write`.
"""

from __future__ import annotations

import argparse
import sys

from attemper.errors import UnsupportedError
from tests.support.corpora.literature import ENTRIES
from tests.support.corpora.literature.compiled import compiled
from tests.support.corpora.literature.entry import Entry
from tests.support.corpora.literature.page import PAGE, Size, page, size_of


def main() -> None:
    """Each language is compiled and certified; names and sizes go to stderr meanwhile."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    writes = arguments.parse_args().write
    text = page({name: _size(entry) for name, entry in ENTRIES.items()})
    if writes:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def _size(entry: Entry) -> Size | None:
    try:
        model = compiled(entry)
    except UnsupportedError as refusal:
        sys.stderr.write(f"{entry.name}: {refusal}\n")
        return None
    size = size_of(model, model.certify())
    sys.stderr.write(f"{entry.name}: {size}\n")
    return size


if __name__ == "__main__":
    main()
