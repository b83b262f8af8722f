"""Print the page of the zoo, or write it: `python -m tests.support.corpora.zoo --write`."""

from __future__ import annotations

import argparse
import sys

from attemper.languages.named.entry import ZooEntry
from attemper.languages.named.zoo import everything
from tests.support.corpora.zoo import PAGE, Size, page, size_of


def main() -> None:
    """Each language is compiled and certified in its regimes; names and sizes go to stderr meanwhile."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--write", action="store_true", help=f"write docs/{PAGE.name}")
    writes = arguments.parse_args().write
    text = page({entry.name: _said(entry) for entry in everything()})
    if writes:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


def _said(entry: ZooEntry) -> Size | None:
    size = size_of(entry)
    sys.stderr.write(f"{entry.name}: {size}\n")
    return size


if __name__ == "__main__":
    main()
