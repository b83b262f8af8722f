"""The tutorial's cells run one after the other, what they say holds, and Jupyter runs them, too."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial" / "first_network.py"

SHOWN = ("attemper.compile(", ".run(", ".trace(", ".certify()", ".check(", "run_with_hooks(")
ELSEWHERE = ("attemper.refute(", '.export("circuit"', '"page"', ".stream()", ".save(", "attemper.load(")


def cells(text: str) -> list[tuple[str, str]]:
    """The cells of a text in the percent format, each with its kind: markdown or code."""
    parts = re.split(r"^# %%(?: \[(\w+)\])?\n", text, flags=re.MULTILINE)
    return [(kind or "code", body) for kind, body in zip(parts[1::2], parts[2::2], strict=True)]


def code_cells() -> list[str]:
    return [body for kind, body in cells(TUTORIAL.read_text(encoding="utf-8")) if kind == "code"]


def test_cells_are_told_apart() -> None:
    text = "# ---\n# a: b\n# ---\n\n# %% [markdown]\n# # Title\n\n# %%\nx = 1  # %% no cell\n# %%\nassert x\n"
    assert cells(text) == [
        ("markdown", "# # Title\n\n"),
        ("code", "x = 1  # %% no cell\n"),
        ("code", "assert x\n"),
    ]


def test_markdown_stands_in_comments() -> None:
    prose = [body for kind, body in cells(TUTORIAL.read_text(encoding="utf-8")) if kind == "markdown"]
    assert len(prose) > 8
    assert all(line.startswith("#") for body in prose for line in body.splitlines() if line)


def test_every_cell_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other in one namespace, as a notebook does; a cell that says what holds is asserted."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "__main__"}
    ran = 0
    for body in code_cells():
        # Its code would inherit this module's imports from the future.
        exec(compile(body, str(TUTORIAL), "exec", dont_inherit=True), namespace)
        ran += 1
    assert ran > 10
    assert not list(tmp_path.iterdir())


def test_the_tutorial_shows_what_there_is() -> None:
    code = "".join(code_cells())
    assert [name for name in (*SHOWN, *ELSEWHERE) if name not in code] == []
    asserted = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assert)]
    assert len(asserted) > 20


def test_a_claim_that_does_not_hold_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With one answer turned round a cell fails: asserts are run, not only read."""
    first, _, rest = TUTORIAL.read_text(encoding="utf-8").partition('assert model.accepts("0110")')
    assert rest
    code = f'{first}assert not model.accepts("0110")\n'
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with pytest.raises(AssertionError):
        exec(compile(code, str(TUTORIAL), "exec", dont_inherit=True), namespace)
    namespace["workplace"].cleanup()


@pytest.mark.exports
def test_the_tutorial_is_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened by jupytext and executed in Jupyter, where a model and a trace are shown as tables."""
    import jupytext
    import nbclient

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT / "src", ROOT))))
    notebook = jupytext.read(TUTORIAL)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source.strip() for cell in code] == [body.strip() for body in code_cells()]
    shown = [out.data for cell in code for out in cell.outputs if out.output_type == "execute_result"]
    assert ["text/html" in data for data in shown] == [True, True]


@pytest.mark.exports
def test_the_site_shows_what_the_cells_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every cell in its order, what was printed, the tables, and the notebook itself to take along."""
    from docs.site.notebooks import executed, page_of

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (ROOT / "src", ROOT))))
    page = page_of(executed(TUTORIAL), "first_network.ipynb")
    assert page.startswith("# A first network\n\n[This page as a notebook](first_network.ipynb)")
    assert re.findall(r"```python\n(.*?)\n```", page, re.DOTALL) == [body.strip() for body in code_cells()]
    assert "```text\nPROVED\n```" in page
    assert page.count("<table") == page.count("</table") > 2


@pytest.mark.exports
def test_the_tutorial_on_patching_says_what_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert asserted("patching.py") > 15
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_tutorial_on_circuits_says_what_is_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert asserted("circuits.py") >= 4
    assert not list(tmp_path.iterdir())


def asserted(name: str) -> int:
    """Every cell, one after the other; the asserts are the page's claims: so many hold."""
    path = TUTORIAL.with_name(name)
    bodies = [body for kind, body in cells(path.read_text(encoding="utf-8")) if kind == "code"]
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for body in bodies:
        exec(compile(body, str(path), "exec", dont_inherit=True), namespace)
    return sum(body.count("assert ") for body in bodies)
