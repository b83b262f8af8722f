"""The hard network of a soft one, and its heads that are uniform by their weights alone.

A hard network attends with average-hard heads: the average over the visible positions of the greatest score.
A head is *uniform* if each of its products of a query and a key row is seen to be the same for all j: the
query row is empty, or the key row is, or the key reads coordinates only that hold one number at every position
of every word. Such a head averages all visible positions at every temperature. All other heads must have
one position of the greatest score, or, by rule, positions whose values are equal there.
"""

from __future__ import annotations

from dataclasses import replace

from attemper.exact.closed_forms import Number
from attemper.networks.layers import Coordinate, HardWeighting, Head, Layer, LinearForm, Network


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
    """Which heads of each layer are uniform by their weights alone."""
    constant = constant_coordinates(network)
    found = []
    for layer in network.layers:
        found.append(tuple(_is_uniform(head, constant) for head in layer.heads))
        constant -= written_by(layer)
    return tuple(found)


def constant_coordinates(network: Network) -> frozenset[Coordinate]:
    """The coordinates that hold one number at every position of every word before the first layer."""
    embeddings = [dict(form) for form in network.embedding]
    moving = {coordinate for coordinate, form in network.positions if not isinstance(form, Number)}
    return frozenset(
        coordinate
        for coordinate in range(len(network.coordinates))
        if coordinate not in moving and len({own.get(coordinate, 0) for own in embeddings}) <= 1
    )


def written_by(layer: Layer) -> frozenset[Coordinate]:
    """The coordinates that a layer adds something to."""
    heads = {target for head in layer.heads for target in head.targets}
    return frozenset(heads | {target for unit in layer.hidden for target, _ in unit.outputs})


def _is_uniform(head: Head, constant: frozenset[Coordinate]) -> bool:
    return all(
        not query or _reads_only(key, constant) for query, key in zip(head.query, head.key, strict=True)
    )


def _reads_only(form: LinearForm, coordinates: frozenset[Coordinate]) -> bool:
    return all(coordinate in coordinates for coordinate, _ in form)
