"""The functions of a masked model, asked on many rows at once; all that they return is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeVar, cast, final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedModel, ordered_scores, placed
from attemper.models.hard.probing import BatchDependenceError, Probed
from attemper.models.hard.protocol import HardModel, normal

FUNCTIONS = {"embeddings": "embed", "scores": "scores", "activations": "combine", "labels": "labels"}
"""Which function of a model computes what a complaint is about."""

FURTHER = 64
"""At so many positions behind all places, and as many far away, the embedding is asked for, too."""

FAR = 1_000_003
"""The last of these positions lies about here."""

SCORES_AT_ONCE = 1_000_000
"""How many scores of a layer and head exist at a time; as fractions they take 150 bytes each."""

TWICE = 32
"""For about so many queries of a call the scores of all keys are asked for twice."""

Result = TypeVar("Result")


@final
class Asked:
    """A model's functions, where every row of numbers has its bytes as its name, and scores are ranks.

    Every call is repeated for some of its rows in other batches, and for all of them in the opposite order,
    each twice. Raises `UnsupportedError`, whose details name the `function`, for what is not a number, arrays
    of another shape, and results that depend on the batch.
    """

    def __init__(self, model: MaskedModel) -> None:
        self.model = model
        # Probed asks the four functions and nothing else of a model.
        self._examined = _Examined(model)
        self._probed = Probed(cast(HardModel, self._examined))

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """y^(0)."""
        return _blamed("embed", lambda: self._embed(positions, symbols))

    def _embed(self, positions: Integers, symbols: Integers) -> Array:
        found, back = self._probed.embed(positions, symbols), _back(len(positions))
        _require_same("embeddings", self._examined.embed(positions[back], symbols[back]), found[back])
        return found

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        """y^(k)."""
        return _blamed("combine", lambda: self._combine(layer, own, attended))

    def _combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        found, back = self._probed.combine(layer, own, attended), _back(len(own))
        again = self._examined.combine(layer, own[back], [rows[back] for rows in attended])
        _require_same("activations", again, found[back])
        return found

    def labels(self, rows: Array) -> NDArray[np.bool_]:
        """The verdicts."""
        return _blamed("labels", lambda: self._labels(rows))

    def _labels(self, rows: Array) -> NDArray[np.bool_]:
        found, back = self._probed.labels(rows), _back(len(rows))
        _require_same("labels", self._examined.labels(rows[back]), found[back])
        return found

    def ranks(self, layer: int, head: int, rows: Array) -> Iterator[Integers]:
        """For each row as a query: how many different scores of keys among the rows are less.

        No more than about `SCORES_AT_ONCE` scores exist at a time; those of one query come from one call.
        """
        size = max(1, SCORES_AT_ONCE // len(rows))
        for top in range(0, len(rows), size):
            yield from self._ranks(layer, head, rows[top : top + size], rows)

    def _ranks(self, layer: int, head: int, queries: Array, keys: Array) -> Sequence[Integers]:
        return _blamed("scores", lambda: self._orders(layer, head, queries, keys))

    def _orders(self, layer: int, head: int, queries: Array, keys: Array) -> Sequence[Integers]:
        found = [_ranked(row) for row in self._probed.scores(layer, head, queries, keys)]
        back, some = _back(len(keys)), range(len(queries))[-1 :: -max(1, len(queries) // TWICE)]
        again = self._examined.scores(layer, head, queries[some], keys[back])
        for query, row in zip(some, again, strict=True):
            _require_same("scores", _ranked(row), found[query][back])
        return found

    def require_places(self, letters: int) -> None:
        """Ask for embeddings behind all places: they must be those of the places that the model declares.

        Raises `UnsupportedError` with two positions that should have one embedding and have not.
        """
        last = sum(self.model.places)
        near = np.arange(last + 1, last + 1 + FURTHER + 2 * self.model.places[1])
        positions = np.concatenate([near, np.linspace(last + FURTHER, last + FAR, FURTHER, dtype=np.int64)])
        for letter in range(letters):
            symbols = np.full(len(positions), letter, dtype=np.int64)
            there = self.embed(positions, symbols)
            here = self.embed(placed(self.model.places, positions), symbols)
            wrong = np.flatnonzero((there != here).any(axis=1))
            if len(wrong):
                raise _wrong_place(self.model, int(positions[wrong[0]]))


def _wrong_place(model: MaskedModel, position: int) -> UnsupportedError:
    place = int(placed(model.places, np.array([position]))[0])
    prefix, period = model.places
    return UnsupportedError(
        f"the embedding at position {position} is another than at {place}, though with the prefix {prefix} "
        f"and the period {period} they have one place; embeddings that are not periodic, such as 1/i, cannot "
        "be read back, as the network then has infinitely many places",
        function="embed",
    )


def _back(count: int) -> Integers:
    """All row numbers in the opposite order, twice, and the first: an odd number of rows, in new places."""
    return np.append(np.tile(np.arange(count)[::-1], 2), 0)


def _require_same(what: str, once: Array, again: Array) -> None:
    if not np.array_equal(once, again):
        raise BatchDependenceError(what)


def _blamed(function: str, ask: Callable[[], Result]) -> Result:
    """What is returned; an error that the function is to blame for names it."""
    try:
        return ask()
    except BatchDependenceError as error:
        raise UnsupportedError(str(error), function=FUNCTIONS[error.what]) from None
    except UnsupportedError as error:
        raise UnsupportedError(str(error), function=function) from None


def _ranked(row: Array) -> Integers:
    """For each number of the row how many different ones are less."""
    if row.dtype != object:
        return np.unique(row, return_inverse=True)[1].astype(np.int32)
    numbers = row.tolist()
    rank = {value: k for k, value in enumerate(_ascending(numbers))}
    return np.array([rank[value] for value in numbers], dtype=np.int32)


def _ascending(numbers: list[object]) -> list[object]:
    """The different numbers, in order."""
    found = sorted(numbers)  # type: ignore[type-var]
    return [*found[:1], *(after for before, after in pairwise(found) if after != before)]


@final
class _Examined:
    """The model's four functions; what they return is looked at, and -0.0 becomes 0.0.

    They are handed copies, so that a function that writes into its arguments changes nothing of ours.
    """

    def __init__(self, model: MaskedModel) -> None:
        self._model = model
        self._kinds: dict[int, tuple[int, np.dtype[np.generic]]] = {}

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return self._rows(0, self._model.embed(positions.copy(), symbols.copy()), len(positions))

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        found = self._model.combine(layer, own.copy(), [rows.copy() for rows in attended])
        return self._rows(layer + 1, found, len(own))

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        return ordered_scores(self._model, layer, head, queries.copy(), keys.copy())

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        found: object = self._model.labels(activations.copy())
        if (
            not isinstance(found, np.ndarray)
            or found.shape != (len(activations),)
            or found.dtype.kind not in "biu"
        ):
            raise UnsupportedError(
                f"it must return an array of {len(activations)} truth values, one for each row (for example "
                f"logits > 0), not {_shown(found)}"
            )
        return found.astype(np.bool_)

    def _rows(self, level: int, found: object, count: int) -> Array:
        """Activations: rows of numbers of one width and type at each level."""
        if not isinstance(found, np.ndarray) or found.ndim != 2 or len(found) != count:
            raise UnsupportedError(
                f"it must return an array of numbers with {count} rows, not {_shown(found)}"
            )
        if found.dtype.kind == "f" and found.dtype.itemsize > 8:
            raise UnsupportedError(f"activations of the type {found.dtype} have bytes that mean nothing")
        kind = found.shape[1], found.dtype
        before = self._kinds.setdefault(level, kind)
        if kind != before:
            raise UnsupportedError(
                f"it returns rows of {kind[0]} numbers of type {kind[1]}, and in another batch of "
                f"{before[0]} of type {before[1]}"
            )
        return normal(found)


def _shown(found: object) -> str:
    """What something is, for people."""
    if isinstance(found, np.ndarray):
        return f"one of shape {found.shape} and type {found.dtype}"
    return f"a {type(found).__qualname__}"
