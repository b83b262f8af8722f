"""The way of `O a` to PROVED, file by file: how long it is, and that it goes through no theory."""

from __future__ import annotations

from tests.support.writers.entered import SOURCE, entered

MOST = 79
"""Files of ours in which a function is called; it may only fall."""


def test_the_way_to_proved_is_no_longer_than_it_was() -> None:
    files = entered()
    assert files[:2] == ["__init__.py", "workbench/model.py"]
    assert files[-1] == "checker/verdict.py"
    assert {"compiling/pipeline.py", "checker/heads.py", "checker/constructions/select.py"} <= set(files)
    assert all((SOURCE / name).is_file() for name in files)
    aside = ("theories/", "models/", "training/", "exports/", "running/", "reading/")
    assert not [name for name in files if name.startswith(aside)]
    assert len(files) <= MOST, files
