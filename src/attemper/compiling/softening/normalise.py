"""Write a soft network for an architecture that normalises what each sublayer reads: LayerNorm or RMSNorm.

LayerNorm divides all numbers of a position by their size, which a network of plain numbers does not survive.
So the residual stream holds every number x_c twice, as lambda x_c and -lambda x_c with a small lambda:

    h_c = lambda x_c        h_(c+d) = -lambda x_c        for c < d, of D = 2 d coordinates

The mean of these is 0, and their variance lambda^2 v_i with v_i = (2/D) sum of x_c^2, which eps outweighs.
So LayerNorm with gain g and bias b, equal on partners, makes of h_c the number
h'_c = g_c lambda x_c / sqrt(lambda^2 v_i + eps) + b_c; and a sublayer that reads

    s_c (h'_c - h'_(c+d)),     s_c = sqrt(base) / (2 lambda g_c),     base = eps + lambda^2 v

where v is the part of v_i that is the same at all positions of all words, reads phi_i x_c: one number phi_i
for all of a position, which is nearly 1. With rho = lambda^2 max (v_i - v) / (2 base), it is between 1 - rho
and 1. Where eps is 0, a constant pair lambda M, -lambda M is put into the stream in its place.

(ours: `docs/layer-norm.md`. The padding of Yang et al. keeps the norm itself constant, which averages and
ReLU layers cannot.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import cycle, islice
from typing import final

from attemper.compiling.building.weights import form, scaled, stored
from attemper.errors import OptionError, UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import number
from attemper.exact.codec import CodecError
from attemper.exact.roots import square_root
from attemper.networks import layers
from attemper.networks.constants import constants_of, written_by
from attemper.networks.regime import Regime
from attemper.networks.wellformed import is_power_of_two

BITS = 120
"""Square roots are taken to so many bits before a weight is rounded to float64, which has 53."""

SMALLEST_UNIT = Fraction(1, 2**100)
"""Smaller units leave what float32 and bfloat16 can hold."""

LARGEST_PADDING = 2**60

LARGEST_GAIN = Fraction(2**30)
"""Gains and biases beyond this, and gains below its inverse, leave weights that no float format holds."""

MOST_DIGITS = 40
"""So many digits a rational has in a network's files."""

IMPOSSIBLE = (
    "LayerNorm bounds every activation by sqrt(d) max|gain| + max|bias|, hence every score at temperature 1 "
    "by a constant A, and every weight by e^(2A)/n: no head can single out a position at all lengths. Use "
    "regime='temperature' or regime='decoder'"
)


@final
@dataclass(frozen=True)
class LayerNorm:
    """How a network is normalised before each sublayer: h = gain (x - mean) / sqrt(variance + eps) + bias.

    * `unit`: lambda, which the residual stream holds numbers times: 2^-k, k from 0 to 100. The smaller it
      is, the farther the network goes, and the more a bias costs.
    * `eps`: what is added to the variance.
    * `padding`: M, a whole number; if it is not 0, the stream holds the constants lambda M and -lambda M
      besides. Needed where eps is 0.
    * `gain` and `bias`: the numbers of the coordinates in their order, the same for both of a pair, norm
      after norm; begun again at their end. They are rounded to float64. No gain is 0.
    * `is_centred`: LayerNorm. If not, RMSNorm: no mean is taken off, and there is no bias.

    Raises `OptionError` for other values.

    >>> LayerNorm(unit=Fraction(1, 2**24), eps=Fraction("1e-5")).eps
    Fraction(1, 100000)
    """

    unit: Fraction = Fraction(1, 2**40)
    eps: Fraction = Fraction(1, 100_000)
    padding: Fraction = Fraction(0)
    gain: tuple[Fraction, ...] = (Fraction(1),)
    bias: tuple[Fraction, ...] = (Fraction(0),)
    is_centred: bool = True

    def __post_init__(self) -> None:
        reason = next(_refusals(self), None)
        if reason is not None:
            raise OptionError(reason)


