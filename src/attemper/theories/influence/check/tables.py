"""Position tables: what one symbol can change, for all words of one length, with any position embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.enclosures.forms import TINY
from attemper.models.soft.weights import Encoder
from attemper.theories.influence.check.many_layers import many_layers_bound
from attemper.theories.influence.check.one_layer import one_layer_bound

MOST_CLASSES = 1024
"""The most pairs of a position and a symbol that are looked at where there are several layers."""


@final
class Exchange(StrEnum):
    """Which position i < n is exchanged: any, or n - 1 only, which is all that PARITY's floor needs."""

    ANY = "any"
    LAST_BUT_ONE = "last but one"


@final
@dataclass(frozen=True)
class TableRange:
    """At least what an exchange can change a functional by, and at least its range over all words.

    Both are infinite where nothing is known. A bound that is not below the range says nothing, unless it is
    0: it is vacuous.
    """

    change: float
    diameter: float

    @property
    def vacuous(self) -> bool:
        return self.change > 0 and not self.change < self.diameter


def change_bound(
    encoder: Encoder, length: int, functional: Sequence[int], exchange: Exchange = Exchange.ANY
) -> TableRange:
    """A bound on |f(x) - f(x')| for all words x, x' of n symbols that differ in one exchanged position i < n.

    f is the `functional`, K integers, of the real-number function of the encoder's float64 weights at
    position n; n counts the end marker, which stands at position n and nowhere else. Without a marker x_n
    is any symbol, the same in both words. The bound is for this n only (Hahn 2020, Lemma 5, in the form of
    supplement S2; `one_layer` and `many_layers` say why it holds). With several layers it is mostly vacuous
    unless the scores' range is small.

    Raises `UnsupportedError` for a length that the encoder lacks, for more than 1024 pairs of position and
    symbol with several layers, and for LayerNorm with an epsilon that is not clearly positive.

    >>> from attemper.models.soft.weights import Mask, NoPositions
    >>> one = np.ones((1, 1))
    >>> rows = np.array([[0.0], [1.0]])
    >>> blind = Encoder(("a", "b"), None, rows, NoPositions(), Mask.UNMASKED, (), one, one[0], ("o",))
    >>> change_bound(blind, 5, [1])  # no layer: position n sees itself only
    TableRange(change=0.0, diameter=0.0)
    """
    encoder = encoder.at(length)
    letters = sum(symbol != encoder.ending for symbol in encoder.symbols)
    _require_fitting(encoder, length, letters, functional)
    if not encoder.layers or letters < 2 or length < 2:
        return TableRange(0.0, 0.0)
    exchanged = np.zeros(length, dtype=np.bool_)
    exchanged[0 if exchange is Exchange.ANY else -2 : -1] = True
    bound = one_layer_bound if len(encoder.layers) == 1 else many_layers_bound
    lasts = range(len(encoder.symbols)) if encoder.ending is None else [encoder.symbols.index(encoder.ending)]
    with np.errstate(all="ignore"):
        found = [bound(encoder, length, functional, last, exchanged) for last in lasts]
    change, diameter = (max(_number(each) for each in side) for side in zip(*found, strict=True))
    return TableRange(change, diameter)


def _require_fitting(encoder: Encoder, length: int, letters: int, functional: Sequence[int]) -> None:
    """Raises `UnsupportedError` for what `change_bound` refuses."""
    if len(functional) != len(encoder.readout):
        raise UnsupportedError(f"the encoder has {len(encoder.readout)} outputs: give as many integers")
    for layer in encoder.layers:
        if any(not norm.epsilon > TINY for norm in layer.norms or ()):
            raise UnsupportedError(
                "LayerNorm with an epsilon of about 0 has jumps: nothing is certified of it"
            )
    if len(encoder.layers) > 1 and length * letters > MOST_CLASSES:
        raise UnsupportedError(
            f"{length} positions with {letters} symbols are too many for a table of several layers: "
            f"at most {MOST_CLASSES} pairs; take a smaller n, or a bound by frequencies"
        )


def _number(value: float) -> float:
    """The bound, or infinity for what bounds no absolute value."""
    return value if 0 <= value < inf else inf
