"""Masked models by functions of single rows, for attemper in arrays, and run plainly as an oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedHead

Row = tuple[Any, ...]


def nothing_combined(layer: int, own: Row, read: list[Row]) -> Row:
    return own


@dataclass(frozen=True)
class ByRows:
    """`embed(position, letter)`, `score(layer, head, query, key)`, `join(layer, own, read)`, `label(row)`."""

    embedded: Callable[[int, int], Row]
    label: Callable[[Row], bool]
    heads: tuple[tuple[tuple[str, str], ...], ...] = ()
    score: Callable[[int, int, Row, Row], Any] = lambda layer, head, query, key: 0
    join: Callable[[int, Row, list[Row]], Row] = nothing_combined
    symbols: tuple[str, ...] = ("a", "b")
    places: tuple[int, int] = (0, 1)
    kind: Any = np.int64
    scored_as: Any = np.int64
    semantics: str = "by rows"
    at: str = "last"

    @property
    def layers(self) -> tuple[tuple[MaskedHead, ...], ...]:
        return tuple(tuple(MaskedHead(*head) for head in heads) for heads in self.heads)

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        pairs = zip(positions.tolist(), symbols.tolist(), strict=True)
        return self._array([self.embedded(position, letter) for position, letter in pairs])

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        found = np.empty((len(queries), len(keys)), dtype=self.scored_as)
        for i, query in enumerate(queries.tolist()):
            for j, key in enumerate(keys.tolist()):
                found[i, j] = self.score(layer, head, tuple(query), tuple(key))
        return found

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        read = [rows.tolist() for rows in attended]
        return self._array(
            [
                self.join(layer, tuple(row), [tuple(rows[k]) for rows in read])
                for k, row in enumerate(own.tolist())
            ]
        )

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        return np.array([self.label(tuple(row)) for row in activations.tolist()], dtype=np.bool_)

    def _array(self, rows: list[Row]) -> Array:
        return np.array(rows, dtype=self.kind).reshape(len(rows), -1)

    # The oracle: no array, and nothing of attemper.

    def verdict(self, letters: Sequence[int]) -> bool:
        rows = [self.embedded(i, letter) for i, letter in enumerate(letters, start=1)]
        for layer, heads in enumerate(self.heads):
            after = []
            for i, own in enumerate(rows):
                read = []
                for head, (mask, choice) in enumerate(heads):
                    visible = seen(mask, rows, i)
                    picked: Row = tuple(0 * value for value in own)
                    best = None
                    for key in visible:
                        score = self.score(layer, head, own, key)
                        if best is None or score > best or (score == best and choice == "rightmost"):
                            best, picked = score, key
                    read.append(picked)
                after.append(tuple(self.join(layer, own, read)))
            rows = after
        return bool(self.label(rows[0 if self.at == "first" else -1]))


def seen(mask: str, rows: list[Any], i: int) -> list[Any]:
    """The rows that row number i sees, from 0 on."""
    return {
        "<=": rows[: i + 1],
        "<": rows[:i],
        ">=": rows[i:],
        ">": rows[i + 1 :],
        "all": rows,
    }[mask]


class Ended(ByRows):
    """A model with an end marker, its last symbol."""

    ending = "$"


TO_THE_LEFT = ("<=", "<")


def by_tables(seed: int, masks: tuple[str, ...] = TO_THE_LEFT, most_layers: int = 4) -> ByRows:
    """A model whose functions are random tables with few entries: ties everywhere, some with an end marker.

    Rows have a 1 in front, so that a row of zeros is another value than all others.
    """
    draw = Random(f"tables {seed}")
    values, levels = draw.randint(2, 4), draw.choice((1, 2, 3, 9))
    symbols = draw.choice((("a",), ("a", "b"), ("a", "b"), ("a", "b", "c")))
    places = draw.choice(((0, 1), (0, 1), (0, 2), (0, 3), (2, 1), (3, 2)))
    kinds = tuple(product(masks, ("leftmost", "rightmost")))
    heads = tuple(
        tuple(draw.choice(kinds) for _ in range(draw.randint(0, 3)))
        for _ in range(draw.randint(0, most_layers))
    )
    tables: dict[Row, int] = {}

    def table(most: int, *name: Any) -> int:
        if name not in tables:
            tables[name] = Random(repr((seed, name))).randrange(most)
        return tables[name]

    def embedded(position: int, letter: int) -> Row:
        place = position if position <= places[0] else -((position - places[0]) % places[1])
        return (1, table(values, "embed", place, letter))

    ended = seed % 3 == 0
    return (Ended if ended else ByRows)(
        embedded,
        label=lambda row: table(2, "label", row) == 1,
        heads=heads,
        score=lambda layer, head, query, key: table(levels, "score", layer, head, query, key),
        join=lambda layer, own, read: (1, table(values, "join", layer, own, tuple(read))),
        symbols=(*symbols, "$") if ended else symbols,
        places=places,
        at="first" if seed % 3 == 1 and masks is not TO_THE_LEFT else "last",
    )


def looking_both_ways(seed: int) -> ByRows:
    """A model of 1 to 3 layers by random tables, without positions: it looks to the left and to the right."""
    draw = Random(f"both ways {seed}")
    values, levels = draw.randint(4, 6), draw.choice((2, 3, 9))
    masks = ["<=", "<", ">=", ">", "all"]
    sizes = [2, *(draw.randint(1, 2) for _ in range(seed % 3))]
    heads = [[draw.choice(masks) for _ in range(size)] for size in sizes]
    heads[0][:2] = draw.choice(("<=", "<")), draw.choice((">=", ">"))
    choices = ("leftmost", "rightmost")

    @cache
    def table(most: int, *name: Any) -> int:
        return Random(repr((seed, name))).randrange(most)

    return ByRows(
        lambda position, letter: (1, letter),
        label=lambda row: row[1] % 2 == 1,
        heads=tuple(tuple((mask, draw.choice(choices)) for mask in layer) for layer in heads),
        score=lambda layer, head, query, key: table(levels, "score", layer, head, query, key),
        join=lambda layer, own, read: (1, table(values, "join", layer, own, tuple(read))),
        at=draw.choice(("first", "last")),
    )
