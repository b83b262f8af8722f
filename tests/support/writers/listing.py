"""The list of these files: `python -m tests.support.writers.listing` writes tests/support/README.md."""

from __future__ import annotations

import re
from pathlib import Path

from tests import ROOT

SUPPORT = ROOT / "tests" / "support"
PAGE = SUPPORT / "README.md"
OPENING = """# What the tests are made of

The first words of each docstring, folder by folder; an `__init__.py` says what its folder is for.
`python -m tests.support.writers.listing` writes this page.
"""


def listing() -> str:
    """The page, from the docstrings."""
    folders = sorted(path.parent for path in SUPPORT.glob("*/__init__.py"))
    return "\n".join([OPENING, *map(_section, (SUPPORT, *folders))])


def _section(folder: Path) -> str:
    paths = folder.glob("*.py") if folder == SUPPORT else folder.rglob("*.py")
    listed = [path for path in sorted(paths) if path != folder / "__init__.py"]
    title = f"## {folder.relative_to(SUPPORT.parent)}/\n\n{_first_words(folder / '__init__.py')}\n\n"
    return title + "".join(f"- `{path.relative_to(folder)}`: {_first_words(path)}\n" for path in listed)


def _first_words(path: Path) -> str:
    said = re.match(r'"""(.*?)("""|\n\n)', path.read_text(encoding="utf-8"), re.DOTALL)
    return " ".join(said[1].split()) if said else ""


if __name__ == "__main__":
    PAGE.write_text(listing(), encoding="utf-8")
