"""The contracts on imports see what they are for: a file that breaks one breaks that one alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
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
