"""One head in each layer, as Definition 1 of Yang et al. has it.

Heads that stand side by side read what stood there before any of them, and write coordinates of their own:
they are the same network as layers of one head each, one after the other, with the feed-forward after the
last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum

from attemper.networks.layers import Layer, Network


class Heads(StrEnum):
    """How many heads a layer of the papers' construction has."""

    ONE = "one"
    """At most one (Definition 1)."""
    MANY = "many"
    """Side by side whatever can be (a remark in the proof of Theorem 12)."""


def single_heads(network: Network) -> Network:
    """The same network with at most one head in each layer."""
    return replace(network, layers=tuple(one for layer in network.layers for one in _apart(layer)))


def _apart(layer: Layer) -> Iterator[Layer]:
    for head in layer.heads[:-1]:
        yield Layer((head,), (), ())
    yield replace(layer, heads=layer.heads[-1:])
