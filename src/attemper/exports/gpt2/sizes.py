"""How large the numbers of a run can be, so that the norms of a GPT-2 change none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil

from attemper.errors import UnsupportedError
from attemper.exports.gpt2.layout import Layout, most_mean_square
from attemper.networks.layers import Coordinate, Layer, LinearForm, Network

Sizes = list[Fraction]
"""Of each coordinate a bound on its absolute value."""


def require_small(network: Network, layout: Layout, tabulated: Sequence[Fraction], dtype: str) -> None:
    """Refuse a network whose stream can be so large that a norm is not the identity.

    `tabulated` are the greatest absolute values of position embeddings. Raises `UnsupportedError`, naming
    the largest coordinate.
    """
    sizes = sizes_of(network, tabulated)
    mean_square = (2 * sum(size * size for size in sizes) + 2) / layout.width
    if mean_square <= most_mean_square(dtype):
        return
    largest = max(range(len(sizes)), key=sizes.__getitem__)
    raise UnsupportedError(
        f"up to position {layout.positions:,} the coordinate '{network.coordinates[largest]}' can be as "
        f"large as {_shown(sizes[largest])}, and in {dtype} the LayerNorms of GPT-2 leave a stream as it is "
        f"only while its mean square is at most {_shown(most_mean_square(dtype))}: give fewer --positions"
    )


def _shown(size: Fraction) -> str:
    """The power of two that is next to a size from above."""
    return f"2^{(ceil(size) - 1).bit_length()}"


def sizes_of(network: Network, tabulated: Sequence[Fraction]) -> Sizes:
    """A bound on every coordinate, at every point of a run on any word, in real arithmetic.

    What is written to a coordinate is added up with its absolute value. A head's average is at most as large
    as its values, and a clamp's pair of hidden units differs by at most the distance of its thresholds.

    >>> import attemper
    >>> network = attemper.compile("O a", "ab").network
    >>> sizes = sizes_of(network, [Fraction(c == 0) for c in range(4)] + [Fraction(100)])
    >>> dict(zip(network.coordinates, map(int, sizes)))
    {'PE 1': 1, 'O a': 1, 'letter a': 1, 'attended O a': 1, 'PE i': 100}
    """
    sizes = list(tabulated)
    for coordinate, most in _embedded(network).items():
        sizes[coordinate] += most
    for layer in network.layers:
        before = list(sizes)
        for head in layer.heads:
            for value, target in zip(head.values, head.targets, strict=True):
                sizes[target] += _size(value, before)
        _add_hidden(layer, sizes)
    return sizes


def _embedded(network: Network) -> Mapping[Coordinate, Fraction]:
    found: dict[Coordinate, Fraction] = {}
    for form in network.embedding:
        for coordinate, factor in form:
            found[coordinate] = max(found.get(coordinate, Fraction(0)), abs(factor))
    return found


def _size(form: LinearForm, sizes: Sizes) -> Fraction:
    return sum((abs(factor) * sizes[coordinate] for coordinate, factor in form), Fraction(0))


def _add_hidden(layer: Layer, sizes: Sizes) -> None:
    """Add what the hidden units write, clamps as pairs."""
    before, paired = list(sizes), set()
    for low, high in layer.clamps:
        first, second = layer.hidden[low], layer.hidden[high]
        # A clamp is such a pair: relu(form + b) - relu(form + b') is between 0 and b - b'.
        if first.form == second.form and first.outputs == _opposite(second.outputs):
            paired |= {low, high}
            for coordinate, factor in first.outputs:
                sizes[coordinate] += abs(factor) * abs(first.bias - second.bias)
    for index, unit in enumerate(layer.hidden):
        if index not in paired:
            for coordinate, factor in unit.outputs:
                sizes[coordinate] += abs(factor) * (_size(unit.form, before) + abs(unit.bias))


def _opposite(form: LinearForm) -> LinearForm:
    return tuple((coordinate, -factor) for coordinate, factor in form)
