"""Files are written completely, in the place of files alone, and nothing else is touched."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from attemper.errors import MalformedFileError
from attemper.writing import write_together


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_folders_are_made_and_files_replaced(tmp_path: Path) -> None:
    places = {tmp_path / "deep" / "one": b"1", tmp_path / "two": b"2"}
    (tmp_path / "two").write_bytes(b"old")
    write_together(places)
    assert {path: path.read_bytes() for path in places} == places
    assert _names(tmp_path) == ["deep", "two"]


def test_a_new_file_has_the_rights_that_other_programs_would_give_it(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    write_together({tmp_path / "new": b""})
    rights = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("plain", "new")]
    assert rights[0] == rights[1]


def test_a_file_that_is_replaced_keeps_its_rights(tmp_path: Path) -> None:
    (tmp_path / "private").touch(mode=0o600)
    write_together({tmp_path / "private": b"1"})
    assert stat.S_IMODE((tmp_path / "private").stat().st_mode) == 0o600


def test_two_files_in_one_place_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(MalformedFileError, match="two of the files to write are one"):
        write_together({tmp_path / "file": b"1", tmp_path / "link": b"2"})
    assert not (tmp_path / "file").exists()


def test_pipes_devices_and_folders_stay_what_they_are(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "null").symlink_to(os.devnull)
    for name, kind in (("pipe", "a pipe"), ("folder", "a folder"), ("null", "a device")):
        with pytest.raises(MalformedFileError, match=f"it is {kind}, no file; name another place"):
            write_together({tmp_path / "first": b"1", tmp_path / name: b"2"})
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert (tmp_path / "null").is_symlink()
    assert not (tmp_path / "first").exists()


def test_a_link_stands_for_what_it_names(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "named")
    write_together({tmp_path / "link": b"new"})
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "named").read_bytes() == b"new"
    assert _names(tmp_path / "far") == ["named"]


def test_what_others_call_a_part_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "x.part").write_bytes(b"mine")
    (tmp_path / "y.part").symlink_to(tmp_path / "aim")
    write_together({tmp_path / "x": b"1", tmp_path / "y": b"2"})
    assert (tmp_path / "x.part").read_bytes() == b"mine"
    assert not (tmp_path / "aim").exists()


def test_nothing_is_left_behind_where_writing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MalformedFileError, match="cannot write to"):
        write_together({tmp_path / "one": b"1", tmp_path / "file" / "two": b"2"})
    assert _names(tmp_path) == ["file"]


def test_links_that_name_each_other_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(tmp_path / "two")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    with pytest.raises(MalformedFileError, match="cannot write to"):
        write_together({tmp_path / "one": b""})
