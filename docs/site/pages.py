"""Where a file of the repository stands in the site, and how its text reads there."""

from __future__ import annotations

import posixpath
import re

COPIED = {
    "ARCHITECTURE.md": "inside/architecture.md",
    "CHANGELOG.md": "inside/changelog.md",
    "CONTRIBUTING.md": "inside/contributing.md",
    "src/attemper/certificates/FORMAT.md": "reference/format.md",
    "src/attemper/theories/causal/README.md": "inside/causal.md",
    "src/attemper/theories/depth/README.md": "inside/depth.md",
    "src/attemper/theories/influence/README.md": "inside/influence.md",
    "src/attemper/theories/judging/README.md": "inside/judging.md",
    "src/attemper/theories/refutation/README.md": "inside/refutation.md",
    "src/attemper/theories/softening/README.md": "inside/softening.md",
}
"""What stands outside docs/ in the repository, and is a page of the site."""

LINK = re.compile(r"\]\((?![\w+.-]+:)([^)\s#]+)(#[^)\s]*)?\)")
"""A link to a file: its path, and the anchor there."""

CELLS = re.compile(r"^\|.*", re.MULTILINE)
NESTED = re.compile(r"^ {2,3}(?=- |\d+\. )", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
EXAMPLE = re.compile(r"^>>> .*\n(?:.*\S.*\n?)*", re.MULTILINE)


def place(path: str) -> str | None:
    r"""Where a file of the repository stands in the site; None if it does not.

    The start page does what the README does; a tutorial, which is a Python file, becomes a page.

    >>> place("docs/zoo.md"), place("ARCHITECTURE.md"), place("README.md"), place("src/attemper/errors.py")
    ('zoo.md', 'inside/architecture.md', 'index.md', None)
    >>> place("docs/tutorial/first_network.py")
    'tutorial/first_network.md'
    """
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/tutorial/"):
        return path.removeprefix("docs/").replace(".py", ".md")
    return path.removeprefix("docs/") if path.startswith("docs/") else COPIED.get(path)


def in_the_site(text: str, path: str) -> str:
    r"""The text of a file of the repository, as the site's reader of Markdown wants it.

    Links lead to the same files in the site. Bars inside code end no cell of a table: no backslash.
    Lists inside lists stand four columns in.

    >>> in_the_site("[rules](../src/attemper/certificates/FORMAT.md#2)", "docs/proofs.md")
    '[rules](reference/format.md#2)'
    >>> in_the_site("| `a \\| b` | or |", "docs/formulas.md")
    '| `a | b` | or |'
    >>> in_the_site("- a room:\n  - its file\n", "ARCHITECTURE.md")
    '- a room:\n    - its file\n'
    """
    here = posixpath.dirname(place(path) or "") or "."

    def link(found: re.Match[str]) -> str:
        target = place(posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1])))
        if target is None:
            return found[0]  # the build says that it leads nowhere
        return f"]({posixpath.relpath(target, here)}{found[2] or ''})"

    def bars(row: re.Match[str]) -> str:
        return CODE.sub(lambda code: code[0].replace(r"\|", "|"), row[0])

    return NESTED.sub(" " * 4, CELLS.sub(bars, LINK.sub(link, text)))


def fenced(text: str) -> str:
    r"""A docstring with a fence around every example, which ends at an empty line.

    >>> fenced(">>> 1 + 1\n2\n\nThat is all.")
    '```python\n>>> 1 + 1\n2\n```\n\nThat is all.'
    """
    return EXAMPLE.sub(lambda found: f"```python\n{found[0].rstrip()}\n```\n", text)
