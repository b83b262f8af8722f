"""The Depth Reduction Lemma as an operation: a finer restriction, and a transformer with one layer less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, final

import numpy as np

from attemper.errors import OptionError, UnsupportedError
from attemper.models.arrays import Booleans, Integers
from attemper.models.hard.protocol import normal
from attemper.theories.refutation.ask import hard_model_of
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma.faithful import greedily_fixed
from attemper.theories.refutation.lemma.inputs import FREE, bits_of
from attemper.theories.refutation.lemma.satisfied import Keys, bottom_of
from attemper.theories.refutation.lemma.transformers import CTransformer, numbers_in, own_layer, restricted

if TYPE_CHECKING:
    from attemper.models.hard.protocol import HardModel
    from attemper.workbench.model import Model

WIDEST = 14
"""An activation that depends on more inputs has no table: this would have more than 2^14 rows."""

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
        """c (2^c k H + 1): what the lemma says of c' (Hahn 2020, Lemma 4; docs/depth-reduction.md)."""
        c = max(1, self.given.most_inputs)
        return int(c * (2**c * self.k * self.given.heads[0] + 1))

    def __repr__(self) -> str:
        after = self.transformer
        return (
            f"<OneLayerLess: {len(after.heads)} layers are left, {len(after.free)} of {after.size} inputs "
            f"are free, an activation depends on at most {after.most_inputs}>"
        )


def reduce(
    model: CTransformer | Model | HardModel | Callable[[int], HardModel] | str,
    restriction: Restriction | None = None,
    *,
    length: int | None = None,
    k: int = 1,
) -> OneLayerLess:
    """Take the lowest layer away from a hard-attention transformer, for the price of some fixed inputs.

        rho' >= rho   fixes inputs until every tuple ((h, i), z) of the first layer is k-satisfied: whatever
                      head h attends to at i while y_i^(0) = z, at most c k free inputs feed it
        reads'[i]     the free inputs of y_i^(0), and for each h and z those of all that can be attended to
        tables'[i]    y_i^(1), for each assignment to reads'[i]

    * `model`: as for `attemper.refute`, at one `length` n (then c = 1); or a `CTransformer`, such as the one
      that a reduction made.
    * `restriction`: rho, which leaves one or two symbols to each position. None: what a `CTransformer`
      has; for a model both of its first two symbols, everywhere but at an end marker.
    * `k` >= 1: more inputs stay free where it is larger, and c' is larger. Activations are fixed as in Stage
      2 of Hahn's proof, until no tuple is left unsatisfied, so that this holds for every n and k; how many
      inputs stay free is not promised (`attemper lemma` has what is).

    Guaranteed: for every word under rho' and l = 1, ..., L the layer-l activations of T are the layer-(l - 1)
    activations of T', and c' <= c (2^c k H + 1) (Hahn 2020, Lemma 4, for one n; the proof is in
    docs/depth-reduction.md). Only leftmost hard attention has such a T'; of random choices among ties (Hahn's
    footnote 1) an activation is no function of the inputs.

    Raises `OptionError` for options, a restriction of another length, or no layers; `UnsupportedError` where
    a position has more than two symbols, or where an activation comes to depend on more than 14 inputs.

    >>> from attemper.models.hard.examples import RandomTables
    >>> found = reduce(RandomTables(8, (1, 1), seed=1))
    >>> found.transformer.heads, len(found.restriction.free), found.transformer.most_inputs <= found.bound
    ((1,), 4, True)
    >>> last = reduce(found.transformer).transformer
    >>> last.heads, len(last.free), last.reads[-1]
    ((), 3, ())
    """
    if type(k) is not int or k < 1:
        raise OptionError(f"k={k!r} is not a whole number from 1 on", options=("k",))
    if isinstance(model, CTransformer):
        if length not in (None, model.size):
            raise OptionError(
                f"the transformer is one for length={model.size}, not for length={length}",
                options=("length",),
            )
        given = model if restriction is None else restricted(model, bits_of(model.inputs, restriction))
    else:
        given = own_layer(hard_model_of(model, length), restriction)
    if not given.heads:
        raise OptionError("the transformer has no layer that could be taken away", options=("model",))
    rows = sum(map(len, given.tables))
    if rows > LARGEST:
        raise UnsupportedError(
            f"the activations of {given.size} positions have {rows:,} values, and all pairs of them are "
            f"scored: at most {LARGEST:,} can be; a smaller k or a finer restriction leaves fewer"
        )
    bits, steps = greedily_fixed(Keys(bottom_of(given)), bits_of(given.inputs), k, threshold=0)
    before = restricted(given, bits)
    return OneLayerLess(given, k, before, collapsed(before), steps)


