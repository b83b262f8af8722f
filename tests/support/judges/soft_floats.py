"""What small networks compute in float64, plainly and on all words at once; and how hot they may be."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attemper.exact.closed_forms import evaluate
from attemper.networks.layers import Head, Network

Array = NDArray[np.float64]

CLOSE = 1e-9
"""Scores nearer than that are the same: gaps are larger here."""


def last_stream(network: Network, length: int, temperature: float) -> Array:
    """The stream behind the last layer (words, positions, coordinates); at temperature 0 heads are hard."""
    symbols, width = range(len(network.alphabet.symbols)), len(network.coordinates)
    stream = dense(network.embedding, width)[np.array(list(product(symbols, repeat=length)))]
    for coordinate, form in network.positions:
        stream[..., coordinate] += [float(evaluate(form, i, length)) for i in range(1, length + 1)]
    for layer in network.layers:
        middle = stream.copy()
        for head in layer.heads:
            added = attention(head, stream, temperature) @ (stream @ dense(head.values, width).T)
            for place, target in enumerate(head.targets):
                middle[..., target] += added[..., place]
        sums = middle @ dense([unit.form for unit in layer.hidden], width).T
        active = np.maximum(sums + [float(unit.bias) for unit in layer.hidden], 0)
        stream = middle + active @ dense([unit.outputs for unit in layer.hidden], width)
    return stream


def attention(head: Head, stream: Array, temperature: float) -> Array:
    """The weights (words, positions, positions)."""
    length, width = stream.shape[1:]
    seen = np.array(
        [[j in head.masking.visible(i, length) for j in range(1, length + 1)] for i in range(1, length + 1)]
    )
    query, key = (stream @ dense(rows, width).T for rows in (head.query, head.key))
    scores = np.where(seen, query @ key.swapaxes(1, 2), -np.inf)
    below = scores - scores.max(axis=2, keepdims=True)
    power = np.exp(below / temperature) if temperature else (below > -CLOSE).astype(np.float64)
    return np.asarray(power / power.sum(axis=2, keepdims=True))


def dense(forms: Any, width: int) -> Array:
    """Linear forms as rows."""
    rows = np.zeros((len(forms), width))
    for place, form in enumerate(forms):
        for coordinate, factor in form:
            rows[place, coordinate] = float(factor)
    return rows


def hottest_that_works(network: Network, length: int, epsilon: float) -> float | None:
    """The first temperature at which some number is off by more than epsilon: from a grid, then bisected.

    None if there is none up to 100.
    """
    hard = last_stream(network, length, 0.0)

    def is_near(temperature: float) -> bool:
        return bool(np.abs(last_stream(network, length, temperature) - hard).max() <= epsilon)

    grid = 10 ** np.linspace(-5, 2, 141)
    wrong = next((place for place, temperature in enumerate(grid) if not is_near(temperature)), None)
    return None if wrong is None else hottest(is_near, grid[max(wrong - 1, 0)], grid[wrong])


def hottest(is_near: Callable[[float], bool], low: float, high: float, steps: int = 30) -> float:
    """The border between `low`, at which something holds, and `high`, in even steps of the logarithm."""
    for _ in range(steps):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if is_near(middle) else (low, middle)
    return low
