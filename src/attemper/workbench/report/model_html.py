"""A model as HTML for notebooks: what it is, its layers, and how their heads attend on a short word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from random import Random

from attemper.errors import AttemperError
from attemper.html_tables import html_text, left_out, row_html
from attemper.languages.words import Word, show_alphabet, show_word
from attemper.networks.layers import Network, parameter_count
from attemper.networks.regime import Regime
from attemper.workbench.report.heads import HeadTrace, labels_written
from attemper.workbench.report.trace_html import head_svg, written_html
from attemper.workbench.report.windows import window_around

TITLE = 200
"""How many characters of a title are shown."""

HEADS = 24
"""How many heads and layers are listed and drawn."""

EXAMPLE = 6
"""How many symbols the word of the pictures has; they are drawn at random, and the same at every time."""

LARGE = 1_000_000
"""Of a network with more parameters nothing is drawn, since that would take noticeable time."""

Attending = Callable[[Word], Sequence[HeadTrace]]
"""How all heads attend on a word. Raises `AttemperError` where that is not found out."""


def model_html(network: Network, title: str, regime: Regime, attending: Attending) -> str:
    """A model as tables without scripts: title, regime and sizes; then its layers, and pictures of heads."""
    facts = {
        "regime": str(regime),
        "alphabet": html_text(show_alphabet(network.alphabet)),
        "layers": f"{len(network.layers):,}",
        "heads": f"{sum(len(layer.heads) for layer in network.layers):,}",
        "d_model": f"{len(network.coordinates):,}",
        "hidden units": f"{sum(len(layer.hidden) for layer in network.layers):,}",
        "parameters": f"{parameter_count(network):,}",
    }
    rows = "".join(row_html(name, [fact]) for name, fact in facts.items())
    shown = html_text(" ".join(title.split()), TITLE)
    layers = "".join(_layers(network, attending))
    return f"<div><p><code>{shown}</code></p><table>{rows}</table>{layers}</div>"


def _layers(network: Network, attending: Attending) -> Iterator[str]:
    """The first heads and what their layers have, how they attend, and what is not shown."""
    if not network.layers:
        return
    word = tuple(Random(0).choices(network.alphabet.symbols, k=EXAMPLE))
    pictures, note = _drawn(network, word, attending)
    on = [f"on the word <code>{html_text(show_word(word))}</code>"] if pictures else []
    heading = ["head", "construction", "writes", *on, "hidden units"]
    rows = [row_html("layer", heading), *islice(_rows(network, pictures), HEADS)]
    yield f"<table>{''.join(rows)}</table>"
    rows_in_all = sum(max(1, len(layer.heads)) for layer in network.layers)
    yield from left_out(rows_in_all - HEADS, "rows: 'attemper show' lists every head")
    if note:
        yield f"<p>{html_text(note)}</p>"


def _rows(network: Network, pictures: dict[tuple[int, int], str]) -> Iterator[str]:
    """A row for each head; of a layer without heads one row, too."""
    for number, layer in enumerate(network.layers):
        hidden = f"{len(layer.hidden):,}"
        if not layer.heads:
            yield row_html(f"{number}", ["none", "", "", *([""] if pictures else []), hidden])
        for index, head in enumerate(layer.heads):
            picture = [pictures.get((number, index), "")] if pictures else []
            writes = written_html(labels_written(network, head))
            cells = [f"{index}", type(head.construction).__name__, writes, *picture, "" if index else hidden]
            yield row_html(f"{number}", cells)


def _drawn(network: Network, word: Word, attending: Attending) -> tuple[dict[tuple[int, int], str], str]:
    """The pictures of the first heads, by layer and head, and why there are none."""
    if parameter_count(network) > LARGE:
        return {}, "nothing is drawn of so large a network: see model.trace(word)"
    try:
        heads = attending(word)[:HEADS]
    except AttemperError as error:
        return {}, f"nothing is drawn: {error}"
    window = window_around(len(word), len(word), len(word))
    return {(head.layer, head.head): head_svg(head, word, window) for head in heads}, ""
