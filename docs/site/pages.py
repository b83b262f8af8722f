"""Where a file of the repository stands in the site, and what links to it become there."""

from __future__ import annotations

import posixpath
import re

COPIED = {
    "ARCHITECTURE.md": "inside/architecture.md",
    "CHANGELOG.md": "inside/changelog.md",
    "CONTRIBUTING.md": "inside/contributing.md",
    "src/attemper/certificates/FORMAT.md": "reference/format.md",
    "src/attemper/theories/depth/README.md": "inside/depth.md",
    "src/attemper/theories/influence/README.md": "inside/influence.md",
    "src/attemper/theories/refutation/README.md": "inside/refutation.md",
    "src/attemper/theories/softening/README.md": "inside/softening.md",
}
"""What stands outside docs/ in the repository, and has a page of the site."""

LINK = re.compile(r"\]\((?![\w+.-]+:)([^)\s#]+)(#[^)\s]*)?\)")
"""A link to a file: its path, and the anchor there."""


def place(path: str) -> str | None:
    """Where a file of the repository stands in the site; None if it does not.

    >>> place("docs/zoo.md"), place("ARCHITECTURE.md"), place("README.md"), place("src/attemper/errors.py")
    ('zoo.md', 'inside/architecture.md', 'index.md', None)
    """
    if path == "README.md":
        return "index.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else COPIED.get(path)


def relinked(text: str, path: str) -> str:
    """The text of a file of the repository, with links that lead to the same files in the site.

    >>> relinked("[rules](../src/attemper/certificates/FORMAT.md#2)", "docs/proofs.md")
    '[rules](reference/format.md#2)'
    """
    here = posixpath.dirname(place(path) or "")

    def link(found: re.Match[str]) -> str:
        target = place(posixpath.normpath(posixpath.join(posixpath.dirname(path), found[1])))
        if target is None:
            return found[0]  # the build says that it leads nowhere
        return f"]({posixpath.relpath(target, here or '.')}{found[2] or ''})"

    return LINK.sub(link, text)
