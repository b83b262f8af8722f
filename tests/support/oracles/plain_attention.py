"""One head of soft attention on scalars, read at position n: what its position biases make of one symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Matrix = NDArray[np.float64]

SCORES = np.array([0.0, 1.0])
"""The score of each symbol."""

VALUES = np.array([-1.0, 1.0])
"""Its value."""


def t5_bias(length: int) -> Matrix:
    """Buckets of the distance to n: one each below 16, logarithmic to 128, and one for all beyond."""
    distance = np.arange(length)[::-1]
    coarse = 16 + np.log(np.maximum(distance, 16) / 16) / np.log(8) * 16
    bucket = np.where(distance < 16, distance, np.minimum(coarse, 31)).astype(int)
    return np.random.default_rng(0).normal(size=32)[bucket] * 2


def alibi_bias(length: int) -> Matrix:
    """A quarter less for each step of distance."""
    return -np.arange(length)[::-1] / 4


def window_bias(length: int) -> Matrix:
    """The last eight positions only."""
    return np.where(np.arange(length)[::-1] < 8, 0.0, -np.inf)


def output(words: Integers, bias: Matrix) -> Matrix:
    """The average at position n, of shape (B, 1), for words of bits (B, n)."""
    powers = np.exp(SCORES[words] + bias)
    return ((powers * VALUES[words]).sum(axis=1) / powers.sum(axis=1))[:, None]


def changes(word: Integers, bias: Matrix) -> Matrix:
    """How much the output changes if x_i is exchanged, for each i, in one pass over the word."""
    own, other = np.exp(SCORES[word] + bias), np.exp(SCORES[1 - word] + bias)
    total, sum_of_values = own.sum(), (own * VALUES[word]).sum()
    swapped = (sum_of_values - own * VALUES[word] + other * VALUES[1 - word]) / (total - own + other)
    return np.asarray(np.abs(swapped - sum_of_values / total))
