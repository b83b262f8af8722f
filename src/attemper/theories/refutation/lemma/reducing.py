"""The Depth Reduction Lemma as an operation: a finer restriction, and a transformer with one layer less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import final

import numpy as np

from attemper.errors import OptionError, UnsupportedError
from attemper.models.arrays import Array, Booleans, Integers
from attemper.models.hard.protocol import normal
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma.faithful import greedily_fixed
from attemper.theories.refutation.lemma.inputs import FREE, bits_of
from attemper.theories.refutation.lemma.satisfied import Keys, bottom_of, rows_of
from attemper.theories.refutation.lemma.transformers import (
    CTransformer,
    distinct,
    numbers_in,
    restricted,
)

WIDEST = 14
"""An activation that depends on more inputs has no table: this would have more than 2^14 rows."""

MOST_ALTERNATIVES = 64
"""So many values an activation can have for the same inputs, where any of the best is attended to."""

LARGEST = 8192
"""So many rows a layer-0 can have in all: all their pairs are scored."""


@final
@dataclass(frozen=True, eq=False)
class OneLayerLess:
    """What `attemper.reduce` made of a c-transformer with L layers, T.

    `restriction` is rho', under which every tuple of T's first layer is k-satisfied; `before` is rho'T, and
    `transformer` is T': it has L - 1 layers, and its layer-0 activations are those of T's layer 1, as
    functions of at most c' inputs each. Under rho' both put out the same.
    """

    given: CTransformer
    k: int
    before: CTransformer
    transformer: CTransformer
    steps: int
    """How many activations of T were fixed."""

    @property
    def restriction(self) -> Restriction:
        """rho': which symbols each position may have."""
        return self.transformer.inputs

    @property
    def bound(self) -> int:
        """c (2^c k H + 1): what the lemma says of c' (Hahn 2020, Lemma 4; docs/depth-reduction.md).

        With 2^c s in the place of 2^c where an activation can be one of s alternatives.
        """
        c = max(1, self.given.most_inputs)
        values = 2**c * max(table.shape[1] for table in self.given.tables)
        return int(c * (values * self.k * self.given.heads[0] + 1))

    def __repr__(self) -> str:
        after = self.transformer
        return (
            f"<OneLayerLess: layers left: {len(after.heads)}, {len(after.free)} of {after.size} inputs are "
            f"free, an activation depends on at most {after.most_inputs}>"
        )


def one_layer_less(given: CTransformer, k: int) -> OneLayerLess:
    """What `attemper.reduce` makes of a c-transformer; raises the same."""
    if type(k) is not int or k < 1:
        raise OptionError(f"k={k!r} is not a whole number from 1 on", options=("k",))
    if not given.heads:
        raise OptionError("the transformer has no layer that could be taken away", options=("model",))
    rows = sum(table.shape[0] * table.shape[1] for table in given.tables)
    if rows > LARGEST:
        raise UnsupportedError(
            f"the activations of {given.size} positions have {rows:,} values, and all pairs of them are "
            f"scored: at most {LARGEST:,} can be; a smaller k or a finer restriction leaves fewer"
        )
    bits, steps = greedily_fixed(_keys(given), bits_of(given.inputs), k, threshold=0)
    before = restricted(given, bits)
    return OneLayerLess(given, k, before, collapsed(before), steps)


def all_removed(first: CTransformer, k: int) -> Iterator[OneLayerLess]:
    """Reductions one after the other, until no layer is left: the proof of Hahn's Theorem 1, at one n.

    In the end the activation at the last position is a table over few inputs, all that the output depends on.
    """
    while first.heads:
        found = one_layer_less(first, k)
        yield found
        first = found.transformer


def attends(transformer: CTransformer) -> Booleans:
    """(head, position, position): whether i can attend to j in the lowest layer, whatever y_i is."""
    keys = _keys(transformer)
    tuples = np.arange(len(keys.own))
    attended = keys.attended(*keys.ranges(bits_of(transformer.inputs), tuples))
    starts = (keys.bottom.starts + np.arange(keys.bottom.heads)[:, None] * len(keys.bottom.owner)).reshape(-1)
    found = np.logical_or.reduceat(attended, starts, axis=0)
    return np.asarray(found.reshape(keys.bottom.heads, transformer.size, transformer.size), dtype=np.bool_)


