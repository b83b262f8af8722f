"""docs/papers.md, from rows as they ran: `python -m tests.support.writers.papers --write` writes it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from attemper.workbench.papers.listing import Showing, shown, statements
from attemper.workbench.papers.statements import Datum, HasToBe, Observed, Paper
from attemper.workbench.papers.theorems import INSTANCES, Instance
from attemper.workbench.report.summary import summary_of
from tests import ROOT
from tests.support.cli.command_line import attemper

PAGE = ROOT / "docs" / "papers.md"

OPENING = Path(__file__).with_suffix(".md")
"""What stands above the tables."""

TITLES = {
    Paper.YANG: "Simulating Hard Attention Using Soft Attention",
    Paper.HAHN: "Theoretical Limitations of Self-Attention",
    Paper.SUPPLEMENT: "The supplement",
}

NETWORKS = """
## Networks of the theorems

Read from compiled networks.
Formulas in X and U are read at the first position.

| theorem | formula | regime | temperatures | position embeddings | layers | heads |
|---|---|---|---|---|---|---|
"""

MOST = 3
"""So many of the numbers that a run sees stand on the page."""


NOISE = 1e-11
"""What is less is rounding, and another number on another machine."""


def page() -> str:
    """The page: each paper's rows, run, and the networks."""
    example = attemper("paper", "yang", "theorem-16", columns=None).out
    parts = [OPENING.read_text(encoding="utf-8").format(shown=example)]
    for paper, title in TITLES.items():
        rows = [row_of(shown(one)) for one in statements() if one.paper is paper]
        parts.append(
            f"\n## {title}\n\n| row | `attemper paper {paper}` | statement | here | differs | seen |"
        )
        parts.append("|---|---|---|---|---|---|")
        parts += rows
    return "\n".join(parts) + "\n" + NETWORKS + "".join(map(network_row, INSTANCES))


def row_of(found: Showing) -> str:
    """A row of the table."""
    one = found.statement
    differs = one.differs if one.run else f"not built: {one.differs}"
    cells = (str(one.row), f"`{one.keys[0]}`", one.title, one.says, differs, seen_in(found.seen))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def seen_in(seen: Iterable[Observed]) -> str:
    """The first things that were seen, with three digits: no more is the same everywhere."""
    few, *more = [f"`{_short(one)}`" for one in seen][:MOST], *list(seen)[MOST:]
    return "; ".join(few) + (f"; and {len(more)} more" if more else "")


def _short(one: Observed) -> str:
    wanted = "" if one.judged is HasToBe.EQUAL else f" {one.judged} {_digits(one.wanted)}"
    found = "0" if isinstance(one.found, float) and abs(one.found) < NOISE else _digits(one.found)
    return f"{one.what}: {found}{wanted}"


def _digits(datum: Datum) -> str:
    return f"{datum:.3g}" if isinstance(datum, float) else str(datum)


def network_row(one: Instance) -> str:
    """A network: its theorem, and what `attemper show` says of it."""
    summary = summary_of(one.model())
    temperatures = ", ".join(dict.fromkeys(head.temperature for head in summary.head_list))
    embeddings = ", ".join(f"`{form}`" for form in summary.position_embeddings)
    cells = (one.theorem, f"`{one.formula}`", str(one.regime), f"`{temperatures}`", embeddings)
    return f"| {' | '.join(cells)} | {summary.layers} | {summary.heads} |\n"


def main() -> None:
    """Print the page, or write it (--write)."""
    text = page()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
