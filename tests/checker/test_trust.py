"""What must be trusted to believe a verdict: how much it is, what it imports, and that it is never a bool."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.registry import FORMATS
from tests.mutation.mutants import MODULES, path_of
from tests.support.writers import statements, trust

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "src" / "attemper" / "checker"

PRODUCERS = (
    "attemper.certifying",
    "attemper.compiling",
    "attemper.running",
    "attemper.workbench",
)
HEAVY = ("torch", "numpy", "lark", "typer", "rich", "safetensors")

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
def graph() -> grimp.ImportGraph:
    return trust.imports()


def test_the_checker_imports_neither_heavy_libraries_nor_producers(proved: set[str]) -> None:
    assert {"attemper.checker.check", "attemper.checker.rounding.network", "flint"} <= proved
    assert not {name.split(".")[0] for name in proved} & set(HEAVY)
    assert not [name for name in proved if name.startswith(PRODUCERS)]


def test_a_proof_needs_no_meaning_and_no_counterexample(proved: set[str]) -> None:
    needless = ("meaning", "counterexample", "probing", "subcubes", "refutations", "telling")
    found = {name for name in statements.ours(proved) if name.rpartition(".")[2].startswith(needless)}
    assert not found | (proved & {"attemper.attention_program.machine"})


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


def test_what_is_trusted_is_as_much_as_the_table_says(graph: grimp.ImportGraph) -> None:
    """For equality: who makes it less writes that down, too."""
    table = trust.read()
    assert not list(trust.complaints(table, trust.statements_by_part(table, graph.modules)))


def test_what_a_verdict_needs_belongs_to_a_part(graph: grimp.ImportGraph) -> None:
    """All that the process that checks imports, and each judge: now, later, or through others."""
    judges = {row.judge.partition(":")[0] for row in FORMATS}
    needed = trust.needed_by(graph, "attemper.checker.__main__", "attemper.checker.child", *judges)
    table = trust.read()
    assert not [name for name in sorted(needed) if table.part_of(name) is None]
    named = {name for part in table.parts for name in part.modules}
    assert {name for name in named if not name.endswith(".*")} <= graph.modules
    assert judges == {row.judge for row in table.verdicts if row.judge.startswith("attemper.theories.")}


def test_a_verdict_rests_on_the_parts_that_its_judge_needs(graph: grimp.ImportGraph) -> None:
    table = trust.read()
    for verdict in table.verdicts:
        needed = {table.part_of(name) for name in trust.needed_by(graph, verdict.judge)}
        assert set(verdict.parts) <= needed, verdict.on
        if verdict.judge.startswith("attemper.theories."):
            assert needed - set(verdict.parts) <= {"core.beside"}, verdict.on


def test_what_is_loaded_by_proofs_is_what_they_are_said_to_rest_on(proved: set[str]) -> None:
    table = trust.read()
    parts = {table.part_of(name) for name in statements.ours(proved)}
    assert parts == {"core.reader", "core.real", "core.floats", "core.remarks"}


def test_the_tables_of_the_document_are_these(graph: grimp.ImportGraph) -> None:
    shown = (ROOT / "docs" / "proofs.md").read_text(encoding="utf-8")
    assert shown.endswith(trust.tables(trust.read(), graph)), "python -m tests.support.writers.trust --write"
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "(docs/proofs.md#what-must-be-trusted)" in readme
    assert "## What must be trusted\n" in shown


TWO = trust.Part("two", "says", ("attemper.checker.*",), 5, 7)


@pytest.mark.parametrize(
    ("changes", "counted", "said"),
    [
        ([("two", 2, "0001-said")], 7, None),
        ([("two", 3, "0001-more"), ("two", -1, "lists")], 7, None),
        ([("two", 2, "0001-said")], 6, "tests/trust.toml says 7 statements, there are 6"),
        ([("two", 2, "0001-said")], 8, "tests/trust.toml says 7 statements, there are 8"),
        ([], 7, "7 is now, but first, with all raises and falls, 5"),
        ([("two", 2, "0001-more")], 7, "has no line 'Trusted: two +2, because"),
        ([("two", 2, "0002-none")], 7, "has no line 'Trusted: two +2, because"),
        ([("two", 3, "0001-more"), ("two", -1, "")], 7, "a fall says what left"),
        ([("two", 2, "0001-said"), ("one", 1, "0001-said")], 7, "one: no such part"),
    ],
)
def test_the_table_cannot_follow_the_code(
    changes: list[tuple[str, int, str]], counted: int, said: str | None, tmp_path: Path
) -> None:
    """A number that is changed needs a change that says why, and a rise a decision that says it, too."""
    (tmp_path / "0001-said.md").write_text("Trusted: two +2, because of this; what left: that.\n")
    (tmp_path / "0001-more.md").write_text("Trusted: two +3, because of this; what left: that.\n")
    table = trust.Trust((TWO,), (), tuple(trust.Change(*change) for change in changes))
    found = list(trust.complaints(table, {"two": counted}, tmp_path))
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_the_nearest_name_says_the_part_of_a_module() -> None:
    parts = (TWO, trust.Part("own", "says", ("attemper.checker.rounding.*", "attemper.checker.child"), 1, 1))
    table = trust.Trust(parts, (), ())
    names = ("checker", "checker.heads", "checker.child", "checker.children", "checker.rounding", "running")
    found = [table.part_of(f"attemper.{name}") for name in names]
    assert found == ["two", "two", "own", "two", "own", None]


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
    table, parts = trust.read(), {"core.real", "core.floats"}
    arithmetic = {name for name in statements.ours(proved) if table.part_of(name) in parts} - SPEAKING
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