def _refusals(how: LayerNorm) -> Iterator[str]:
    """What is wrong with the options, each with a remedy."""
    numbers: dict[str, object] = {"unit": how.unit, "eps": how.eps, "padding": how.padding}
    for name, value in numbers.items():
        if not isinstance(value, Fraction):
            yield f"{name}={value!r} is no Fraction: write Fraction('1e-5') or Fraction(1, 2**40)"
    several: dict[str, object] = {"gain": how.gain, "bias": how.bias}
    for name, values in several.items():
        if not (isinstance(values, tuple) and values and all(isinstance(one, Fraction) for one in values)):
            yield f"{name} is no tuple of Fractions: write for example (Fraction(1),)"
    if not (is_power_of_two(how.unit) and SMALLEST_UNIT <= how.unit <= 1):
        yield f"lambda = {how.unit} is not 2^-k with k from 0 to 100: take 2^-40, or 2^-24"
    if not 0 <= how.eps <= 1 or len(str(how.eps.denominator)) > MOST_DIGITS:
        shown = str(how.eps)[:60]
        yield f"eps = {shown} is not from 0 to 1, with at most {MOST_DIGITS} digits: take 1e-5, as torch does"
    if not 0 <= how.padding <= LARGEST_PADDING or how.padding != int(how.padding):
        yield f"the padding {how.padding} is not a whole number from 0 to 2^60: take 2^16"
    if how.eps == 0 == how.padding:
        yield "with eps = 0 every position is divided by its own size: give a padding, for example 2^16"
    yield from _refusals_of_weights(how)


def _refusals_of_weights(how: LayerNorm) -> Iterator[str]:
    if not all(how.gain):
        yield "a gain is 0, and what is multiplied by 0 cannot be read: take others, for example 1"
    if not all(1 / LARGEST_GAIN <= abs(one) <= LARGEST_GAIN for one in how.gain):
        yield "a gain is smaller than 2^-30 or larger than 2^30: take others, for example 1"
    if any(abs(one) > LARGEST_GAIN for one in how.bias):
        yield "a bias is larger than 2^30: take others, for example 0"
    if any(how.bias) and not how.is_centred:
        yield "RMSNorm has no bias: leave the bias out, or take LayerNorm"


def require_bounded(regime: Regime) -> None:
    """Raises `UnsupportedError` in the `unbounded` regime, which no LayerNorm admits."""
    if regime is Regime.UNBOUNDED:
        raise UnsupportedError(IMPOSSIBLE, options=("regime",))


def normalise(network: layers.Network, how: LayerNorm) -> layers.Network:
    """The network of pairs that computes behind normalisations what a soft network computes without.

    Coordinates 0 to d - 1 are those of the plain network, c + d is the partner of c. Heads of more than eight
    values become several. Constructions stay as they are: they speak of the first d.
    """
    plain = _padded(network, how.padding)
    pairs = _Pairs(plain, how)
    widened = tuple(pairs.layer(layer, number) for number, layer in enumerate(plain.layers))
    return replace(
        plain,
        coordinates=(*plain.coordinates, *(f"{layers.OPPOSITE}{label}" for label in plain.coordinates)),
        embedding=tuple(pairs.written(row) for row in plain.embedding),
        positions=tuple(pairs.positions()),
        layers=widened,
        head_width=_head_width(widened),
        normalisation=layers.Normalisation(
            how.eps, how.unit, how.is_centred, tuple(pairs.norms[0::2]), tuple(pairs.norms[1::2])
        ),
    )


