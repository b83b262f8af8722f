"""What must be trusted to believe a verdict: which modules are loaded, and how many statements they have."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.files import save as save_certificate
from attemper.checker.verdict import Status
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from tests import ROOT
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.drawn.nearest import dyck


def running(model: Model) -> Model:
    """The model's network, claimed to run its program."""
    assert model.realisation is not None
    language = ProgramLanguage(model.realisation.program, At.LAST, model.network.accepts_empty)
    return replace(model, language=Language(language, model.alphabet))


def loaded_by(*paths: Path, model: str | None = None) -> tuple[str, set[str]]:
    """The statuses of what stands there, and the modules of a fresh process that has checked all of it."""
    script = (
        "import sys, pathlib, attemper.checker.__main__; from attemper.checker.folders import check_path; "
        "model, *paths = sys.argv[1:]; "
        "found = [check_path(pathlib.Path(path), model=model or None).status for path in paths]; "
        "print('+'.join(sorted(set(found))), *sys.modules)"
    )
    run = [sys.executable, "-c", script, model or "", *map(str, paths)]
    finished = subprocess.run(run, capture_output=True, text=True, check=True)
    status, *names = finished.stdout.split()
    return status, set(names)


def ours(names: set[str]) -> set[str]:
    return {name for name in names if name.split(".")[0] == "attemper"}


@cache
def tree_of(name: str) -> ast.Module:
    place = ROOT / "src" / Path(*name.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return ast.parse(path.read_text(encoding="utf-8"))


def statements_in(tree: ast.AST) -> int:
    return sum(
        isinstance(node, ast.stmt)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in ast.walk(tree)
    )


def functions_in(tree: ast.AST) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def of_proofs(folder: Path) -> set[str]:
    """The modules that are loaded when networks of every kind and regime are PROVED."""
    parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    models = {
        "counting": attemper.compile("#<[a] <= #<[b] & even(pos)", "ab"),
        "temporal": attemper.compile("a S Y b", "ab", regime="temperature"),
        "decoder": attemper.compile("#<[a] % 3 = 1", "ab", regime="decoder"),
        "both sides": attemper.compile("#<[a] >= #>[b]", "ab"),
        "expression": attemper.compile(attemper.regex("a*b", "ab")),
        "automaton": attemper.compile(parity),
    }
    models["program"] = running(models["temporal"])
    models["integers"] = attemper.compile(attemper.program(dyck(1)), regime="unbounded")
    models["program with groups"] = running(models["expression"])
    for name, model in models.items():
        model.save(folder / name)
        save_certificate(model.certify(), folder / name)
    status, loaded = loaded_by(*(folder / name for name in models))
    assert status == Status.PROVED
    return loaded


def of_depths(folder: Path) -> set[str]:
    """The modules that are loaded when a file about depth is checked: a pair, and all classes."""
    place = folder / "depth.json"
    assert run_command_line("depth", "regex:(ab)*", "--alphabet", "ab", "-o", place).code == 0
    status, loaded = loaded_by(place)
    assert status == Status.PROVED
    return loaded
