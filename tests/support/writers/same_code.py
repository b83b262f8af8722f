"""`python -m tests.support.writers.same_code OLD NEW`: which files differ between two commits, but for
imports.

A commit that moves files must leave all code as it was. Files are compared as syntax trees, a moved one with
what it was moved from (git says which); imports are left out, and names of modules and paths inside texts
count as equal, since they follow the move. The last line is `N differ`; the exit code is 1 where N is not 0.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

OF_OURS = re.compile(r"\b[a-z_]+(\.[a-z_]+)+|(?:[\w*]+/)+[\w*]*(?:\.\w+)?|\b\w+\.py\b")
"""Names of modules and paths inside texts."""


def bare(text: str) -> str:
    """A file's syntax tree without imports, and with one name for every module and path in its texts.

    >>> bare("import one\\nx = 'attemper.old.names'") == bare("from two import one\\nx = 'attemper.names'")
    True
    >>> bare("x = 1") == bare("x = 2")
    False
    """
    return ast.dump(_Bare().visit(ast.parse(text)))


class _Bare(ast.NodeTransformer):
    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str):
            # A longer name may break a line of a docstring at another place.
            return ast.Constant(" ".join(OF_OURS.sub("...", node.value).split()))
        return node


def differing(old: str, new: str) -> Iterator[str]:
    """The files with code that one commit has and the other has not, or whose code is another."""
    rows = _git("diff", "--name-status", "-M30%", old, new, "--", "*.py").splitlines()
    for status, *paths in (row.split("\t") for row in rows):
        before = "" if status == "A" else _git("show", f"{old}:{paths[0]}")
        after = "" if status == "D" else _git("show", f"{new}:{paths[-1]}")
        if bare(before) != bare(after):
            yield f"{status[0]} {' -> '.join(paths)}"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Print what differs between the two commits."""
    old, new = sys.argv[1:]
    found = list(differing(old, new))
    sys.stdout.write("".join(f"{line}\n" for line in (*found, f"{len(found)} differ")))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
