"""What must be trusted to believe a verdict: how much it is, what it imports, and that it is never a bool."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.files import save as save_certificate
from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.workbench.model import Model
from tests.support.command_line import attemper as run_command_line
from tests.support.corpora import CORPORA

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "src" / "attemper" / "checker"

PRODUCERS = (
    "attemper.certifying",
    "attemper.compiling",
    "attemper.running",
    "attemper.workbench",
)
HEAVY = ("torch", "numpy", "lark", "typer", "rich", "safetensors")

STATEMENTS = 6_050
"""Lines of logic (Python statements without docstrings) that PROVED may rest on, all in all."""

REMARKS = {f"attemper.languages.regular.{name}" for name in ("regex", "files", "minimal")}
"""They read the source that a network's folder names, which makes it MALFORMED at most."""

LINES, BRANCHES = 40, 12
"""No function of the checker has more."""

ONE_CASE_PER_STEP = {("program", "_bit"), ("registers", "_bit")}
"""A program has more kinds of steps than that: these say which function is for which."""

SPEAKING = {"attemper.checker.check", "attemper.checker.proof"}
"""Not arithmetic alone: one rounds what it says to people, one makes room for deep formulas."""

SAYING = {"__main__", "limits", "child", "folders", "report", "verdict"}
"""The files of the checker that read what is to be checked and say what was found."""


def _room(name: str) -> str:
    """Which of the README's numbers a module that a check of a network loads belongs to.

    The float part of a construction stands beside the exact one, in the same file: `_of_floats` finds it.
    """
    if name == "attemper.languages.temporal.core":
        return "real"
    first, _, rest = name.removeprefix("attemper.").partition(".")
    if first == "exact":
        return "floats" if rest == "formats" else "real" if rest in {"balls", "laurent"} else "reader"
    if first != "checker" or not rest or rest in SAYING:
        return "reader"
    return "floats" if rest.startswith("round") else "real"


def _running(model: Model) -> Model:
    """The model's network, claimed to run its program."""
    assert model.realisation is not None
    language = ProgramLanguage(model.realisation.program, At.LAST, model.network.accepts_empty)
    return replace(model, language=language, regex="")


def _loaded_by(path: Path) -> tuple[str, set[str]]:
    """The status of what stands there, and the modules of a fresh process that has checked it."""
    script = (
        "import sys, pathlib, attemper.checker.__main__; from attemper.checker.folders import check_path; "
        "print(check_path(pathlib.Path(sys.argv[1])).status, *sys.modules)"
    )
    run = [sys.executable, "-c", script, str(path)]
    finished = subprocess.run(run, capture_output=True, text=True, check=True)
    status, *names = finished.stdout.split()
    return status, set(names)


def _ours(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "attemper"}


def _statements(names: set[str]) -> int:
    return sum(_statements_in(_tree(name)) for name in names)


