"""What users install: the wheel's contents, the versions that it asks for, and those that were tested."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import attemper
from attemper.exports.kinds import ExportTarget
from attemper.missing import TORCH
from attemper.registry import COMMANDS
from tests.support.cli.wheel_tour import STEPS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "attemper"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")


def files_of_the_package() -> dict[str, bytes]:
    """What stands in src/attemper, by its path in the wheel, but what Python leaves there."""
    found = (path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(SOURCE.parent).as_posix(): path.read_bytes() for path in found}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of what it is built from, without going anywhere."""
    copy = tmp_path_factory.mktemp("package")
    for name in BUILT_FROM:
        shutil.copy(ROOT / name, copy)
    shutil.copytree(SOURCE, copy / "src" / "attemper", ignore=shutil.ignore_patterns("__pycache__"))
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, "-w", "dist", "."], cwd=copy, check=True)
    (built,) = (copy / "dist").iterdir()
    return built


@pytest.fixture(scope="module")
def contents(wheel: Path) -> dict[str, bytes]:
    """The files in the wheel."""
    with zipfile.ZipFile(wheel) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


@pytest.fixture(scope="module")
def metadata(contents: dict[str, bytes]) -> Message:
    """What the wheel says of itself."""
    (name,) = (name for name in contents if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(contents[name])


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(contents: dict[str, bytes]) -> None:
    ours = {name: text for name, text in contents.items() if ".dist-info/" not in name}
    expected = files_of_the_package()
    assert {"attemper/certificates/FORMAT.md", "attemper/py.typed"} <= set(expected)
    assert set(ours) == set(expected)
    assert ours == expected


def test_the_wheel_has_the_command_and_the_licence(contents: dict[str, bytes]) -> None:
    beside = {name.partition(".dist-info/")[2]: text for name, text in contents.items()}
    assert b"attemper = attemper.__main__:main" in beside["entry_points.txt"]
    assert beside["licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_wheel_says_what_it_is(metadata: Message) -> None:
    assert (metadata["Name"], metadata["Version"]) == ("attemper", attemper.__version__)
    assert set(metadata.get_all("Provides-Extra", [])) == set(EXTRAS)
    assert metadata.get_payload(decode=True) == (ROOT / "README.md").read_bytes()


def test_what_is_in_the_wheel_runs_and_prints_its_rules(wheel: Path, tmp_path: Path) -> None:
    """FORMAT.md, which `attemper check` names, can be read where only the wheel is."""
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(tmp_path)
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['attemper', 'check', '--rules']; "
        f"import attemper; assert attemper.__file__.startswith({str(tmp_path)!r}); "
        "from attemper.__main__ import main; main()"
    )
    printed = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, check=True).stdout
    assert printed == (SOURCE / "certificates" / "FORMAT.md").read_bytes()


# Versions ------------------------------------------------------------------------------------------


def constraints() -> dict[str, Version]:
    """The exact versions in constraints.txt, by name."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    pinned = [re.fullmatch(r"([a-z0-9-]+)==([0-9a-z.]+)", line) for line in lines]
    assert all(pinned)
    assert lines == sorted(set(lines))
    found = {one[1]: Version(one[2]) for one in pinned if one is not None}
    assert len(found) == len(lines)
    return found


def asked_for() -> list[Requirement]:
    """All that the package and its extras ask for, but the package's own extras."""
    named = [*PROJECT["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]
    return [one for one in map(Requirement, named) if one.name != "attemper"]


@pytest.mark.parametrize("requirement", asked_for(), ids=str)
def test_everything_is_tested_with_one_version_that_users_may_have(requirement: Requirement) -> None:
    pinned = constraints()[canonicalize_name(requirement.name)]
    assert requirement.specifier.contains(pinned)


@pytest.mark.parametrize("text", PROJECT["dependencies"])
def test_users_get_ranges_that_end(text: str) -> None:
    """No exact version, which would keep other packages out; and nothing that was never tried."""
    operators = {one.operator for one in Requirement(text).specifier}
    assert operators == {">=", "<"}


def test_the_bounds_on_python_are_what_tests_reach() -> None:
    said = {one.removeprefix("Programming Language :: Python :: ") for one in PROJECT["classifiers"]}
    tested = sorted(Version(one) for one in said if re.fullmatch(r"3\.\d+", one))
    assert Requirement(f"attemper{PROJECT['requires-python']}").specifier == (
        Requirement(f"attemper>={tested[0]},<3.{tested[-1].minor + 1}").specifier
    )
    assert [one.minor for one in tested] == list(range(tested[0].minor, tested[-1].minor + 1))


def test_every_extra_that_an_error_names_exists() -> None:
    named = re.compile(r"""attemper\[([\w-]+)\]|library(?:_needed)?\("[\w.]+", "([\w-]+)\"""")
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    said = {extra for text in texts for found in named.findall(text) for extra in found if extra}
    assert {"cluster", "play", "report", "hugging-face"} <= said
    assert said | {TORCH} | {kind.extra for kind in ExportTarget} <= set(EXTRAS)


def test_torch_is_an_extra_that_others_bring() -> None:
    """Whoever exports to a library of tensors, or trains, has torch with it; nobody else has."""
    assert "torch" not in {Requirement(one).name for one in PROJECT["dependencies"]}
    bring = {extra for extra, ones in EXTRAS.items() if "attemper[torch]" in ones}
    assert bring == {"hugging-face", "transformer-lens", "onnx", "report"}


def test_the_tour_of_the_wheel_runs_every_command() -> None:
    commands = [step.command.split() for step in STEPS]
    assert {words[1] for words in commands if words[0] == "attemper"} == {
        "--version",
        *(command.name for command in COMMANDS),
    }


# Citation ------------------------------------------------------------------------------------------

CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")

ENTITY = {"name"}
PERSON = {"family-names", "given-names"}
ARTICLE = {"type", "title", "authors", "journal", "volume", "year", "start", "end", "doi"}
WORK = {
    *("cff-version", "message", "title", "authors"),
    *("type", "abstract", "version", "license", "keywords", "references"),
}
"""Keys that the Citation File Format, version 1.2.0, has; of a work the first four are required."""


def test_what_is_cited_is_this_version() -> None:
    said = dict(re.findall(r"^([a-z-]+): *(.*)$", CITATION, re.MULTILINE))
    assert set(said) == WORK
    assert (said["cff-version"], said["version"]) == ("1.2.0", attemper.__version__)
    assert said["license"] == PROJECT["license"]
    assert f"name: {PROJECT['authors'][0]['name']}" in CITATION


@pytest.mark.exports
def test_the_citation_is_a_citation_file() -> None:
    """As its format says, key by key; needs a reader of YAML."""
    import yaml

    found = yaml.safe_load(CITATION)
    assert (set(found), found["type"]) == (WORK, "software")
    assert [set(author) for author in found["authors"]] == [ENTITY]
    assert all(isinstance(found[key], str) for key in ("message", "title", "abstract", "version"))
    papers = found["references"]
    assert [paper["authors"][0]["family-names"] for paper in papers] == ["Yang", "Hahn"]
    for paper in papers:
        assert (set(paper), paper["type"]) == (ARTICLE, "article")
        assert all(set(author) == PERSON for author in paper["authors"])
        assert all(type(paper[key]) is int for key in ("volume", "year", "start", "end"))
        assert re.fullmatch(r"10\.\d{4,9}/\S+", paper["doi"])
