"""c-transformers as lists of integers, run by their definition (Hahn 2020, section 3 and Definition 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from zlib import crc32

Activations = list[int]
"""One for each position: numbers, `values` of them for each, one position after the other."""


@dataclass(frozen=True)
class Listed:
    """Layer 0: position j has `table[j][b]`, b being the bits of the inputs `reads[j]` as a binary number.

    `score[l][h][z][y]` is what head h of layer l gives y, seen from z; `combine` is a hash.
    """

    values: int
    reads: Sequence[Sequence[int]]
    table: Sequence[Sequence[int]]
    score: Sequence[Sequence[Sequence[Sequence[int]]]]
    seed: int

    def combine(self, layer: int, own: int, attended: Sequence[int]) -> int:
        """The next activation at the position of `own`; layers are numbered as in the first transformer."""
        found = crc32(repr((self.seed, layer, own, tuple(attended))).encode())
        return own - own % self.values + found % self.values


def drawn(seed: int, n: int, layers: int, heads: int, c: int, values: int, levels: int | None) -> Listed:
    """Random tables: position j reads input j and, if c = 2, another one; `levels` scores, few ones are ties.

    If c = 1, its activation tells whether that is 0 or 1.
    """
    draw = Random(seed)
    most = 10**6 if levels is None else levels
    others = [draw.sample([q for q in range(n) if q != j], c - 1) for j in range(n)]
    reads = [sorted([j, *other]) for j, other in enumerate(others)]
    table = [
        [j * values + (bits if c == 1 else draw.randrange(values)) for bits in range(2**c)] for j in range(n)
    ]
    score = [
        [[[draw.randrange(most) for _ in range(n * values)] for _ in range(n * values)] for _ in range(heads)]
        for _ in range(layers)
    ]
    return Listed(values, reads, table, score, seed)


def attended(score: Sequence[Sequence[int]], own: int, below: Sequence[int]) -> int:
    """The position with the greatest score, the leftmost of several."""
    best = 0
    for j in range(1, len(below)):
        if score[own][below[j]] > score[own][below[best]]:
            best = j
    return best


def lowest(transformer: Listed, word: Sequence[int]) -> Activations:
    """Layer 0 on a word of bits."""
    found = []
    for own, table in zip(transformer.reads, transformer.table, strict=True):
        number = 0
        for q in own:
            number = 2 * number + word[q]
        found.append(table[number])
    return found


def run(transformer: Listed, word: Sequence[int], gone: int = 0) -> list[Activations]:
    """The activations of all layers on a word of bits; the first `gone` layers are not there any more."""
    layers = [lowest(transformer, word)]
    for layer in range(gone, len(transformer.score)):
        below = layers[-1]
        layers.append(
            [
                transformer.combine(
                    layer, own, [below[attended(score, own, below)] for score in transformer.score[layer]]
                )
                for own in below
            ]
        )
    return layers
