"""attemper limits source"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, assert_never

import typer

from attemper.languages.sources.levels import LONGEST_WINDOW
from attemper.languages.sources.values import NAMES, Brackets, Parity, Source, name_of, source_named
from attemper.theories.influence.report import ReportTable, SourceReport, decimal, record_of, report_of
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json, share
from attemper.workbench.options import polarity_note, with_polarity
from attemper.workbench.report.tables import table

WINDOW = 10
"""Levels are shown of up to so many last symbols, unless --k says otherwise."""

SHOWN = 8
"""So many lines of a law are shown as text; in JSON all."""


def source_command(
    name: Annotated[str, typer.Argument(metavar="|".join(NAMES), help="Which words, with their polarity.")],
    p: Annotated[
        str,
        typer.Option("--p", metavar="P", help="Of END where a word may end; dyck2: of an opening bracket."),
    ],
    n: Annotated[int, typer.Option("--n", metavar="N", help="The number of symbols that are read.")],
    k: Annotated[
        int | None,
        typer.Option("--k", metavar="K", help=f"PARITY: levels of up to K last symbols (else {WINDOW})."),
    ] = None,
    bits: Annotated[bool, typer.Option("--bits", help="Losses in bits, not in nats.")] = False,
    json: Json = False,
) -> None:
    """Say what a source of words gives out: lengths, levels of cross-entropy, and floors below it."""
    source = source_named(with_polarity(name), share(p, "--p"))
    if k is not None and isinstance(source, Brackets):
        raise typer.BadParameter("--k is for parity-even and parity-odd")
    if k is not None and not 0 <= k <= LONGEST_WINDOW:
        raise typer.BadParameter(f"--k must be from 0 to {LONGEST_WINDOW:,}")
    report = report_of(source, n, WINDOW if k is None else k, bits=bits)
    if json:
        print_json(record_of(report))
        return
    note = polarity_note(name, "1s")
    for line in (*([] if note is None else [note]), *_said(source), *_measured(report)):
        out.print(line)
    for part in report.parts:
        _print_part(part)


def _said(source: Source) -> tuple[str, ...]:
    """What the source is."""
    match source:
        case Parity(p, odd):
            which = "an odd" if odd else "an even"
            return (
                f"{name_of(source)}: words over 0 and 1 with {which} number of 1s. Where the word may end, "
                f"END comes with p = {p}; 0 and 1 are as likely as each other.",
            )
        case Brackets(p):
            return (
                f"dyck2: well-nested words of ( ) and [ ]. An opening bracket comes with p = {p}, of either "
                "kind alike; else the one that closes the last open one, or END where none is open.",
            )
        case _:
            assert_never(source)


def _measured(report: SourceReport) -> Iterator[str]:
    """The numbers that stand in no table."""
    source, n = report.source, report.n
    mean = "infinite" if report.mean_length is None else str(report.mean_length)
    yield f"P(|w| >= {n}) = {decimal(report.survival)}; the mean length is {mean}"
    if isinstance(source, Parity):
        yield (
            f"given |w| >= {n} the word may end after each prefix of 1 to {n - 1} symbols with probability "
            f"a = {source.accepting_share}, independently, and after all {n} with 1/2"
            if n > 1
            else "given |w| >= 1 the word may end after its first symbol with probability 1/2"
        )
    yield f"losses are in {report.unit}; H_opt = {float(report.optimum):.6f}"


def _print_part(part: ReportTable) -> None:
    cut = len(part.rows) > SHOWN and not part.is_loss
    caption = f"{part.caption} (the first {SHOWN} of {len(part.rows)})" if cut else part.caption
    shown = table(part.about, *part.columns.values(), wraps=(part.about,))
    for name, values in islice(part.rows.items(), SHOWN if cut else None):
        shown.add_row(
            part.names.get(name, name), *("" if value is None else f"{float(value):.6f}" for value in values)
        )
    out.print()
    out.print(caption)
    out.print(shown)
