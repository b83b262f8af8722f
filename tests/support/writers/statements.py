"""What must be trusted to believe a verdict, counted in statements:
`python -m tests.support.writers.statements`.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.files import save as save_certificate
from attemper.checker.verdict import Status
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.workbench.model import Model
from tests import ROOT
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.corpora.certificates import CORPORA
from tests.support.drawn.nearest import dyck

REMARKS = {f"attemper.languages.regular.{name}" for name in ("regex", "files", "minimal")}
"""They read the source that a network's folder names, which makes it MALFORMED at most."""

PAIR = {"attemper.theories.depth.check.pairs"}
"""That no k layers tell two words apart rests on this file, and on what reads a language."""

SAYING = {"__main__", "limits", "child", "folders", "report", "verdict"}
"""The files of the checker that read what is to be checked and say what was found."""


def room(name: str) -> str:
    """Which of the README's numbers a module that a check of a network loads belongs to.

    The float part of a construction stands beside the exact one, in the same file: `of_floats` finds it.
    """
    if name in {"attemper.languages.temporal.core", "attemper.networks.constants"}:
        return "real"
    first, _, rest = name.removeprefix("attemper.").partition(".")
    if first == "exact":
        return (
            "floats" if rest == "formats" else "real" if rest in {"balls", "laurent", "roots"} else "reader"
        )
    if first != "checker" or not rest or rest in SAYING:
        return "reader"
    return "floats" if rest.startswith("round") else "real"


def running(model: Model) -> Model:
    """The model's network, claimed to run its program."""
    assert model.realisation is not None
    language = ProgramLanguage(model.realisation.program, At.LAST, model.network.accepts_empty)
    return replace(model, language=language, regex="")


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


def statements_of(names: set[str]) -> int:
    return sum(statements_in(tree_of(name)) for name in names)


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


def of_floats(name: str) -> list[ast.FunctionDef]:
    """The functions of a construction that neither its rule nor the stray mass in real numbers needs."""
    if not name.startswith("attemper.checker.constructions."):
        return []
    tree = tree_of(name)
    functions = {function.name: function for function in functions_in(tree)}
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    methods = {function.name for owner in classes for function in functions_in(owner)}
    exact: set[str] = set()
    found = {name.rpartition(".")[2], "stray"}
    while found:
        exact |= found
        nodes = [node for one in found for node in ast.walk(functions[one])]
        named = {node.id for node in nodes if isinstance(node, ast.Name)}
        found = (named & functions.keys()) - methods - exact
    exact.add("least_lead")  # of the hard head: exact
    return [function for own, function in functions.items() if own not in exact]


def of_proofs(folder: Path) -> set[str]:
    """The modules that are loaded when networks of every kind and regime are PROVED."""
    parity = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
    models = {
        "counting": attemper.compile("#<[a] <= #<[b] & even(pos)", "ab"),
        "temporal": attemper.compile("a S Y b", "ab", regime="temperature"),
        "decoder": attemper.compile("#<[a] % 3 = 1", "ab", regime="decoder"),
        "both sides": attemper.compile("#<[a] >= #>[b]", "ab"),
        "expression": attemper.compile_regex("a*b", "ab"),
        "automaton": attemper.compile_dfa(parity),
    }
    models["program"] = running(models["temporal"])
    models["integers"] = attemper.compile_program(dyck(1), regime="unbounded")
    models["program with groups"] = running(models["expression"])
    for name, model in models.items():
        model.save(folder / name)
        save_certificate(model.certify(), folder / name)
    status, loaded = loaded_by(*(folder / name for name in models))
    assert status == Status.PROVED
    return loaded


def of_refutations(folder: Path) -> set[str]:
    """The modules that are loaded when a refutation of a network is checked."""
    assert run_command_line("compile", "O a", "--alphabet", "ab", "-o", folder / "net").code == 0
    options = ("--language", "parity", "--n", "8", "--free", "0.1", "-o", folder / "out.json")
    assert run_command_line("refute", folder / "net", *options).code == 0
    status, loaded = loaded_by(folder / "out.json")
    assert status == Status.PROVED
    return loaded


def of_bounds(folder: Path) -> set[str]:
    """The modules that are loaded when a bound on what one symbol can change is checked, and its encoder."""
    encoder = "tests.support.drawn.encoders:untrained"
    options = ("--margin", "1", "-o", folder / "bound.json")
    assert run_command_line("limits", "bound", encoder, *options).code == 0
    status, loaded = loaded_by(folder / "bound.json", model=encoder)
    assert status == Status.PROVED
    return loaded


def of_depths(folder: Path) -> set[str]:
    """The modules that are loaded when a file about depth is checked: a pair, and all classes."""
    place = folder / "depth.json"
    assert run_command_line("depth", "--regex", "(ab)*", "--alphabet", "ab", "-o", place).code == 0
    status, loaded = loaded_by(place)
    assert status == Status.PROVED
    return loaded


@dataclass(frozen=True)
class Counted:
    """How many statements verdicts rest on, and the modules that only REFUTED and other files need."""

    reading: int
    real: int
    floats: int
    meanings: set[str]
    others: set[str]
    bounds: set[str]
    depths: set[str]

    @property
    def sentence(self) -> str:
        """What the README says of it."""
        return (
            f"PROVED rests on {self.reading:,} statements that read files and say what was found, "
            f"{self.real:,} of real arithmetic and {self.floats:,} of floats. REFUTED rests on "
            f"{statements_of(self.meanings):,} more, a verdict on a refutation's file on "
            f"{statements_of(self.others):,} more, on a bound's file on {statements_of(self.bounds):,} more, "
            f"on a file about depth on {statements_of(self.depths):,} more, {statements_of(PAIR)} of which "
            "judge two words"
        )


def counted(folder: Path, proved: set[str]) -> Counted:
    """What verdicts rest on, given the modules of proofs."""
    status, refuted = loaded_by(CORPORA / "rejected" / "query_zeroed")
    assert status == Status.REFUTED
    base = ours(proved) - REMARKS
    reading, real, floats = (
        statements_of({name for name in base if room(name) == one}) for one in ("reader", "real", "floats")
    )
    beside = sum(statements_in(function) for name in base for function in of_floats(name))
    meanings = ours(refuted) - base
    others = ours(of_refutations(folder)) - base - meanings
    bounds = ours(of_bounds(folder)) - base - meanings
    depths = ours(of_depths(folder)) - base - meanings
    return Counted(reading, real - beside, floats + beside, meanings, others, bounds, depths)


def main() -> None:
    """Print the README's sentence."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(counted(folder / "refuted", of_proofs(folder)).sentence)  # noqa: T201 - what is asked for


if __name__ == "__main__":
    main()
