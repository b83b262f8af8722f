"""A transformer whose weights somebody changed, exactly, in the form of a network.

A network's head writes each value to one coordinate with factor 1; W_O after a change can hold anything. In
real arithmetic a row of W_O that writes a value to several coordinates, each times a factor, is one value for
each of them, times the factor; a row that writes nothing leaves nothing of its value. In floats the products
are rounded: that is the same only for powers of two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.errors import UnsupportedError
from attemper.networks.layers import LinearForm, Network
from attemper.networks.weights import HeadRows, HeadWeights

SHIFTS = range(-10, 4)
"""Factors are 2^-10 to 2^3: FORMAT.md, section 6 keeps sizes farther than that from over- and underflow.

A value is 2^10 times as large as what is checked, or an eighth: an average of 2^-103 over 2^21 positions is
2^-124, which nothing flushes to 0.
"""


@final
@dataclass(frozen=True)
class Edited:
    """The network that changed weights are. `rounding` says why the two round otherwise; empty if alike."""

    network: Network
    rounding: str


def normal_heads(
    heads: Sequence[HeadRows], layer: int, d_head: int
) -> tuple[tuple[HeadWeights, ...], tuple[str, ...]]:
    """The heads of a layer, the same functions in real arithmetic, and every reason why they round otherwise.

    Raises `UnsupportedError` for a head that then has more values than its width.
    """
    found: list[HeadWeights] = []
    reasons: list[str] = []
    for number, head in enumerate(heads):
        name = f"layer {layer}, head {number}"
        parts = [
            (_scaled(value, factor), target)
            for value, written in zip(head.values, head.written, strict=True)
            for target, factor in written
        ]
        if len(parts) > d_head:
            raise UnsupportedError(
                f"{name} writes {len(parts)} values, more than its width {d_head} (a row of W_O counts for "
                "each coordinate that it writes to): set all but one weight of each row to 0"
            )
        values, targets = tuple(value for value, _ in parts), tuple(target for _, target in parts)
        found.append(HeadWeights(head.query, head.key, values, targets))
        for m, (value, written) in enumerate(zip(head.values, head.written, strict=True)):
            if value and not written:
                reasons.append(f"{name} computes value {m} and writes it nowhere")
            reasons += [
                f"{name} multiplies value {m} by {float(factor)!r}, which rounds it"
                for _, factor in written
                if not _shifts(factor)
            ]
    return tuple(found), tuple(reasons)


def _scaled(form: LinearForm, factor: Fraction) -> LinearForm:
    return tuple((coordinate, factor * weight) for coordinate, weight in form)


def _shifts(factor: Fraction) -> bool:
    """Whether multiplying by the factor changes nothing but sign and exponent."""
    return abs(factor) in {Fraction(2) ** power for power in SHIFTS}
