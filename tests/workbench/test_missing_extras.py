"""Where no extra is installed: what needs one names the one, writes nothing, and everything else works."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import attemper as library
from attemper.errors import ExitCode
from attemper.exports.kinds import ExportTarget
from tests.support.cli.absent import attemper_without, python_without
from tests.support.cli.command_line import attemper
from tests.support.slowly import mostly_slow

ROOT = Path(__file__).parents[2]

NEEDED = {
    ExportTarget.HUGGING_FACE: "hugging-face",
    ExportTarget.GPT2: "hugging-face",
    ExportTarget.TRANSFORMER_LENS: None,
    ExportTarget.ONNX: "onnx",
    ExportTarget.TORCH: None,
    ExportTarget.CIRCUIT: None,
    ExportTarget.COQ: None,
}
"""The extra that each kind of export needs to be written."""

OPTIONS = {ExportTarget.GPT2: ["--positions", "16"]}


def libraries() -> set[str]:
    """What all extras for users bring, by the names that are imported."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    named = [Requirement(one).name for extra, ones in extras.items() if "dev" not in extra for one in ones]
    ours = {"attemper", "torch"}  # torch has tests of its own: test_without_torch.py
    return {name.replace("-", "_") for name in named} - ours | {"distributed"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("extras")
    model = library.compile("#<['0'] <= #<['1']", "01")
    model.save(made / "majority", certificate=model.certify())
    return made


def test_the_extras_are_known() -> None:
    assert {"transformers", "tokenizers", "transformer_lens", "onnx", "starlette", "dask"} <= libraries()
    assert set(NEEDED) == set(ExportTarget)


@pytest.fixture
def none_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No extra can be imported in this process: one of its own would import torch."""
    for name in libraries():
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("none_here")
@pytest.mark.parametrize("kind", [kind for kind, extra in NEEDED.items() if extra])
def test_an_export_names_the_extra_that_it_needs(kind: ExportTarget, folder: Path, tmp_path: Path) -> None:
    arguments = ["export", folder / "majority", kind, "-o", tmp_path / "out", *OPTIONS.get(kind, [])]
    found = attemper(*arguments)
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    (line,) = found.err.splitlines()
    assert line.startswith("error: ")
    extra = NEEDED[kind]
    assert line.endswith(f"pip install 'attemper[{extra}]' (in a clone: '.[{extra}]')")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "kind", mostly_slow([kind for kind, extra in NEEDED.items() if not extra], [ExportTarget.CIRCUIT])
)
def test_other_exports_need_none(kind: ExportTarget, folder: Path, tmp_path: Path) -> None:
    found, loaded = attemper_without(
        libraries(), folder, "export", "majority", kind, "-o", tmp_path / "out.pt2"
    )
    assert (found.code, found.err) == (ExitCode.OK, "")
    assert (tmp_path / "out.pt2").is_file() == kind.is_file
    assert (tmp_path / "out.pt2" / "network.json").is_file() != kind.is_file
    assert not loaded & libraries()


LOADING = {
    "attemper.exports.transformer_lens": ("load('majority')", "transformer-lens"),
    "attemper.exports.hugging_face": ("AttemperConfig", "hugging-face"),
}
"""What exported folders are read with, and the extra that it needs."""


@pytest.mark.sweep(1)  # the other one imports torch
@pytest.mark.parametrize("module", LOADING)
def test_what_reads_an_export_names_its_extra(module: str, folder: Path) -> None:
    """Where it is imported or where it is asked, as a library is needed."""
    expression, extra = LOADING[module]
    script = f"""
import attemper
try:
    import {module} as it
    it.{expression}
except attemper.AttemperError as error:
    print(type(error).__name__, *str(error).partition(": ")[2].split()[:3])
"""
    found = python_without(libraries(), script, folder)
    assert (found.code, found.out, found.err) == (0, f"OptionError pip install 'attemper[{extra}]'\n", "")


def test_a_playground_names_its_extra(folder: Path) -> None:
    found, _ = attemper_without(libraries(), folder, "play")
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    assert "pip install 'attemper[play]'" in found.err


@pytest.mark.usefixtures("none_here")
def test_a_scheduler_names_its_extra(folder: Path) -> None:
    found = attemper("verify", folder / "majority", "--scheduler", "tcp://127.0.0.1:1", "--up-to", "3")
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    assert "pip install 'attemper[cluster]'" in found.err


@pytest.mark.sweep(0)
def test_python_is_told_the_same(folder: Path, tmp_path: Path) -> None:
    wanted = {str(kind): extra for kind, extra in NEEDED.items() if extra}
    script = f"""
import attemper
model = attemper.load("majority")
for kind in {sorted(wanted)!r}:
    try:
        model.export(kind, {str(tmp_path / "out")!r}, positions=16 if kind == "gpt2" else None)
    except attemper.AttemperError as error:
        print(kind, type(error).__name__, str(error).partition("attemper[")[2].partition("]")[0])
"""
    found = python_without(libraries(), script, folder)
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines() == [f"{kind} OptionError {wanted[kind]}" for kind in sorted(wanted)]
    assert not (tmp_path / "out").exists()
