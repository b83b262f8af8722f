"""A network as text, one head and one written coordinate a line: for reading, not for reading back.

x3(i) is coordinate 3 of the residual stream at the position that a head writes to, x3(j) where it looks.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from attemper.networks.form_text import form_text, parts_of, sum_text
from attemper.networks.layers import Coordinate, Head, Layer, Network, Softmax
from attemper.workbench.report.summary import temperature_of


def network_lines(network: Network) -> Iterator[str]:
    """The lines of a network's text."""
    for coordinate, label in enumerate(network.coordinates):
        yield f"x{coordinate} = {label}"
    for number, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            yield from _head(f"layer {number}, head {index}", head)
        yield from _feed_forward(f"layer {number}", layer)
    where = "first" if network.reads_first else "last"
    empty = "accepted" if network.accepts_empty else "rejected"
    if network.measure is not None:
        shown = ", ".join(f"{name}: x{at}" for name, at in network.symbols) or f"x{network.output}"
        share = "" if network.over is None else f", as its share of what is seen {network.over}"
        yield f"output {network.measure} {shown}{share}"
        return
    if network.symbols:
        yield "output " + ", ".join(f"{name}: x{coordinate}" for name, coordinate in network.symbols)
        return
    yield f"output x{network.output}, read at the {where} position; the empty word is {empty}"


def _head(place: str, head: Head) -> Iterator[str]:
    weighting = head.weighting
    if isinstance(weighting, Softmax):
        attention = f"softmax at temperature {temperature_of(weighting)}"
    else:
        attention = str(weighting)
    yield f"{place}: {type(head.construction).__name__}, {head.masking}, {attention}"
    rows = [
        f"({form_text(q, '(i)')}) ({form_text(k, '(j)')})" for q, k in zip(head.query, head.key, strict=True)
    ]
    yield f"  score {' + '.join(rows) or '0'}"
    for value, target in zip(head.values, head.targets, strict=True):
        yield f"  x{target} += {form_text(value, '(j)')}"


def _feed_forward(place: str, layer: Layer) -> Iterator[str]:
    written: dict[Coordinate, list[tuple[str, Fraction]]] = {}
    for unit in layer.hidden:
        relu = f"relu({sum_text([*parts_of(unit.form), ('', unit.bias)])})"
        for target, factor in unit.outputs:
            written.setdefault(target, []).append((relu, factor))
    if written:
        yield f"{place}, feed-forward"
    for target, parts in written.items():
        yield f"  x{target} += {sum_text(parts)}"
