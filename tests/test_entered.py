"""The way of `O a` to PROVED, file by file: how long it is, and that it goes through no theory."""

from __future__ import annotations

from tests.support.writers.entered import SOURCE, entered, entered_by_a_new_process

BEFORE = 210
"""What a new process entered before the core had theories around it (0.11.0)."""

ASIDE = ("theories/", "models/", "training/", "exports/", "reading/")


def test_what_is_entered_on_the_way_to_proved_is_on_the_way() -> None:
    files = entered()
    assert files[:2] == ["__init__.py", "workbench/compiling.py"]
    assert files[-1] == "checker/verdict.py"
    assert {"compiling/pipeline.py", "checker/heads.py", "checker/constructions/select.py"} <= set(files)
    assert all((SOURCE / name).is_file() for name in files)
    assert not [name for name in files if name.startswith((*ASIDE, "running/"))]


def test_a_new_process_enters_far_fewer_files_than_before_and_none_of_a_theory() -> None:
    files = entered_by_a_new_process()
    assert not [name for name in files if name.startswith(ASIDE)]
    assert len(files) <= BEFORE - 40, "\n".join(files)
