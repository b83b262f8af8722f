"""Hard-attention transformers in their general form (Hahn 2020, section 3), at one length n.

    y_i^(0)   = embed(i, w_i)
    b_i^(k,h) = y_j^(k-1)  for the leftmost j with the greatest score(k, h, y_i^(k-1), y_j^(k-1))
    y_i^(k)   = combine(k, y_i^(k-1), b_i^(k,1), ..., b_i^(k,H))
    answer    = label(y_n^(L))

The functions are arbitrary; activations are rows of an array of numbers, and the same if and only if their
bytes are, where every -0.0 is replaced by 0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.models.arrays import Array, Integers

MOST_SCORES = 4_000_000
"""How many scores of a layer and head are asked for at a time."""

CACHED = 1 << 15
"""How many numbers of a product are added up at a time."""


class HardModel(Protocol):
    """What a user supplies; layers are numbered from 0, heads from 0, positions from 1.

    All functions work on batches of rows, and must be *batch-invariant*: a row's result must not depend on
    the other rows, to the last bit. Matrix products of floats are not (`dot` is); ties are decided by the
    last bit, so that a proof about one batch would be about another model.
    """

    @property
    def length(self) -> int:
        """n, with an end marker if there is one."""

    @property
    def symbols(self) -> tuple[str, ...]:
        """The alphabet, with the end marker if there is one."""

    @property
    def ending(self) -> str | None:
        """The end marker: the symbol at position n and nowhere else. None: all positions have symbols."""

    @property
    def heads(self) -> tuple[int, ...]:
        """How many heads each layer has."""

    @property
    def digest(self) -> str:
        """Differs for models that differ, say a hash of all weights."""

    @property
    def semantics(self) -> str:
        """In which arithmetic the functions are evaluated, in words: it is part of what is proved."""

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """y^(0) for each pair of a position 1..n and the number of a symbol."""

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        """The matrix of the scores of all queries (rows) and keys (columns).

        Only how a row's scores compare with each other matters, and must not depend on the batch.
        """

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """y^(k) from the rows of y^(k-1) and, for each head, what they attend to."""

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        """Whether the word is accepted, from activations at position n in the last layer."""


def dot(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product of (A, d) and (d, B), where every sum is taken in the order 1, ..., d.

    Unlike `left @ right`, the bits of an entry do not depend on what else is in the batch.

    >>> dot(np.ones((1, 3)), np.ones((3, 2))).tolist()
    [[3.0, 3.0]]
    """
    if left.shape[1] != right.shape[0]:
        raise ValueError(f"shapes {left.shape} and {right.shape} cannot be multiplied")
    if left.shape[0] <= right.shape[1]:
        return _dot(left, right)
    # Long rows are added up faster than short ones.
    result = np.empty((left.shape[0], right.shape[1]))
    for top in range(0, len(left), CACHED // 8):
        some = np.ascontiguousarray(left[top : top + CACHED // 8].T)
        result[top : top + CACHED // 8] = _dot(right.T, some).T
    return result


def _dot(left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product, in pieces that stay in the processor's cache while they are added up."""
    result = np.zeros((left.shape[0], right.shape[1]))
    width = max(1, min(right.shape[1], CACHED // 8))
    height = max(1, CACHED // width)
    for top in range(0, result.shape[0], height):
        for start in range(0, result.shape[1], width):
            part = result[top : top + height, start : start + width]
            product = np.empty_like(part)
            for k in range(left.shape[1]):
                np.multiply(
                    left[top : top + height, k, None], right[None, k, start : start + width], out=product
                )
                part += product
    return result


def numbers_of(model: HardModel, word: Sequence[str]) -> Integers:
    """The numbers of a word's symbols; the end marker is appended. Raises KeyError for other symbols."""
    number = {symbol: k for k, symbol in enumerate(model.symbols)}
    ending = () if model.ending is None else (model.ending,)
    return np.array([number[symbol] for symbol in (*word, *ending)], dtype=np.int64)


def activations(model: HardModel, word: Integers) -> list[Array]:
    """All activations of the layers 0..L on a word of n symbols, by the definition.

    Raises `UnsupportedError` for activations or scores that are not numbers.
    """
    found = [normal(model.embed(np.arange(1, model.length + 1), word))]
    for layer, heads in enumerate(model.heads):
        rows = found[-1]
        read = [rows[attended(model, layer, head, rows)] for head in range(heads)]
        found.append(normal(model.combine(layer, rows, read)))
    return found


def attended(model: HardModel, layer: int, head: int, rows: Array) -> Integers:
    """The leftmost of the best keys of every row; no more than about `MOST_SCORES` scores exist at a time."""
    size = max(1, MOST_SCORES // len(rows))
    parts = [
        np.argmax(scored(model, layer, head, rows[top : top + size], rows), axis=1)
        for top in range(0, len(rows), size)
    ]
    return np.concatenate(parts)


def answer(model: HardModel, word: Integers) -> bool:
    """Whether the model accepts a word of n symbols."""
    return bool(model.labels(activations(model, word)[-1][-1:])[0])


def scored(model: HardModel, layer: int, head: int, queries: Array, keys: Array) -> Array:
    """The model's scores. Raises `UnsupportedError` for one that is not a number and so in no order."""
    found = np.asarray(model.scores(layer, head, queries, keys))
    if found.shape != (len(queries), len(keys)):
        raise UnsupportedError(
            f"the scores of {len(queries)} queries and {len(keys)} keys have the shape {found.shape}"
        )
    if found.dtype.kind not in "biufO" or bool(np.asarray(found != found).any()):
        raise UnsupportedError(f"a score of layer {layer}, head {head} is not a number")
    return found


def normal(rows: Array) -> Array:
    """The activations with every -0.0 replaced by 0.0.

    Raises `UnsupportedError` for what is not a number, and for arrays of objects, whose bytes say nothing.
    """
    if rows.dtype.kind not in "biuf" or rows.ndim != 2:
        raise UnsupportedError(
            f"activations must be arrays of numbers, in rows, not {rows.ndim} dimensions of {rows.dtype}"
        )
    if rows.dtype.kind == "f":
        if np.isnan(rows).any():
            raise UnsupportedError("an activation is not a number")
        return np.asarray(rows + 0.0)
    return rows
