"""Masked transformers of unique hard attention, at all lengths, as functions of arrays.

    y_i^(0)   = embed(i, w_i)                     the same at i as at place(i)
    b_i^(k,h) = y_j^(k-1), where j is the leftmost or the rightmost of the visible positions with the greatest
                score(k, h, y_i^(k-1), y_j^(k-1)); the head's mask says which are visible: j <= i, j < i
                (future-masked), j >= i, j > i (past-masked), or all
    y_i^(k)   = combine(k, y_i^(k-1), b_i^(k,1), ..., b_i^(k,H))
    verdict   = label(y_n^(L)), or label(y_1^(L)) of a model that is read at the first position

The functions are arbitrary, as in `HardModel`. place(i) is i up to prefix + period, and from there on the
position of prefix + 1, ..., prefix + period that differs from i by a multiple of the period. Where a strict
head sees nothing (j < i at i = 1, j > i at i = n), b is a row of zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol, cast, final

import numpy as np
from numpy.typing import NDArray

from attemper.attention_program.ops import Mask
from attemper.errors import UnsupportedError, WordError
from attemper.languages.words import Alphabet
from attemper.models.arrays import Array, Integers
from attemper.models.hard.protocol import HardModel, normal, scored


class TieRule(StrEnum):
    """Which of the positions with the greatest score a head reads."""

    LEFTMOST = "leftmost"
    RIGHTMOST = "rightmost"


@final
@dataclass(frozen=True)
class MaskedHead:
    """What position i sees, and how ties are broken; a model may use any object with these two attributes.

    >>> MaskedHead("<", choice="leftmost")
    MaskedHead(mask='<', choice='leftmost')
    """

    mask: str = Mask.UP_TO.value
    """`"<="` (i sees j <= i), `"<"`, `">="`, `">"` or `"all"`."""

    choice: str = TieRule.RIGHTMOST.value
    """`"leftmost"` or `"rightmost"`."""


class MaskedModel(Protocol):
    """What a user supplies; layers are numbered from 0, heads from 0, positions from 1.

    All functions work on batches of rows and must be *batch-invariant*, as those of `HardModel`: a row's
    result must not depend on the other rows, to the last bit. None may depend on the length of the word.

    Three attributes more are optional. `at` is where verdicts are read, `"first"` or `"last"` (which is meant
    without it). `ending` is a symbol that stands behind every word and nowhere else; verdicts are then read
    there. Without it, `accepts_empty` is the verdict on the empty word, of which the functions say nothing
    (rejected, unless this attribute is there).
    """

    @property
    def symbols(self) -> tuple[str, ...]:
        """The alphabet, with the end marker if there is one."""

    @property
    def places(self) -> tuple[int, int]:
        """Prefix and period: (0, 1) where the embedding is the same at all positions, (0, m) for i mod m."""

    @property
    def layers(self) -> Sequence[Sequence[MaskedHead]]:
        """The heads of each layer."""

    @property
    def semantics(self) -> str:
        """In which arithmetic the functions are evaluated, in words: it is part of what is said."""

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """y^(0) for each pair of a position i >= 1 and the number of a symbol; at place(i) it is the same.

        It is asked for positions up to about a million, too, to see that this is so.
        """

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """The matrix of the scores of all queries (rows) and keys (columns).

        Only how a row's scores compare with each other matters, and must not depend on the batch.
        """

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """y^(k) from the rows of y^(k-1) and, for each head, what they attend to (zeros for nothing)."""

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """Whether the word is accepted, from activations of the last layer where the model is read."""


# What a model says of itself ------------------------------------------------------------------------


def ending_of(model: MaskedModel) -> str | None:
    """The model's end marker, if there is one."""
    found: str | None = getattr(model, "ending", None)
    return found


def empty_of(model: MaskedModel) -> bool | None:
    """The verdict on the empty word that the model has as an attribute; None if there is none."""
    found: bool | None = getattr(model, "accepts_empty", None)
    return found


def reads_first(model: MaskedModel) -> bool:
    """Whether verdicts are read at the first position."""
    return bool(getattr(model, "at", "last") == "first")


def mask_of(head: MaskedHead) -> Mask:
    """What a head's mask shows, of which the head has the text."""
    return Mask(head.mask)


def reads_prefixes(model: MaskedModel) -> bool:
    """Whether the activations at position i are what the verdict on the first i symbols is read from."""
    sees_after = any(mask_of(head).after for heads in model.layers for head in heads)
    return not sees_after and not reads_first(model) and ending_of(model) is None


