"""A saved network is the same in every process, whichever predicates are registered there."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from attemper.networks.files import STRUCTURE

REGISTER = "import attemper; attemper.register_predicate('foo', lambda value: value > 2); "
WRITE = """
import sys, attemper
model = attemper.compile("O 'foo' & even(pos)", "foo bar")
model.save(sys.argv[1], certificate=model.certify())
"""
READ = """
import sys, attemper
from pathlib import Path
from attemper.checker.folders import check_folder
model = attemper.load(sys.argv[1])
print(check_folder(Path(sys.argv[1])).status, model.title, model == attemper.compile(model.title, "foo bar"))
"""


def run(script: str, folder: Path) -> str:
    """What a fresh process prints."""
    command = [sys.executable, "-c", script, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.sweep(0)
@pytest.mark.parametrize(("before", "after"), [(REGISTER, ""), ("", REGISTER)])
def test_a_symbol_is_spelled_alike_where_a_predicate_has_its_name(
    before: str, after: str, tmp_path: Path
) -> None:
    run(before + WRITE, tmp_path)
    structure = json.loads((tmp_path / STRUCTURE).read_text(encoding="utf-8"))
    assert structure["source"]["text"] == "O foo & even(pos)"
    assert run(after + READ, tmp_path) == "PROVED O foo & even(pos) True"


@pytest.mark.sweep(0)
def test_symbol_and_predicate_of_one_name_stand_in_one_formula(tmp_path: Path) -> None:
    script = REGISTER + WRITE.replace("even(pos)", "foo(pos)")
    run(script, tmp_path)
    assert run(REGISTER + READ, tmp_path).endswith("O foo & foo(pos) True")
