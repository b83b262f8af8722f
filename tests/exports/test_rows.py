"""Pictures of words and of what is attended to, read back as XML; and those that the documents show."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from attemper.exports.pictures.rows import FAINTEST, Cells, rows_svg
from tests.support.writers.figures import FOLDER, figures

SVG = "{http://www.w3.org/2000/svg}"

ANSWER = Cells("O <a>", ["1", ".", "&"], [True, False, False], [[1, 0, 0], [0.25, 0.75, 0], [0, 0, 0.5]])
WORD = Cells("word", "abb", [False] * 3)


def test_every_cell_is_a_square_with_its_text() -> None:
    picture = ElementTree.fromstring(rows_svg("two rows", [ANSWER, WORD]))
    assert picture.findtext(f"{SVG}title") == "two rows"
    assert [text.text for text in picture.iter(f"{SVG}text")] == ["O <a>", "1", ".", "&", "word", *"abb"]
    squares = list(picture.iter(f"{SVG}rect"))
    assert [square.get("fill") for square in squares] == ["currentColor", *["none"] * 5]
    assert len({(square.get("x"), square.get("y")) for square in squares}) == 6
    assert {square.get("x") for square in squares[:3]} == {square.get("x") for square in squares[3:]}


def test_a_line_leads_from_who_attends_to_what_is_attended_to_and_is_as_dark_as_the_weight() -> None:
    picture = ElementTree.fromstring(rows_svg("two rows", [ANSWER, WORD]))
    columns = [float(square.get("x", "")) + 11 for square in picture.iter(f"{SVG}rect")][:3]
    drawn = {
        (columns.index(float(line.get("x1", ""))), columns.index(float(line.get("x2", "")))): float(
            line.get("stroke-opacity", "")
        )
        for line in picture.iter(f"{SVG}line")
    }
    assert drawn == {(0, 0): 1, (1, 0): 0.25, (1, 1): 0.75, (2, 2): 0.5}


def test_what_nobody_would_see_is_not_drawn() -> None:
    row = ANSWER._replace(weights=[[1 - FAINTEST / 2, FAINTEST / 2, 0]])
    assert rows_svg("faint", [row, WORD]).count("<line") == 1


def test_a_picture_brings_its_colours_only_if_it_stands_alone() -> None:
    assert "<style>" not in rows_svg("one row", [WORD])
    assert "color-scheme: light dark" in rows_svg("one row", [WORD], standalone=True)


@pytest.mark.sweep(0)
def test_the_figures_are_what_make_gallery_writes() -> None:
    drawn = figures()
    assert set(FOLDER.iterdir()) == set(drawn)
    for path, data in drawn.items():
        assert path.read_bytes() == data, f"docs/figures/{path.name} is not up to date: make gallery"
