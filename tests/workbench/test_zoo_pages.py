"""The zoo as pages: one for each entry, what they hold, and the index that leads to them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from attemper.errors import MalformedFileError, UnprovedError, UnsupportedError
from attemper.exports.page import contents as page_contents
from attemper.languages.named.entry import Entry, FormulaText, Reference, ZooEntry
from attemper.languages.named.zoo import everything, named
from attemper.workbench.model import Model
from attemper.workbench.zoo import compile_entry
from attemper.workbench.zoo_pages import __main__ as command
from attemper.workbench.zoo_pages import making
from attemper.workbench.zoo_pages.index import index_text
from attemper.workbench.zoo_pages.making import zoo_page

FEW = tuple(map(named, ("majority", "date", "dyck-1-depth-3", "sort", "mod-3")))


def held(html: str) -> dict[str, Any]:
    """What the page holds of its network."""
    found = re.search(r'<script type="application/json" id="network">(.*?)</script>', html, re.DOTALL)
    assert found is not None
    record = json.loads(found[1])
    assert isinstance(record, dict)
    return record


class Cells(HTMLParser):
    """The rows of a page's only table, as texts, and where links lead to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.links: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: Sequence[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")
        self.links += [value or "" for name, value in attributes if name == "href"]

    def handle_data(self, data: str) -> None:
        if data.strip() and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.rstrip("\n")


@pytest.mark.sweep(3)
@pytest.mark.parametrize("entry", FEW, ids=lambda entry: entry.name)
def test_a_page_has_the_certified_network_of_its_entry(entry: ZooEntry) -> None:
    page = zoo_page(entry)
    model = compile_entry(entry, entry.source)
    own = held(page.html)
    assert own["title"] == f"{entry.name}: {entry.definition}"
    assert own["alphabet"] == list(entry.alphabet)
    assert own["coordinates"] == list(model.network.coordinates)
    assert own["certificate"]["horizon"] == page.horizons["float64"]
    assert (page.layers, len(own["layers"])) == (len(model.network.layers),) * 2
    assert page.heads == sum(len(layer.heads) for layer in model.network.layers)
    assert page.refusal == ""
    assert all(str(reference) in unescape(page.html) for reference in entry.references)
    if isinstance(entry, Entry):
        assert entry.accepts(tuple(own["word"]))


def test_pictures_are_of_automata_that_an_entry_is_written_as() -> None:
    pictured = {entry.name: zoo_page(entry).has_picture for entry in FEW}
    assert pictured == {"majority": False, "date": True, "dyck-1-depth-3": True, "sort": False, "mod-3": True}
    # That of mod-3 is one of its other sources, as the formula is the shortest.
    mod_3 = named("mod-3")
    assert isinstance(mod_3.source, FormulaText)
    assert held(zoo_page(mod_3).html)["picture"].startswith("<svg")


def test_a_network_that_is_too_large_is_listed_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_contents, "MOST_COORDINATES", 10)
    page = zoo_page(named("majority"))
    assert (page.html, page.layers, page.horizons["float64"]) == ("", 2, 2**40)
    assert "11 coordinates, and a page shows at most 10" in page.refusal
    _, row = Cells(index_text([page])).rows
    assert row[1].endswith(f"no page: {page.refusal}")
    assert Cells(index_text([page])).links == []


def test_what_cannot_be_compiled_is_listed_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Model:
        raise UnsupportedError("no heads today")

    monkeypatch.setattr(making, "compile_entry", refuse)
    page = zoo_page(named("majority"))
    assert (page.html, page.layers, page.horizons, page.refusal) == ("", None, {}, "no heads today")
    _, row = Cells(index_text([page])).rows
    assert "no page: no heads today" in row[1]
    assert row[3:5] + row[6:] == ["\u2013"] * 5


