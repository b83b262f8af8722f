"""Random uniform-tieless networks as Yang et al. have them: full matrices, and one head in most layers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import final

from attemper.exact.closed_forms import read_form
from attemper.languages.words import Alphabet
from attemper.networks.layers import (
    Foreign,
    HardWeighting,
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    Network,
)
from attemper.networks.wellformed import require_wellformed
from attemper.theories.softening.check.enumeration import examine

Matrix = tuple[tuple[Fraction, ...], ...]

PLACES = (
    ["product", [["position"], ["power", ["length"], -1]]],
    ["power", ["position"], -1],
    ["alternating"],
    ["power", ["position"], -2],
)
"""i/n, 1/i, (-1)^i, 1/i^2."""


@final
@dataclass(frozen=True)
class DrawnHead:
    """W_Q, W_K and W_V; a uniform head has W_Q = 0."""

    query: Matrix
    key: Matrix
    value: Matrix


@final
@dataclass(frozen=True)
class DrawnLayer:
    """Its heads, W_1, b_1 and W_2, and which positions are visible."""

    heads: tuple[DrawnHead, ...]
    inner: Matrix
    bias: tuple[Fraction, ...]
    outer: Matrix
    masking: Masking


@final
@dataclass(frozen=True)
class DrawnNetwork:
    """The matrices, and the network that has them; the last coordinates are those of position embeddings."""

    layers: tuple[DrawnLayer, ...]
    network: Network


def tieless(seed: int, most: int) -> DrawnNetwork:
    """A network of which no word of up to `most` symbols ties: d from 2 to 4, up to 3 layers, p up to 1."""
    random = Random(seed)
    while True:
        found = _drawn(random)
        if all(examine(found.network, n).tie is None for n in range(1, most + 1)):
            return found


def _drawn(random: Random) -> DrawnNetwork:
    d = random.randint(2, 4)
    scale = random.choice((Fraction(3, 10), Fraction(3, 5), Fraction(1)))

    def entry() -> Fraction:
        return scale * Fraction(random.randint(-64, 64), 64)

    def matrix() -> Matrix:
        return tuple(tuple(entry() for _ in range(d)) for _ in range(d))

    def head() -> DrawnHead:
        zero = tuple((Fraction(0),) * d for _ in range(d))
        return DrawnHead(zero if random.random() < 0.3 else matrix(), matrix(), matrix())

    def layer() -> DrawnLayer:
        heads = tuple(head() for _ in range(random.choice((1, 1, 1, 2))))
        masking = random.choice((Masking.FUTURE, Masking.NONE, Masking.PAST))
        return DrawnLayer(heads, matrix(), tuple(entry() for _ in range(d)), matrix(), masking)

    layers = tuple(layer() for _ in range(random.randint(1, 3)))
    places = [(c, read_form(PLACES[c])) for c in range(d)]
    network = Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=tuple(f"x{c}" for c in range(d)),
        embedding=tuple(_form([entry() for _ in range(d)]) for _ in "ab"),
        positions=tuple(places),
        layers=tuple(_layer(own) for own in layers),
        head_width=4,
        output=0,
        reads_first=False,
        accepts_empty=False,
    )
    return DrawnNetwork(layers, require_wellformed(network))


def _layer(drawn: DrawnLayer) -> Layer:
    """W_Q is divided by sqrt(d_k) = 2, so that the score is q . k / 2; rows of 0 are left out."""
    every = tuple(range(len(drawn.bias)))
    heads = tuple(
        Head(
            Foreign(),
            drawn.masking,
            HardWeighting.AVERAGE,
            tuple(_form([factor / 2 for factor in row]) for row in own.query),
            tuple(map(_form, own.key)),
            tuple(map(_form, own.value)),
            every,
        )
        for own in drawn.heads
    )
    hidden = tuple(
        Hidden(_form(row), bias, tuple((c, drawn.outer[c][unit]) for c in every if drawn.outer[c][unit]))
        for unit, (row, bias) in enumerate(zip(drawn.inner, drawn.bias, strict=True))
    )
    return Layer(heads, hidden, ())


def _form(row: list[Fraction] | tuple[Fraction, ...]) -> LinearForm:
    return tuple((c, factor) for c, factor in enumerate(row) if factor)
