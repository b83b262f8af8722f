"""The contracts on imports see what they are for: a file that breaks one breaks that one alone.

And one that import-linter has not: no module imports itself by way of others, wherever the imports stand.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
THEORY = "src/attemper/theories/judging"

INDEPENDENT = "Theories are independent of each other, and of training"
VERDICT = "What a theory's verdict rests on knows nobody who searches, compiles, runs or prints"
INSIDE = "Inside a theory"
DOWN = "Imports go down; the core knows no theory"
ORACLES = "Oracles are written from definitions or FORMAT.md alone: they import nothing of attemper"


def broken_with(folder: Path, files: dict[str, str]) -> set[str]:
    """The contracts that are broken once files of such texts stand in a copy of the package and support."""
    shutil.copy(ROOT / "pyproject.toml", folder)
    for package in ("src", "tests/support"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests" / "__init__.py", folder / "tests")
    for name, text in files.items():
        path = folder / name
        for above in (path.parent, *path.parent.parents):
            if (above / "__init__.py").exists() or above == folder:
                break
            above.mkdir(parents=True, exist_ok=True)
            (above / "__init__.py").touch()
        path.write_text(text, encoding="utf-8")
    finished = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "COLUMNS": "500"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Contracts:" in finished.stdout, finished.stdout + finished.stderr
    return set(re.findall(r"^(.*\S) BROKEN", finished.stdout, re.M))


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("files", "broken"),
    [
        ({f"{THEORY}/search/walk.py": "from attemper.theories.depth.ask import depth"}, {INDEPENDENT}),
        (
            {f"{THEORY}/check/claims.py": "from attemper.compiling.pipeline import compile_language"},
            {VERDICT},
        ),
        ({f"{THEORY}/search/walk.py": "from attemper.checker.names import Names"}, set()),
        (
            {
                f"{THEORY}/check/claims.py": "from attemper.theories.judging.search import walk",
                f"{THEORY}/search/walk.py": "",
            },
            {VERDICT, INSIDE},
        ),
        ({"src/attemper/workbench/late.py": "from attemper.theories.depth.ask import depth"}, {DOWN}),
        ({"tests/support/oracles/late.py": "from tests.support.drawn import samples"}, {ORACLES}),
    ],
    ids=["another theory", "the compiler", "the checker", "a search", "the core", "an oracle"],
)
def test_a_file_breaks_the_contract_that_it_should(
    files: dict[str, str], broken: set[str], tmp_path: Path
) -> None:
    assert broken_with(tmp_path, files) == broken


IMPORT = re.compile(r"^[ \t]*(?:from (attemper[\w.]*) )?import (\([^)]*\)|[^(\n]+)", re.M)
"""An import, at a module's head, in a function or for types alone; in examples stands `>>>` before it."""


def modules_of(package: Path) -> dict[str, str]:
    """The text of every module, by its name."""
    files = {path.relative_to(package.parent): path for path in package.rglob("*.py")}
    return {
        ".".join(name.with_suffix("").parts).removesuffix(".__init__"): path.read_text(encoding="utf-8")
        for name, path in files.items()
    }


def imported_by(text: str, known: Mapping[str, object]) -> set[str]:
    """Those of the known modules that the text of a module imports."""
    found = {
        f"{home}.{name}" if home else name
        for home, names in IMPORT.findall(text)
        for name in re.findall(r"[\w.]+", re.sub(r"#.*", "", names))
    }
    return {name for one in found for name in (one, one.rpartition(".")[0]) if name in known}


def circle_in(modules: Mapping[str, str]) -> list[str]:
    """A way from a module back to itself, each imported by the next; empty if there is none."""
    try:
        TopologicalSorter({name: imported_by(text, modules) for name, text in modules.items()}).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_there_is_no_import_circle() -> None:
    """Not even one for types alone."""
    assert circle_in(modules_of(ROOT / "src" / "attemper")) == []


def test_an_example_imports_nothing() -> None:
    assert not imported_by("    >>> from attemper.one import f", {"attemper.one": ""})


@pytest.mark.parametrize(
    "text",
    [
        "from attemper.one import f",
        "from attemper import one",
        "import attemper.one",
        "def f():\n    from attemper.one import (\n        g,\n    )",
        "if TYPE_CHECKING:\n    from attemper.one import T",
    ],
)
def test_a_circle_would_be_seen(text: str) -> None:
    modules = {"attemper.one": "from attemper.two import h", "attemper.two": text}
    assert sorted(set(circle_in(modules))) == ["attemper.one", "attemper.two"]
