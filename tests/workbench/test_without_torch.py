"""Where torch is not installed: what compiles, proves or prints works, and the rest says what it needs."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copytree

import pytest

import attemper as library
from attemper.errors import ExitCode, OptionError
from attemper.missing import torch_needed
from tests.support.cli.absent import attemper_without, python_without
from tests.support.cli.command_line import attemper
from tests.support.slowly import mostly_slow

REMEDY = "torch is not installed, which running needs: pip install torch"
MAJORITY = "#<['0'] <= #<['1']"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with networks: majority, with its certificate, and once, which can be refuted."""
    made = tmp_path_factory.mktemp("without_torch")
    majority = library.compile(MAJORITY, "01", regime="decoder")
    majority.save(made / "majority", certificate=majority.certify())
    library.compile("O (b & Y a)", "ab").save(made / "once")
    return made


PROVING = {
    "compile": ["compile", "O a", "--alphabet", "ab", "-o", "made"],
    "compile a regex": ["compile", "regex:(b*ab*a)*b*", "--alphabet", "ab", "-o", "parity"],
    "certify": ["certify", "majority"],
    "check": ["check", "majority"],
    "check --explain": ["check", "majority", "--explain"],
    "check --edited": ["check", "majority", "--edited"],
    "show": ["show", "majority"],
    "show --json": ["show", "majority", "--json"],
    "classify": ["classify", "regex:(0|11)*", "--alphabet", "01"],
    "formula": ["to-formula", "regex:a*b", "--alphabet", "ab"],
    "zoo": ["zoo"],
    "zoo of one": ["zoo", "k-hop-2"],
    "zoo compiled": ["zoo", "parity-even", "-o", "even"],
    "soften": ["soften", "once", "--epsilon", "1/100", "-o", "soft"],
    "refute": [
        "refute",
        "once",
        "zoo:parity-even",
        "--length",
        "16",
        "--free",
        "0.8",
        "-o",
        "found.json",
    ],
    "lemma": ["lemma", "--c", "2", "--heads", "2"],
    "limits source": ["limits", "source", "dyck2", "--p", "1/3", "--length", "8"],
    "export circuit": ["export", "circuit", "majority", "-o", "majority-circuit.json"],
    "page": ["page", "majority", "-o", "majority.html"],
    "decompile": ["decompile", "majority"],
    "same": ["same", "majority", "formula:#<['1'] >= #<['0']"],
    "depth": ["depth", "regex:(ab)*", "--alphabet", "ab", "-o", "depth.json"],
    "help": ["--help"],
    "help of run": ["run", "--help"],
    "version": ["--version"],
}

FAST = ("compile", "check", "export circuit", "page")
"""What is tried in every `make test`."""

RUNNING = {
    "run of several words": ["run", "majority", "0110", "01"],
    "run in float32": ["run", "majority", "0110", "--dtype", "float32"],
    "trace": ["trace", "majority", "0110"],
    "verify": ["verify", "majority"],
    "verify --jobs": ["verify", "majority", "--jobs", "2"],
    "influence": ["influence", "majority", "--n", "8"],
    "show --engines": ["show", "majority", "--engines"],
    "export torch": ["export", "torch", "majority", "-o", "majority.pt2"],
}


def files_in(folder: Path) -> dict[Path, bytes]:
    return {file.relative_to(folder): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.mark.parametrize("name", mostly_slow(PROVING, FAST))
def test_proving_needs_no_torch(name: str, folder: Path, tmp_path: Path) -> None:
    """The command does and says what it does and says with torch."""
    without = attemper_without({"torch"}, Path(copytree(folder, tmp_path / "without")), *PROVING[name])
    with_torch = attemper_without((), Path(copytree(folder, tmp_path / "with")), *PROVING[name])
    assert without == with_torch
    outcome, loaded = without
    assert outcome.code == ExitCode.OK
    assert "torch" not in loaded
    assert files_in(tmp_path / "without") == files_in(tmp_path / "with")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("arguments", RUNNING.values(), ids=RUNNING)
def test_running_says_what_to_install(arguments: list[str], folder: Path) -> None:
    without, _ = attemper_without({"torch"}, folder, *arguments)
    assert (without.code, without.out, without.err) == (ExitCode.USAGE, "", f"error: {REMEDY}\n")


def test_programs_are_told_in_json(folder: Path) -> None:
    without, _ = attemper_without({"torch"}, folder, "trace", "majority", "0110", "--json")
    assert (without.code, without.out) == (ExitCode.USAGE, "")
    assert json.loads(without.err) == {"error": {"code": 2, "name": "usage", "message": REMEDY}}


def test_a_stream_needs_no_torch(folder: Path) -> None:
    without, loaded = attemper_without({"torch"}, folder, "run", "majority", "--stream", stdin="0110\n001\n")
    said = attemper("run", folder / "majority", "--stream", stdin="0110\n001\n")
    assert (without.code, without.out) == (said.code, said.out) == (ExitCode.OK, "0111\n000\n")
    assert "numpy" not in loaded


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "words",
    [["0110"], ["0110", "--json"], ["0110", "", "01", "--engine", "numpy"], ["", "--weights", "hard"]],
)
def test_one_short_word_needs_no_torch(words: list[str], folder: Path) -> None:
    without, loaded = attemper_without({"torch"}, folder, "run", "majority", *words)
    said = attemper("run", folder / "majority", *words)
    assert without == said
    assert without.code == ExitCode.OK
    assert "torch" not in loaded


def test_where_torch_is_it_is_not_loaded_for_one_short_word(folder: Path) -> None:
    outcome, loaded = attemper_without((), folder, "run", "majority", "0110")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "accepted  0110  0111\n")
    assert "torch" not in loaded


@pytest.mark.parametrize("name", ["lark", "torchvision", "attemper.torch", None])
def test_other_modules_that_are_missed_are_no_torch(name: str | None) -> None:
    with pytest.raises(ModuleNotFoundError, match="gone"), torch_needed():
        raise ModuleNotFoundError("gone", name=name)


def test_a_part_of_torch_that_is_missed_is_torch() -> None:
    with pytest.raises(OptionError, match="pip install torch"), torch_needed():
        raise ModuleNotFoundError("gone", name="torch.nn")


DOORS = [
    "model.accepts('0110', dtype='float32')",
    "model.accepts('0110', engine='fused')",
    "model.run(['0110', '01'])",
    "model.trace('0110')",
    "model.dense()",
    "model.cfg",
    "model.scans(9, 'soft', 'float64', 'auto')",
    "model.to_tokens(['0110'])",
    "model.export('torch', 'majority.pt2')",
    "attemper.verify(model)",
    "attemper.load_softened('majority')",
]


def test_python_is_told_the_same(folder: Path) -> None:
    """Every door to torch is an `OptionError`; proving, loading, streams and single short words are not."""
    script = f"""
import attemper
model = attemper.load("majority")
print(model.check(model.certify()).status, model.stream().push("1"))
print(model.accepts("0110"), model.positions("10"), model.output("0"), next(model.run(["01"])).bits)
for door in {DOORS!r}:
    try:
        eval(door)
    except attemper.AttemperError as error:
        print(door, type(error).__name__, error)
"""
    found = python_without({"torch"}, script, folder)
    assert (found.code, found.err) == (0, "")
    ran = "True (True, True) (False,) (False, True)"
    assert found.out.splitlines() == ["PROVED True", ran, *(f"{door} OptionError {REMEDY}" for door in DOORS)]
