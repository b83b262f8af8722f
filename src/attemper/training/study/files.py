"""The study's files: a table for each kind of number, and one HTML page with all of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import asdict
from io import StringIO
from pathlib import Path

from attemper.training.study.page import page_of
from attemper.training.study.results import ExcessLevel, LossPoint, MeasuredSlope, Study
from attemper.writing import write_together

PAGE = "study.html"


def write_study(study: Study, folder: Path) -> list[Path]:
    """Write the tables and the page. Raises `OptionError` if plotly is missing, `MalformedFileError`."""
    files = {
        folder / "points.csv": _csv(study.points),
        folder / "levels.csv": _csv(study.levels),
        folder / "slopes.csv": _csv(study.slopes),
        folder / PAGE: page_of(study),
    }
    write_together({path: text.encode() for path, text in files.items()})
    return list(files)


def _csv(rows: Iterable[LossPoint | ExcessLevel | MeasuredSlope]) -> str:
    """A header, and a line for each record."""
    records = [asdict(row) for row in rows]
    text = StringIO()
    writer = csv.DictWriter(text, records[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue()
