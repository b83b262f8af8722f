"""No command writes into a folder that has somebody else's files, unless it is told to."""

from __future__ import annotations

from pathlib import Path

import pytest

import attemper as library
from attemper.errors import ExitCode
from tests.support.cli.command_line import attemper
from tests.support.drawn.training import tiny, written

MINE = (
    "from attemper import hard_network\nnetwork = hard_network('ab', embedding={'a': {'a': 1}}, output='a')\n"
)

WRITERS = {
    "compile": ["compile", "O a", "--alphabet", "ab", "-o", "out"],
    "compile of a zoo entry": ["compile", "zoo:first", "-o", "out"],
    "decompile": ["decompile", "net", "--network", "out"],
    "soften": ["soften", "places_mine:network", "-o", "out"],
    "data": ["data", "zoo:first", "--lengths", "0-3", "--count", "2", "-o", "out"],
    "train": ["train", "config.toml", "-o", "out"],
    "train --over": ["train", "config.toml", "--over", "seeds.init=[0]", "-o", "out"],
    "study": ["study", "--quick", "-o", "out"],
    "export": ["export", "net", "transformer-lens", "-o", "out"],
    "import": ["import", "exported", "-o", "out"],
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    library.compile("O a", "ab").save("net")
    Path("places_mine.py").write_text(MINE)
    written(tiny(), tmp_path)


def foreign() -> Path:
    notes = Path("out", "notes.txt")
    notes.parent.mkdir()
    notes.write_text("mine")
    return notes


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_with_other_files_is_refused(writer: str) -> None:
    notes = foreign()
    refused = attemper(*WRITERS[writer])
    assert (refused.code, refused.out) == (ExitCode.FILE, "")
    assert "'out' has other files than " in refused.err
    assert "such as 'notes.txt': name a new folder, or an empty one, or say --force" in refused.err
    assert [*Path("out").iterdir()] == [notes]


@pytest.mark.parametrize("writer", ["compile", "decompile", "data", "compile of a zoo entry"])
def test_it_is_written_to_by_force_and_what_stood_there_stays(writer: str) -> None:
    notes = foreign()
    assert attemper(*WRITERS[writer], "--force").code == 0
    assert notes.read_text() == "mine"
    assert len([*Path("out").iterdir()]) > 1
    # Now it is ours, too.
    assert attemper(*WRITERS[writer]).code == 0


def test_a_network_of_ours_is_replaced_and_an_empty_folder_is_filled() -> None:
    Path("out").mkdir()
    assert ", in place of" not in attemper(*WRITERS["compile"]).out
    assert ", in place of the network that was there" in attemper(*WRITERS["compile"]).out


def test_python_saves_where_it_is_told_to() -> None:
    notes = foreign()
    library.compile("O a", "ab").save("out")
    assert notes.exists()


def test_python_is_told_of_its_argument() -> None:
    foreign()
    model = library.compile("O a", "ab")
    with pytest.raises(library.AttemperError, match="or say force=True"):
        model.export("transformer-lens", "out")
