"""Drop the coordinates that nothing reads: position embeddings of hard heads that softening replaced.

What remains is what the regime allows: bounded embeddings in `temperature`, and moreover independent
of n in `decoder`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from attemper.compiling.constructions.table import plan_of
from attemper.networks.layers import Coordinate, Head, Hidden, Layer, LinearForm, Network


def drop_unused(network: Network) -> tuple[Network, dict[Coordinate, Coordinate]]:
    """The same network without coordinates that no head, hidden unit or output reads or writes.

    Also what the other coordinates are called now.
    """
    used = {*network.outputs, *_touched(network)}
    kept = [coordinate for coordinate in range(len(network.coordinates)) if coordinate in used]
    move = {old: new for new, old in enumerate(kept)}
    smaller = replace(
        network,
        coordinates=tuple(network.coordinates[old] for old in kept),
        embedding=tuple(_moved(_restricted(form, move), move) for form in network.embedding),
        positions=tuple((move[old], closed) for old, closed in network.positions if old in move),
        layers=tuple(moved_layer(layer, move) for layer in network.layers),
        output=move[network.output],
        symbols=tuple((name, move[coordinate]) for name, coordinate in network.symbols),
    )
    return smaller, move


def _touched(network: Network) -> Iterator[Coordinate]:
    for layer in network.layers:
        for head in layer.heads:
            yield from head.targets
            for form in (*head.query, *head.key, *head.values):
                yield from (coordinate for coordinate, _ in form)
        for unit in layer.hidden:
            yield from (coordinate for coordinate, _ in (*unit.form, *unit.outputs))


def _restricted(form: LinearForm, move: dict[Coordinate, Coordinate]) -> LinearForm:
    return tuple((coordinate, factor) for coordinate, factor in form if coordinate in move)


def _moved(form: LinearForm, move: dict[Coordinate, Coordinate]) -> LinearForm:
    return tuple((move[coordinate], factor) for coordinate, factor in form)


def moved_layer(layer: Layer, move: dict[Coordinate, Coordinate]) -> Layer:
    """The layer with other numbers for its coordinates, which are in the same order."""
    return replace(
        layer,
        heads=tuple(_moved_head(head, move) for head in layer.heads),
        hidden=tuple(
            Hidden(_moved(unit.form, move), unit.bias, _moved(unit.outputs, move)) for unit in layer.hidden
        ),
    )


def _moved_head(head: Head, move: dict[Coordinate, Coordinate]) -> Head:
    return replace(
        head,
        construction=plan_of(head).renamed(lambda form: _moved(form, move)),
        query=tuple(_moved(row, move) for row in head.query),
        key=tuple(_moved(row, move) for row in head.key),
        values=tuple(_moved(row, move) for row in head.values),
        targets=tuple(move[target] for target in head.targets),
    )
