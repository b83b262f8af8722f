"""The page on proofs: its commands, after its Python lines (which `tests/test_house.py` compares)."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli.command_line import attemper

PAGE = Path(__file__).parents[2] / "docs" / "proofs.md"


@pytest.mark.sweep(0)
def test_the_commands_on_the_page_say_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")  # it saves the network
    commands = re.findall(r"^    \$ attemper (.*)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) == 5
    said = [attemper(*shlex.split(command)) for command in commands]
    assert [one.code for one in said] == [0] * 5
    assert all(one.out.startswith("PROVED: all lengths, in real arithmetic\n") for one in said[:2])
    assert "hidden units 0, 1 write x7 [out]: s8 = and s6 s7" in said[3].out
