"""Plots on logarithmic axes, read back as XML: points stand where their logarithms say."""

from __future__ import annotations

from itertools import pairwise
from math import log10
from xml.etree import ElementTree

import pytest

from attemper.exports.pictures.plots import APART, HEIGHT, LEFT, MARGIN, WIDTH, Line, plot_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_points_stand_where_their_logarithms_say() -> None:
    falls = Line("<falls>", [(2, 1), (20, 0.1), (200, 0.001)])
    picture = ElementTree.fromstring(plot_svg("a & b", "n", "gap", [falls]))
    assert picture.findtext(f"{SVG}title") == "a & b"
    (line,) = picture.iter(f"{SVG}polyline")
    found = [tuple(map(float, point.split(","))) for point in line.get("points", "").split()]
    for (x, y), (along, below) in zip(falls.points, found, strict=True):
        assert along == pytest.approx(LEFT + WIDTH * log10(x / 2) / 2, abs=0.06)
        assert below == pytest.approx(MARGIN - HEIGHT * log10(y) / 3, abs=0.06)
    assert [text.text for text in picture.iter(f"{SVG}text")] == [
        *("1e-3", "1e-2", "1e-1", "1", "2", "20", "200", "n", "gap", "<falls>")
    ]


def test_names_of_lines_that_end_together_do_not_meet_and_lines_are_told_apart() -> None:
    lines = [Line(name, [(1, 1), (10, 2)]) for name in "pqr"] + [Line("s", [(1, -1), (10, 0)])]
    picture = ElementTree.fromstring(plot_svg("ends", "n", "", lines))
    names = [text for text in picture.iter(f"{SVG}text") if (text.text or "")[:1] in "pqrs" and text.text]
    heights = sorted(float(text.get("y", "")) for text in names)
    assert len(names) == 4
    assert min(b - a for a, b in pairwise(heights)) >= APART - 0.1
    assert len({line.get("stroke-dasharray") for line in picture.iter(f"{SVG}polyline")}) == 3
    bottom = float((picture.get("viewBox") or "").split()[3])
    assert heights[-1] < bottom


def test_a_point_that_is_not_above_0_is_left_out_of_its_line() -> None:
    picture = plot_svg("gaps", "n", "y", [Line("some", [(1, 1), (2, -1), (4, 0.5)])])
    (line,) = ElementTree.fromstring(picture).iter(f"{SVG}polyline")
    assert len(line.get("points", "").split()) == 2
