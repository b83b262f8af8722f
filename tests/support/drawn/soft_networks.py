"""Random small networks for hard or soft attention: rational weights in quarters, four coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import flint

from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import SIGN, ClosedForm, I, N, number, over, plus, times
from attemper.languages.words import Alphabet
from attemper.networks import meaning_soft
from attemper.networks.layers import (
    HardWeighting,
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    Network,
    Softmax,
    Uniform,
)
from attemper.networks.meaning_hard import residual_streams, value_of
from attemper.networks.meaning_soft import PRECISION
from attemper.theories.softening.check.enumeration import Examined, examine

WIDTH, HEADS, ROWS, UNITS = 4, 2, 2, 4
LEAST_GAP = Fraction(1, 1000)


def drawn(random: Random, layers: int, *, maskings: tuple[Masking, ...] | None = None) -> Network:
    """A random hard network; three of ten heads are uniform."""
    maskings = maskings or (Masking.FUTURE, Masking.NONE)
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=tuple(f"x{c}" for c in range(WIDTH)),
        embedding=tuple(_row(random, 2, 1, WIDTH) for _ in range(2)),
        positions=tuple((c, _place(random)) for c in range(WIDTH)),
        layers=tuple(_layer(random, random.choice(maskings)) for _ in range(layers)),
        head_width=4,
        output=0,
        reads_first=False,
        accepts_empty=False,
        symbols=tuple((f"y{c}", c) for c in range(WIDTH)),
    )


def tieless(seed: int, layers: int, length: int) -> Iterator[tuple[Network, Examined]]:
    """Random networks that are tieless on all words of a length, with gaps of at least 1/1000."""
    random = Random(seed)
    while True:
        network = drawn(random, layers)
        examined = examine(network, length)
        gaps = [gap for layer in examined.gaps for gap in layer if gap is not None]
        if examined.tie is None and gaps and min(gaps) >= LEAST_GAP:
            yield network, examined


def softened(hard: Network, inverse_temperature: ClosedForm | Fraction | int) -> Network:
    """The network with softmax heads, all at one temperature."""
    form = inverse_temperature
    weighting = Softmax(number(form) if isinstance(form, Fraction | int) else form)
    return replace(
        hard,
        layers=tuple(
            replace(layer, heads=tuple(replace(head, weighting=weighting) for head in layer.heads))
            for layer in hard.layers
        ),
    )


def _quarters(random: Random, most: int, scale: int) -> Fraction:
    return Fraction(random.randint(-most, most), scale)


def _row(random: Random, scale: int, share: float, width: int) -> LinearForm:
    """A random linear form; each coordinate is there with this probability."""
    drawn = [(c, _quarters(random, 2, scale)) for c in range(width) if random.random() < share]
    return tuple((c, value) for c, value in drawn if value)


def _place(random: Random) -> ClosedForm:
    factors = [_quarters(random, 3, 2) for _ in range(3)]
    return plus(times(factors[0], I, over(N)), times(factors[1], over(I)), times(factors[2], SIGN))


def _layer(random: Random, masking: Masking) -> Layer:
    heads = tuple(_head(random, masking) for _ in range(HEADS))
    hidden = tuple(
        Hidden(_row(random, 4, 1, WIDTH), _quarters(random, 2, 4), _row(random, 4, 1, WIDTH))
        for _ in range(UNITS)
    )
    return Layer(heads, hidden, ())


def _head(random: Random, masking: Masking) -> Head:
    rows = 0 if random.random() < 0.3 else ROWS
    query, key = (tuple(_row(random, 2, 1, WIDTH) for _ in range(rows)) for _ in range(2))
    values = tuple(_row(random, 4, 0.5, WIDTH) for _ in range(WIDTH))
    return Head(Uniform(), masking, HardWeighting.AVERAGE, query, key, values, tuple(range(WIDTH)))


def hard_facts(network: Network, length: int) -> tuple[list[Fraction], list[list[Fraction | None]], bool]:
    """By the definition: magnitudes before each layer, gaps of heads with rows, whether there is a tie.

    Gaps are the least distances of a greatest score to a lower one, and there is a tie where two positions
    with a greatest score have different values.
    """
    magnitudes = [Fraction(0)] * len(network.layers)
    gaps: list[list[Fraction | None]] = [[None] * len(layer.heads) for layer in network.layers]
    is_tied = False
    for word in product(network.alphabet.symbols, repeat=length):
        streams = residual_streams(network, word, HardWeighting.AVERAGE)
        for place, (layer, stream) in enumerate(zip(network.layers, streams, strict=False)):
            sizes = [abs(value) for vector in stream for value in vector]
            magnitudes[place] = max(magnitudes[place], *sizes)
            for index, head in enumerate(layer.heads):
                for scores, values in competitions(head, stream):
                    lower = [max(scores) - score for score in scores if score < max(scores)]
                    known = gaps[place][index]
                    gaps[place][index] = min([*lower, *([] if known is None else [known])], default=None)
                    best = [v for score, v in zip(scores, values, strict=True) if score == max(scores)]
                    is_tied |= len(set(best)) > 1
    return magnitudes, gaps, is_tied


def competitions(
    head: Head, stream: list[list[Fraction]]
) -> Iterator[tuple[list[Fraction], list[tuple[Fraction, ...]]]]:
    """The visible scores at each position, and the values there, of a head that has rows."""
    for i, vector in enumerate(stream, 1):
        places = head.masking.visible(i, len(stream)) if head.query else range(0)
        if places:
            there = [stream[j - 1] for j in places]
            scores = [
                sum(
                    (
                        value_of(q, vector) * value_of(k, other)
                        for q, k in zip(head.query, head.key, strict=True)
                    ),
                    Fraction(0),
                )
                for other in there
            ]
            yield scores, [tuple(value_of(form, other) for form in head.values) for other in there]


def violations(soft: Network, length: int, bounds: Sequence[float]) -> int:
    """How many numbers of how many words are certainly further from the hard network's than is said."""
    count = 0
    for word in product(soft.alphabet.symbols, repeat=length):
        hard = residual_streams(soft, word, HardWeighting.AVERAGE)[-1]
        with precision(PRECISION):
            for exact, enclosed in zip(hard, meaning_soft.residual_streams(soft, word)[-1], strict=True):
                for value, found, bound in zip(exact, enclosed, bounds, strict=True):
                    count += bool(abs(found - ball(value)) > flint.arb(bound))
    return count
