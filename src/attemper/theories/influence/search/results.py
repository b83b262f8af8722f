"""What was seen of a model's influence, as rows, as CSV and as JSON."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.languages.words import show_word
from attemper.models.slopes import slope
from attemper.theories.influence.search import influence
from attemper.theories.influence.search.subjects import MeasuredModel


class Mode(StrEnum):
    """Which pairs of words are looked at."""

    EXACT = "exact"
    WORD = "word"
    SAMPLED = "sampled"
    SEARCH = "search"


FOUND_AS = {
    Mode.EXACT: "maximum over all words",
    Mode.WORD: "largest in the given words",
    Mode.SAMPLED: "largest in the sampled words",
    Mode.SEARCH: "largest found by search, at most the maximum",
}
"""What the largest change of a mode is."""


@final
@dataclass(frozen=True)
class MeasuredLength:
    """What was seen at one length; `finished` is False where the time was up, or somebody interrupted."""

    length: int
    mode: Mode
    seen: influence.Seen
    finished: bool

    @property
    def found_as(self) -> str:
        """What the largest change is."""
        if self.mode is Mode.EXACT and not self.finished:
            return "largest in the words that were reached, not the maximum"
        return FOUND_AS[self.mode]


@final
@dataclass(frozen=True)
class ReportRow:
    """A line of the report: a length, a class of positions, and an output."""

    length: int
    place: influence.PositionClass
    output: str
    changes: influence.Changes

    @property
    def scaled(self) -> float:
        """n times the largest change."""
        return self.length * self.changes.largest


@final
@dataclass(frozen=True)
class Report:
    """All lengths that were reached, with the names that are shown."""

    subject: MeasuredModel
    measured: tuple[MeasuredLength, ...]
    interrupted: bool

    @property
    def rows(self) -> list[ReportRow]:
        """The lines, by length, class and output."""
        names = self.subject.names
        return [
            ReportRow(each.length, place, names[output], changes)
            for each in self.measured
            for (place, output), changes in sorted(each.seen.items(), key=lambda item: _order(item[0]))
        ]

    @property
    def largest_rows(self) -> list[ReportRow]:
        """Of each length and class of positions the line of the output that changes most."""
        best: dict[tuple[int, influence.PositionClass], ReportRow] = {}
        for row in self.rows:
            key = row.length, row.place
            if key not in best or row.changes.largest > best[key].changes.largest:
                best[key] = row
        return list(best.values())

    def slopes(self) -> dict[influence.PositionClass, float | None]:
        """The slopes on log-log axes of the classes' largest changes, at lengths that are finished."""
        finished = {each.length for each in self.measured if each.finished}
        rows = [row for row in self.largest_rows if row.length in finished]
        places = dict.fromkeys(row.place for row in rows)
        return {
            place: slope([(row.length, row.changes.largest) for row in rows if row.place is place])
            for place in places
        }

    def as_csv(self) -> str:
        """A line for each length, class of positions and output, below one with the names of the columns."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        columns = ("n", "mode", "finished", "positions", "output", "exchanges", "largest", "n_times_largest")
        writer.writerow([*columns, "mean", "word", "position", "before", "after"])
        modes = {each.length: each for each in self.measured}
        for row in self.rows:
            each, changes = modes[row.length], row.changes
            mean = "" if changes.mean is None else repr(changes.mean)
            writer.writerow(
                [
                    row.length,
                    each.mode,
                    int(each.finished),
                    row.place,
                    row.output,
                    changes.exchanges,
                    repr(changes.largest),
                    repr(row.scaled),
                    mean,
                    *exchange_record(self.subject.symbols, changes.exchange).values(),
                ]
            )
        return written.getvalue()

    def as_record(self) -> dict[str, object]:
        """The report as JSON data."""
        return {
            "model": self.subject.source,
            "evidence": "measured in float64, not proved",
            "interrupted": self.interrupted,
            "lengths": [_measured_record(self, each) for each in self.measured],
            "slopes": {str(place): found for place, found in self.slopes().items()},
        }


def _measured_record(report: Report, each: MeasuredLength) -> dict[str, object]:
    rows = [row for row in report.rows if row.length == each.length]
    return {
        "n": each.length,
        "mode": str(each.mode),
        "largest_is": each.found_as,
        "finished": each.finished,
        "changes": [
            {
                "positions": str(row.place),
                "output": row.output,
                "exchanges": row.changes.exchanges,
                "largest": row.changes.largest,
                "n_times_largest": row.scaled,
                "mean": row.changes.mean,
                "exchange": exchange_record(report.subject.symbols, row.changes.exchange),
            }
            for row in rows
        ],
    }


def exchange_record(
    symbols: Sequence[str], exchange: influence.WordExchange | influence.HistogramExchange
) -> dict[str, object]:
    """An exchange with the names of symbols; of a histogram the `word` is its counts."""
    match exchange:
        case influence.WordExchange(word, position, after):
            shown = show_word(tuple(symbols[symbol] for symbol in word))
            before = symbols[word[position - 1]]
            return {"word": shown, "position": position, "before": before, "after": symbols[after]}
        case influence.HistogramExchange(counts, _, before_number, after):
            shown = " ".join(f"{symbols[s]}:{count}" for s, count in enumerate(counts))
            return {
                "word": shown,
                "position": None,
                "before": symbols[before_number],
                "after": symbols[after],
            }


def _order(key: tuple[influence.PositionClass, int]) -> tuple[int, int]:
    return list(influence.PositionClass).index(key[0]), key[1]
