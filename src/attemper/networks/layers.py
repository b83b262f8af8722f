"""A transformer as a value: exact rational weights on labelled coordinates. Data only.

    x_i^(0) = WE(w_i) + PE_n(i)
    c^(l)   = x^(l-1) + SA^(l)(x^(l-1))           several heads side by side
    x^(l)   = c^(l)   + W2 ReLU(W1 c^(l) + b1)

Weights are kept as sparse linear forms on the coordinates of the residual stream. The rows of
`Head.query` are those of WQ / sqrt(d_k), so the score is exactly query . key; the weights on disk
and in torch carry the factor sqrt(d_k), a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import final

from attemper.exact.closed_forms import ClosedForm
from attemper.exact.codec import Natural, Ordinary, Rational
from attemper.languages.masks import PositionMask
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet

Coordinate = Natural
"""An index into `Network.coordinates`."""

LinearForm = tuple[tuple[Coordinate, Rational], ...]
"""sum of factor * x[coordinate]; coordinates ascending, factors not 0."""


class Masking(PositionMask):
    """Which positions j a query at i sees."""

    FUTURE = "future-masked", True, True, False
    """j <= i."""
    STRICT_FUTURE = "strictly future-masked", True, False, False
    """j < i: at i = 1 the head sees nothing and adds 0."""
    PAST = "past-masked", False, True, True
    """j >= i."""
    STRICT_PAST = "strictly past-masked", False, False, True
    """j > i: at i = n the head sees nothing and adds 0."""
    NONE = "unmasked"


class HardWeighting(StrEnum):
    """Hard attention: where a head looks, given its scores."""

    LEFTMOST = "leftmost-hard"
    RIGHTMOST = "rightmost-hard"
    AVERAGE = "average-hard"


@final
@dataclass(frozen=True)
class Softmax:
    """Soft attention: softmax(score / tau), with 1/tau a closed form in the query's i and n."""

    inverse_temperature: ClosedForm


Weighting = HardWeighting | Softmax


@final
@dataclass(frozen=True)
class Uniform:
    """Averages its values over all visible positions."""


@final
@dataclass(frozen=True)
class Select:
    """Reads the rightmost (or leftmost) visible position j with the least sum of here(i) * blocked(j).

    The sum is over `cases`, pairs (here, blocked): `here` says where the case is in force, None: at every i.
    One case (None, blocked) reads the rightmost position where `blocked` is 0, not 1 or 2.
    """

    leftmost: bool
    cases: tuple[tuple[LinearForm | None, LinearForm], ...]


@final
@dataclass(frozen=True)
class Neighbour:
    """Reads position i - 1 (or i + 1)."""

    next: bool


@final
@dataclass(frozen=True)
class Sign:
    """Reads (-1)^j at positions j with (-1)^j = sign of `difference` (which is never 0)."""

    difference: LinearForm


@final
@dataclass(frozen=True)
class LocalSign:
    """As `Sign`, for T = i*left + (n-i+1)*right + constant, at one of two neighbouring positions.

    `gate` is (left - right)/2 with its sign flipped at i = 1; `slope` bounds |left| + |right|.
    """

    left: LinearForm
    right: LinearForm
    gate: LinearForm
    slope: Ordinary


@final
@dataclass(frozen=True)
class Lookup:
    """Reads position c, where `ratio` = c * `unit`; position 1 if c = 0."""

    ratio: LinearForm
    unit: LinearForm


@final
@dataclass(frozen=True)
class IntegerValue:
    """Reads the number j, or its square, of position c, where `ratio` = c * `unit`; 1 if c < 1, n if c > n.

    As a query the integer is read itself, as a key it is read with its square: each in the regime's unit.
    """

    ratio: LinearForm
    unit: LinearForm
    is_key: bool


@final
@dataclass(frozen=True)
class NearestInteger:
    """Reads the rightmost (or leftmost) visible position of the least (query - key)^2 + `blocked`.

    `query` is an integer at i, `key` one at j with its `square`, `blocked` a bit at j.
    """

    leftmost: bool
    blocked: LinearForm
    query: LinearForm
    key: LinearForm
    square: LinearForm


@final
@dataclass(frozen=True)
class IntegerSign:
    """Reads (-1)^j at positions j with (-1)^j = sign of `difference`, a multiple of 2 (key - query) +- 1.

    The key is that which a `NearestInteger` has found for the query.
    """

    difference: LinearForm


