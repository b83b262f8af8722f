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

PRODUCERS = (
    "attemper.certifying",
    "attemper.compiling",
    "attemper.running",
    "attemper.workbench",
)
HEAVY = ("torch", "numpy", "lark", "typer", "rich", "safetensors")

STATEMENTS = 5_150
"""Lines of logic (Python statements without docstrings) that PROVED may rest on, all in all."""

REMARKS = {"attemper.languages.regular.regex", "attemper.languages.regular.files"}
"""They read the source that a network's folder names, which makes it MALFORMED at most."""

SAYING = {"__main__", "limits", "child", "folders", "report", "verdict"}
"""The files of the checker that read what is to be checked and say what was found."""


def _room(name: str) -> str:
    """Which of the README's numbers a module that a check of a network loads belongs to."""
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
    places = [ROOT / "src" / Path(*name.split(".")) for name in names]
    files = [place / "__init__.py" if place.is_dir() else place.with_suffix(".py") for place in places]
    return sum(map(_statements_in, files))


def _statements_in(path: Path) -> int:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return sum(
        isinstance(node, ast.stmt)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in nodes
    )


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
    assert {"attemper.checker.check", "attemper.checker.rounding", "flint"} <= proved
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
