"""Folders for TransformerLens, and what is said where the library is missing: no library is needed here."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import attemper
from attemper.errors import MalformedFileError, OptionError
from attemper.exports.subject import Exported
from attemper.exports.transformer_lens import load
from attemper.exports.transformer_lens.writing import MARK, settings_in, write_transformer_lens


def subject() -> Exported:
    model = attemper.compile("O a", "ab")
    return Exported(model.network, model.source, model.certify())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_folder_is_the_networks_own_and_names_its_format(dtype: str, tmp_path: Path) -> None:
    write_transformer_lens(subject(), tmp_path / "out", dtype)
    assert settings_in(tmp_path / "out") == (dtype, False)
    back = Exported.load(tmp_path / "out")
    assert back == subject()
    assert attemper.load(tmp_path / "out").accepts("ba")


def test_any_other_folder_of_a_network_is_float64(tmp_path: Path) -> None:
    subject().save(tmp_path / "plain")
    assert settings_in(tmp_path / "plain") == ("float64", False)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        '{"format": "attemper-transformer-lens/1"}',
        '{"format": "attemper-transformer-lens/1", "dtype": "bfloat16"}',
        '{"format": "attemper-transformer-lens/2", "dtype": "float64"}',
        '{"format": "attemper-transformer-lens/1", "dtype": ["float64"]}',
    ],
)
def test_a_damaged_file_is_refused(text: str, tmp_path: Path) -> None:
    write_transformer_lens(subject(), tmp_path / "out", "float64")
    (tmp_path / "out" / MARK).write_text(text, encoding="utf-8")
    with pytest.raises(MalformedFileError, match="export the network again"):
        settings_in(tmp_path / "out")


def test_another_format_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="'bfloat16' is none of float64, float32"):
        write_transformer_lens(subject(), tmp_path / "out", "bfloat16")
    assert not (tmp_path / "out").exists()


def test_the_command_writes_it(tmp_path: Path) -> None:
    attemper.compile("O a", "ab").export("transformer-lens", tmp_path / "out", dtype="float32")
    assert json.loads((tmp_path / "out" / MARK).read_text(encoding="utf-8"))["dtype"] == "float32"


def test_the_missing_library_is_named_with_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subject().save(tmp_path / "plain")
    monkeypatch.setitem(sys.modules, "transformer_lens", None)
    with pytest.raises(OptionError, match=r"pip install 'attemper\[transformer-lens\]'"):
        load(tmp_path / "plain")