Construction = (
    Uniform | Select | Neighbour | Sign | LocalSign | Lookup | IntegerValue | NearestInteger | IntegerSign
)
"""What a compiled head is for, in the terms of `docs/theory.md`."""


@final
@dataclass(frozen=True)
class Foreign:
    """Nothing is said of what a head is for: somebody has typed it in."""


@final
@dataclass(frozen=True)
class Head:
    """One attention head. `values[m]` is a linear form at j; its average is added to `targets[m]` at i."""

    construction: Construction | Foreign
    masking: Masking
    weighting: Weighting
    query: tuple[LinearForm, ...]
    key: tuple[LinearForm, ...]
    values: tuple[LinearForm, ...]
    targets: tuple[Coordinate, ...]


@final
@dataclass(frozen=True)
class Hidden:
    """One hidden unit: ReLU(form + bias), added to each target times its factor."""

    form: LinearForm
    bias: Fraction
    outputs: tuple[tuple[Coordinate, Fraction], ...]


@final
@dataclass(frozen=True)
class Layer:
    """Heads side by side, then a feed-forward layer.

    `clamps` lists the pairs (low, high) of hidden units whose difference rounds an approximate
    Boolean: their common form never lies strictly between the two thresholds.
    """

    heads: tuple[Head, ...]
    hidden: tuple[Hidden, ...]
    clamps: tuple[tuple[Natural, Natural], ...]


@final
@dataclass(frozen=True)
class Norm:
    """What one normalisation multiplies each coordinate with, and adds to it: numbers for all coordinates."""

    gain: tuple[Fraction, ...]
    bias: tuple[Fraction, ...]


@final
@dataclass(frozen=True)
class Normalisation:
    """Pre-LayerNorm: every sublayer reads gain (x - mean) / sqrt(variance + eps) + bias in place of x.

    Mean and variance are those of all coordinates at one position. What is not `centred` is RMSNorm: there is
    no mean, the mean square stands in place of the variance, and every bias is 0. The residual stream holds
    numbers times `unit`, a power of two: what is put out is divided by it.
    """

    eps: Fraction
    unit: Fraction
    is_centred: bool
    before_attention: tuple[Norm, ...]
    """One for each layer."""
    before_feed_forward: tuple[Norm, ...]
    """One for each layer."""


OPPOSITE = "minus "
"""How the label of a coordinate begins that holds the opposite number of another one, for a normalisation."""


@final
@dataclass(frozen=True)
class Network:
    """A transformer that reads a word and writes a bit, a symbol or numbers at every position.

    `embedding[s]` is the word embedding of symbol s, `positions` the position embedding. The bit
    is coordinate `output`; the verdict is the bit at the first or last position, and
    `accepts_empty` for the empty word. A symbol has a bit for each of its names, in `symbols`, exactly one of
    which is 1; `output` is the first of them. `measure` says what numbers mean: an integer or a fraction is
    coordinate `output`, a distribution has a number for each of its names, in `symbols`. Of an integer stands
    its share there: divided by the number of positions that `over` shows. With a `normalisation` no sublayer
    reads the residual stream as it is.
    """

    alphabet: Alphabet
    coordinates: tuple[str, ...]
    embedding: tuple[LinearForm, ...]
    positions: tuple[tuple[Coordinate, ClosedForm], ...]
    layers: tuple[Layer, ...]
    head_width: int
    output: Coordinate
    reads_first: bool
    accepts_empty: bool
    symbols: tuple[tuple[str, Coordinate], ...] = ()
    measure: Measure | None = None
    over: Masking | None = None
    normalisation: Normalisation | None = None

    @property
    def outputs(self) -> tuple[Coordinate, ...]:
        """The coordinates of all bits or numbers that are put out."""
        return tuple(coordinate for _, coordinate in self.symbols) or (self.output,)


HEAD_WIDTHS = {1: 1, 4: 2, 16: 4}
"""Allowed d_k, with sqrt(d_k): powers of two, so that scaling by it is exact."""


def hidden_width(network: Network) -> int:
    """The widest feed-forward layer."""
    return max((len(layer.hidden) for layer in network.layers), default=0)


def parameter_count(network: Network) -> int:
    """The number of weights of the dense transformer, zeros included; the same at every length."""
    width, head_width = len(network.coordinates), network.head_width
    count = len(network.alphabet.symbols) * width
    for layer in network.layers:
        count += len(layer.heads) * 4 * width * head_width
        count += len(layer.hidden) * (2 * width + 1)
    if network.normalisation is not None:
        count += len(network.layers) * width * (4 if network.normalisation.is_centred else 2)
    return count
