"""Exports replace what exports of their kind have written, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import attemper
from attemper.errors import MalformedFileError
from attemper.exports.kinds import ExportTarget
from attemper.exports.places import OF_NETWORKS, require_place
from attemper.exports.subject import Exported

FILES = [kind for kind in ExportTarget if kind.is_file]
FOLDERS = [kind for kind in ExportTarget if not kind.is_file]


def test_a_networks_own_files_are_not_written_over(tmp_path: Path) -> None:
    model = attemper.compile("O a", "ab")
    Exported(model.network, model.source, model.certify()).save(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert {path.name for path in before} == set(OF_NETWORKS)
    for path in before:
        with pytest.raises(MalformedFileError, match="a network's own file"):
            model.export("circuit", path)
    (tmp_path / "link").symlink_to(tmp_path / "network.json")
    with pytest.raises(MalformedFileError, match="a network's own file"):
        model.export("circuit", tmp_path / "link")
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("kind", FOLDERS)
def test_folders_of_something_else_are_refused(kind: ExportTarget, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(MalformedFileError, match=r"such as 'README\.md': name a new folder, or an empty one"):
        require_place(kind, tmp_path)
    require_place(kind, tmp_path / "new")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / ".git").mkdir()
    require_place(kind, tmp_path / "empty")


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 10**5, '{"model_type": 1}', '{"a": 1, "a": 1}'])
def test_no_configuration_is_no_export(text: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(text)
    for kind in FOLDERS:
        with pytest.raises(MalformedFileError, match=r"such as 'config\.json'"):
            require_place(kind, tmp_path)


def test_folders_know_their_own_kind(tmp_path: Path) -> None:
    model = attemper.compile("O a", "ab", at="last")
    model.export("transformer-lens", tmp_path)
    model.export("transformer-lens", tmp_path)
    for kind in (ExportTarget.GPT2, ExportTarget.HUGGING_FACE):
        with pytest.raises(MalformedFileError, match="other files than those of an export"):
            require_place(kind, tmp_path)


@pytest.mark.exports
@pytest.mark.parametrize("kind", [ExportTarget.GPT2, ExportTarget.HUGGING_FACE])
def test_an_export_is_replaced_by_one_of_its_kind(kind: ExportTarget, tmp_path: Path) -> None:
    options = {"positions": 8} if kind is ExportTarget.GPT2 else {}
    for formula in ("O a", "O b"):
        attemper.compile(formula, "ab", at="last").export(kind, tmp_path, **options)
    for other in FOLDERS:
        if other is not kind:
            with pytest.raises(MalformedFileError, match="other files than those of an export"):
                require_place(other, tmp_path)


@pytest.mark.parametrize("kind", FILES)
def test_files_and_folders_do_not_replace_each_other(kind: ExportTarget, tmp_path: Path) -> None:
    with pytest.raises(MalformedFileError, match="is a folder"):
        require_place(kind, tmp_path)
    (tmp_path / "file").touch()
    require_place(kind, tmp_path / "file")
    for folder in FOLDERS:
        with pytest.raises(MalformedFileError, match="is a file"):
            require_place(folder, tmp_path / "file")
