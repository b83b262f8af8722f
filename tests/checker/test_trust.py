"""What must be trusted to believe a verdict: how much it is, what it imports, and that it is never a bool."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from tests.mutation.mutants import MODULES, path_of
from tests.support.writers import statements

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "src" / "attemper" / "checker"

PRODUCERS = (
    "attemper.certifying",
    "attemper.compiling",
    "attemper.running",
    "attemper.workbench",
)
HEAVY = ("torch", "numpy", "lark", "typer", "rich", "safetensors")

STATEMENTS = 8_334
"""Lines of logic (Python statements without docstrings) that PROVED may rest on, all in all."""

WORDS = 60
"""Statements that judge two words, which no k layers tell apart."""

LINES, BRANCHES = 40, 12
"""No function of the checker has more."""

SPEAKING = {"attemper.checker.check", "attemper.checker.proof"}
"""Not arithmetic alone: one rounds what it says to people, one makes room for deep formulas."""


def _branches(function: ast.FunctionDef) -> int:
    """The cyclomatic complexity as ruff counts it: one more for each way that can be taken."""
    kinds = ast.If | ast.For | ast.While | ast.ExceptHandler | ast.match_case | ast.FunctionDef
    ways = sum(isinstance(node, kinds) for node in ast.walk(function))
    cases = [node for node in ast.walk(function) if isinstance(node, ast.match_case)]
    return ways - sum(ast.unparse(case.pattern) == "_" and case.guard is None for case in cases)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that are loaded when networks of every kind and regime are PROVED."""
    return statements.of_proofs(tmp_path_factory.mktemp("proved"))


@pytest.fixture(scope="module")
def counted(tmp_path_factory: pytest.TempPathFactory, proved: set[str]) -> statements.Counted:
    """What verdicts rest on."""
    return statements.counted(tmp_path_factory.mktemp("refuted"), proved)


def test_the_checker_imports_neither_heavy_libraries_nor_producers(proved: set[str]) -> None:
    assert {"attemper.checker.check", "attemper.checker.rounding.network", "flint"} <= proved
    assert not {name.split(".")[0] for name in proved} & set(HEAVY)
    assert not [name for name in proved if name.startswith(PRODUCERS)]


def test_a_proof_needs_no_meaning_and_no_counterexample(proved: set[str]) -> None:
    needless = ("meaning", "machine", "counterexample", "probing", "subcubes", "refutations")
    assert not [name for name in statements.ours(proved) if name.rpartition(".")[2].startswith(needless)]


def test_two_words_are_judged_without_the_analysis_numpy_and_python_flint(tmp_path: Path) -> None:
    assert not [name for name in statements.of_depths(tmp_path) if name.startswith(PRODUCERS)]
    script = (
        "import sys; from attemper.theories.depth.check.claims import judge; "
        "print(*[name for name in sys.modules if name in sys.argv[1:]])"
    )
    heavy = (
        *HEAVY,
        "flint",
        "attemper.checker.analysis",
        "attemper.checker.check",
        "attemper.theories.depth.search",
    )
    found = subprocess.run([sys.executable, "-c", script, *heavy], capture_output=True, text=True, check=True)
    assert not found.stdout.split()


def test_what_a_verdict_rests_on_is_counted_in_the_readme(counted: statements.Counted) -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert counted.sentence in readme, f"the README must say: {counted.sentence}"
    assert {"attemper.checker.counterexample", "attemper.languages.temporal.meaning"} <= counted.meanings
    assert {"attemper.models.hard.probing", "attemper.theories.refutation.check.subcubes"} <= counted.others
    assert {"attemper.theories.depth.check.pairs", "attemper.theories.depth.certificate"} <= counted.depths
    assert statements.statements_of(statements.PAIR) <= WORDS
    assert counted.reading + counted.real + counted.floats <= STATEMENTS


def test_the_float_part_of_each_construction_is_found() -> None:
    found = {
        path.stem: {
            function.name for function in statements.of_floats(f"attemper.checker.constructions.{path.stem}")
        }
        for path in (CHECKER / "constructions").glob("[!_]*.py")
    }
    assert found["select"] == found["neighbour"] == found["local_sign"] == {"loss"}
    assert found["uniform"] == {"offs", "_average"}
    assert found["sign"] == {"loss", "_alternates"}
    assert found["lookup"] == {"loss", "lost", "_one_of_each_power"}
    assert found["integer_value"] == {"gap", "offs"}
    assert found["nearest_integer"] == {"offs"}


def test_no_function_of_the_checker_is_long_or_winding() -> None:
    for path in map(path_of, MODULES):
        for function in statements.functions_in(ast.parse(path.read_text(encoding="utf-8"))):
            assert function.end_lineno is not None
            lines = function.end_lineno - function.lineno + 1
            assert lines <= LINES, f"{path.name}: {function.name} has {lines} lines"
            ways = _branches(function)
            assert ways <= BRANCHES, f"{path.name}: {function.name} has {ways} branches"


def test_no_construction_has_a_long_file() -> None:
    for path in (CHECKER / "constructions").glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 150, path.name


def test_the_arithmetic_uses_no_floats_and_asks_nothing_of_the_process(proved: set[str]) -> None:
    arithmetic = {
        name for name in statements.ours(proved) if statements.room(name) in {"real", "floats"}
    } - SPEAKING
    assert {"attemper.checker.names", "attemper.checker.rounding.attention"} <= arithmetic
    for name in arithmetic:
        for node in ast.walk(statements.tree_of(name)):
            match node:
                case ast.Name(id="float" | "complex" | "sys") | ast.Constant(value=float() | complex()):
                    raise AssertionError(f"{name}, line {node.lineno}: {ast.unparse(node)}")
                case _:
                    pass


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
