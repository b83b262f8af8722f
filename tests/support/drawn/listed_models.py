"""The oracle's random c-transformers as models of the library, for any number of inputs at a position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import final

import numpy as np

from attemper.models.arrays import Array, Booleans, Integers
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.lemma.transformers import CTransformer
from tests.support.oracles.c_transformers import Listed, drawn


@final
@dataclass(frozen=True)
class ListedModel:
    """Activations are the oracle's numbers, in rows of one. Positions have 0 or 1; there is no end marker."""

    listed: Listed = field(repr=False)
    symbols: tuple[str, ...] = ("0", "1")
    ending: str | None = None
    semantics: str = "integers, exactly"

    @property
    def length(self) -> int:
        return len(self.listed.reads)

    @property
    def heads(self) -> tuple[int, ...]:
        return tuple(map(len, self.listed.score))

    @property
    def digest(self) -> str:
        return f"listed, seed {self.listed.seed}"

    @cached_property
    def _scores(self) -> list[list[Integers]]:
        return [[np.array(head) for head in layer] for layer in self.listed.score]

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        """Of transformers with c = 1."""
        table = np.array(self.listed.table)
        return np.asarray(table[positions - 1, symbols])[:, None]

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        return np.asarray(self._scores[layer][head][np.ix_(queries[:, 0], keys[:, 0])])

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        rows = map(tuple, np.concatenate([own, *attended], axis=1).tolist())
        return np.array([self._combined(layer, row) for row in rows])[:, None]

    def _combined(self, layer: int, row: tuple[int, ...]) -> int:
        known = self._known.get((layer, row))
        if known is None:
            known = self._known[layer, row] = self.listed.combine(layer, row[0], row[1:])
        return known

    @cached_property
    def _known(self) -> dict[tuple[int, tuple[int, ...]], int]:
        return {}

    def labels(self, activations: Array) -> Booleans:
        return np.asarray(activations[:, 0] % 2 == 1, dtype=np.bool_)


def listed_transformer(
    seed: int, n: int, layers: int, heads: int, c: int, values: int, levels: int | None, leftmost: bool = True
) -> tuple[Listed, CTransformer]:
    """A random c-transformer, as the oracle and as the library has it; all inputs are free."""
    listed = drawn(seed, n, layers, heads, c, values, levels)
    tables = tuple(np.array(table)[:, None, None] for table in listed.table)
    inputs = Restriction(((0, 1),) * n)
    reads = tuple(map(tuple, listed.reads))
    return listed, CTransformer(ListedModel(listed), inputs, reads, tables, leftmost=leftmost)
