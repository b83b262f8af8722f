"""The commands and the Python of the pages on Hugging Face and ONNX, run one after the other."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.exports

MAIN = "from attemper.workbench.cli.app import main; main()"


@pytest.mark.parametrize(("page", "python", "sessions"), [("hugging-face.md", 5, 2), ("onnx.md", 2, 1)])
def test_a_page_does_what_it_says(
    page: str, python: int, sessions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|shell-session)\n(.*?)```", text, re.DOTALL)
    kinds = [kind for kind, _ in blocks]
    assert (kinds.count("python"), kinds.count("shell-session")) == (python, sessions)
    names: dict[str, object] = {"__name__": "page"}
    for kind, body in blocks:
        if kind == "python":
            exec(compile(body, page, "exec"), names)
            continue
        for part in re.split(r"^\$ attemper ", body, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            run = [sys.executable, "-c", MAIN, *shlex.split(command)]
            finished = subprocess.run(run, capture_output=True, text=True, check=False)
            assert finished.stdout + finished.stderr == output, command
