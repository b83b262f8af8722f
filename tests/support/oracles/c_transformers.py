"""c-transformers as lists of integers, run by their definition (Hahn 2020, section 3 and Definition 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
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


# Ties broken at random --------------------------------------------------------------------------------------


def tied(score: Sequence[Sequence[int]], own: int, below: Sequence[int]) -> list[int]:
    """All positions with the greatest score."""
    best = max(score[own][y] for y in below)
    return [j for j, y in enumerate(below) if score[own][y] == best]


def next_at(transformer: Listed, layer: int, below: Sequence[int], i: int) -> dict[int, Fraction]:
    """The distribution of the next activation at position i, if each head draws one of the tied positions."""
    found: dict[int, Fraction] = {}
    choices = [tied(score, below[i], below) for score in transformer.score[layer]]
    share = Fraction(1, prod(map(len, choices)))
    for positions in product(*choices):
        value = transformer.combine(layer, below[i], [below[j] for j in positions])
        found[value] = found.get(value, Fraction(0)) + share
    return found


def distributions(transformer: Listed, word: Sequence[int]) -> list[list[dict[int, Fraction]]]:
    """The distribution of each activation of each layer, if all heads draw independently."""
    joint = {tuple(lowest(transformer, word)): Fraction(1)}
    layers = [joint]
    for layer in range(len(transformer.score)):
        following: dict[tuple[int, ...], Fraction] = {}
        for below, weight in joint.items():
            each = [next_at(transformer, layer, below, i) for i in range(len(below))]
            for values in product(*each):
                share = weight * prod(
                    (one[v] for one, v in zip(each, values, strict=True)), start=Fraction(1)
                )
                following[values] = following.get(values, Fraction(0)) + share
        joint = following
        layers.append(joint)
    return [[marginal(joint, i) for i in range(len(word))] for joint in layers]


def marginal(joint: dict[tuple[int, ...], Fraction], i: int) -> dict[int, Fraction]:
    """How position i is distributed."""
    found: dict[int, Fraction] = {}
    for values, weight in joint.items():
        found[values[i]] = found.get(values[i], Fraction(0)) + weight
    return found
