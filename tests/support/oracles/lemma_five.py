"""Lemma 5 for every n, a second reading of FORMAT.md, section 9, in floats; and encoders of width 1.

A layer is a mapping from what PyTorch calls its parameters to arrays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import exp, inf, sqrt

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Layer = Mapping[str, Matrix]


def spectral(matrix: Matrix) -> float:
    return float(np.linalg.svd(matrix, compute_uv=False)[0])


def constant(
    embedding: Matrix,
    box: tuple[float, float],
    layers: Sequence[tuple[Layer, int]],
    read: Matrix,
    asks: int | None,
) -> tuple[float, list[float]]:
    """C for one row of the read-out, and the ranges of scores; `asks` is the marker's row, if there is one.

    A layer comes with its number of heads.
    """
    symbols, width = embedding.shape
    middle = embedding + (box[0] + box[1]) / 2
    half = np.full_like(middle, (box[1] - box[0]) / 2)
    eps, ranges = 0.0, []
    for number, (layer, heads) in enumerate(layers):
        size = width // heads
        queries = [asks] if asks is not None and number == len(layers) - 1 else range(symbols)
        pairs = list(product(range(symbols), repeat=2))
        grown, added, widest = 1.0, 0.0, 0.0
        centre = middle + layer["out_weight"] @ layer["in_bias"][2 * width :] + layer["out_bias"]
        reach = half.copy()
        for head in range(heads):
            rows = slice(head * size, (head + 1) * size)
            q, k, v = (layer["in_weight"][top * width :][:width][rows] for top in range(3))
            bias = layer["in_bias"][:width][rows]
            m, u = q.T @ k / sqrt(size), layer["out_weight"][:, rows] @ v
            away = [(middle[s] - middle[t], half[s] + half[t]) for s, t in pairs]
            slopes = [(middle[s] @ m + bias @ k / sqrt(size), half[s] @ np.abs(m)) for s in queries]
            ranged = max(
                abs(c @ d) + np.abs(c) @ e + r @ np.abs(d) + r @ e for c, r in slopes for d, e in away
            )
            diameter = max(float(np.linalg.norm(np.abs(u @ d) + np.abs(u) @ e)) for d, e in away)
            rho = max(float(np.linalg.norm(np.abs(m @ d) + np.abs(m) @ e)) for d, e in away)
            kappa = max(float(np.linalg.norm(np.abs(c) + r)) for c, r in slopes)
            grown += spectral(u) + diameter * (rho + 2 * kappa) / 4
            added += 2 * (exp(ranged) if ranged < 600 else inf) * diameter
            widest = max(widest, ranged)
            low = np.min([u @ middle[s] - np.abs(u) @ half[s] for s in range(symbols)], axis=0)
            high = np.max([u @ middle[s] + np.abs(u) @ half[s] for s in range(symbols)], axis=0)
            centre, reach = centre + (low + high) / 2, reach + (high - low) / 2
        ranges.append(widest)
        inner = centre @ layer["hidden_weight"].T + layer["hidden_bias"]
        wide = reach @ np.abs(layer["hidden_weight"]).T
        low, high = np.maximum(inner - wide, 0), np.maximum(inner + wide, 0)
        middle = centre + (low + high) / 2 @ layer["back_weight"].T + layer["back_bias"]
        half = reach + (high - low) / 2 @ np.abs(layer["back_weight"]).T
        eps = (eps * grown + added) * (1 + spectral(layer["hidden_weight"]) * spectral(layer["back_weight"]))
    return float(np.linalg.norm(read)) * eps, ranges


def outputs(
    words: NDArray[np.int64],
    embedding: Matrix,
    rows: Matrix,
    layers: Sequence[tuple[Layer, int]],
    read: Matrix,
) -> Matrix:
    """What is read at position n, (B,), of words (B, n), scalar by scalar; width and heads are 1."""
    found = []
    for word in words:
        stream = [float(embedding[symbol, 0] + rows[place, 0]) for place, symbol in enumerate(word)]
        for layer, _ in layers:
            (q,), (k,), (v,) = layer["in_weight"]
            a, b, c = layer["in_bias"]
            read_at = []
            for y in stream:
                scores = [(q * y + a) * (k * x + b) for x in stream]
                powers = [exp(score - max(scores)) for score in scores]
                read_at.append(
                    sum(w * (v * x + c) for w, x in zip(powers, stream, strict=True)) / sum(powers)
                )
            after = [
                y + layer["out_weight"][0, 0] * o + layer["out_bias"][0]
                for y, o in zip(stream, read_at, strict=True)
            ]
            units = list(
                zip(layer["hidden_weight"][:, 0], layer["hidden_bias"], layer["back_weight"][0], strict=True)
            )
            stream = [
                y + sum(t * max(w * y + h, 0.0) for w, h, t in units) + layer["back_bias"][0] for y in after
            ]
        found.append(read[0] * stream[-1])
    return np.array(found)
