"""What was measured of a model's influence, as lines and tables for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from attemper.theories.influence.search.floors import Floors
from attemper.theories.influence.search.results import Report, ReportRow, exchange_record
from attemper.workbench.report.tables import table
from attemper.workbench.report.windows import cut

WITNESS = 60
"""How many characters of a word are shown; CSV and JSON have all."""


def parts_of(found: Report) -> Iterator[str | Table]:
    """Lines and tables of what was measured."""
    rows = found.largest_rows
    for meaning in dict.fromkeys(each.found_as for each in found.measured if each.seen):
        lengths = [f"{each.length:,}" for each in found.measured if each.found_as == meaning]
        at = "" if len(lengths) == len(found.measured) else f" (n = {', '.join(lengths)})"
        yield f"measured in float64, not proved: {meaning}{at}"
    several = len(found.subject.names) > 1
    if rows:
        yield _table(rows, several=several)
    for place, slope in found.slopes().items():
        if slope is not None:
            yield f"slope on log-log axes, {_positions(place)}: {slope:.3f} (1/n is -1)"
    if rows:
        yield _witness(found, max((row for row in rows if row.length == rows[-1].length), key=_size))
    yield from _unfinished(found)


def _size(row: ReportRow) -> float:
    return row.changes.largest


def _witness(found: Report, row: ReportRow) -> str:
    """Where the largest change at a length was seen."""
    exchange = exchange_record(found.subject.symbols, row.changes.exchange)
    where = "" if exchange["position"] is None else f"x_{exchange['position']}, "
    word = cut(str(exchange["word"]), WITNESS)
    change = f"{where}'{exchange['before']}' to '{exchange['after']}', in '{word}'"
    return f"at n = {row.length}: {row.changes.largest:.6g} by {change}"


def _positions(place: str) -> str:
    return "all positions" if place == "any" else f"{place} position"


def _unfinished(found: Report) -> Iterator[str]:
    for each in found.measured:
        if not each.finished:
            why = "interrupted" if found.interrupted else "the time was up"
            yield f"not finished at n = {each.length}: {why}; allow more seconds"


def _table(rows: list[ReportRow], *, several: bool) -> Table:
    """The rows; with means where these mean something, and with outputs where there are several."""
    headers = ["n", "positions", "exchanges", "largest", "n times it"]
    means = any(row.changes.mean is not None for row in rows)
    more = [*(["mean"] if means else []), *(["output"] if several else [])]
    shown = table(*headers, *more, wraps=("positions", "output"))
    for row in rows:
        cells = [
            f"{row.length:,}",
            str(row.place),
            f"{row.changes.exchanges:,}",
            f"{row.changes.largest:.4g}",
            f"{row.scaled:.5g}",
        ]
        mean = [f"{row.changes.mean or 0:.3g}"] if means else []
        shown.add_row(*cells, *mean, *([row.output] if several else []))
    return shown


def floor_lines(floors: Floors) -> Iterator[str]:
    """What the floors at one length are."""
    yield (
        f"floors on the cross-entropy of {floors.source}, p = {floors.p}, at n = {floors.n}, in nats, "
        f"measured (a table on x_n has {floors.table:.6f}, the optimum is {floors.optimum:.6f}):"
    )
    yield (
        f"  from all words: at most {floors.from_worst:.6f}, as the worst word found changes the log-odds "
        f"by {floors.worst_change:.4g}"
    )
    yield (
        f"  typical words: {floors.typical:.6f} +- {floors.standard_error:.6f}, the mean over "
        f"{floors.prefixes} drawn prefixes, whose mean change is {floors.mean_change:.4g}"
    )
