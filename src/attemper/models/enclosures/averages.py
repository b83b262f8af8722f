"""Weighted averages over the positions of a word, whatever its symbols are: bounds, with every rounding."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Floats
from attemper.models.enclosures.forms import GAMMA, Form, powers, upward

ROUNDS = 12
"""How often a candidate is made better. Any number gives a right bound."""

SLACKS = (256.0, 16.0, 1.0)
"""By how many units of rounding a candidate is raised before it is tested, the best one last."""


def highest_average(low: Floats, high: Floats, value: Floats, *, but_one: bool = False) -> Floats:
    """At least sum_j e_j v_j / sum_j e_j, for all words: arrays (..., n, S) in, an array (...) out.

    A word has one of S symbols at each of n positions j; with it e_j > 0 is between `low` and `high`, and v_j
    is at most `value`. With `but_one`, averages over all positions but any one are bounded, too.

    An average is at most l if and only if sum_j e_j (v_j - l) <= 0. Each term is at most the greatest, over
    the symbols t at j, of m_j(t) = high max(value - l, 0) - low max(l - value, 0). So if the sum of these n
    greatest is at most 0, as seen with what its arithmetic can be off by, l is an answer; where no
    candidate passes, the greatest value is. If position i is left out the sum is without m_i, so it is at
    most the whole one less the least of 0 and all m_i. The candidates are iterates of Dinkelbach's method
    for the best word (*On nonlinear fractional programming*, 1967), which nothing relies on.

    >>> two = np.array([[1.0, 3.0], [1.0, 1.0]])  # the powers of two symbols at two positions
    >>> bool(0.75 <= highest_average(two, two, np.array([[0.0, 1.0], [0.0, 0.0]])) <= 0.75 + 2**-40)
    True
    """
    best = np.asarray(value.max(axis=(-2, -1)))
    guess = _best_average(low, high, value)
    unit = np.abs(value).max(axis=(-2, -1)) * GAMMA * value.shape[-2]
    for slack in SLACKS:
        candidate = guess + unit * slack
        shown = _shown(low, high, value, candidate, but_one=but_one)
        best = np.where(shown, np.minimum(candidate, best), best)
    return np.asarray(best)


def _best_average(low: Floats, high: Floats, value: Floats) -> Floats:
    """About the greatest average: each round takes the word that is best for the last average."""
    guess = (high * value).sum(axis=(-2, -1)) / high.sum(axis=(-2, -1))
    for _ in range(ROUNDS):
        away = value - guess[..., None, None]
        weight = np.where(away > 0, high, low)
        symbol = (weight * away).argmax(axis=-1)[..., None]
        chosen = np.take_along_axis(weight, symbol, -1)
        seen = np.take_along_axis(np.broadcast_to(value, weight.shape), symbol, -1)
        guess = np.fmax(guess, (chosen * seen).sum(axis=(-2, -1)) / chosen.sum(axis=(-2, -1)))
    return np.asarray(guess)


def _shown(
    low: Floats, high: Floats, value: Floats, candidate: Floats, *, but_one: bool
) -> NDArray[np.bool_]:
    """Whether the sums of `highest_average` are at most 0 at the candidates, for certain.

    A term has two roundings, a sum of n terms n - 1, and the difference one; NaN shows nothing.
    """
    away = value - candidate[..., None, None]
    terms = (np.maximum(away, 0) * high - np.maximum(-away, 0) * low).max(axis=-1)
    total = terms.sum(axis=-1)
    if but_one:
        total = total - np.minimum(terms.min(axis=-1), 0)
    count = terms.shape[-1]
    off = upward((count + 8) * GAMMA * np.abs(terms).sum(axis=-1), count + 2)
    return np.asarray(total + off <= 0)


def powers_between(scores: Form) -> tuple[Floats, Floats]:
    """Bounds on e^s for scores s that a form without noise symbols knows: the powers of both ends."""
    low, low_off = powers(scores.least)
    high, high_off = powers(scores.greatest)
    return np.maximum(low - upward(low_off, 2) * 2, 0), upward(high + high_off, 2)
