"""`python -m attemper.checker` where nothing but the standard library and python-flint can be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import attemper
from attemper.certificates.files import save as save_certificate
from attemper.errors import ExitCode
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.corpora.certificates import CORPORA

BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "numpy", "lark", "typer", "rich", "safetensors", "automata"}:
            raise ImportError(f"{name} is blocked")
        if name.startswith(("attemper.compiling", "attemper.running", "attemper.workbench")):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Blocker())
"""
"""Python runs a file of this name whenever it starts: in the process that checks, too."""

PARITY = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))

MODELS = {
    "counting": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "both sides": lambda: attemper.compile("#<[a] >= #>[b]", "ab", regime="temperature"),
    "temporal": lambda: attemper.compile("H (b -> Y a)", "ab", regime="decoder"),
    "read first": lambda: attemper.compile("G (a -> F b)", "ab", at="first"),
    "looked up": lambda: attemper.compile("prime(#<[a])", "ab"),
    "expression": lambda: attemper.compile(attemper.regex("(ab)*", "ab")),
    "automaton": lambda: attemper.compile(PARITY),
}


def alone(folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python where the libraries cannot be imported; `folder` is for the blocker."""
    (folder / "sitecustomize.py").write_text(BLOCKER, encoding="utf-8")
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.sweep(0, also=["looked up"])
@pytest.mark.parametrize("name", MODELS)
def test_saved_networks_are_proved_without_the_libraries(name: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    model.save(tmp_path / "net")
    save_certificate(model.certify(), tmp_path / "net")
    finished = alone(tmp_path, "-m", "attemper.checker", tmp_path / "net")
    assert finished.returncode == ExitCode.OK, finished.stdout + finished.stderr
    assert finished.stdout.startswith("PROVED\n  language: ")
    assert finished.stdout == run_command_line("check", tmp_path / "net", "--all").out
    as_json = alone(tmp_path, "-m", "attemper.checker", tmp_path / "net", "--json")
    assert as_json.stdout == run_command_line("check", tmp_path / "net", "--json").out


@pytest.mark.parametrize("name", ["torch", "numpy", "lark", "typer", "rich", "attemper.compiling.pipeline"])
def test_the_libraries_are_really_out_of_reach(name: str, tmp_path: Path) -> None:
    finished = alone(tmp_path, "-c", f"import {name}")
    assert finished.returncode == 1
    assert "is blocked" in finished.stderr


@pytest.mark.sweep(0)
def test_the_process_that_checks_cannot_reach_them_either(tmp_path: Path) -> None:
    """A refutation's file needs numpy: without it there is no answer, and so no proof."""
    assert run_command_line("compile", "O a", "--alphabet", "ab", "-o", tmp_path / "net").code == 0
    file = tmp_path / "out.json"
    options = ("zoo:parity", "--length", "8", "--free", "0.1", "-o", file)
    assert run_command_line("refute", tmp_path / "net", *options).code == 0
    assert subprocess.run([sys.executable, "-m", "attemper.checker", file], check=False).returncode == 0
    finished = alone(tmp_path, "-m", "attemper.checker", file)
    assert finished.returncode == ExitCode.UNKNOWN
    assert finished.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        (("--seconds", "0"), "seconds=0.0 must be more than 0"),
        (("--seconds", "nan"), "seconds=nan must be more than 0"),
        (("--memory", "0"), "memory=0 must be from 1"),
        (("--sec", "1"), "unrecognized arguments"),
        ((), "the following arguments are required"),
    ],
)
def test_wrong_usage_has_its_code(arguments: tuple[str, ...], fragment: str, tmp_path: Path) -> None:
    path = (tmp_path,) if arguments else ()
    finished = alone(tmp_path, "-m", "attemper.checker", *path, *arguments)
    assert finished.returncode == ExitCode.USAGE
    assert fragment in finished.stderr
    assert finished.stdout == ""


MOST_LOADED = 86
"""Modules of ours that the process loads which checks the network of a formula."""

NEEDLESS = (
    "attemper.attention_program.builder",
    "attemper.attention_program.machine",
    "attemper.attention_program.meaning",
    "attemper.attention_program.naming",
    "attemper.attention_program.parse",
    "attemper.attention_program.show",
    "attemper.checker.attention.averages",
    "attemper.checker.attention.counts",
    "attemper.checker.attention.parabolas",
    "attemper.checker.attention.parities",
    "attemper.checker.constructions.integer_value",
    "attemper.checker.constructions.lookup",
    "attemper.checker.counterexample",
    "attemper.checker.edited",
    "attemper.checker.explaining",
    "attemper.checker.reachability",
    "attemper.checker.normalised",
    "attemper.checker.numbers",
    "attemper.checker.program",
    "attemper.checker.realising",
    "attemper.checker.rounding.integers",
    "attemper.languages.regular.regex",
    "attemper.models",
    "attemper.theories",
    "attemper.workbench",
)
"""What `a S b` is not about: what programs do and say, automata, other heads, normalised or edited weights, a
theory. (What programs are, whoever reads a certificate must know.)
"""


def test_a_check_loads_what_it_needs() -> None:
    """In the process that `attemper check DIR` starts, for claims in real arithmetic and in every format."""
    script = (
        "import sys; from attemper.checker.child import _answer; found = _answer(sys.argv[1]); "
        "print(*[claim['status'] for claim in found['claims'][:1]], *sys.modules)"
    )
    folder = CORPORA / "accepted" / "since_as_certified"
    finished = subprocess.run(
        [sys.executable, "-c", script, folder], capture_output=True, text=True, check=True
    )
    verdict, *names = finished.stdout.split()
    loaded = sorted(name for name in names if name.partition(".")[0] == "attemper")
    assert verdict == "PROVED"
    assert not [name for name in loaded if f"{name}.".startswith(tuple(f"{each}." for each in NEEDLESS))]
    assert len(loaded) <= MOST_LOADED, loaded
