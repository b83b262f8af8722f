"""Where in a GPT-2's tensors a network stands, and the numbers by which its norms do nothing."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import final

from attemper.errors import UnsupportedError
from attemper.exact.formats import FORMATS
from attemper.networks.layers import Network, hidden_width
from attemper.networks.weights import MOST_PARAMETERS

EPSILON = 2**100
"""Every norm's epsilon: adding a variance to it changes nothing, where `most_mean_square` says so."""

GAIN = 2**50
"""Every norm's gain, sqrt(EPSILON): x / sqrt(0 + EPSILON) * GAIN is x."""

ROOTS = {4: 2, 16: 4, 64: 8, 256: 16, 1024: 32, 4096: 64}
"""Widths of heads whose square root is a power of two, so that dividing by it is exact."""


@final
@dataclass(frozen=True)
class Layout:
    """The sizes of a GPT-2. Coordinate c stands at column c of the stream, and its opposite at `twin(c)`.

    `one` is a coordinate that is 1 at every position. Heads and hidden units of the network come first in
    their layer; what is left over has weights that are 0. `query_factor` is what W_Q is multiplied with,
    since GPT-2 divides scores by the root of its own head width.
    """

    coordinates: int
    positions: int
    layers: int
    heads: int
    head_width: int
    inner: int
    query_factor: int

    @property
    def width(self) -> int:
        """How many columns the stream has."""
        return self.heads * self.head_width

    @property
    def one(self) -> int:
        """The column of the coordinate that is 1."""
        return self.coordinates

    def twin(self, coordinate: int) -> int:
        """The column that holds the opposite of a coordinate."""
        return self.width // 2 + coordinate

    def parameter_count(self, vocabulary: int) -> int:
        """The number of weights of a model without its head, zeros included."""
        block = 4 * self.width * (self.width + 1) + 4 * self.width
        feed_forward = 2 * self.width * self.inner + self.inner + self.width
        return (vocabulary + self.positions) * self.width + self.layers * (block + feed_forward)


def layout_of(network: Network, positions: int) -> Layout:
    """The layout with the least work for attention, among those whose roots of head widths are exact.

    Raises `UnsupportedError` for more weights than are written.

    >>> import attemper
    >>> layout = layout_of(attemper.compile("#<['0'] <= #<['1']", "01").network, 512)
    >>> layout.heads, layout.head_width, layout.width, layout.query_factor
    (2, 16, 32, 2)
    """
    columns = 2 * (len(network.coordinates) + 1)
    used = max((len(layer.heads) for layer in network.layers), default=1)
    choices = [(max(used, 1, -(-columns // width)), width) for width in ROOTS if width >= network.head_width]
    heads, head_width = min(choices, key=lambda choice: (choice[0] ** 2 * choice[1], choice[1]))
    layout = Layout(
        coordinates=len(network.coordinates),
        positions=positions,
        layers=max(len(network.layers), 1),
        heads=heads,
        head_width=head_width,
        inner=max(hidden_width(network), 1),
        query_factor=ROOTS[head_width] // isqrt(network.head_width),
    )
    count = layout.parameter_count(len(network.alphabet.symbols))
    if count > MOST_PARAMETERS:
        raise UnsupportedError(
            f"a GPT-2 of {positions:,} positions has {count:,} weights, more than {MOST_PARAMETERS:,}, the "
            "cap on writing them: give fewer positions"
        )
    return layout


def most_mean_square(dtype: str) -> Fraction:
    """Up to which mean square of the stream the norms are the identity in a format: a quarter of a spacing.

    The variance is at most the mean square. Up to half the spacing of numbers at EPSILON the sum of both
    rounds to EPSILON; half of that is left for how the variance itself is rounded.

    >>> most_mean_square("float64") == 2**46, most_mean_square("float32") == 2**75
    (True, True)
    """
    return EPSILON * FORMATS[dtype].roundoff / 2
