"""A c-transformer that runs: its lowest activations are tables, each over at most c inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Array, Integers
from attemper.models.hard.protocol import HardModel, normal, scored
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma.inputs import (
    FREE,
    PartialAssignment,
    bits_of,
    require_bits,
    restriction_of,
    two_symbols,
)

MOST_ROWS = 2048
"""How many activations of one layer are scored at a time."""


@final
@dataclass(frozen=True, eq=False)
class CTransformer:
    """A c-transformer T (Hahn 2020, Definition 3; supplement, Definition 2) of n inputs, at one length.

        y_j^(0) = tables[j][b][0] b: the bits of the inputs reads[j] as a binary number, the first one high
        y_j^(l)   from y^(l-1) by the layer `gone` + l of the model (numbered from 1), l = 1, ..., L

    with hard attention: the leftmost of the best scores, or (not `leftmost`) any of them, for example one
    drawn at random (Hahn's footnote 1). Positions and inputs are numbered from 0 to n - 1;
    `inputs` says which symbols an input may have: its bit is 0 for the first of two, 1 for the second. A
    model's own layer 0 reads its own symbol: `own_layer`. After `gone` reductions, layer 0 stands for the
    model's layer `gone`: `attemper.reduce`.
    """

    model: HardModel
    """Whose scores, combinations and labels these are."""
    inputs: Restriction
    reads: tuple[tuple[int, ...], ...]
    """(position): the inputs that its layer-0 activation is a function of, ascending."""
    tables: tuple[Array, ...]
    """(position): an array of the shape (2^len(reads), alternatives, width).

    There are several alternatives only where any of the best is attended to: whatever the choices in the
    layers that are gone, the activation is one of them. An alternative may stand there twice.
    """
    gone: int = 0
    leftmost: bool = True

    @property
    def size(self) -> int:
        """n."""
        return len(self.reads)

    @property
    def heads(self) -> tuple[int, ...]:
        """How many heads each of its L layers has."""
        return self.model.heads[self.gone :]

    @property
    def most_inputs(self) -> int:
        """c: how many inputs a layer-0 activation depends on at most."""
        return max(map(len, self.reads))

    @property
    def free(self) -> tuple[int, ...]:
        """The inputs that are not fixed."""
        return tuple(i - 1 for i in self.inputs.free)

    def words(self, most: int, seed: int = 0) -> Iterator[PartialAssignment]:
        """All words of the inputs as arrays (word, input) of bits; `most` words drawn if there are more."""
        free = np.array(self.free, dtype=np.int64)
        count = min(2 ** len(free), most) if len(free) < 63 else most
        draw = None if 2 ** len(free) == count else np.random.default_rng(seed)
        at_once = max(1, MOST_ROWS // self.size)
        for start in range(0, count, at_once):
            numbers = np.arange(start, min(start + at_once, count))
            found = np.zeros((len(numbers), self.size), dtype=np.int8)
            found[:, free] = (
                numbers[:, None] >> np.arange(len(free))[::-1] & 1
                if draw is None
                else draw.integers(0, 2, (len(numbers), len(free)))
            )
            yield found

    def run(self, words: PartialAssignment) -> list[Array]:
        """All activations of the layers 0..L on some words of bits, in the shape (word, position, width).

        Raises `UnsupportedError` for activations or scores that are not numbers, and where any of the best is
        attended to: then a word has more than one run.
        """
        if not self.leftmost:
            raise UnsupportedError(
                "a transformer that attends to any of the best has more than one run on a word"
            )
        count, n = words.shape
        pairs = zip(self.reads, self.tables, strict=True)
        first = [table[numbers_in(words[:, own]), 0] for own, table in pairs]
        found = [np.stack(first, axis=1)]
        for layer, heads in enumerate(self.heads, start=self.gone):
            rows = found[-1].reshape(count * n, -1)
            kept, places = distinct(rows)
            which = places.reshape(count, n)
            read = []
            for head in range(heads):
                scores = scored(self.model, layer, head, kept, kept)
                best = scores[which[:, :, None], which[:, None, :]].argmax(axis=2)
                read.append(rows[(np.arange(count)[:, None] * n + best).reshape(-1)])
            found.append(normal(self.model.combine(layer, rows, read)).reshape(count, n, -1))
        return found

    def outputs(self) -> Array:
        """The labels for all bits of the inputs that the last position reads, and all alternatives.

        Only where no layer is left.
        """
        if self.heads:
            raise ValueError("the output is not in a table as long as there are layers")
        return self.model.labels(self.tables[-1].reshape(-1, self.tables[-1].shape[2]))


def own_layer(model: HardModel, inputs: Restriction | None = None, *, leftmost: bool = True) -> CTransformer:
    """A transformer's own layer 0, where an activation depends on its own symbol: c = 1.

    `inputs`: which one or two symbols each position may have; None for `two_symbols`. Two symbols with the
    same embedding are one activation, which depends on no input.
    """
    inputs = two_symbols(model) if inputs is None else inputs
    require_bits(inputs, model.length)
    pairs = [(i, symbol) for i, symbols in enumerate(inputs.allowed, start=1) for symbol in symbols]
    positions, symbols = (np.array(column, dtype=np.int64) for column in zip(*pairs, strict=True))
    rows = normal(model.embed(positions, symbols))
    starts = np.searchsorted(positions, np.arange(2, model.length + 1))
    reads = tuple((j,) if len(some) > 1 else () for j, some in enumerate(inputs.allowed))
    tables = tuple(np.split(rows[:, None], starts))
    return restricted(CTransformer(model, inputs, reads, tables, leftmost=leftmost), bits_of(inputs))


def reading_others(model: HardModel, c: int, seed: int) -> CTransformer:
    """A c-transformer of random tables: each position reads its own input and c - 1 that are drawn.

    Its activations are what the model, which must take any number for a symbol, makes of a position and bits.
    """
    draw = np.random.default_rng(seed)
    n = model.length
    reads, tables = [], []
    for j in range(n):
        others = draw.choice(np.delete(np.arange(n), j), min(c, n) - 1, replace=False)
        reads.append(tuple(sorted([j, *others.tolist()])))
        rows = 2 ** len(reads[-1])
        tables.append(normal(model.embed(np.full(rows, j + 1), np.arange(rows)))[:, None])
    inputs = two_symbols(model)
    return restricted(CTransformer(model, inputs, tuple(reads), tuple(tables)), bits_of(inputs))


def restricted(transformer: CTransformer, bits: PartialAssignment) -> CTransformer:
    """rho T: fixed bits are put into the tables, and inputs that a table does not depend on are left out.

    But not where there are alternatives: how likely they are can depend on an input that changes none.
    """
    reads, tables = [], []
    for own, table in zip(transformer.reads, transformer.tables, strict=True):
        cube = table.reshape((2,) * len(own) + (-1,))
        cube = cube[tuple(slice(None) if bits[q] == FREE else int(bits[q]) for q in own)]
        left = [q for q in own if bits[q] == FREE]
        for q in tuple(left) if table.shape[1] == 1 else ():
            halves = (cube.take(bit, axis=left.index(q)) for bit in (0, 1))
            zero, one = halves
            if np.array_equal(zero, one):
                cube = zero
                left.remove(q)
        reads.append(tuple(left))
        tables.append(cube.reshape(2 ** len(left), *table.shape[1:]))
    inputs = restriction_of(transformer.inputs, bits)
    return replace(transformer, inputs=inputs, reads=tuple(reads), tables=tuple(tables))


def numbers_in(bits: Integers | PartialAssignment) -> Integers:
    """(row): the bits of each row as a binary number, the first one high."""
    return np.asarray(bits.astype(np.int64) @ (1 << np.arange(bits.shape[1])[::-1]), dtype=np.int64)


def distinct(rows: Array) -> tuple[Array, Integers]:
    """Each row once, and which of these every row is: rows are the same if their bytes are."""
    raw = np.ascontiguousarray(rows)
    words = raw.view(np.dtype((np.void, raw.dtype.itemsize * raw.shape[1]))).reshape(-1)
    _, kept, places = np.unique(words, return_index=True, return_inverse=True)
    return raw[kept], places.reshape(-1)
