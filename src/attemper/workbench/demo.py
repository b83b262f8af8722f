"""`make demo`: compile well-known languages in every regime that can, run words of up to 2,000 symbols.

Each row is one softmax transformer. Its truth at every position of every word is compared with the
source's exact meaning, and its verdict with plain Python that knows nothing of it. Then the
independent checker proves it from its weights, for all lengths, and says how far float32 is safe.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby
from typing import final

from rich.table import Table

from attemper.certificates.claims import FloatClaim
from attemper.certifying.certificate import certify
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.verdict import Status
from attemper.errors import OptionError, UnsupportedError
from attemper.exact.formats import FLOAT32
from attemper.languages.named.entry import Entry, FormulaText, SourceText
from attemper.languages.named.zoo import language_named
from attemper.languages.words import Word, words_of_length
from attemper.networks.regime import Regime
from attemper.workbench.cli.console import out
from attemper.workbench.cli.failing import failed
from attemper.workbench.cli.progress import counting, progress_shown
from attemper.workbench.model import Model
from attemper.workbench.report.summary import summary_of
from attemper.workbench.report.tables import table
from attemper.workbench.verifying.boundaries import boundary_words
from attemper.workbench.verifying.comparing import exact_rows
from attemper.workbench.zoo import compile_entry

PARITY = language_named("parity-odd")

OTHERS = map(
    language_named,
    (
        "majority",
        "dyck-1",
        "detect-aab",
        "flip-flop",
        "ab-star",
        "tomita-4",
        "even-runs",
        "multiples-of-3",
        "date",
    ),
)

SHOWN: tuple[tuple[Entry, SourceText], ...] = (
    *((PARITY, source) for source in PARITY.sources if isinstance(source, FormulaText)),
    *((entry, entry.source) for entry in OTHERS),
)
"""What the demo compiles: entries of the zoo, PARITY in several spellings."""

LONGEST = 2000
LENGTHS = (1, 2, 3, 10, 99, 100, 500, 1999, LONGEST)


@final
@dataclass(frozen=True)
class DemoRow:
    """What one transformer did on the demo's words."""

    language: str
    regime: str
    layers: int
    heads: int
    parameters: int
    words: int
    longest: int
    smallest_margin: float
    right: bool
    verdict: str
    float32_horizon: int


def main() -> None:
    """Print the table; exit 1 if a single answer is wrong."""
    pairs = [(entry, source, regime) for entry, source in SHOWN for regime in Regime]
    rows: list[DemoRow] = []
    with progress_shown("demo"), counting("compiling and running", len(pairs)) as progress:
        for entry, source, regime in pairs:
            row = demo_row(entry, source, regime)
            if row is not None:
                rows.append(row)
            progress(1)
    out.print(_table(rows))
    out.print(_explanation(rows), hang=0)
    out.print("Example words:")
    for name in ("majority", "dyck-1"):
        _show_examples(language_named(name))
    if not all(row.right and row.verdict == Status.PROVED for row in rows):
        sys.exit(1)


def demo_row(entry: Entry, source: SourceText, regime: Regime) -> DemoRow | None:
    """Compile and run one language in one regime; None if the regime cannot compute it."""
    try:
        model = compile_entry(entry, source, regime=regime.value)
    except UnsupportedError:
        return None
    words = list(demo_words(entry, model))
    right, smallest = model.accepts("") == entry.accepts(()), float("inf")
    for length in sorted({len(word) for word in words}):
        batch = [word for word in words if len(word) == length]
        exact = exact_rows(model.language.definition, batch)
        for run, expected in zip(model.run(batch), exact, strict=True):
            smallest = min(smallest, run.margin)
            wanted = [list(row) for row in run.rows] == [list(row) for row in expected]
            right &= wanted and run.accepted == entry.accepts(run.word)
    summary = summary_of(model)
    return DemoRow(
        title(entry, source),
        regime.value,
        summary.layers,
        summary.heads,
        summary.parameters,
        len(words),
        max(map(len, words)),
        smallest,
        right,
        *_proof(model),
    )


def _proof(model: Model) -> tuple[str, int]:
    """What the independent checker says to the model's certificate, and how far float32 is safe."""
    arithmetics = [(FLOAT32, Kernel.NUMERATOR_FIRST)]
    certificate = certify(
        model.network, model.digest, model.language.definition, model.realisation, arithmetics=arithmetics
    )
    (horizon,) = (claim.horizon for claim in certificate.claims if isinstance(claim, FloatClaim))
    return str(model.check(certificate).status), horizon


def title(entry: Entry, source: SourceText) -> str:
    """The entry's name, and the text of a formula that is not its shortest."""
    if isinstance(source, FormulaText) and source != entry.source:
        return f"{entry.name} as {source.text}"
    return entry.name


def demo_words(entry: Entry, model: Model) -> Iterator[Word]:
    """All words up to length 4, boundary words and random words of many lengths, and words of the zoo."""
    rng = random.Random(entry.name)
    symbols = model.alphabet.symbols
    for length in range(1, 5):
        yield from words_of_length(model.alphabet, length)
    for length in LENGTHS:
        boundary = list(boundary_words(symbols, length))
        yield from rng.sample(boundary, min(3, len(boundary)))
        yield tuple(rng.choices(symbols, k=length))
    yield from filter(
        None, (entry.member(rng, LONGEST), *chain(*entry.near_misses(count=4, longest=LONGEST)))
    )


def _table(rows: list[DemoRow]) -> Table:
    headers = ("language", "layers", "heads", "weights", "margin", "exact", "checker", "float32")
    shown = table(*headers, wraps=("language",))
    for language, group in groupby(rows, lambda row: row.language):
        shown.add_row(language)
        for row in group:
            shown.add_row(
                f"  {row.regime}",
                str(row.layers),
                str(row.heads),
                f"{row.parameters:,}",
                f"{row.smallest_margin:.4f}",
                "yes" if row.right else "NO",
                row.verdict,
                f"{row.float32_horizon:,}",
            )
    return shown


def _explanation(rows: list[DemoRow]) -> str:
    """What the columns of the table mean."""
    words = [row.words for row in rows]
    longest = max(row.longest for row in rows)
    return (
        f"Each row is one set of weights, run on {min(words)} to {max(words)} words of up to {longest:,} "
        "symbols. margin: the smallest on these words (1/4 is perfect). exact: whether the bits at every "
        "position are the exact meaning, and the verdict that of plain Python. checker: what the independent "
        "checker says, for all lengths in real arithmetic. float32: up to which length it proves that format."
    )


def _show_examples(entry: Entry) -> None:
    model = compile_entry(entry, entry.source)
    symbols = model.alphabet.symbols
    for text in (symbols[0] * 2 + symbols[1] * 2, symbols[1] + symbols[0], ""):
        verdict = "accepted" if model.accepts(text) else "rejected"
        out.print(f"  {entry.name}: {text or '(empty)':6} {verdict}")


if __name__ == "__main__":
    try:
        main()
    except OptionError as error:  # torch is not installed, and words are long
        sys.exit(failed(error))
