"""The study as one HTML page: figures by plotly, whose script stands in it once, and tables."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from attemper.missing import library_needed
from attemper.training.study.plans import SOURCES
from attemper.training.study.results import LossPoint, Study

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .8rem .2rem 0; text-align: left; border-bottom: 1px solid #ddd; }
"""

INTRODUCTION = """\
Hahn (2020) shows that a soft-attention transformer of bounded logits changes its output by O(1/n) when one
symbol is exchanged, and that its cross-entropy on words of PARITY and of 2DYCK therefore does not stay
below certain limits as n grows (Theorem 6). These are small models trained on one core. Losses are in nats
above the optimum H_opt, given that a word has at least n symbols. Dashed lines are <em>limits</em>: they
are about n to infinity, and a model may be below them at the lengths it was trained on. What holds at every
n is the floor of the same model, dotted: computed pair by pair from how much the model's own answer changes
under one exchange."""


def page_of(study: Study) -> str:
    """The page's text. Raises `OptionError` if plotly is not installed."""
    figures = [_losses(study, source) for source in SOURCES] + [_changes(study, source) for source in SOURCES]
    html = importlib.import_module("plotly.io")
    shown = [
        html.to_html(
            figure,
            config={"displaylogo": False},
            full_html=False,
            include_plotlyjs=number == 0,
            div_id=f"figure-{number}",
        )
        for number, figure in enumerate(figures)
    ]
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        "<title>The limits of soft attention, measured &middot; attemper</title>",
        f"<style>{STYLE}</style></head><body>",
        "<h1>The limits of soft attention, measured</h1>",
        f"<p>{INTRODUCTION}</p>",
        *shown,
        *_tables(study),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"


def require_plotly() -> Any:
    with library_needed("plotly", "report", "the study's page"):
        return importlib.import_module("plotly.graph_objects")


def _losses(study: Study, source: str) -> Any:
    """Excess by length: models, their own floors, and the levels."""
    draw = require_plotly()
    figure = draw.Figure()
    lengths = sorted({point.n for point in study.points})
    for number, (model, points) in enumerate(_by_model(study, source)):
        color = _COLORS[number % len(_COLORS)]
        x = [point.n for point in points]
        errors = [point.standard_error for point in points]
        figure.add_scatter(
            x=x,
            y=[point.excess for point in points],
            name=model,
            mode="lines+markers",
            line={"color": color},
            error_y={"type": "data", "array": errors},
        )
        figure.add_scatter(
            x=x,
            y=[point.floor for point in points],
            name=f"its own floor: {model}",
            mode="lines",
            line={"color": color, "dash": "dot", "width": 1},
        )
    for name in dict.fromkeys(level.name for level in study.levels if level.source == source):
        own = [level for level in study.levels if (level.source, level.name) == (source, name)]
        constant = own[0].n is None
        figure.add_scatter(
            x=lengths if constant else [level.n for level in own],
            y=[own[0].excess] * len(lengths) if constant else [level.excess for level in own],
            name=name,
            mode="lines",
            line={"dash": "dash" if own[0].is_limit else "longdashdot", "width": 1, "color": "gray"},
        )
    figure.update_layout(
        title=f"{source}, p = {SOURCES[source]}: cross-entropy above H_opt, in nats", height=640
    )
    figure.update_xaxes(type="log", title="n, symbols", tickvals=lengths)
    figure.update_yaxes(title="nats above H_opt", rangemode="tozero")
    return figure


def _changes(study: Study, source: str) -> Any:
    """The mean change of log-odds under one exchange, by length."""
    figure = require_plotly().Figure()
    slopes = {(own.source, own.model): own.slope for own in study.slopes}
    for number, (model, points) in enumerate(_by_model(study, source)):
        found = slopes[source, model]
        said = "no slope" if found is None else f"slope {found:.2f}"
        color, x = _COLORS[number % len(_COLORS)], [point.n for point in points]
        figure.add_scatter(
            x=x,
            y=[point.change for point in points],
            name=f"{model} ({said})",
            mode="lines+markers",
            line={"color": color},
        )
        if points[0].bound is not None:
            figure.add_scatter(
                x=x,
                y=[point.bound for point in points],
                name=f"bound of the {model}",
                mode="lines",
                line={"color": color, "dash": "dash"},
            )
    figure.update_layout(title=f"{source}: mean change of log-odds under one exchange", height=520)
    figure.update_xaxes(type="log", title="n, symbols")
    figure.update_yaxes(type="log", title="nats")
    return figure


_COLORS = ("#2458c5", "#b8412f", "#1d7f5f", "#8a5cc2", "#b07a12", "#4a4f57")


def _by_model(study: Study, source: str) -> list[tuple[str, list[LossPoint]]]:
    names = dict.fromkeys(point.model for point in study.points if point.source == source)
    return [
        (name, [point for point in study.points if (point.source, point.model) == (source, name)])
        for name in names
    ]


def _tables(study: Study) -> Iterable[str]:
    """Every number, as text."""
    for title, rows in (("Models", study.points), ("Levels", study.levels), ("Slopes", study.slopes)):
        records = [list(vars(row).items()) for row in rows]
        yield f"<h2>{title}</h2>"
        yield _table([name for name, _ in records[0]], [[value for _, value in row] for row in records])


def _table(headers: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in headers)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{escape(_cell(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _cell(value: object) -> str:
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)
