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
from itertools import groupby
from typing import final

from rich.table import Table

from attemper.certificates.claims import FloatClaim
from attemper.certifying.certificate import certify
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.verdict import Status
from attemper.compiling.regimes import Regime
from attemper.errors import UnsupportedError
from attemper.exact.formats import FLOAT32
from attemper.languages.named.languages import NAMED_LANGUAGES, REGULAR_LANGUAGES, NamedLanguage, NamedRegular
from attemper.languages.words import Word, words_of_length
from attemper.workbench.cli.console import out, progress_bar
from attemper.workbench.model import Model, compile_regex
from attemper.workbench.model import compile as compile_formula
from attemper.workbench.report.summary import summary_of
from attemper.workbench.report.tables import table
from attemper.workbench.verify import boundary_words, exact_rows

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
    languages = (*NAMED_LANGUAGES, *REGULAR_LANGUAGES)
    pairs = [(language, regime) for language in languages for regime in Regime]
    rows: list[DemoRow] = []
    with progress_bar("compiling and running", len(pairs), quiet=False) as progress:
        for language, regime in pairs:
            row = demo_row(language, regime)
            if row is not None:
                rows.append(row)
            progress(1)
    out.print(_table(rows))
    out.print(_explanation(rows), hang=0)
    out.print("Example words:")
    for language in NAMED_LANGUAGES[3:5]:
        _show_examples(language)
    if not all(row.right and row.verdict == Status.PROVED for row in rows):
        sys.exit(1)


def demo_row(language: NamedLanguage | NamedRegular, regime: Regime) -> DemoRow | None:
    """Compile and run one language in one regime; None if the regime cannot compute it."""
    try:
        model = _model(language, regime)
    except UnsupportedError:
        return None
    words = list(demo_words(language, model))
    right, smallest = model.accepts("") == language.contains(()), float("inf")
    for length in sorted({len(word) for word in words}):
        batch = [word for word in words if len(word) == length]
        exact = exact_rows(model.language, batch)
        for run, expected in zip(model.run(batch), exact, strict=True):
            smallest = min(smallest, run.margin)
            right &= [list(row) for row in run.rows] == expected and model.verdict(run) == language.contains(
                run.word
            )
    summary = summary_of(model)
    return DemoRow(
        language.name,
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
        model.network, model.digest, model.language, model.realisation, arithmetics=arithmetics
    )
    (horizon,) = (claim.horizon for claim in certificate.claims if isinstance(claim, FloatClaim))
    return str(model.check(certificate).status), horizon


def _model(language: NamedLanguage | NamedRegular, regime: Regime) -> Model:
    if isinstance(language, NamedRegular):
        return compile_regex(language.regex, language.alphabet, regime=regime.value)
    return compile_formula(
        language.formula,
        language.alphabet,
        at="last",
        regime=regime.value,
        empty="accept" if language.accepts_empty else "reject",
    )


def demo_words(language: NamedLanguage | NamedRegular, model: Model) -> Iterator[Word]:
    """All words up to length 4, boundary words and random words of many lengths, and members."""
    rng = random.Random(language.name)
    symbols = model.alphabet.symbols
    for length in range(1, 5):
        yield from words_of_length(model.alphabet, length)
    for length in LENGTHS:
        boundary = list(boundary_words(symbols, length))
        yield from rng.sample(boundary, min(3, len(boundary)))
        yield tuple(rng.choices(symbols, k=length))
    yield from _members(language, rng)


def _members(language: NamedLanguage | NamedRegular, rng: random.Random) -> Iterator[Word]:
    """Long words of the language, and the same words with one symbol changed."""
    if language.name == "DYCK-1":
        member = _balanced(rng, LONGEST)
    elif language.name == "(ab)*":
        member = ("a", "b") * (LONGEST // 2)
    elif language.name == "flip-flop":
        member = _flip_flop_program(rng, LONGEST)
    elif isinstance(language, NamedRegular) and set(language.alphabet) == {"0", "1"}:
        # 110, 11 and 0 are multiples of three, whole runs of even length, and have no 000 between them.
        member = tuple("110" * (LONGEST // 3) + "11")
    elif isinstance(language, NamedRegular):
        yield tuple("dddd-dd-dd")
        return
    else:
        return
    yield member
    place = rng.randrange(LONGEST)
    others = [symbol for symbol in set(member) if symbol != member[place]]
    yield (*member[:place], rng.choice(sorted(others)), *member[place + 1 :])


def _balanced(rng: random.Random, length: int) -> Word:
    word: list[str] = []
    height = 0
    for left in range(length, 0, -1):
        opens = height == 0 or (height < left and rng.random() < 0.5)
        word.append("(" if opens else ")")
        height += 1 if opens else -1
    return tuple(word)


def _flip_flop_program(rng: random.Random, length: int) -> Word:
    written = "0"
    program = ["w0"]
    for _ in range(length - 1):
        kind = rng.choice("wri")
        if kind == "w":
            written = rng.choice("01")
        program.append("i" if kind == "i" else f"{kind}{written}")
    return tuple(program)


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


def _show_examples(language: NamedLanguage) -> None:
    model = _model(language, Regime.UNBOUNDED)
    symbols = model.alphabet.symbols
    for text in (symbols[0] * 2 + symbols[1] * 2, symbols[1] + symbols[0], ""):
        verdict = "accepted" if model.accepts(text) else "rejected"
        out.print(f"  {language.name}: {text or '(empty)':6} {verdict}")


if __name__ == "__main__":
    main()
