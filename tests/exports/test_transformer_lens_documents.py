"""The Python of the pages that need libraries, run block after block, as readers run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.exports


def blocks_of(page: str) -> list[str]:
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```", text, re.DOTALL)


# Parameters of a stock GPT-2 ask for gradients, and the page leaves that alone.
@pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True to a scalar:UserWarning")
@pytest.mark.parametrize(("page", "blocks"), [("gpt2.md", 3), ("transformer-lens.md", 4)])
def test_the_python_of_a_page_runs(
    page: str, blocks: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks_of(page)
    assert len(found) == blocks
    # nnsight reads the source of a traced block, so that blocks are a file.
    (tmp_path / "page.py").write_text("\n".join(found), encoding="utf-8")
    code = compile((tmp_path / "page.py").read_text(encoding="utf-8"), str(tmp_path / "page.py"), "exec")
    exec(code, {"__name__": "page"})
