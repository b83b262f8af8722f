"""The pages in docs/gallery are what `make gallery` writes now, and show what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attemper.languages.machines.meaning import run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.turing import parse_turing, run_turing
from tests.exports.runs_page import Interpreter, needs_node
from tests.exports.test_page import network_in
from tests.support.writers.gallery import (
    BUSY_BEAVER_4,
    FOLDER,
    PIECES,
    Piece,
    collatz_text,
    gallery,
)

MOST_BYTES = 150_000
"""The picture is no larger."""

DEAR = {"busy-beaver-4"}
"""Networks that take more than a second to compile."""

SAID = {"majority": "accepted", "dyck-1": "accepted", "parity": "accepted", "automaton": "accepted"}


@pytest.mark.sweep(0)
def test_the_gallery_is_what_make_gallery_writes() -> None:
    written = gallery()
    for path, data in written.items():
        assert path.exists(), f"docs/gallery/{path.name} is missing: make gallery"
        assert path.read_bytes() == data, f"docs/gallery/{path.name} is not up to date: make gallery"
    standing = {path for path in FOLDER.iterdir() if path.suffix == ".html"}
    assert standing == set(written)


def test_the_index_leads_to_every_page() -> None:
    links = re.findall(r'href="([^"]*)"', (FOLDER / "index.html").read_text(encoding="utf-8"))
    assert links == [*(f"{piece.name}.html" for piece in PIECES), "depth-reduction.html"]


def test_the_picture_is_small() -> None:
    data = (FOLDER / "page.png").read_bytes()
    assert data.startswith(b"\x89PNG")
    assert len(data) < MOST_BYTES


@needs_node
@pytest.mark.parametrize(
    "piece",
    [
        pytest.param(piece, id=piece.name, marks=[pytest.mark.slow] if piece.name in DEAR else [])
        for piece in PIECES
    ],
)
def test_a_page_of_the_gallery_is_right_on_the_word_that_it_opens_with(piece: Piece, tmp_path: Path) -> None:
    interpreter = Interpreter(tmp_path)
    contents = network_in((FOLDER / f"{piece.name}.html").read_text(encoding="utf-8"))
    interpreter.show(contents)
    ran, model = interpreter.run(tuple(contents["word"])), piece.build()
    said = next(model.run([piece.word])).outputs
    assert ran["putOut"] == [str(int(own)) if isinstance(own, bool) else own for own in said]
    assert ran["verdict"] == SAID.get(piece.name)
    interpreter.stop()


@needs_node
def test_the_pages_of_machines_write_their_runs(tmp_path: Path) -> None:
    """From the word that a page opens with to its halt, token by token, as the button does."""
    interpreter = Interpreter(tmp_path)
    counters, tape = parse_machine(collatz_text()), parse_turing(BUSY_BEAVER_4)
    runs = {
        "collatz": [*run(counters, ("x1",) * 6 + ("start",))],
        "busy-beaver-4": [move.token for move in run_turing(tape)],
    }
    for name, expected in runs.items():
        contents = network_in((FOLDER / f"{name}.html").read_text(encoding="utf-8"))
        interpreter.show(contents)
        word = list(contents["word"])
        for token in expected:
            assert interpreter.call("nextOf", word) == {"token": token}
            word.append(token)
        assert "the run has ended" in interpreter.call("nextOf", word)["why"]
    interpreter.stop()