def alphabet_of(model: MaskedModel) -> Alphabet:
    """The symbols of the words, without the end marker."""
    return Alphabet(tuple(symbol for symbol in model.symbols if symbol != ending_of(model)))


def placed(places: tuple[int, int], positions: Integers) -> Integers:
    """place(i) of each position.

    >>> placed((2, 3), np.arange(1, 11)).tolist()
    [1, 2, 3, 4, 5, 3, 4, 5, 3, 4]
    """
    prefix, period = places
    return np.where(positions <= prefix, positions, prefix + 1 + (positions - prefix - 1) % period)


# The meaning ----------------------------------------------------------------------------------------


def numbers_of(model: MaskedModel, word: Sequence[str]) -> Integers:
    """The numbers of a word's symbols, without an end marker.

    Raises `WordError` for another symbol, or for the end marker inside of the word.
    """
    number = {symbol: k for k, symbol in enumerate(model.symbols) if symbol != ending_of(model)}
    for place, symbol in enumerate(word, start=1):
        if symbol not in number:
            raise WordError(f"symbol '{symbol}' at position {place} is none of the model's", position=place)
    return np.array([number[symbol] for symbol in word], dtype=np.int64)


def activations(model: MaskedModel, symbols: Integers) -> list[Array]:
    """All activations of the layers 0..L on a word of n >= 1 symbols, straight from the definition.

    Raises `UnsupportedError` for activations or scores that are not numbers.
    """
    found = [normal(model.embed(np.arange(1, len(symbols) + 1), symbols))]
    for layer, heads in enumerate(model.layers):
        rows = found[-1]
        read = [_attended(model, layer, number, head, rows) for number, head in enumerate(heads)]
        found.append(normal(model.combine(layer, rows.copy(), read)))
    return found


def _attended(model: MaskedModel, layer: int, number: int, head: MaskedHead, rows: Array) -> Array:
    """What each position reads with one head."""
    scores = ordered_scores(model, layer, number, rows.copy(), rows.copy()).tolist()
    read = np.zeros_like(rows)
    mask = mask_of(head)
    for i, row in enumerate(scores):
        low, high = mask.ends(i + 1, len(rows))
        visible = row[low:high]
        if not visible:
            continue
        best = max(visible)
        maxima = [j for j, score in enumerate(visible, start=low) if score == best]
        read[i] = rows[maxima[0] if head.choice == TieRule.LEFTMOST else maxima[-1]]
    return read


def verdicts(model: MaskedModel, word: Sequence[str]) -> tuple[tuple[int, bool], ...]:
    """Pairs of a length l and the model's verdict on the word's first l symbols, from one run.

    If no head looks to the right, activations at position l are those on the first l symbols alone: without
    an end marker, and read at the last position, a run says all verdicts for 1 <= l <= n. Else it says the
    verdict on the whole word, which may be empty if it has an end marker.

    >>> from attemper.models.hard.masked_examples import Alternating
    >>> verdicts(Alternating(), "abb")
    ((1, False), (2, True), (3, False))
    """
    symbols, ending = numbers_of(model, word), ending_of(model)
    if ending is not None:
        symbols = np.append(symbols, model.symbols.index(ending))
    if not len(symbols):
        return ()
    rows = activations(model, symbols)[-1]
    if reads_prefixes(model):
        return tuple((length, bool(bit)) for length, bit in enumerate(model.labels(rows), start=1))
    read = rows[:1] if reads_first(model) else rows[-1:]
    return ((len(word), bool(model.labels(read)[0])),)


def ordered_scores(model: MaskedModel, layer: int, head: int, queries: Array, keys: Array) -> Array:
    """The model's scores, which can be compared. Raises `UnsupportedError` for one that is no number."""
    # Of a model the function `scored` asks nothing but scores.
    return ordered(scored(cast(HardModel, model), layer, head, queries, keys))


def ordered(scores: Array) -> Array:
    """The scores; objects become Python's numbers, which compare exactly with each other.

    Raises `UnsupportedError` for objects that are neither integers, fractions nor floats.

    >>> ordered(np.array([[np.int64(2), 2**70]], dtype=object)).tolist()
    [[2, 1180591620717411303424]]
    """
    if scores.dtype != object:
        return scores
    flat = [value.item() if isinstance(value, np.generic) else value for value in scores.flat]
    for value in flat:
        if not isinstance(value, int | float | Fraction) or value != value:
            raise UnsupportedError(f"a score is no number that can be compared, but a {type(value).__name__}")
    found = np.empty(len(flat), dtype=object)
    found[:] = flat
    return found.reshape(scores.shape)