def test_a_network_without_a_proof_has_a_page_and_no_horizon(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> object:
        raise UnprovedError("no rule covers it")

    monkeypatch.setattr(Model, "certify", refuse)
    page = zoo_page(named("first"))
    assert page.horizons == {}
    assert held(page.html)["certificate"] is None
    _, row = Cells(index_text([page])).rows
    assert row[3:5] == ["1", "1"]
    assert row[6:] == ["\u2013"] * 3


def test_the_index_has_a_row_for_each_entry() -> None:
    pages = [zoo_page(entry) for entry in FEW]
    text = index_text(pages)
    found = Cells(text)
    assert found.links == [f"{entry.name}.html" for entry in FEW]
    assert len(found.rows) == len(FEW) + 1
    for page, row in zip(pages, found.rows[1:], strict=True):
        picture = "with a picture of its automaton" if page.has_picture else ""
        assert row == [
            page.entry.name,
            page.entry.definition + picture,
            page.entry.kind,
            str(page.layers),
            str(page.heads),
            ", ".join(page.entry.regimes),
            *(f"{page.horizons[name]:,}" for name in ("float64", "float32", "bfloat16")),
        ]
    assert "<script" not in text
    assert "default-src 'none'" in text


def test_what_an_entry_says_is_text() -> None:
    entry = replace(
        named("first"), definition="<b>&", references=(Reference("A <i> & B", 2020, "</script>"),)
    )
    page = zoo_page(entry)
    assert "<b>" not in index_text([page])
    assert Cells(index_text([page])).rows[1][1].startswith("<b>&")
    assert "<i>" not in page.html
    assert held(page.html)["title"] == "first: <b>&"
    assert "A &lt;i&gt; &amp; B 2020: &lt;/script&gt;" in page.html


# What `make gallery` runs ---------------------------------------------------------------------------------


def test_pages_are_written_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "everything", lambda: FEW[:2])
    out = tmp_path / "pages" / "of the zoo"
    command.main(out)
    said = " ".join(capsys.readouterr().out.split())
    assert said == f"wrote 2 pages; open {out / 'index.html'} in a browser"
    assert sorted(path.name for path in out.iterdir()) == ["date.html", "index.html", "majority.html"]
    assert (out / "majority.html").read_text(encoding="utf-8") == zoo_page(FEW[0]).html
    assert (out / "index.html").read_text(encoding="utf-8") == index_text([zoo_page(one) for one in FEW[:2]])


def test_an_index_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        command.write_pages(FEW[:1], tmp_path)
    (tmp_path / "index.html").write_text("<title>My site</title>", encoding="utf-8")
    with pytest.raises(
        MalformedFileError, match=r"has other files than pages of the zoo, such as 'index\.html'"
    ):
        command.write_pages(FEW[:1], tmp_path)
    assert (tmp_path / "index.html").read_text(encoding="utf-8") == "<title>My site</title>"


def test_a_network_that_is_too_large_has_no_page_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "everything", lambda: FEW[:1])
    monkeypatch.setattr(page_contents, "MOST_COORDINATES", 10)
    command.main(tmp_path)
    said = capsys.readouterr().out
    assert "no page of majority: " in said
    assert "11 coordinates" in said
    assert "wrote 0 pages; " in said
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    with pytest.raises(MalformedFileError):
        command.write_pages(FEW[:1], tmp_path / "taken")
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"


def test_names_are_names_of_files() -> None:
    assert all(re.fullmatch(r"[a-z0-9-]+", entry.name) for entry in everything())
    assert "index" not in {entry.name for entry in everything()}


@pytest.mark.slow
def test_every_entry_has_a_page_with_a_certificate(tmp_path: Path) -> None:
    pages = command.write_pages(everything(), tmp_path)
    assert [page.entry.name for page in pages] == [entry.name for entry in everything()]
    for page in pages:
        assert page.refusal == ""
        assert set(page.horizons) == {"float64", "float32", "bfloat16"}
        assert held((tmp_path / page.file).read_text(encoding="utf-8"))["certificate"]["isReal"]
