"""A network cut at edges: their readers read twins of the coordinates, which others may write.

Until a twin is written it is 0, and nobody reads it; so who cuts writes all twins of a variable after its
layer. Whatever else there is in the network stays as it is. (FORMAT.md, section 16.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from attemper.networks.layers import Coordinate, Head, Layer, LinearForm, Network
from attemper.theories.causal.certificate import (
    CausalEdge,
    CausalVariable,
    FeedForwardEdge,
    HeadEdge,
    HeadPart,
    OutputEdge,
)

Twins = Mapping[Coordinate, Coordinate]
"""Of each coordinate that an edge's variable has the one that the edge's reader reads."""


def cut(
    network: Network, variables: Sequence[CausalVariable], edges: Sequence[CausalEdge]
) -> tuple[Network, tuple[Twins, ...]]:
    """The network with twins, and which those of each edge are. `lost_edges` has nothing to say of it."""
    twins = list[Twins]()
    for edge in edges:
        own = enumerate(variables[edge.variable].coordinates, start=len(network.coordinates))
        twins.append({coordinate: twin for twin, coordinate in own})
        labels = (f"twin of {network.coordinates[coordinate]}" for coordinate in twins[-1])
        network = replace(network, coordinates=(*network.coordinates, *labels))
        network = _reading(network, edge, twins[-1])
    return network, tuple(twins)


def lost_edges(
    network: Network, variables: Sequence[CausalVariable], edges: Sequence[CausalEdge]
) -> Iterator[str]:
    """Why the edges are none of this network, or what they carry is not what the variable was set to."""
    for edge in edges:
        if isinstance(edge, HeadEdge | FeedForwardEdge) and edge.layer not in range(len(network.layers)):
            yield f"there is no layer {edge.layer}"
        elif isinstance(edge, HeadEdge) and edge.head not in range(len(network.layers[edge.layer].heads)):
            yield f"there is no head {edge.layer}.{edge.head}"
        variable = variables[edge.variable]
        for number, layer in enumerate(network.layers):
            if number > variable.layer and not _written(layer).isdisjoint(variable.coordinates):
                yield f"layer {number} writes where a variable is held: what is read later is not it"


def _written(layer: Layer) -> set[Coordinate]:
    by_heads = {target for head in layer.heads for target in head.targets}
    return by_heads | {target for unit in layer.hidden for target, _ in unit.outputs}


def _reading(network: Network, edge: CausalEdge, twins: Twins) -> Network:
    match edge:
        case OutputEdge():
            symbols = tuple((name, twins.get(own, own)) for name, own in network.symbols)
            return replace(network, output=twins.get(network.output, network.output), symbols=symbols)
        case HeadEdge(_, number, head, part):
            layer = network.layers[number]
            heads = list(layer.heads)
            heads[head] = _head_reading(heads[head], part, twins)
            layer = replace(layer, heads=tuple(heads))
        case FeedForwardEdge(_, number):
            layer = network.layers[number]
            hidden = tuple(replace(unit, form=_form(unit.form, twins)) for unit in layer.hidden)
            layer = replace(layer, hidden=hidden)
        case _:
            assert_never(edge)
    return replace(network, layers=(*network.layers[:number], layer, *network.layers[number + 1 :]))


def _head_reading(head: Head, part: HeadPart, twins: Twins) -> Head:
    match part:
        case HeadPart.QUERY:
            return replace(head, query=tuple(_form(form, twins) for form in head.query))
        case HeadPart.KEY:
            return replace(head, key=tuple(_form(form, twins) for form in head.key))
        case HeadPart.VALUES:
            return replace(head, values=tuple(_form(form, twins) for form in head.values))
        case _:
            assert_never(part)


def _form(form: LinearForm, twins: Twins) -> LinearForm:
    return tuple(sorted((twins.get(coordinate, coordinate), factor) for coordinate, factor in form))
