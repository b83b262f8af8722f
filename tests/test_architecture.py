"""ARCHITECTURE.md and FORMAT.md: one sentence a line, no wide tables, and a path that a run really takes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.writers.entered import SOURCE, entered

ROOT = Path(__file__).parents[1]
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
FORMAT = SOURCE / "certificates" / "FORMAT.md"

STATION = re.compile(r"^(\d+)\. `([\w/]+\.py)`:", re.MULTILINE)
"""A file on the way from `O a` to PROVED."""

FILES = 25
QUOTED = 15
CELL = 200


def prose(text: str) -> str:
    """The text without code, quoted in blocks or in lines."""
    blocks = re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "x", re.sub(r"^    .*$", "", blocks, flags=re.MULTILINE))


def path() -> str:
    """The section that says how `O a` becomes PROVED."""
    (found,) = re.findall(
        r"^## How `O a` .*?(?=^## )", ARCHITECTURE.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    return str(found)


def test_a_line_has_one_sentence() -> None:
    two = re.compile(r"[.!?][)\"*]* [(\"*]*[A-Z]")
    lines = prose(ARCHITECTURE.read_text("utf-8")).splitlines()
    assert not [line for line in lines if two.search(re.sub(r"^\s*(\d+\.|-) ", "", line))]


@pytest.mark.parametrize("document", [ARCHITECTURE, FORMAT], ids=lambda path: path.name)
def test_no_cell_is_wide(document: Path) -> None:
    rows = re.findall(r"^\|.*\|$", document.read_text("utf-8"), re.MULTILINE)
    cells = [cell.strip() for row in rows for cell in re.split(r"(?<!\\)\|", row)]
    assert not [cell for cell in cells if len(cell) > CELL]


def test_the_path_is_what_a_run_enters_in_this_order() -> None:
    """From `compile` of `O a` to PROVED all files that are named are entered, one after the other."""
    stations = STATION.findall(path())
    assert [int(number) for number, _ in stations] == list(range(1, len(stations) + 1))
    named = [name for _, name in stations]
    assert len(named) <= FILES
    order = entered()
    missing = [name for name in named if name not in order]
    assert not missing
    assert named == sorted(named, key=order.index)


def test_what_the_path_quotes_stands_in_the_file_that_it_names() -> None:
    of_one_file = re.split(r"^(?=\d+\. `)", path(), flags=re.MULTILINE)[1:]
    quotes = [
        (part.split("`")[1], block)
        for part in of_one_file
        for block in re.findall(r"```python\n(.*?)```", part, re.DOTALL)
    ]
    assert quotes
    for name, block in quotes:
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        assert len(lines) <= QUOTED
        text = [line.strip() for line in (SOURCE / name).read_text("utf-8").splitlines()]
        start = text.index(lines[0])
        assert text[start : start + len(lines)] == lines, name
