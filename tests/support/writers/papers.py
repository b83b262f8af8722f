"""docs/papers.md, from rows as they ran: `python -m tests.support.writers.papers --write` writes it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from attemper.certifying.certificate import prove
from attemper.certifying.horizons import horizon_of
from attemper.checker.rounding.arithmetic import Kernel
from attemper.exact.formats import FLOAT32, FLOAT64
from attemper.languages.named.entry import RegimeName
from attemper.workbench.compiling import compile as compiled
from attemper.workbench.options import ConstructionName
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
    Paper.JIANG: "Softmax Transformers are Turing-Complete",
}

NETWORKS = """
## Networks of the theorems

Read from compiled networks.
Formulas in X and U are read at the first position.

| theorem | formula | construction | regime | temperatures | position embeddings | layers | heads |
|---|---|---|---|---|---|---|---|
"""

BOTH = """
## Both constructions

The same formulas by our construction, and by that of the theorems' proofs (`--construction paper`).
*Width* is that of the residual stream.
*Astray* is the most weight that a head leaves off what it looks for, in real arithmetic.
Horizons are those of kernels that divide once.

| formula | regime | construction | layers | heads | width | astray | float32 | float64 |
|---|---|---|---|---|---|---|---|---|
"""

COMPARED: tuple[tuple[str, RegimeName], ...] = (
    ("Y a", "temperature"),
    ("a S b", "unbounded"),
    ("O (b & Y a)", "decoder"),
    ("#<[a] >= 2", "unbounded"),
    ("#<[a] + 2*#>[b] >= 3", "temperature"),
    ("prime(#<[a])", "temperature"),
)
"""Formulas over a and b, each with a regime."""

CONSTRUCTIONS: tuple[ConstructionName, ...] = ("ours", "paper")

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
    both = "".join(compared_row(*one, name) for one in COMPARED for name in CONSTRUCTIONS)
    return "\n".join(parts) + "\n" + NETWORKS + "".join(map(network_row, INSTANCES)) + BOTH + both


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
    named = (one.theorem, f"`{one.formula}`", one.construction, str(one.regime))
    cells = (*named, f"`{temperatures}`", embeddings)
    return f"| {' | '.join(cells)} | {summary.layers} | {summary.heads} |\n"


def compared_row(formula: str, regime: RegimeName, construction: ConstructionName) -> str:
    """A network of one construction: its size, what strays in it, and how far floats go."""
    model = compiled(formula, "ab", regime=regime, construction=construction)
    analysis, summary = prove(model.network, model.language.definition, None), summary_of(model)
    astray = max(float(mass) for layer in analysis.layers for mass in layer.masses)
    ends = (horizon_of(analysis, form, Kernel.NUMERATOR_FIRST)[0] for form in (FLOAT32, FLOAT64))
    cells = (f"`{formula}`", regime, construction, summary.layers, summary.heads, summary.d_model)
    shown = (f"{astray:.3g}", *(f"{end:,}" for end in ends))
    return f"| {' | '.join(map(str, (*cells, *shown)))} |\n"


def main() -> None:
    """Print the page, or write it (--write)."""
    text = page()
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
