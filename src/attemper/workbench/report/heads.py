"""Heads and layers as reports show them: what a head writes, and what happened in it on one word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.networks.layers import OPPOSITE, Head, Network

Matrix = tuple[tuple[float, ...], ...]

Truths = tuple[tuple[str, tuple[bool, ...]], ...]
"""What can be true at a position, each with where it is."""


@final
@dataclass(frozen=True)
class HeadTrace:
    """One head's attention: row i - 1, column j - 1 is the weight of position j for the query at i."""

    layer: int
    head: int
    construction: str
    writes: tuple[str, ...]
    soft: Matrix
    hard: Matrix

    def __repr__(self) -> str:
        place = f"layer {self.layer}, head {self.head}"
        return f"<HeadTrace {place}: {self.construction}, {len(self.soft)} positions>"


@final
@dataclass(frozen=True)
class LayerMargin:
    """The smallest margin of a layer's clamps on the word; 1/4 is perfect, negative is broken."""

    layer: int
    margin: float


def labels_written(network: Network, head: Head) -> tuple[str, ...]:
    """What a head writes; of a pair of opposite numbers the first."""
    labels = [network.coordinates[target] for target in head.targets]
    if network.normalisation is None:
        return tuple(labels)
    return tuple(label for label in labels if label.removeprefix(OPPOSITE) not in {*labels} - {label})
