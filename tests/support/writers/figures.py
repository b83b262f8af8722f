"""The figures in docs/figures: what heads attend to, a restriction, reductions, and PARITY's gaps.

`python -m tests.support.writers.figures` writes them; a test compares what stands there.
"""

from __future__ import annotations

from pathlib import Path

import attemper
from attemper.exports.pictures.rows import Cells, rows_svg
from attemper.models.hard.examples import RandomTables
from attemper.theories.refutation.lemma.pictures import figure_svg
from attemper.theories.refutation.lemma.reducing import one_layer_less
from attemper.theories.refutation.lemma.transformers import reading_others
from attemper.theories.softening.report import ways_svg
from attemper.theories.softening.ways import gaps_at
from attemper.writing import write_together
from tests import ROOT
from tests.support.writers import depth_reduction

FOLDER = ROOT / "docs" / "figures"


def attention() -> str:
    """The network of O (b & Y a) on a word, from its answer down to the symbols."""
    trace = attemper.compile("O (b & Y a)", "ab").trace("bbaabab")
    (previous,), (found,) = ([head for head in trace.heads if head.layer == layer] for layer in (0, 1))
    truths = dict(trace.subformulas)
    bits = [(text, truths[text]) for text in ("O (b & Y a)", "b & Y a")]
    answer, inner = (Cells(text, ["1" if bit else "." for bit in row], row) for text, row in bits)
    return rows_svg(
        "What the two heads of O (b & Y a) attend to",
        [
            answer._replace(weights=found.soft),
            inner._replace(weights=previous.soft),
            Cells("word", trace.word, [False] * len(trace.word)),
        ],
        standalone=True,
    )


def restriction() -> str:
    """What docs/refutation.md finds first: few symbols are fixed, and the answer is one for all others."""
    model = attemper.compile("O (b & Y a) & H (a -> Y b)", "ab")
    found = attemper.refute(model, "zoo:parity-even", length=41, free=0.9).refutation
    assert found is not None
    symbols, allowed = found.symbols, found.restriction.allowed
    fixed = [len(some) == 1 for some in allowed]
    differs = [one != other for one, other in zip(found.member, found.stranger, strict=True)]
    rows = [
        Cells("allowed", [symbols[some[0]] if len(some) == 1 else "" for some in allowed], fixed),
        Cells("in", found.member, differs),
        Cells("not in", found.stranger, differs),
    ]
    return rows_svg("A restriction, and two words that the model answers alike", rows, standalone=True)


def reductions() -> dict[str, str]:
    """Hahn's Figures 1 to 3, of transformers of our own; docs/depth-reduction.md has the commands."""
    removed = depth_reduction.removed()
    of_two_inputs = one_layer_less(reading_others(RandomTables(8, (1,), 58), 2, 58), 2)
    return {
        "hahn-1": figure_svg(1, removed),
        "hahn-2": figure_svg(2, removed),
        "hahn-3": figure_svg(3, [of_two_inputs]),
    }


def figures() -> dict[Path, bytes]:
    """What stands in docs/figures."""
    gaps = ways_svg(gaps_at([4, 8, 16, 32, 64, 128]))
    drawn = {"attention": attention(), "four-ways": gaps, "restriction": restriction(), **reductions()}
    return {FOLDER / f"{name}.svg": text.encode() for name, text in drawn.items()}


if __name__ == "__main__":
    write_together(figures())
