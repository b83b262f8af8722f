"""What it means that an attention head is satisfied: all it can attend to depends on few free inputs.

`attended_inputs` is the definition, one tuple at a time; `Keys` does the same for many tuples at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from attemper.models.arrays import Array, Booleans, Integers
from attemper.models.hard.protocol import scored
from attemper.theories.refutation.lemma.inputs import FREE, PartialAssignment
from attemper.theories.refutation.lemma.transformers import CTransformer, distinct

_NONE = -1
"""Below every key, and in the place of an input that is not there."""


@final
@dataclass(frozen=True, eq=False)
class Bottom:
    """The layer-0 activations of a c-transformer (Hahn 2020, Definition 3), and the heads that read them.

    A *row* is an activation together with bits for its inputs, so that it has a value; activations and inputs
    are numbered from 0. A *tuple* ((h, i), z) is a head h and a row, of the activation i: z is its value.
    """

    scores: Array
    """(head, row of the query, row of the key): f_att."""
    owner: Integers
    """(row): its activation; ascending, and every activation has a row."""
    inputs: Integers
    """(activation, c): the inputs that it depends on; filled up with -1."""
    bits: PartialAssignment
    """(row, c): the bits of these inputs; filled up with -1."""

    @cached_property
    def starts(self) -> Integers:
        """(activation): its first row."""
        return np.searchsorted(self.owner, np.arange(len(self.inputs)))

    @property
    def heads(self) -> int:
        return len(self.scores)

    @property
    def size(self) -> int:
        """n, how many activations there are."""
        return len(self.inputs)

    @property
    def most_inputs(self) -> int:
        """c."""
        return int(self.inputs.shape[1])

    def possible(self, bits: PartialAssignment) -> Booleans:
        """(row): whether its bits are those of the restriction where this has any."""
        known = np.where(self.inputs >= 0, bits[self.inputs], FREE)[self.owner]
        return np.asarray(((known == FREE) | (known == self.bits)).all(axis=1), dtype=np.bool_)


def bottom_of(transformer: CTransformer) -> Bottom:
    """The layer-0 activations of a c-transformer that has layers; for c = 0 with a column without inputs."""
    lengths = np.array([table.shape[0] * table.shape[1] for table in transformer.tables])
    rows, places = distinct(rows_of(transformer))
    inputs = np.full((transformer.size, max(1, transformer.most_inputs)), _NONE)
    bits = np.full((len(places), inputs.shape[1]), FREE, dtype=np.int8)
    starts = np.cumsum(lengths) - lengths
    for j, own in enumerate(transformer.reads):
        inputs[j, : len(own)] = own
        numbers = np.arange(lengths[j])[:, None] // transformer.tables[j].shape[1]
        bits[starts[j] : starts[j] + lengths[j], : len(own)] = numbers >> np.arange(len(own))[::-1] & 1
    first = transformer.gone
    scores = [scored(transformer.model, first, head, rows, rows) for head in range(transformer.heads[0])]
    each = np.array([own[np.ix_(places, places)] for own in scores]).reshape(-1, len(places), len(places))
    return Bottom(each, np.repeat(np.arange(transformer.size), lengths), inputs, bits)


def rows_of(transformer: CTransformer) -> Array:
    """(row): its activation, in the order of `Bottom`: position, bits, alternative."""
    return np.concatenate([table.reshape(-1, table.shape[2]) for table in transformer.tables])


def attended_inputs(bottom: Bottom, bits: PartialAssignment, head: int, row: int) -> frozenset[int]:
    """The free inputs on which it depends what a head attends to, where the activation i has the row's value.

        lo_j, hi_j   = the least and the greatest f_att(z, y_j) over the values of y_j under the restriction;
                       for j = i, which has the value z, both are f_att(z, z)
        b            = the j with the greatest (lo_j, -j)
        attended     = all j with (hi_j, -j) >= (lo_b, -b), lexicographically

    b's score is at least lo_b whatever the free inputs are, so a j that is not among the attended is never
    the leftmost maximum: on all words under the restriction with this row, what is attended to depends only
    on the free inputs of the attended activations. (Activations that share inputs are treated as if they did
    not, which can only widen lo..hi.) i itself brings no inputs: y_i = z is given.

    A tuple is *k-satisfied* (Hahn 2020, Lemma 4, Stage 2) if these are at most c k. In the paper, a fixed
    activation that attains its greatest score blocks all that rank below it, by score and then by position;
    here any guaranteed score blocks, which satisfies more tuples. Fixing more inputs never undoes it: hi_j
    falls and lo_j rises (supplement, Lemma 10).
    """
    possible = bottom.possible(bits)
    own = int(bottom.owner[row])
    low: dict[int, Any] = {}
    high: dict[int, Any] = {}
    for j in range(bottom.size):
        rows = [row] if j == own else [r for r in np.flatnonzero(bottom.owner == j) if possible[r]]
        found = [bottom.scores[head, row, r] for r in rows]
        low[j], high[j] = min(found), max(found)
    blocker = max(low, key=lambda j: (low[j], -j))
    attended = [j for j in low if j != own and (high[j], -j) >= (low[blocker], -blocker)]
    return frozenset(int(x) for j in attended for x in bottom.inputs[j] if x >= 0 and bits[x] == FREE)


@final
class Keys:
    """The same for many tuples at once; the tuple of head h and row r has the number h * rows + r.

    In each tuple, scores are replaced by integers, their *keys*: greater where the score is, and of equal
    scores where the position is smaller. Then "ranks above" is > between keys.
    """

    def __init__(self, bottom: Bottom, *, leftmost: bool = True) -> None:
        self.bottom, self.leftmost = bottom, leftmost
        n, rows = bottom.size, len(bottom.owner)
        table = _ranks(bottom.scores.reshape(-1, rows)) * n + (n - 1 - bottom.owner)
        self.table = table.astype(np.int32) if rows * n < 2**31 else table
        self.own_row = np.tile(np.arange(rows), bottom.heads)
        self.own = bottom.owner[self.own_row]
        activations, columns = np.nonzero(bottom.inputs >= 0)
        sources = bottom.inputs[activations, columns]
        order = np.argsort(sources, kind="stable")
        self.fed = activations[order]
        """The activations that each input feeds, one input after the other."""
        self.sources, self.parts = np.unique(sources[order], return_index=True)
        """The inputs that feed any, and where in `fed` the part of each begins."""

    def tuples(self, bits: PartialAssignment) -> Integers:
        """The numbers of the tuples whose row is possible."""
        return np.flatnonzero(self.bottom.possible(bits)[self.own_row])

    def position(self, keys: Integers) -> Integers:
        """The activations that the keys are of."""
        return self.bottom.size - 1 - keys % self.bottom.size

    def ranges(self, bits: PartialAssignment, tuples: Integers) -> tuple[Integers, Integers]:
        """(tuple, activation): the keys of lo and of hi; for the tuple's own activation, of its row."""
        possible, starts = self.bottom.possible(bits), self.bottom.starts
        table = self.table[tuples]
        low = np.minimum.reduceat(np.where(possible, table, np.iinfo(table.dtype).max), starts, axis=1)
        high = np.maximum.reduceat(np.where(possible, table, _NONE), starts, axis=1)
        each = np.arange(len(tuples))
        low[each, self.own[tuples]] = table[each, self.own_row[tuples]]
        high[each, self.own[tuples]] = table[each, self.own_row[tuples]]
        return low, high

    def attended(self, low: Integers, high: Integers) -> Booleans:
        """(tuple, activation): what can be attended to in each tuple, where these are its ranges.

        If any of the best is attended to, then whatever can have the blocker's score, left of it or not.
        """
        if not self.leftmost:
            low, high = low // self.bottom.size, high // self.bottom.size
        return np.asarray(high >= low.max(axis=1, keepdims=True), dtype=np.bool_)

    def counts(self, bits: PartialAssignment, tuples: Integers) -> Integers:
        """(tuple): how many inputs `attended_inputs` has."""
        return self.counts_in(bits, tuples, *self.ranges(bits, tuples))

    def counts_in(self, bits: PartialAssignment, tuples: Integers, low: Integers, high: Integers) -> Integers:
        """The same, where the ranges are known already."""
        others = self.attended(low, high)
        others[np.arange(len(tuples)), self.own[tuples]] = False
        inputs = self.inputs_of(others) & (bits == FREE)
        return np.asarray(inputs.sum(axis=1), dtype=np.int64)

    def inputs_of(self, activations: Booleans) -> Booleans:
        """(tuple, input): the inputs of the activations that are marked in (tuple, activation)."""
        found = np.zeros(activations.shape, dtype=bool)
        if len(self.fed):
            found[:, self.sources] = np.logical_or.reduceat(activations[:, self.fed], self.parts, axis=1)
        return found

    def feeding(self, bits: PartialAssignment) -> Booleans:
        """(activation): whether it has a free input."""
        inputs = self.bottom.inputs
        return np.asarray(((inputs >= 0) & (bits[inputs] == FREE)).any(axis=1), dtype=np.bool_)

    def unsatisfied(self, bits: PartialAssignment, most: int) -> Integers:
        """The possible tuples for which it is more than `most`."""
        tuples = self.tuples(bits)
        return tuples[self.counts(bits, tuples) > most]


def _ranks(scores: Array) -> Integers:
    """In each row, how many different scores are smaller."""
    order = np.argsort(scores, axis=1)
    ascending = np.take_along_axis(scores, order, axis=1)
    rises = np.zeros(scores.shape, dtype=np.int64)
    np.cumsum(ascending[:, 1:] != ascending[:, :-1], axis=1, out=rises[:, 1:])
    ranks = np.empty_like(rises)
    np.put_along_axis(ranks, order, rises, axis=1)
    return ranks
