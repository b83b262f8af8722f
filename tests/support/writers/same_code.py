"""`python -m tests.support.writers.same_code OLD NEW [--but-for-names]`: which files two commits differ in.

A commit that moves files must leave all code as it was. Files are compared as syntax trees, a moved one with
what it was moved from (git says which); imports are left out, and names of modules and paths inside texts
count as equal, since they follow the move. The last line is `N differ`; the exit code is 1 where N is not 0.

With `--but-for-names` a commit that renames is compared: in each file every identifier may have become
another one, two of them never the same, and docstrings do not count. Whether all rename alike, mypy says.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Callable, Iterator

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


def nameless(text: str) -> str:
    """The same without docstrings, and with numbers for identifiers, in the order in which these occur.

    >>> nameless("def lead(a): return a.lead") == nameless("def gap(b): return b.gap")
    True
    >>> nameless("a + b") == nameless("a + a")
    False
    """
    return ast.dump(_Nameless().visit(_Bare().visit(ast.parse(text))))


class _Nameless(ast.NodeTransformer):
    def __init__(self) -> None:
        self._numbers: dict[str, str] = {}

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        is_text = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return None if is_text else self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        # A constant's value is no identifier; all other fields that are texts are.
        if not isinstance(node, ast.Constant):
            for field, value in ast.iter_fields(node):
                if isinstance(value, str):
                    setattr(node, field, self._number(value))
                elif isinstance(value, list) and value and all(isinstance(name, str) for name in value):
                    setattr(node, field, [self._number(name) for name in value])
        return super().generic_visit(node)

    def _number(self, name: str) -> str:
        return self._numbers.setdefault(name, str(len(self._numbers)))


def differing(old: str, new: str, shape: Callable[[str], str] = bare) -> Iterator[str]:
    """The files with code that one commit has and the other has not, or whose code is of another shape."""
    rows = _git("diff", "--name-status", "-M30%", old, new, "--", "*.py").splitlines()
    for status, *paths in (row.split("\t") for row in rows):
        before = "" if status == "A" else _git("show", f"{old}:{paths[0]}")
        after = "" if status == "D" else _git("show", f"{new}:{paths[-1]}")
        if shape(before) != shape(after):
            yield f"{status[0]} {' -> '.join(paths)}"


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True).stdout


def main() -> int:
    """Print what differs between the two commits."""
    old, new, *options = sys.argv[1:]
    found = list(differing(old, new, nameless if options == ["--but-for-names"] else bare))
    sys.stdout.write("".join(f"{line}\n" for line in (*found, f"{len(found)} differ")))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