def all_removed(first: CTransformer, k: int) -> Iterator[OneLayerLess]:
    """Reductions one after the other, until no layer is left: the proof of Hahn's Theorem 1, at one n.

    In the end the activation at the last position is a table over few inputs, all that the output depends on.
    """
    while first.heads:
        found = reduce(first, k=k)
        yield found
        first = found.transformer


def attends(transformer: CTransformer) -> Booleans:
    """(head, position, position): whether i can attend to j in the lowest layer, whatever y_i is."""
    keys = Keys(bottom_of(transformer))
    tuples = np.arange(len(keys.own))
    attended = keys.attended(*keys.ranges(bits_of(transformer.inputs), tuples))
    starts = (keys.bottom.starts + np.arange(keys.bottom.heads)[:, None] * len(keys.bottom.owner)).reshape(-1)
    found = np.logical_or.reduceat(attended, starts, axis=0)
    return np.asarray(found.reshape(keys.bottom.heads, transformer.size, transformer.size), dtype=np.bool_)


def collapsed(transformer: CTransformer) -> CTransformer:
    """T': layer 1 of a restricted c-transformer as tables over the free inputs that it can depend on.

    Raises `UnsupportedError` if one depends on more than `WIDEST` inputs.
    """
    keys = Keys(bottom_of(transformer))
    bits = bits_of(transformer.inputs)
    number_of_rows = len(keys.bottom.owner)
    attended = keys.attended(*keys.ranges(bits, np.arange(len(keys.own))))
    attended = attended.reshape(keys.bottom.heads, number_of_rows, transformer.size)
    rows = np.concatenate(transformer.tables)
    reads, tables = [], []
    for i, own in enumerate(transformer.reads):
        values = slice(keys.bottom.starts[i], keys.bottom.starts[i] + len(transformer.tables[i]))
        others = np.flatnonzero(attended[:, values].any(axis=(0, 1)))
        needed = tuple(sorted({*own, *(q for j in others if j != i for q in transformer.reads[j])}))
        if len(needed) > WIDEST:
            raise UnsupportedError(
                f"the activation at position {i + 1} comes to depend on {len(needed)} inputs, and a table "
                f"has at most 2^{WIDEST} rows; a smaller k leaves fewer"
            )
        assignments = np.arange(2 ** len(needed))[:, None] >> np.arange(len(needed))[::-1] & 1
        whole = np.zeros((len(assignments), transformer.size), dtype=np.int64)
        whole[:, list(needed)] = assignments
        now = _rows_of(transformer, keys.bottom.starts, whole, [i, *others])
        read = []
        for head in range(keys.bottom.heads):
            ranks = keys.table.reshape(keys.bottom.heads, number_of_rows, -1)[head][now[:, :1], now[:, 1:]]
            ranks = np.where(attended[head][now[:, 0]][:, others], ranks, -1)
            best = ranks.argmax(axis=1)
            read.append(rows[now[np.arange(len(now)), 1 + best]])
        reads.append(needed)
        tables.append(normal(transformer.model.combine(transformer.gone, rows[now[:, 0]], read)))
    after = replace(transformer, reads=tuple(reads), tables=tuple(tables), gone=transformer.gone + 1)
    return restricted(after, bits)


def _rows_of(transformer: CTransformer, starts: Integers, words: Integers, positions: list[int]) -> Integers:
    """(word, position): the row of `Bottom` that a position has, whose inputs have these bits."""
    found = [starts[j] + numbers_in(words[:, list(transformer.reads[j])]) for j in positions]
    return np.stack(found, axis=1)


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
