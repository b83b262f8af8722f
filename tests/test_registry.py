"""The registry: `--help` lists what commands say of themselves, and loads none; every file has one judge."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

from attemper.certificates import files
from attemper.certificates.files import CERTIFICATE
from attemper.checker.folders import check_path, judge_of
from attemper.checker.verdict import Judge, Status
from attemper.documents import Document
from attemper.registry import COMMANDS, DOCUMENTS, FORMATS, Command, FileFormat
from tests.support.cli.command_line import attemper


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_line_is_the_first_sentence_of_the_docstring(command: Command) -> None:
    module, _, name = command.home.partition(":")
    loaded = getattr(import_module(module), name)
    said = loaded.info.help if isinstance(loaded, typer.Typer) else inspect.getdoc(loaded)
    assert command.help == said.partition("\n")[0]


def test_no_two_commands_have_one_name() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def document(kind: str) -> Document[object]:
    """What the registry names for a kind of file."""
    module, _, name = DOCUMENTS[kind].partition(":")
    found: Document[object] = getattr(import_module(module), name)
    return found


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.prefix)
def test_a_judge_takes_a_path_and_a_model(row: FileFormat) -> None:
    module, _, name = row.judge.partition(":")
    parameters = inspect.signature(getattr(import_module(module), name)).parameters
    assert tuple(parameters) == tuple(inspect.signature(Judge.__call__).parameters)[1:]


def test_each_format_has_one_judge_and_is_specified() -> None:
    rules = (Path(files.__file__).parent / "FORMAT.md").read_text(encoding="utf-8")
    for kind in ("approximation", "causal", "depth", "bound", "refutation", "rotation"):
        form = document(kind).format
        assert sum(form.startswith(row.prefix) for row in FORMATS) == 1, form
        assert form in rules, form
    assert len(FORMATS) == 7


@pytest.mark.parametrize("kind", DOCUMENTS)
def test_a_kind_of_file_is_a_document_whose_format_is_its_own(kind: str) -> None:
    """Its name is that of no other kind, and it has a version."""
    assert isinstance(document(kind), Document)
    formats = [document(other).format for other in DOCUMENTS]
    assert formats.count(document(kind).format) == 1
    assert re.fullmatch(r"attemper-[a-z-]+/[1-9][0-9]*", document(kind).format)


@pytest.mark.parametrize("row", FORMATS, ids=lambda row: row.prefix)
def test_a_format_in_the_wrong_place_is_malformed(row: FileFormat, tmp_path: Path) -> None:
    """That of a file in a folder, that of a folder in a file, and a version that there is not."""
    text = json.dumps({"format": f"{row.prefix}99"})
    (tmp_path / CERTIFICATE).write_text(text, encoding="utf-8")
    (tmp_path / "file.json").write_text(text, encoding="utf-8")
    for place in (tmp_path, tmp_path / "file.json"):
        assert check_path(place).status is Status.MALFORMED


@pytest.mark.parametrize("said", ["", "attemper-refutation", "os:system", "attemper.checker:judge", 1, None])
def test_a_file_names_no_judge_but_by_its_format(said: object, tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"format": said, "judge": "os:system"}), encoding="utf-8")
    assert judge_of(path) is None
    assert check_path(path).status is Status.MALFORMED


def loaded_by(*arguments: str) -> set[str]:
    """The modules that the command has loaded when it ends, in a process of its own."""
    script = (
        f"import sys; sys.argv[1:] = {list(arguments)!r}; import attemper.__main__ as it\n"
        "try: it.main()\n"
        "except SystemExit: pass\n"
        "print('loaded', *sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(finished.stdout.rpartition("loaded ")[2].split())


@pytest.mark.sweep(2)
@pytest.mark.parametrize("arguments", [["--help"], [], ["chek"], ["--version"]])
def test_help_loads_no_command(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments)
    needed = {
        "attemper",
        "attemper.__main__",
        "attemper.errors",
        "attemper.escapes",
        "attemper.registry",
        "attemper.workbench",
        "attemper.workbench.cli",
        *(f"attemper.workbench.cli.{name}" for name in ("app", "console", "failing", "retired")),
    }
    own = {name for name in loaded if name.partition(".")[0] == "attemper"} - {"attemper.version"}
    assert own == needed, own - needed
    assert ("attemper.version" in loaded) == (arguments == ["--version"])
    assert len(needed) <= 12
    assert not {"numpy", "torch", "lark", "flint"} & loaded


def test_a_command_behind_two_dashes_is_the_command() -> None:
    assert attemper("--", "run", "--help").out == attemper("run", "--help").out


def test_only_training_imports_pydantic() -> None:
    """Typer does so by itself; what is measured here is what our modules do."""
    homes = [c.home.partition(":")[0] for c in COMMANDS if c.name not in ("data", "train", "study")]
    script = f"import sys, {', '.join(homes)}; print(*sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = finished.stdout.split()
    assert "pydantic" not in loaded, [name for name in loaded if name.startswith("attemper.training")]
