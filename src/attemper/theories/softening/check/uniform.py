"""Which heads are uniform by their syntax: their scores do not depend on where they look."""

from __future__ import annotations

from fractions import Fraction

from attemper.networks.constants import constants_of, written_by
from attemper.networks.layers import Coordinate, LinearForm, Network


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
    unwritten = set(range(len(network.coordinates))) - written_by(network.layers[:layer])
    return constants_of(network.embedding, network.positions, unwritten)


def _is_constant(form: LinearForm, constants: dict[Coordinate, Fraction]) -> bool:
    return all(coordinate in constants for coordinate, _ in form)


def _is_zero(form: LinearForm, constants: dict[Coordinate, Fraction]) -> bool:
    return _is_constant(form, constants) and not sum(factor * constants[c] for c, factor in form)
