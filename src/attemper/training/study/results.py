"""What the study says: points of curves, levels beside them, and slopes: plain records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, final

import flint

from attemper.exact.balls import precision
from attemper.languages.sources import bracket_levels, levels
from attemper.languages.sources.bracket_levels import LengthParity
from attemper.languages.sources.entropies import PRECISION
from attemper.languages.sources.values import Brackets, Parity, Source, source_named
from attemper.models.slopes import slope
from attemper.training.models import Convolution
from attemper.training.prefixes import odds_of
from attemper.training.runs import TrainingRun
from attemper.training.study.plans import SOURCES, StudyPlan
from attemper.workbench.cli.console import text_of
from attemper.workbench.report.tables import table

WINDOWS = (2, 3, 5, 10)
"""Levels are shown of so many last symbols."""


@final
@dataclass(frozen=True)
class LossPoint:
    """A trained model after n symbols: losses in nats, `excess` above the optimum H_opt.

    `floor` is the least excess that the model's own changes allow, pair by pair; `change` the mean change of
    log-odds under one exchange, and `bound` what a convolution's can be at most, of any word.
    """

    source: str
    model: str
    n: int
    words: int
    loss: float
    excess: float
    standard_error: float
    floor: float
    change: float
    largest: float
    bound: float | None


@final
@dataclass(frozen=True)
class ExcessLevel:
    """The excess over H_opt of whoever knows so much, in nats; of all lengths where `n` is None.

    A limit is what soft attention without growing logits tends to, or stays above, as n grows: at a given n a
    model may be below, and inside its training range it should.
    """

    source: str
    name: str
    is_limit: bool
    n: int | None
    excess: float


@final
@dataclass(frozen=True)
class MeasuredSlope:
    """How fast the mean change falls with the length: log change by log n over the longer half of lengths."""

    source: str
    model: str
    slope: float | None


@final
@dataclass(frozen=True, repr=False)
class Study:
    """All numbers; it prints as the table of `attemper study`."""

    points: tuple[LossPoint, ...]
    levels: tuple[ExcessLevel, ...]
    slopes: tuple[MeasuredSlope, ...]

    def __repr__(self) -> str:
        return f"<Study: {len(self.points)} points, {len(self.levels)} levels, {len(self.slopes)} slopes>"

    def __str__(self) -> str:
        shown = table("source", "model", "n", "above H_opt", "own floor", "mean change", wraps=("model",))
        for point in self.points:
            numbers = (f"{value:.4f}" for value in (point.excess, point.floor, point.change))
            shown.add_row(point.source, point.model, f"{point.n:,}", *numbers)
        return text_of([shown])

    def records(self) -> Iterator[dict[str, object]]:
        """Every number as JSON data."""
        for kind, rows in (("point", self.points), ("level", self.levels), ("slope", self.slopes)):
            for row in rows:
                yield {"kind": kind, **asdict(row)}


def study_of(plans: Sequence[StudyPlan], runs: Sequence[TrainingRun]) -> Study:
    """What the finished runs of the plans say."""
    points = tuple(point for plan, run in zip(plans, runs, strict=True) for point in _points(plan, run))
    lengths = sorted({point.n for point in points})
    found = [_levels(name, source_named(name, Fraction(p)), lengths) for name, p in SOURCES.items()]
    changes = {
        (plan.source, plan.model): [
            (point.n, point.change)
            for point in points
            if (point.source, point.model) == (plan.source, plan.model)
        ]
        for plan in plans
    }
    slopes = tuple(MeasuredSlope(*names, slope(own)) for names, own in changes.items())
    return Study(points, tuple(level for own in found for level in own), slopes)


def _points(plan: StudyPlan, run: TrainingRun) -> Iterator[LossPoint]:
    for row in run.rows:
        if row["kind"] == "measured":
            entries: Mapping[str, Any] = {name: value for name, value in row.items() if name != "kind"}
            model = run.model
            bound = None
            if isinstance(model, Convolution):
                odds = odds_of(source_named(plan.source, Fraction(SOURCES[plan.source])))
                # The start stands before the symbols, and is a token, too.
                bound = model.influence(entries["n"] + 1, *odds)
            yield LossPoint(plan.source, plan.model, bound=bound, **entries)


def _levels(name: str, source: Source, lengths: Sequence[int]) -> Iterator[ExcessLevel]:
    match source:
        case Parity():
            yield ExcessLevel(
                name, "limit: H_bi, read at x_n", True, None, _above(source, levels.last_symbols(source, 1))
            )
            yield ExcessLevel(
                name,
                "limit: H_uni, a query symbol",
                True,
                None,
                _above(source, levels.last_symbols(source, 0)),
            )
            for k in WINDOWS:
                excess = _above(source, levels.last_symbols(source, k))
                yield ExcessLevel(name, f"the last {k} symbols", False, None, excess)
        case Brackets():
            for n in lengths:
                yield ExcessLevel(
                    name, "type: P_0 q ln 2", False, n, _mid(bracket_levels.type_excess(source, n))
                )
                yield ExcessLevel(
                    name, "type and END, one exchange", False, n, _mid(bracket_levels.star_excess(source, n))
                )
            for said, of in (
                ("limit: type", bracket_levels.type_excess),
                ("limit: type and END, one exchange", bracket_levels.star_excess),
                ("limit: a table on x_n and the parity of n", bracket_levels.last_symbol_excess),
            ):
                yield ExcessLevel(name, f"{said}, even n", True, None, _mid(of(source, LengthParity.EVEN)))


def _above(source: Source, level: flint.arb) -> float:
    with precision(PRECISION):
        return _mid(level - levels.optimum(source))


def _mid(number: flint.arb) -> float:
    return float(number.mid())
