"""The invariant F_k of words, straight from its definition: nothing of attemper is imported."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

Numbers = dict[Hashable, int]
"""A number for each value that was met, so that values are small."""


def invariant(word: Sequence[int], layers: int, places: tuple[int, int], numbers: Numbers) -> int:
    """The number of F_layers at the last position of a word of at least one letter.

    F_0(i) = (w_i, place of i); F_k(i) = (F_(k-1)(i), L, E), where L are the different values of F_(k-1)
    before i in the order of their last occurrences, E the same in the order of their first.
    """
    prefix, period = places
    row: list[int] = []
    for i, letter in enumerate(word):
        place = i if i < prefix else prefix + (i - prefix) % period
        row.append(numbers.setdefault((letter, place), len(numbers)))
    for _ in range(layers):
        after = []
        for i, own in enumerate(row):
            last = tuple(reversed(dict.fromkeys(reversed(row[:i]))))
            first = tuple(dict.fromkeys(row[:i]))
            after.append(numbers.setdefault((own, last, first), len(numbers)))
        row = after
    return row[-1]
