"""The hard network of a soft one, and its heads that are uniform by their weights alone.

A hard network attends with average-hard heads: the average over the visible positions of the greatest score.
A uniform head averages all visible positions, at every temperature. All other heads must have one position of
the greatest score, or several whose values are equal there.
"""

from __future__ import annotations

from dataclasses import replace

from attemper.networks.layers import HardWeighting, Network
from attemper.theories.softening.check.uniform import is_uniform


def hardened(network: Network) -> Network:
    """The network with average-hard heads in place of all its heads: the limit of temperature 0."""
    layers = tuple(
        replace(
            layer,
            heads=tuple(replace(head, weighting=HardWeighting.AVERAGE) for head in layer.heads),
        )
        for layer in network.layers
    )
    return replace(network, layers=layers)


def uniform_heads(network: Network) -> tuple[tuple[bool, ...], ...]:
    """Which heads of each layer are uniform: see `uniform.is_uniform`."""
    return tuple(
        tuple(is_uniform(network, number, index) for index in range(len(layer.heads)))
        for number, layer in enumerate(network.layers)
    )
