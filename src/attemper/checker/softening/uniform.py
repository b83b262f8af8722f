"""Which heads are uniform by their syntax: their scores do not depend on where they look."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attemper.exact.closed_forms import Number
from attemper.networks.layers import Coordinate, Layer, LinearForm, Network


def is_uniform(network: Network, layer: int, head: int) -> bool:
    """Whether the head averages its values over all visible positions, at every length and every temperature.

    The score of j at i is the sum over rows m of q_m(i) k_m(j). It does not depend on j if for each row q_m
    is 0, or k_m is one and the same number at every position of every word. Both are asked of coordinates
    that nothing has written to, all symbols share, and have no position embedding but a number: so the answer
    is the same of a network under soft and under hard attention.
    """
    constants = _constants(network, layer)
    rows = network.layers[layer].heads[head]
    pairs = zip(rows.query, rows.key, strict=True)
    return all(_is_zero(query, constants) or _is_constant(key, constants) for query, key in pairs)


def _constants(network: Network, layer: int) -> dict[Coordinate, Fraction]:
    """The coordinates that hold one number before the layer, at every position of every word."""
    embedded = [dict(form) for form in network.embedding]
    placed = dict(network.positions)
    written = {coordinate for before in network.layers[:layer] for coordinate in _written(before)}
    found = {}
    for coordinate in range(len(network.coordinates)):
        values = {column.get(coordinate, Fraction(0)) for column in embedded}
        form = placed.get(coordinate, Number(Fraction(0)))
        if len(values) == 1 and isinstance(form, Number) and coordinate not in written:
            found[coordinate] = values.pop() + form.value
    return found


def _written(layer: Layer) -> Iterable[Coordinate]:
    yield from (target for head in layer.heads for target in head.targets)
    yield from (target for unit in layer.hidden for target, _ in unit.outputs)


def _is_constant(form: LinearForm, constants: dict[Coordinate, Fraction]) -> bool:
    return all(coordinate in constants for coordinate, _ in form)


def _is_zero(form: LinearForm, constants: dict[Coordinate, Fraction]) -> bool:
    return _is_constant(form, constants) and not sum(factor * constants[c] for c, factor in form)
