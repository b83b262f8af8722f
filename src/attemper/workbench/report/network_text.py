"""A network as text, one head and one written coordinate a line: for reading, not for reading back.

x3(i) is coordinate 3 of the residual stream at the position that a head writes to, x3(j) where it looks. Of a
normalised network h3(i) is what its normalisation makes of that; weights then have six digits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.networks.form_text import parts_of, sum_text
from attemper.networks.layers import Coordinate, Head, Layer, LinearForm, Network, Softmax
from attemper.workbench.report.summary import normalisation_of, temperature_of


def network_lines(network: Network) -> Iterator[str]:
    """The lines of a network's text."""
    for coordinate, label in enumerate(network.coordinates):
        yield f"x{coordinate} = {label}"
    text = _Text(is_normalised=network.normalisation is not None)
    if network.normalisation is not None:
        yield f"h is what each sublayer reads of x: {normalisation_of(network.normalisation)}"
    for number, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            yield from text.head(f"layer {number}, head {index}", head)
        yield from text.feed_forward(f"layer {number}", layer)
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


@final
@dataclass(frozen=True)
class _Text:
    """How layers are written."""

    is_normalised: bool

    def head(self, place: str, head: Head) -> Iterator[str]:
        """The lines of a head."""
        weighting = head.weighting
        if isinstance(weighting, Softmax):
            attention = f"softmax at temperature {temperature_of(weighting)}"
        else:
            attention = str(weighting)
        yield f"{place}: {type(head.construction).__name__}, {head.masking}, {attention}"
        rows = [
            f"({self._form(q, '(i)')}) ({self._form(k, '(j)')})"
            for q, k in zip(head.query, head.key, strict=True)
        ]
        yield f"  score {' + '.join(rows) or '0'}"
        for value, target in zip(head.values, head.targets, strict=True):
            yield f"  x{target} += {self._form(value, '(j)')}"

    def feed_forward(self, place: str, layer: Layer) -> Iterator[str]:
        """The lines of the hidden units, by what they write."""
        written: dict[Coordinate, list[tuple[str, Fraction]]] = {}
        for unit in layer.hidden:
            relu = f"relu({self._sum([*self._parts(unit.form), ('', unit.bias)])})"
            for target, factor in unit.outputs:
                written.setdefault(target, []).append((relu, factor))
        if written:
            yield f"{place}, feed-forward"
        for target, parts in written.items():
            yield f"  x{target} += {self._sum(parts)}"

    def _form(self, form: LinearForm, at: str) -> str:
        return self._sum(self._parts(form, at))

    def _parts(self, form: LinearForm, at: str = "") -> list[tuple[str, Fraction]]:
        return parts_of(form, at, "h" if self.is_normalised else "x")

    def _sum(self, parts: list[tuple[str, Fraction]]) -> str:
        return sum_text(parts, _in_digits if self.is_normalised else str)


def _in_digits(factor: Fraction) -> str:
    return f"{float(factor):.6g}"
