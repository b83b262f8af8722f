"""A hard network examined on all words of one length: magnitudes, gaps and ties, as fractions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from attemper.languages.words import Word
from attemper.models.exact_arrays.integers import ExactArray
from attemper.models.exact_arrays.limbs import least
from attemper.networks.layers import Network
from attemper.theories.softening.check import streams
from attemper.theories.softening.check.streams import TiedHead, follow

MOST_WORDS = 2**20
"""How many words are looked at, over all lengths from 1 on, if nothing else is said."""


LONGEST = 256
"""Words of one symbol are few at every length: longer ones are not looked at unasked."""


def reach(symbols: int, words: int = MOST_WORDS) -> int:
    """The greatest N for which an alphabet of so many symbols has at most so many words of lengths 1..N.

    At most `LONGEST`, which only an alphabet of one symbol meets.

    >>> reach(2), reach(3), reach(2, 5), reach(2, 1)
    (19, 12, 1, 0)
    >>> reach(1, 40), reach(1)
    (40, 256)
    """
    length, total, power = 0, 0, symbols
    while total + power <= words and length < LONGEST:
        length, total, power = length + 1, total + power, power * symbols
    return length


@final
@dataclass(frozen=True)
class Attained:
    """A number and a word in which it is attained."""

    value: Fraction
    word: Word


@final
@dataclass(frozen=True)
class Examined:
    """What holds on all words of `length` symbols, or on those that were asked for.

    `magnitudes[l]` is the greatest |x| before layer l, over positions and coordinates. `gaps[l][h]` is the
    least distance of the greatest score to a lower one, over all positions; None of a head that is uniform,
    or has no lower score anywhere. Where there is a `tie` the network is not tieless, and nothing else is
    said.
    """

    length: int
    attained_magnitudes: tuple[Attained, ...] = ()
    attained_gaps: tuple[tuple[Attained | None, ...], ...] = ()
    tie: TiedHead | None = None

    @property
    def magnitudes(self) -> tuple[Fraction, ...]:
        """The greatest |x| before each layer."""
        return tuple(found.value for found in self.attained_magnitudes)

    @property
    def gaps(self) -> tuple[tuple[Fraction | None, ...], ...]:
        """The least gap of each head of each layer."""
        return tuple(
            tuple(None if found is None else found.value for found in layer) for layer in self.attained_gaps
        )


def examine(hard: Network, length: int, on_words: Iterable[Word] | None = None) -> Examined:
    """The exact magnitudes and gaps of a hard network on all words of a length, or a tie.

    The heads must be average-hard, or softmax heads, which are read at temperature 0. Positions with the
    greatest score count as one if the head's values are the same there. `on_words` are words of this length,
    to look at no others.

    Raises `UnsupportedError` for heads that break ties by themselves and for normalised networks.
    """
    magnitudes: list[Attained | None] = [None] * len(hard.layers)
    gaps: list[list[Attained | None]] = [[None] * len(layer.heads) for layer in hard.layers]
    try:
        for words in streams.batches(hard, length, on_words):
            for number, step in enumerate(follow(hard, words)):
                found = _magnitude(hard, step.stream, words)
                magnitudes[number] = _greater(magnitudes[number], found)
                for index, attended in enumerate(step.heads):
                    if attended.score_gaps is not None:
                        gap = _gap(hard, attended, attended.score_gaps, words)
                        gaps[number][index] = _lesser(gaps[number][index], gap)
    except streams.TieError as error:
        return Examined(length, tie=error.tie)
    greatest = tuple(found or Attained(Fraction(0), ()) for found in magnitudes)
    return Examined(length, greatest, tuple(map(tuple, gaps)))


def _greater(known: Attained | None, found: Attained) -> Attained:
    return found if known is None or found.value > known.value else known


def _lesser(known: Attained | None, found: Attained | None) -> Attained | None:
    if known is None or found is None:
        return known or found
    return found if found.value < known.value else known


def _magnitude(hard: Network, stream: ExactArray, words: streams.SymbolNumbers) -> Attained:
    """The greatest |x| of a stream (B, n, d)."""
    sizes = np.abs(stream.numbers).max(axis=1)
    rows = sizes.argmax(axis=0)
    found = [
        (Fraction(int(sizes[row, c]), scale), row)
        for c, (row, scale) in enumerate(zip(rows.tolist(), stream.scales, strict=True))
    ]
    value, row = max(found, key=lambda pair: pair[0], default=(Fraction(0), 0))
    return Attained(value, _word(hard, words, row))


def _gap(
    hard: Network, attended: streams.Attended, score_gaps: streams.ScoreGaps, words: streams.SymbolNumbers
) -> Attained | None:
    """The least distance of the greatest score to a lower one; None where all visible scores are greatest."""
    lower = attended.visible & ~score_gaps.best
    if not lower.any():
        return None
    size, place = least(score_gaps.below, lower)
    return Attained(Fraction(size, score_gaps.scale), _word(hard, words, place[0]))


def _word(hard: Network, words: streams.SymbolNumbers, row: int) -> Word:
    return tuple(hard.alphabet.symbols[number] for number in words[row].tolist())
