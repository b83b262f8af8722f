"""What makes a compiled network less tidy, and leaves its language as it is.

Nothing rests on that: the checker labels the network that comes out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest

from attemper.attention_program.builder import replace_inputs
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.compiling.softening.drop_unused import moved_layer
from attemper.networks.layers import Coordinate, Hidden, Layer, Network

HALF = Fraction(1, 2)

CLAMP = (Fraction(-1, 4), Fraction(-3, 4))
"""The thresholds of two units between which a bit is rounded."""

EMPTY = Layer((), (), ())


def beside(
    network: Network, said: Realisation, other: Network, distracting: Realisation
) -> tuple[Network, Realisation]:
    """The network with another one in the same residual stream, which is computed, read, and cancelled.

    A last layer puts out the bit b with the other one's bit d added, and taken away again:
    relu(b) + relu(d) - 2 relu(d - 1/2) is b where d is 0 or 1. That is a coordinate of its own, as floats are
    only bounded where nothing stands yet. Both have one alphabet and put out bits.
    """
    width, steps = len(network.coordinates), len(said.program.steps)
    move = {own: width + own for own in range(len(other.coordinates))}
    out = width + len(move)
    layers = [
        _side_by_side(left, moved_layer(right, move))
        for left, right in zip_longest(network.layers, other.layers, fillvalue=EMPTY)
    ]
    idle = move[other.output]
    cancelling = (
        Hidden(((network.output, Fraction(1)),), Fraction(0), ((out, Fraction(1)),)),
        Hidden(((idle, Fraction(1)),), Fraction(0), ((out, Fraction(1)),)),
        Hidden(((idle, Fraction(1)),), -HALF, ((out, Fraction(-2)),)),
    )
    joined = replace(
        network,
        coordinates=(*network.coordinates, *other.coordinates, "put out"),
        embedding=tuple(
            (*left, *((move[own], factor) for own, factor in right))
            for left, right in zip(network.embedding, other.embedding, strict=True)
        ),
        positions=(*network.positions, *((move[own], form) for own, form in other.positions)),
        layers=(*layers, Layer((), cancelling, ())),
        output=out,
        head_width=max(network.head_width, other.head_width),
    )
    refs = [steps + ref for ref in range(len(distracting.program.steps))]
    more = tuple(replace_inputs(step, refs) for step in distracting.program.steps)
    program = replace(said.program, steps=(*said.program.steps, *more))
    groups = (
        SymbolGroup(group.layer, tuple((move[own], refs[ref]) for own, ref in group.bits))
        for group in distracting.groups
    )
    return joined, Realisation(program, (*said.groups, *groups))


def _side_by_side(left: Layer, right: Layer) -> Layer:
    units = len(left.hidden)
    clamps = ((low + units, high + units) for low, high in right.clamps)
    return Layer((*left.heads, *right.heads), (*left.hidden, *right.hidden), (*left.clamps, *clamps))


def thrice(network: Network, layer: int, head: int) -> Network | None:
    """The network in which a head stands three times, and two of the three decide; None where it cannot.

    It can where one value is read and rounded by units that read nothing else, as `CLAMP` says.
    """
    old = network.layers[layer]
    read = old.heads[head]
    if len(read.targets) != 1 or set(_thresholds(network, layer, read.targets[0])) != set(CLAMP):
        return None
    width = len(network.coordinates)
    places = (*read.targets, width, width + 1)
    together = tuple((place, Fraction(1)) for place in places)
    alone = ((places[0], Fraction(1)),)
    hidden = [
        replace(unit, form=together, bias=unit.bias - 1) if unit.form == alone else unit
        for unit in old.hidden
    ]
    copies = (replace(read, targets=(place,)) for place in places[1:])
    changed = replace(old, heads=(*old.heads, *copies), hidden=tuple(hidden))
    label = network.coordinates[places[0]]
    return replace(
        network,
        coordinates=(*network.coordinates, f"{label}, again", f"{label}, a third time"),
        layers=(*network.layers[:layer], changed, *network.layers[layer + 1 :]),
    )


def _thresholds(network: Network, layer: int, place: Coordinate) -> Iterator[Fraction | None]:
    """The biases of units that read the coordinate alone; None for everybody else who reads or writes it."""
    alone = ((place, Fraction(1)),)
    embedded = any(own == place for form in network.embedding for own, _ in form)
    if embedded or place in network.outputs or any(own == place for own, _ in network.positions):
        yield None
    for number, own in enumerate(network.layers):
        for unit in own.hidden:
            if number == layer and unit.form == alone:
                yield unit.bias
            elif any(place == coordinate for coordinate, _ in (*unit.form, *unit.outputs)):
                yield None
        for head in own.heads:
            forms = (*head.query, *head.key, *head.values)
            if any(place == coordinate for form in forms for coordinate, _ in form):
                yield None
    written = [target for own in network.layers for head in own.heads for target in head.targets]
    if written.count(place) > 1:
        yield None


def split(network: Network, share: Fraction) -> Network:
    """The network in which each hidden unit stands twice: one puts out this share, the other the rest."""
    return replace(network, layers=tuple(_split_layer(layer, share) for layer in network.layers))


def _split_layer(layer: Layer, share: Fraction) -> Layer:
    part, rest = (tuple(_scaled(unit, own) for unit in layer.hidden) for own in (share, 1 - share))
    return _side_by_side(replace(layer, hidden=part), replace(layer, heads=(), hidden=rest))


def _scaled(unit: Hidden, share: Fraction) -> Hidden:
    return replace(unit, outputs=tuple((target, factor * share) for target, factor in unit.outputs))