def collapsed(transformer: CTransformer) -> CTransformer:
    """T': layer 1 of a restricted c-transformer as tables over the free inputs that it can depend on.

    Raises `UnsupportedError` for more than `WIDEST` inputs, or more than `MOST_ALTERNATIVES`.
    """
    keys = _keys(transformer)
    bits = bits_of(transformer.inputs)
    number_of_rows = len(keys.bottom.owner)
    attended = keys.attended(*keys.ranges(bits, np.arange(len(keys.own))))
    attended = attended.reshape(keys.bottom.heads, number_of_rows, transformer.size)
    reads, tables = [], []
    for i, own in enumerate(transformer.reads):
        others = np.flatnonzero(attended[:, keys.bottom.owner == i].any(axis=(0, 1)))
        needed = tuple(sorted({*own, *(q for j in others if j != i for q in transformer.reads[j])}))
        if len(needed) > WIDEST:
            raise UnsupportedError(
                f"the activation at position {i + 1} comes to depend on {len(needed)} inputs, and a table "
                f"has at most 2^{WIDEST} rows; a smaller k leaves fewer"
            )
        assignments = np.arange(2 ** len(needed))[:, None] >> np.arange(len(needed))[::-1] & 1
        whole = np.zeros((len(assignments), transformer.size), dtype=np.int64)
        whole[:, list(needed)] = assignments
        columns = [_first_rows(transformer, keys.bottom.starts, whole, j) for j in (i, *others)]
        now = np.stack(columns, axis=1)
        reads.append(needed)
        if transformer.leftmost:
            tables.append(_next_by_leftmost(transformer, keys, attended[:, :, others], now))
        else:
            tables.append(_next_by_any(transformer, keys, i, others.tolist(), now))
    after = replace(transformer, reads=tuple(reads), tables=tuple(tables), gone=transformer.gone + 1)
    return restricted(after, bits)


def _keys(transformer: CTransformer) -> Keys:
    return Keys(bottom_of(transformer), leftmost=transformer.leftmost)


def _first_rows(transformer: CTransformer, starts: Integers, words: Integers, j: int) -> Integers:
    """(word): the first of the rows of `Bottom` that position j has, if its inputs have these bits."""
    found = starts[j] + transformer.tables[j].shape[1] * numbers_in(words[:, list(transformer.reads[j])])
    return np.asarray(found, dtype=np.int64)


def _next_by_leftmost(transformer: CTransformer, keys: Keys, attended: Booleans, now: Integers) -> Array:
    """(assignment, 1, width): what a position has next; `now` are the rows there are, its own ones first.

    `attended`: (head, row, column of `now` but the first), what can be attended to from each row.
    """
    rows, read = rows_of(transformer), []
    ranks = keys.table.reshape(keys.bottom.heads, len(rows), -1)
    for head in range(keys.bottom.heads):
        seen = np.where(attended[head][now[:, 0]], ranks[head][now[:, :1], now[:, 1:]], -1)
        read.append(rows[now[np.arange(len(now)), 1 + seen.argmax(axis=1)]])
    return normal(transformer.model.combine(transformer.gone, rows[now[:, 0]], read))[:, None]


def _next_by_any(transformer: CTransformer, keys: Keys, i: int, others: list[int], now: Integers) -> Array:
    """(assignment, alternative, width): all that position i can have next, whichever of the best is read.

    Alternatives of different positions are combined as if their choices were independent, which can only add
    some.
    """
    rows, found = rows_of(transformer), []
    ranks = keys.table.reshape(keys.bottom.heads, len(rows), -1) // transformer.size
    counts = [transformer.tables[j].shape[1] for j in (i, *others)]
    for first in now.tolist():
        own, *pools = (range(row, row + count) for row, count in zip(first, counts, strict=True))
        combinations = []
        for z in own:
            seen = [[z] if j == i else list(pool) for j, pool in zip(others, pools, strict=True)]
            choices = []
            for head in ranks[:, z]:
                least = max(min(int(head[row]) for row in pool) for pool in seen)
                choices.append([row for pool in seen for row in pool if head[row] >= least])
            combinations += [(z, *chosen) for chosen in product(*choices)]
        parts = np.array(combinations)
        read = [rows[column] for column in parts[:, 1:].T]
        kept, _ = distinct(normal(transformer.model.combine(transformer.gone, rows[parts[:, 0]], read)))
        found.append(kept)
    most = max(map(len, found))
    if most > MOST_ALTERNATIVES:
        raise UnsupportedError(
            f"the activation at position {i + 1} can have {most} values for the same inputs, as ties may be "
            f"broken in any way: at most {MOST_ALTERNATIVES} are listed"
        )
    return np.stack([np.concatenate([some, some[-1:].repeat(most - len(some), axis=0)]) for some in found])


@final
@dataclass(frozen=True)
class Agreement:
    """On how many words two transformers were compared, and whether on all; and a word where they differ."""

    words: int
    all_words: bool
    differs: tuple[int, ...] | None


def agreement(first: CTransformer, later: CTransformer, most: int = 2**16, seed: int = 0) -> Agreement:
    """Whether rho'T = rho'T': T's activations against those of a T' that was made of it, layer by layer.

    On all words that the restriction of `later` allows if there are at most `most`, else on so many drawn
    ones. T and T' are run by the definition of hard attention.
    """
    fixed = bits_of(first.inputs, later.inputs)
    skipped, compared = later.gone - first.gone, 0
    for words in later.words(most, seed):
        whole = np.where(fixed == FREE, words, fixed).astype(np.int8)
        upper = first.run(whole)[skipped:]
        for one, other in zip(upper, later.run(words), strict=True):
            differ = (one != other).any(axis=(1, 2))
            if differ.any():
                return Agreement(compared, False, tuple(whole[differ.argmax()].tolist()))
        compared += len(words)
    return Agreement(compared, compared == 2 ** len(later.free), None)
