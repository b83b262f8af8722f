"""How large the numbers of a run can be, so that the norms of a GPT-2 change none of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import ceil, floor

from attemper.errors import UnsupportedError
from attemper.exports.gpt2.layout import Layout, most_mean_square
from attemper.networks.layers import Coordinate, Hidden, Layer, LinearForm, Network

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
        f"large as {shown(sizes[largest])}, and in {dtype} the LayerNorms of GPT-2 leave a stream as it is "
        f"only while its mean square is at most {shown(most_mean_square(dtype))}: give fewer positions"
    )


def shown(size: Fraction) -> str:
    """The least power of two that is not below a size above 0.

    >>> shown(Fraction(5)), shown(Fraction(4)), shown(Fraction(1, 3))
    ('2^3', '2^2', '2^-1')
    """
    if size < 1:
        return f"2^{1 - floor(1 / size).bit_length()}"
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
                sizes[target] += size_of(value, before)
        _add_hidden(layer, sizes)
    return sizes


def _embedded(network: Network) -> Mapping[Coordinate, Fraction]:
    found: dict[Coordinate, Fraction] = {}
    for form in network.embedding:
        for coordinate, factor in form:
            found[coordinate] = max(found.get(coordinate, Fraction(0)), abs(factor))
    return found


def size_of(form: LinearForm, sizes: Sequence[Fraction]) -> Fraction:
    """A bound on the absolute value of a form, if those on coordinates hold."""
    return sum((abs(factor) * sizes[coordinate] for coordinate, factor in form), Fraction(0))


def pairs_of(layer: Layer) -> tuple[tuple[int, int], ...]:
    """The clamps whose two hidden units write the opposite of each other, no unit in two of them.

    relu(form + b) - relu(form + b') is between 0 and b - b'. A unit that two clamps share is the half of the
    first one only: what it writes for the other has no opposite.

    >>> from attemper.networks.layers import Hidden
    >>> form, half = ((0, Fraction(1)),), Fraction(1, 2)
    >>> low, high = Hidden(form, half, ((1, half),)), Hidden(form, Fraction(0), ((1, -half),))
    >>> pairs_of(Layer((), (low, high, low), ((0, 1), (2, 1))))
    ((0, 1),)
    """
    found: dict[int, tuple[int, int]] = {}
    for low, high in layer.clamps:
        first, second = layer.hidden[low], layer.hidden[high]
        is_pair = first.form == second.form and first.outputs == _opposite(second.outputs)
        if is_pair and low not in found and high not in found:
            found[low] = found[high] = (low, high)
    return tuple(dict.fromkeys(found.values()))


def alone_of(layer: Layer) -> tuple[Hidden, ...]:
    """The hidden units of a layer that are in no pair."""
    paired = {index for pair in pairs_of(layer) for index in pair}
    return tuple(unit for index, unit in enumerate(layer.hidden) if index not in paired)


def _add_hidden(layer: Layer, sizes: Sizes) -> None:
    """Add what the hidden units write, clamps as pairs."""
    before = list(sizes)
    for low, high in pairs_of(layer):
        first, second = layer.hidden[low], layer.hidden[high]
        for coordinate, factor in first.outputs:
            sizes[coordinate] += abs(factor) * abs(first.bias - second.bias)
    for unit in alone_of(layer):
        for coordinate, factor in unit.outputs:
            sizes[coordinate] += abs(factor) * (size_of(unit.form, before) + abs(unit.bias))


def _opposite(form: LinearForm) -> LinearForm:
    return tuple((coordinate, -factor) for coordinate, factor in form)
