"""One more layer that rounds what is put out: with an error below 1/4 bits are exact behind it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from attemper.errors import UnsupportedError
from attemper.networks.layers import Hidden, Layer, Network

LOW, HIGH = Fraction(1, 4), Fraction(3, 4)

ROOM = LOW
"""An error of less than this is rounded away."""


def with_rounding(network: Network) -> Network:
    """The network with a last layer: 2 ReLU(x - 1/4) - 2 ReLU(x - 3/4) of each output, in a fresh coordinate.

    On numbers up to 1/4 that is 0, from 3/4 on 1. (SHASA Lemma 9.) Raises `UnsupportedError` for a network
    whose outputs are numbers.

    >>> from attemper.networks.meaning_hard import output_bits
    >>> from attemper.networks.typed import LayerOf, UnitOf, hard_network
    >>> half = hard_network(
    ...     "ab",
    ...     embedding={"a": {"x": 1}},
    ...     positions={},
    ...     layers=[LayerOf([], [UnitOf({"x": 1}, {"y": "7/8"})])],
    ...     output="y",
    ... )
    >>> [str(bit) for bit in output_bits(with_rounding(half), ("a", "b"))]
    ['1', '0']
    """
    if network.measure is not None:
        raise UnsupportedError(
            "the network puts numbers out, and only bits can be rounded: leave 'rounding' out",
            options=("rounding",),
        )
    width = len(network.coordinates)
    fresh = {output: width + number for number, output in enumerate(network.outputs)}
    units = tuple(
        Hidden(((output, Fraction(1)),), -threshold, ((target, factor),))
        for output, target in fresh.items()
        for threshold, factor in ((LOW, Fraction(2)), (HIGH, Fraction(-2)))
    )
    pairs = tuple((2 * number, 2 * number + 1) for number in range(len(fresh)))
    names = tuple(f"rounded {network.coordinates[output]}" for output in fresh)
    return replace(
        network,
        coordinates=(*network.coordinates, *names),
        layers=(*network.layers, Layer((), units, pairs)),
        output=fresh[network.output],
        symbols=tuple((name, fresh[output]) for name, output in network.symbols),
    )
