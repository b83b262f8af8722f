"""What a head can read at the last position, over all words of a cell: FORMAT.md, section 18.

With e_j(x) = exp(score) > 0 and the value v_j(x) of symbol x at the j-th place of a word, and the e and v of
the symbol that every input has beside the word, the head reads o = (e v + sum_j e_j(x_j) v_j(x_j)) /
(e + sum_j e_j(x_j)); where it has two, there are two such terms. So for any vector b and number l

    b o <= l   if and only if   e (b v - l) + sum_j e_j(x_j) (b v_j(x_j) - l) <= 0.

The greatest left side over the words of a cell is a longest path (`models.enclosures.paths`): at one last
position, with one symbol there, all e_j are numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Booleans, Floats, Integers
from attemper.models.enclosures import forms
from attemper.models.enclosures.averages import powers_between
from attemper.models.enclosures.paths import LEAST, greatest_sums
from attemper.models.enclosures.projections import mixed_in
from attemper.models.enclosures.tails import normed
from attemper.models.soft.weights import Encoder, NoPositions, Periodic
from attemper.theories.judging.certificate import Reading
from attemper.theories.judging.check.cells import JudgedTask, WordCell

MOST_SCORES = 2**26
"""So many scores of a head exist at most: pairs of symbols at pairs of residues."""


@final
@dataclass(frozen=True, eq=False)
class ReadEncoder:
    """An encoder of one layer as it reads inputs of at most `places` symbols.

    `stream` (d, m, S') are the activations before the layer, of each of S' symbols at each residue of
    positions modulo m; the word's own symbols first, in the automaton's order, then those that are always
    there: a marker behind the word, a start before it, or both, in this order.
    """

    encoder: Encoder
    task: JudgedTask
    places: int

    @cached_property
    def rows(self) -> Floats:
        """What is added to the embeddings at each residue."""
        match self.encoder.positions:
            case NoPositions():
                return np.zeros((1, self.encoder.width))
            case Periodic(table):
                return table[: self.places]
            case _:
                raise UnsupportedError("positions that depend on the length are not judged")

    @cached_property
    def stream(self) -> forms.Form:
        own = self.task.automaton.alphabet.symbols
        always = [symbol for symbol in self.encoder.symbols if symbol not in own]
        order = [self.encoder.symbols.index(symbol) for symbol in (*own, *always)]
        embedded = self.encoder.embedding[order].T[:, None, :]
        spread = np.broadcast_to(embedded, (self.encoder.width, self.residues, len(order))).copy()
        return forms.constant(spread, forms.FLAT).plus(self.rows.T[:, :, None])

    @property
    def residues(self) -> int:
        return len(self.rows)

    @property
    def always(self) -> int:
        """The number of the first symbol that stands in every input, and in no word."""
        return len(self.task.automaton.alphabet.symbols)

    def fixed_in(self, cells: Sequence[WordCell]) -> list[tuple[int, Integers]]:
        """The symbols that stand in every input, with their residues there: a marker last, a start first."""
        first = np.array([own.offset for own in cells], dtype=np.int64) % self.residues
        if self.task.reading is Reading.NEXT:
            return [(self.always, first)]
        marker = self.always, self.places_of(cells)[0]
        return [marker, (self.always + 1, first)] if self.task.has_start else [marker]

    def places_of(self, cells: Sequence[WordCell]) -> tuple[Integers, Integers]:
        """The residue and the symbol at the last position of each cell's words."""
        beside = self.task.beside - 1
        ends = np.array([own.offset + own.length + beside for own in cells], dtype=np.int64)
        last = [self.always if own.last is None else own.last for own in cells]
        return ends % self.residues, np.array(last, dtype=np.int64)

    def residues_at(self, position: int, cells: Sequence[WordCell]) -> Integers:
        """Those of the words' symbols at this position from 1 on: a start may stand before the first."""
        before = np.array([own.offset for own in cells], dtype=np.int64) + self.task.has_start
        return (before + position - 1) % self.residues


@final
@dataclass(frozen=True, eq=False)
class JudgedHead:
    """A head of the only layer. For each symbol t that can stand last, and residue x there, `low` and `high`
    (S', m, m, S') bound e of each symbol at each residue that is seen from there; all over one number
    for each t and x, which changes no average. `value` (c, m, S') are the values.

    `axes` (r, c) has the rows b_1 to b_r. With `slopes` (s, r - 1) its *directions* are these, and for each
    row of slopes all b_k - slope b_1, k from 2 on: D = r + s (r - 1) vectors.
    """

    low: Floats
    high: Floats
    value: forms.Form
    axes: Floats
    slopes: Floats

    @cached_property
    def seen(self) -> Floats:
        """At least u v and -u v, (2 D, m, S'): of all directions u, then of all -u."""
        rows = forms.constant(self.axes, self.value.frame)
        along = forms.contracted(rows, self.value, "rc,cns->rns")
        turned = [along[1:] - along[:1].scaled(row[:, None, None]) for row in self.slopes]
        found = (along, *turned)
        return np.concatenate([*(own.greatest for own in found), *(-own.least for own in found)])

    @cached_property
    def left_out(self) -> Floats:
        """At least |o - B^T B o| (c,), for all o that can be read, B the matrix of the rows.

        An average is not above the greatest of what is averaged: here |v - B^T B v|.
        """
        rows = forms.constant(self.axes, self.value.frame)
        along = forms.contracted(rows, self.value, "rc,cns->rns")
        back = forms.contracted(rows, along, "rc,rns->cns")
        return np.asarray((self.value - back).magnitude.max(axis=(1, 2)))


def heads_of(read: ReadEncoder, axes: Sequence[Sequence[Sequence[float]]]) -> tuple[JudgedHead, ...]:
    """The heads of the layer, without slopes. Raises `UnsupportedError` for axes that are not for them."""
    (layer,) = read.encoder.layers
    if (read.residues * len(read.encoder.symbols)) ** 2 > MOST_SCORES:
        raise UnsupportedError(f"words of {read.places - 1:,} symbols have too many scores to be looked at")
    query, key, value = mixed_in(layer, normed(layer.before[0], read.stream)[0])
    size = read.encoder.width // layer.heads
    if len(axes) != layer.heads or any(len(row) != size for rows in axes for row in rows):
        raise UnsupportedError(
            f"the axes are not vectors of {size} numbers, some for each of {layer.heads} heads"
        )
    # Where no position is a period after another, those after the last are not seen.
    count = read.residues
    is_seen = np.tri(count, dtype=np.bool_) if count == read.places else np.ones((1, 1), dtype=np.bool_)
    found = []
    for number, rows in enumerate(axes):
        vectors = np.array(rows, dtype=np.float64)
        scores = forms.contracted(query[number], key[number], "cxt,cns->txns")
        seen = np.broadcast_to(is_seen[None, :, :, None], scores.rest.shape)
        most = np.where(seen, scores.centre, -np.inf).max(axis=(2, 3), keepdims=True)
        low, high = (np.where(seen, side, 0.0) for side in powers_between(scores.plus(-most)))
        found.append(JudgedHead(low, high, value[number], vectors, np.zeros((0, len(vectors) - 1))))
    return tuple(found)


def shown(read: ReadEncoder, head: JudgedHead, cells: Sequence[WordCell], highest: Floats) -> Booleans:
    """Of each cell, in the order of lengths, whether its numbers `highest` (C, 2 D) are seen to be high
    enough: at least the greatest u o, for all directions u, then at least the greatest -u o.
    """
    lengths = np.array([own.length for own in cells], dtype=np.int64)
    at, last = read.places_of(cells)
    seen, always = head.seen, read.always

    def gains(low: Floats, high: Floats, value: Floats, row: int) -> Floats:
        """At least e (u v - l), for arrays that broadcast to (C, 2 D, S).

        A difference and a product are rounded, and the sum here. What is too small to be a number is raised.
        """
        away = np.maximum(value - highest[row:, :, None], LEAST)
        gain = np.maximum(np.maximum(away, 0) * high - np.maximum(-away, 0) * low, LEAST)
        return np.asarray(gain + forms.upward(4 * forms.GAMMA * np.abs(gain), 2))

    def of_symbols(position: int, row: int) -> Floats:
        there = read.residues_at(position, cells[row:])
        low, high = (side[last[row:], at[row:], there][:, None, :always] for side in (head.low, head.high))
        found = gains(low, high, np.moveaxis(seen[:, there, :always], 1, 0), row)
        for own in range(row, int(np.searchsorted(lengths, position, side="right"))):
            # Words of such a cell end here, with one symbol.
            if cells[own].last is not None:
                found[own - row, :, np.arange(always) != cells[own].last] = -np.inf
        return found

    # Sums of terms for the symbols that are always there: each has a share more for the sum.
    start = np.zeros((len(cells), len(seen)))
    for symbol, there in read.fixed_in(cells):
        low, high = (side[last, at, there, None, symbol, None] for side in (head.low, head.high))
        gain = gains(low, high, seen[:, there, symbol].T[:, :, None], 0)[..., 0]
        start = start + gain + forms.upward(2 * forms.GAMMA * (np.abs(gain) + np.abs(start)), 3)
    sums = greatest_sums(start, of_symbols, lengths, read.task.moves, read.task.automaton.start)
    states = np.array([own.state for own in cells])
    return np.asarray((sums[np.arange(len(cells)), :, states] <= 0).all(axis=1))
