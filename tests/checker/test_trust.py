"""What must be trusted to believe a verdict: how much it is, what it imports, and that it is never a bool."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from attemper.checker.verdict import ClaimVerdict, Status, Verdict

SOURCE = Path(__file__).parents[2] / "src"

PRODUCERS = ("attemper.compiling", "attemper.running", "attemper.workbench", "attemper.attention_program")
HEAVY = ("torch", "numpy", "lark", "typer", "rich", "safetensors")

STATEMENTS = 3_950
"""Lines of logic (Python statements without docstrings) of the checker and everything it imports."""


def _modules_loaded() -> set[str]:
    script = "import attemper.checker.check, attemper.certificates.files, sys; print(*sorted(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(finished.stdout.split())


def test_the_checker_imports_neither_heavy_libraries_nor_producers() -> None:
    loaded = _modules_loaded()
    assert "attemper.checker.check" in loaded
    assert not {name.split(".")[0] for name in loaded} & set(HEAVY)
    assert not [name for name in loaded if name.startswith(PRODUCERS)]


def test_the_trusted_base_stays_small() -> None:
    names = [name for name in _modules_loaded() if name.split(".")[0] == "attemper"]
    files = [SOURCE / Path(*name.split(".")).with_suffix(".py") for name in names]
    found = {path.stem: _statements(path) for path in files if path.exists()}
    assert sum(found.values()) <= STATEMENTS, found


def _statements(path: Path) -> int:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return sum(
        isinstance(node, ast.stmt)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in nodes
    )


def test_a_verdict_is_never_a_bool() -> None:
    with pytest.raises(TypeError, match="status"):
        bool(Verdict((ClaimVerdict(Status.UNKNOWN, "x"),)))


def test_a_verdict_is_as_good_as_its_worst_claim() -> None:
    claims = tuple(ClaimVerdict(status, "x") for status in Status)
    for number in range(1, len(claims) + 1):
        verdict = Verdict(claims[:number])
        assert verdict.status is list(Status)[number - 1]
    codes = [Verdict((claim,)).exit_code for claim in claims]
    assert len(set(codes)) == len(codes)
    assert codes[0] == 0