def _tree(name: str) -> ast.Module:
    place = ROOT / "src" / Path(*name.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def _statements_in(tree: ast.AST) -> int:
    return sum(
        isinstance(node, ast.stmt)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(tree)
    )


def _functions(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _of_floats(name: str) -> list[ast.FunctionDef]:
    """The functions of a construction that neither its rule nor the stray mass in real numbers needs."""
    if not name.startswith("attemper.checker.constructions."):
        return []
    tree = _tree(name)
    functions = {function.name: function for function in _functions(tree)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {function.name for owner in classes for function in _functions(owner)}
    exact: set[str] = set()
    found = {name.rpartition(".")[2], "stray"}
    while found:
        exact |= found
        nodes = [node for one in found for node in ast.walk(functions[one])]
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        found = (named & functions.keys()) - methods - exact
    return [function for own, function in functions.items() if own not in exact]


def _branches(function: ast.FunctionDef) -> int:
    """The cyclomatic complexity as ruff counts it: one more for each way that can be taken."""
    kinds = ast.If | ast.For | ast.While | ast.ExceptHandler | ast.match_case | ast.FunctionDef
    ways = sum(isinstance(node, kinds) for node in ast.walk(function))
    cases = [node for node in ast.walk(function) if isinstance(node, ast.match_case)]
    return ways - sum(ast.unparse(case.pattern) == "_" and case.guard is None for case in cases)


@pytest.fixture(scope="module")
def proved(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that are loaded when networks of every kind and regime are PROVED."""
    folder = tmp_path_factory.mktemp("proved")
    parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    models = {
        "counting": attemper.compile("#<[a] <= #<[b] & even(pos)", "ab"),
        "temporal": attemper.compile("a S Y b", "ab", regime="temperature"),
        "decoder": attemper.compile("#<[a] % 3 = 1", "ab", regime="decoder"),
        "both sides": attemper.compile("#<[a] >= #>[b]", "ab"),
        "expression": attemper.compile_regex("a*b", "ab"),
        "automaton": attemper.compile_dfa(parity),
    }
    models["program"] = _running(models["temporal"])
    models["program with groups"] = _running(models["expression"])
    found: set[str] = set()
    for name, model in models.items():
        model.save(folder / name)
        save_certificate(model.certify(), folder / name)
        status, loaded = _loaded_by(folder / name)
        assert status == Status.PROVED, name
        found |= loaded
    return found


@pytest.fixture(scope="module")
def about_refutations(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The modules that are loaded when a refutation of a network is checked."""
    folder = tmp_path_factory.mktemp("refuted")
    assert run_command_line("compile", "O a", "--alphabet", "ab", "-o", folder / "net").code == 0
    options = ("--language", "parity", "--n", "8", "--free", "0.1", "-o", folder / "out.json")
    assert run_command_line("refute", folder / "net", *options).code == 0
    status, loaded = _loaded_by(folder / "out.json")
    assert status == Status.PROVED
    return loaded


def test_the_checker_imports_neither_heavy_libraries_nor_producers(proved: set[str]) -> None:
    assert {"attemper.checker.check", "attemper.checker.rounding.network", "flint"} <= proved
    assert not {name.split(".")[0] for name in proved} & set(HEAVY)
    assert not [name for name in proved if name.startswith(PRODUCERS)]


def test_a_proof_needs_no_meaning_and_no_counterexample(proved: set[str]) -> None:
    needless = ("meaning", "machine", "counterexample", "probing", "subcubes", "refutations")
    assert not [name for name in _ours(proved) if name.rpartition(".")[2].startswith(needless)]


def test_what_a_verdict_rests_on_is_counted_in_the_readme(
    proved: set[str], about_refutations: set[str]
) -> None:
    status, refuted = _loaded_by(CORPORA / "rejected" / "query_zeroed")
    assert status == Status.REFUTED
    base = _ours(proved) - REMARKS
    reader, real, floats = (
        _statements({name for name in base if _room(name) == room}) for room in ("reader", "real", "floats")
    )
    beside = sum(_statements_in(function) for name in base for function in _of_floats(name))
    real, floats = real - beside, floats + beside
    meanings = _ours(refuted) - base
    others = _ours(about_refutations) - base - meanings
    sentence = (
        f"PROVED rests on {reader:,} statements that read files and say what was found, {real:,} of "
        f"real arithmetic and {floats:,} of floats. REFUTED rests on {_statements(meanings):,} more, "
        f"a verdict on a refutation's file on {_statements(others):,} more"
    )
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert sentence in readme, f"the README must say: {sentence}"
    assert {"attemper.checker.counterexample", "attemper.languages.temporal.meaning"} <= meanings
    assert {"attemper.checker.probing", "attemper.checker.subcubes"} <= others
    assert reader + real + floats <= STATEMENTS


def test_the_float_part_of_each_construction_is_found() -> None:
    found = {
        path.stem: {function.name for function in _of_floats(f"attemper.checker.constructions.{path.stem}")}
        for path in (CHECKER / "constructions").glob("[!_]*.py")
    }
    assert found["select"] == found["neighbour"] == found["local_sign"] == {"loss"}
    assert found["uniform"] == {"offs", "_average"}
    assert found["sign"] == {"loss", "_alternates"}
    assert found["lookup"] == {"loss", "_lost", "_one_of_each_power"}


def test_no_function_of_the_checker_is_long_or_winding() -> None:
    for path in CHECKER.rglob("*.py"):
        for function in _functions(ast.parse(path.read_text(encoding="utf-8"))):
            assert function.end_lineno is not None
            lines = function.end_lineno - function.lineno + 1
            assert lines <= LINES, f"{path.name}: {function.name} has {lines} lines"
            if (path.stem, function.name) not in ONE_CASE_PER_STEP:
                ways = _branches(function)
                assert ways <= BRANCHES, f"{path.name}: {function.name} has {ways} branches"


def test_no_construction_has_a_long_file() -> None:
    for path in (CHECKER / "constructions").glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 150, path.name


def test_the_arithmetic_uses_no_floats_and_asks_nothing_of_the_process(proved: set[str]) -> None:
    arithmetic = {name for name in _ours(proved) if _room(name) in {"real", "floats"}} - SPEAKING
    assert {"attemper.checker.names", "attemper.checker.rounding.attention"} <= arithmetic
    for name in arithmetic:
        for node in ast.walk(_tree(name)):
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
