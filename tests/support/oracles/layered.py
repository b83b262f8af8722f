"""F_k straight from its definition, and networks of unique hard attention whose functions are random.

Nothing here is shared with `attemper.theories.depth.search` or the checker.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache

Place = Callable[[int], int]


def places(prefix: int, period: int) -> Place:
    """The place of each position: one by one up to `prefix`, then in a cycle."""
    return lambda i: i if i < prefix else prefix + (i - prefix) % period


def value_at_end(
    word: Sequence[str], layers: int, place: Place = lambda _: 1, *, first: bool = True, last: bool = True
) -> Hashable:
    """F_k at the last position, as nested tuples, each position by looking at all before."""
    row: list[Hashable] = [(letter, place(i)) for i, letter in enumerate(word, start=1)]
    for _ in range(layers):
        row = [
            (
                own,
                tuple(sorted(set(row[:i]), key=lambda v: row[:i][::-1].index(v))) if last else (),
                tuple(sorted(set(row[:i]), key=lambda v: row[:i].index(v))) if first else (),
            )
            for i, own in enumerate(row)
        ]
    return row[-1]


def digest(*parts: object) -> int:
    """A number that looks random, and is a function of the parts."""
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=6).digest(), "big")


@dataclass(frozen=True)
class Hashed:
    """A network of hard attention whose functions are drawn by `seed`.

    Each head has its mask (j < i or j <= i) and its side. Where nothing is visible it gives None, or with
    `own_if_blind` the own value. With `averaging` a head gives the shares of the values at all its best
    positions.
    """

    seed: int
    layers: int
    heads: int = 3
    levels: int = 5
    own_if_blind: bool = False
    averaging: bool = False

    def answer(self, word: Sequence[str], place: Place = lambda _: 1) -> int:
        """The last position's activation."""
        row = [digest(self.seed, "in", letter, place(i)) for i, letter in enumerate(word, start=1)]
        for layer in range(self.layers):
            row = [
                digest(
                    self.seed, layer, own, *(self._given(layer, head, row, i) for head in range(self.heads))
                )
                for i, own in enumerate(row)
            ]
        return row[-1]

    def _given(self, layer: int, head: int, row: Sequence[int], i: int) -> object:
        strict, left = digest(self.seed, layer, head, "mask") % 2, digest(self.seed, layer, head, "side") % 2
        visible = range(i if strict else i + 1)
        if not visible:
            return row[i] if self.own_if_blind else None
        scores = [digest(self.seed, layer, head, row[i], row[j]) % self.levels for j in visible]
        best = [j for j in visible if scores[j] == max(scores)]
        if not self.averaging:
            return row[best[0] if left else best[-1]]
        counts = {value: sum(row[j] == value for j in best) for value in {row[j] for j in best}}
        common = math.gcd(*counts.values())
        return tuple(sorted((value, count // common) for value, count in counts.items()))


@lru_cache(maxsize=1)
def named_pairs() -> tuple[tuple[int, str, str], ...]:
    """k, and two words that k layers do not tell apart."""
    return (
        (1, "ab", "aab"),
        (2, "aabb", "aaabb"),
        (3, "aaabbb", "aaaabbb"),
        (4, "aaaabbbb", "aaaaabbbb"),
        (2, "ababb", "abababb"),
    )
