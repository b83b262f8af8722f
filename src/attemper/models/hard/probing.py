"""A model whose functions are asked twice: results that depend on what else is in the batch are noticed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.models.hard.protocol import HardModel

PROBED = 6
"""How many rows of every batch are computed again, together and each of them alone."""


class BatchDependenceError(Exception):
    """A row's result is another one in another batch."""

    def __init__(self, what: str) -> None:
        self.what = what
        super().__init__(
            f"the {what} of the model depend on what else is in the batch, which decides ties; take sums in "
            "a fixed order, as 'attemper.models.hard.protocol.dot' does"
        )


@final
class Probed:
    """The model; every call is repeated for some of its rows. Raises `BatchDependenceError`."""

    def __init__(self, model: HardModel) -> None:
        self.model = model
        self._draw = np.random.default_rng(0)

    @property
    def length(self) -> int:
        return self.model.length

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.model.symbols

    @property
    def ending(self) -> str | None:
        return self.model.ending

    @property
    def heads(self) -> tuple[int, ...]:
        return self.model.heads

    @property
    def digest(self) -> str:
        return self.model.digest

    @property
    def semantics(self) -> str:
        return self.model.semantics

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        found = self.model.embed(positions, symbols)
        for some in self._samples(len(positions)):
            again = self.model.embed(positions[some], symbols[some])
            _compare("embeddings", again, found[some])
        return found

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        found = self.model.scores(layer, head, queries, keys)
        for some in self._samples(len(queries)):
            count = int(self._draw.integers(1, len(keys) + 1))
            columns = np.sort(self._draw.choice(len(keys), count, replace=False))
            again = self.model.scores(layer, head, queries[some], keys[columns])
            # Equal scores are in the same order.
            for row, alone in zip(found[some], again, strict=True):
                if not np.array_equal(alone, row[columns]):
                    _compare("scores", _order(alone), _order(row[columns]))
        return found

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        found = self.model.combine(layer, own, attended)
        for some in self._samples(len(own)):
            again = self.model.combine(layer, own[some], [rows[some] for rows in attended])
            _compare("activations", again, found[some])
        return found

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        found = self.model.labels(activations)
        for some in self._samples(len(activations)):
            _compare("labels", self.model.labels(activations[some]), found[some])
        return found

    def _samples(self, count: int) -> list[Integers]:
        """A few rows, each of them alone, and a larger part of all."""
        few = np.sort(self._draw.choice(count, min(PROBED, count), replace=False))
        part = np.sort(self._draw.choice(count, min(count, 20 * PROBED), replace=False))
        return [few, part, *few[:, None]]


def _order(scores: Array) -> Array:
    """How many different scores are less: what attention depends on."""
    return np.unique(scores, return_inverse=True)[1]


def _compare(what: str, once: Array, again: Array) -> None:
    if once.shape != again.shape or bool(np.asarray(once != again).any()):
        raise BatchDependenceError(what)
