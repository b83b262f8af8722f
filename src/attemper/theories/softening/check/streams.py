"""The hard network on many words at once, exactly: what each layer reads, and what its heads find.

Hard attention averages over the positions of the greatest score. What is followed here is *uniform-tieless*:
a head is uniform by its syntax (`uniform`), or at every position of every word one visible position has the
greatest score; several may have it if the head's values are the same numbers at all of them, so that it does
not matter at which the head looks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import isqrt, lcm
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import OptionError, UnsupportedError, WordError
from attemper.exact.closed_forms import evaluate
from attemper.languages.words import MOST_SHOWN, Word, check_word, show_word
from attemper.models.exact_arrays.integers import (
    MOST_INT,
    ExactArray,
    exactly,
    mapped,
    product,
    reduced,
    written,
)
from attemper.models.exact_arrays.limbs import Limbs, greatest, less_than, long_product
from attemper.networks.layers import HardWeighting, Head, Layer, Network, Softmax, hidden_width
from attemper.theories.softening.check.uniform import is_uniform

AT_ONCE = 2**18
"""About how many pairs of positions, and how many numbers of a stream, are looked at together."""

MOST_PAIRS = 2**23
"""Longer words, of more pairs of positions, do not fit into memory."""

SymbolNumbers = NDArray[np.int64]
"""The numbers of symbols, (words, positions)."""


@final
@dataclass(frozen=True)
class TiedHead:
    """At `position` of the word the head's greatest score stands at two positions with other values.

    Positions are from 1, layers and heads from 0; `tied` are the first of them and the first that differs.
    """

    word: Word
    position: int
    layer: int
    head: int
    tied: tuple[int, int]


class TieError(UnsupportedError):
    """A hard network that is not tieless, with its tie."""

    def __init__(self, tie: TiedHead) -> None:
        self.tie = tie
        word = show_word(tie.word[:MOST_SHOWN]) + ("..." if len(tie.word) > MOST_SHOWN else "")
        super().__init__(
            f"head {tie.head} of layer {tie.layer} has its greatest score at two positions, {tie.tied[0]} "
            f"and {tie.tied[1]}, when it looks from position {tie.position} of the word '{word}': at no "
            "temperature does soft attention choose as this does; write a tie-break into the score",
            word=tie.word,
            position=tie.position,
            layer=tie.layer,
            head=tie.head,
            tied=tie.tied,
        )


@final
@dataclass(frozen=True, eq=False)
class ScoreGaps:
    """Scores of B words: at i the greatest one is `below[w, i, j] / scale` above the score of j.

    `winner` (B, n) is a position with the greatest score, from 0, any number where nothing is visible; `best`
    (B, n, n) marks all visible ones that have it. Where j is not visible, `below` is 0.
    """

    winner: NDArray[np.int64]
    best: NDArray[np.bool_]
    below: Limbs
    scale: int


@final
@dataclass(frozen=True, eq=False)
class Attended:
    """One head: what i sees (n, n), its values (B, n, M), and its scores; None of a uniform head."""

    head: Head
    visible: NDArray[np.bool_]
    values: ExactArray
    score_gaps: ScoreGaps | None


@final
@dataclass(frozen=True, eq=False)
class LayerRun:
    """One layer on B words: the stream before (B, n, d), the heads, and units before ReLU (B, n, h)."""

    layer: Layer
    stream: ExactArray
    heads: tuple[Attended, ...]
    hidden: ExactArray


def batches(network: Network, length: int, words: Iterable[Word] | None = None) -> Iterator[SymbolNumbers]:
    """All words of so many symbols, or those given, some at a time.

    Raises `WordError` for words of another length or with other symbols, `OptionError` for lengths below 1,
    and `UnsupportedError` for words of more than `MOST_PAIRS` pairs of positions.
    """
    if length < 1:
        raise OptionError(f"words of {length} symbols have no positions; give a length from 1 on")
    if length**2 > MOST_PAIRS:
        raise UnsupportedError(
            f"words of {length:,} symbols have too many pairs of positions; give a length up to "
            f"{isqrt(MOST_PAIRS):,}"
        )
    symbols = network.alphabet.symbols
    wide = max(length, len(network.coordinates), hidden_width(network))
    count = max(1, AT_ONCE // (length * wide))
    if words is not None:
        numbers = {symbol: number for number, symbol in enumerate(symbols)}
        rows = ([numbers[symbol] for symbol in _of_length(word, length, network)] for word in words)
        while some := list(islice(rows, count)):
            yield np.array(some, dtype=np.int64).reshape(len(some), length)
        return
    powers = np.array([len(symbols) ** place for place in reversed(range(length))], dtype=np.int64)
    total = len(symbols) ** length
    for first in range(0, total, count):
        yield np.arange(first, min(first + count, total))[:, None] // powers % len(symbols)


def _of_length(word: Word, length: int, network: Network) -> Word:
    if len(word) != length:
        raise WordError(f"the word '{show_word(word[:MOST_SHOWN])}' has {len(word)} symbols, not {length}")
    return check_word(word, network.alphabet)


def follow(network: Network, words: SymbolNumbers) -> Iterator[LayerRun]:
    """The layers of the hard network on these words.

    Raises `TieError` if it is not tieless on them, `UnsupportedError` if it breaks ties by itself or is
    normalised.
    """
    if network.normalisation is not None:
        raise UnsupportedError("a normalised network has no hard attention in rational numbers")
    stream = _embedded(network, words)
    for number, layer in enumerate(network.layers):
        heads = tuple(_attended(network, (number, h), stream, words) for h in range(len(layer.heads)))
        parts = [(_added(attended), attended.head.targets) for attended in heads]
        middle = written(stream, parts)
        biases = [unit.bias for unit in layer.hidden]
        hidden = mapped(middle, [unit.form for unit in layer.hidden], biases)
        yield LayerRun(layer, stream, heads, hidden)
        if number + 1 < len(network.layers):
            stream = reduced(_fed_forward(layer, middle, hidden))


def _embedded(network: Network, words: SymbolNumbers) -> ExactArray:
    """Word embeddings and position embeddings, added over common denominators."""
    length, width = words.shape[1], len(network.coordinates)
    symbols = [[Fraction(0)] * width for _ in network.embedding]
    for row, form in zip(symbols, network.embedding, strict=True):
        for coordinate, value in form:
            row[coordinate] += value
    places = [[Fraction(0)] * width for _ in range(length)]
    for coordinate, closed_form in network.positions:
        for i, row in enumerate(places, 1):
            row[coordinate] += evaluate(closed_form, i, length)
    table, placed = exactly(symbols, width), exactly(places, width)
    return written(ExactArray(table.numbers[words], table.scales), [(placed, range(width))])


def _fed_forward(layer: Layer, middle: ExactArray, hidden: ExactArray) -> ExactArray:
    active = ExactArray(np.maximum(hidden.numbers, 0), hidden.scales)
    columns: dict[int, list[tuple[int, Fraction]]] = {}
    for unit, row in enumerate(layer.hidden):
        for target, factor in row.outputs:
            columns.setdefault(target, []).append((unit, factor))
    return written(middle, [(mapped(active, [tuple(c) for c in columns.values()]), tuple(columns))])


def _attended(network: Network, place: tuple[int, int], stream: ExactArray, words: SymbolNumbers) -> Attended:
    number, index = place
    head = network.layers[number].heads[index]
    if not (isinstance(head.weighting, Softmax) or head.weighting is HardWeighting.AVERAGE):
        raise UnsupportedError(
            f"head {index} of layer {number} is {head.weighting}: it breaks ties by itself, which soft "
            "attention cannot; write the tie-break into the score, and make the head average-hard"
        )
    places = np.arange(words.shape[1])
    visible = head.masking.sees(places[:, None], places)
    values = mapped(stream, head.values)
    if is_uniform(network, number, index):
        return Attended(head, visible, values, None)
    score_gaps = _score_gaps(head, visible, stream)
    _require_one_winner(score_gaps, values, place, (network.alphabet.symbols, words))
    return Attended(head, visible, values, score_gaps)


def _score_gaps(head: Head, visible: NDArray[np.bool_], stream: ExactArray) -> ScoreGaps:
    query, key = (mapped(stream, rows, alike=True) for rows in (head.query, head.key))
    scores = long_product(query.numbers, key.numbers.swapaxes(1, 2))
    best = greatest(scores, np.broadcast_to(visible, scores[0].shape))
    winner = best.argmax(axis=2)
    below = tuple(np.where(visible, part, 0) for part in less_than(scores, winner))
    return ScoreGaps(winner, best, below, query.scales[0] * key.scales[0])


def _require_one_winner(
    score_gaps: ScoreGaps,
    values: ExactArray,
    place: tuple[int, int],
    said: tuple[tuple[str, ...], SymbolNumbers],
) -> None:
    """Raises `TieError` where two positions with the greatest score have other values."""
    if not (score_gaps.best.sum(axis=2) > 1).any():
        return
    chosen = np.take_along_axis(values.numbers, score_gaps.winner[:, :, None], 1)
    apart = score_gaps.best & np.asarray((values.numbers[:, None] != chosen[:, :, None]).any(axis=3))
    if apart.any():
        row, i, other = (int(found[0]) for found in np.nonzero(apart))
        symbols, words = said
        word = tuple(symbols[number] for number in words[row].tolist())
        first = int(score_gaps.winner[row, i])
        raise TieError(TiedHead(word, i + 1, *place, (first + 1, other + 1)))


def _added(attended: Attended) -> ExactArray:
    """What the head adds (B, n, M): the value at its winner, or the average; 0 where nothing is visible."""
    values, visible = attended.values, attended.visible
    if attended.score_gaps is not None:
        chosen = np.take_along_axis(values.numbers, attended.score_gaps.winner[:, :, None], 1)
        return ExactArray(np.where(visible.sum(axis=1)[:, None] > 0, chosen, 0), values.scales)
    counts = [max(1, int(count)) for count in visible.sum(axis=1)]
    common = lcm(1, *counts)
    shares = np.array([common // count for count in counts], dtype=object)
    weights = (visible * shares[:, None]).astype(np.int64 if common < MOST_INT else object)
    return ExactArray(product(weights, values.numbers), tuple(scale * common for scale in values.scales))