class _Pairs:
    """What is read and written in pairs, and the norms: those of layer l are number 2 l and 2 l + 1."""

    def __init__(self, plain: layers.Network, how: LayerNorm) -> None:
        self.plain, self.unit, self.width = plain, how.unit, len(plain.coordinates)
        base = how.eps + how.unit**2 * _constant_square(plain) / self.width
        root = square_root(base, BITS)
        gains, biases = cycle(map(stored, how.gain)), cycle(map(stored, how.bias))
        gained = [tuple(islice(gains, self.width)) for _ in range(2 * len(plain.layers))]
        shifts = [tuple(islice(biases, self.width)) for _ in gained]
        self.norms = [layers.Norm(2 * gain, 2 * bias) for gain, bias in zip(gained, shifts, strict=True)]
        self.scales = [tuple(root / (2 * how.unit * one) for one in gain) for gain in gained]

    def read(self, row: layers.LinearForm, norm: int) -> layers.LinearForm:
        """The form behind a norm: each weight is rounded once."""
        weights = [(c, stored(factor * self.scales[norm][c])) for c, factor in row]
        return form(*weights, *((c + self.width, -weight) for c, weight in weights))

    def written(self, row: layers.LinearForm) -> layers.LinearForm:
        """What is added to the stream: lambda times each number, and minus that to its partner."""
        return form(*scaled(row, self.unit), *((c + self.width, -self.unit * own) for c, own in row))

    def positions(self) -> Iterator[tuple[layers.Coordinate, closed_forms.ClosedForm]]:
        """The position embeddings, by coordinate."""
        for sign, offset in ((1, 0), (-1, self.width)):
            for coordinate, closed in self.plain.positions:
                yield coordinate + offset, _times(sign * self.unit, closed)

    def layer(self, layer: layers.Layer, number: int) -> layers.Layer:
        """The layer with that number: as many hidden units, and the same clamps."""
        hidden = tuple(
            layers.Hidden(self.read(unit.form, 2 * number + 1), unit.bias, self.written(unit.outputs))
            for unit in layer.hidden
        )
        heads = tuple(part for head in layer.heads for part in self.heads(head, 2 * number))
        return replace(layer, heads=heads, hidden=hidden)

    def heads(self, head: layers.Head, norm: int) -> Iterator[layers.Head]:
        """The head, whose values are written twice; several where that is more than a head can write."""
        most = max(layers.HEAD_WIDTHS) // 2
        for start in range(0, max(len(head.values), 1), most):
            values = [scaled(self.read(own, norm), self.unit) for own in head.values[start : start + most]]
            targets = head.targets[start : start + most]
            yield replace(
                head,
                query=tuple(self.read(row, norm) for row in head.query),
                key=tuple(self.read(row, norm) for row in head.key),
                values=(*values, *(scaled(own, -1) for own in values)),
                targets=(*targets, *(target + self.width for target in targets)),
            )


def _padded(network: layers.Network, padding: Fraction) -> layers.Network:
    """The network with one more coordinate, which always is the padding; the same if that is 0."""
    if not padding:
        return network
    return replace(
        network,
        coordinates=(*network.coordinates, "padding"),
        positions=(*network.positions, (len(network.coordinates), number(padding))),
    )


def _constant_square(network: layers.Network) -> Fraction:
    """The sum of the squares of the coordinates that are one number at all positions of all words."""
    unwritten = set(range(len(network.coordinates))) - written_by(network.layers)
    found = constants_of(network.embedding, network.positions, unwritten)
    return sum((value**2 for value in found.values()), Fraction(0))


def _times(factor: Fraction, closed: closed_forms.ClosedForm) -> closed_forms.ClosedForm:
    """The product. Raises `UnsupportedError` if no file holds it."""
    product = (
        number(factor * closed.value)
        if isinstance(closed, closed_forms.Number)
        else closed_forms.times(factor, closed)
    )
    try:
        return closed_forms.read_form(closed_forms.FORM.encode(product))
    except CodecError as error:
        raise UnsupportedError(
            f"the position embedding {closed_forms.show_form(closed)[:80]} times lambda "
            f"cannot be written ({error}); take a larger lambda, or write the place in another way"
        ) from None


def _head_width(built: Iterable[layers.Layer]) -> int:
    """The least width that every head fits."""
    rows = (max(len(head.query), len(head.values)) for layer in built for head in layer.heads)
    most = max(rows, default=1)
    return min(width for width in layers.HEAD_WIDTHS if width >= most)
