"""What one symbol can change, for all words of all lengths from n0 on: a bound by frequencies of symbols.

DOCSTRING
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.checker.forms import (
    GAMMA,
    Array,
    Form,
    constant,
    contracted,
    exponential,
    of_axes,
    reciprocal,
    reciprocal_root,
    rectified,
    upward,
)
from attemper.encoders.weights import Encoder, EncoderLayer, Mask, NoPositions, Norm, Periodic
from attemper.errors import UnsupportedError

MOST_CURVED = 4
"""With more axes than this, forms are of first order: pairs of axes would be too many."""

MOST_UNITS = 8
"""The most units of a feed-forward, in a box, that get noise symbols of their own."""

BATCH = 128
"""How many boxes go through the encoder together."""


@final
@dataclass(frozen=True)
class Region:
    """The words of a bound: n >= n0, n = residue mod period, and each free frequency in its interval."""

    n0: int
    residue: tuple[int, int] | None = None
    box: tuple[tuple[Fraction, Fraction], ...] | None = None


def axes_of(encoder: Encoder) -> int:
    """The number of axes: the free frequencies, and u = 1/n last."""
    return _period(encoder) * (len(encoder.symbols) - 2) + 1


def bounds_on_boxes(
    encoder: Encoder, functionals: NDArray[np.int64], region: Region, low: Array, high: Array
) -> Array:
    found = np.empty(len(low))
    sides = _sides(encoder, region)
    with np.errstate(all="ignore"):
        for top in range(0, len(low), BATCH):
            part = slice(top, top + BATCH)
            found[part] = _bounds(encoder, functionals, region, *_placed(sides, low[part], high[part]))
    return found


def _period(encoder: Encoder) -> int:
    return len(encoder.positions.table) if isinstance(encoder.positions, Periodic) else 1


def _sides(encoder: Encoder, region: Region) -> list[tuple[Fraction, Fraction]]:
    """The interval of each axis, in rationals."""
    frequencies = region.box or ((Fraction(0), Fraction(1)),) * (axes_of(encoder) - 1)
    return [*frequencies, (Fraction(0), Fraction(1, region.n0))]


def _placed(sides: list[tuple[Fraction, Fraction]], low: Array, high: Array) -> tuple[Array, Array]:
    """The sides (axes, B) of boxes of the unit cube in the axes' intervals, rounded outwards."""
    start = np.array([float(least) for least, _ in sides])[:, None]
    width = np.array([float(greatest - least) for least, greatest in sides])[:, None]
    off = upward(8 * GAMMA * (np.abs(start) + width), 2)
    bottom = np.array([_below(least) for least, _ in sides])[:, None]
    top = np.array([-_below(-greatest) for _, greatest in sides])[:, None]
    return np.maximum(start + width * low.T - off, bottom), np.minimum(start + width * high.T + off, top)


def _below(value: Fraction) -> float:
    """A float64 number at most the rational; the rational itself if it is one."""
    found = float(value)
    return found if Fraction(found) <= value else float(np.nextafter(found, -np.inf))


def _bounds(
    encoder: Encoder, functionals: NDArray[np.int64], region: Region, low: Array, high: Array
) -> Array:
    frequencies, impossible = _frequencies(encoder, region, low, high)
    change = _change(encoder, frequencies)
    combined = change.mapped(encoder.readout).mapped(functionals.astype(np.float64))
    size = len(encoder.symbols) - 2
    found = np.zeros(low.shape[1])
    for block in range(0, len(combined.rest), size):
        rows = combined[block : block + size]
        differences = [rows[k] for k in range(size)] + [
            rows[k] - rows[l] for k, l in combinations(range(size), 2)
        ]
        for form in differences:
            found = np.maximum(found, form.magnitude.max(axis=(0, 1)))
    found = np.where(np.isfinite(found), found, np.inf)
    return np.where(impossible, 0.0, found)


def _frequencies(encoder: Encoder, region: Region, low: Array, high: Array) -> tuple[Form, NDArray[np.bool_]]:
    """The frequency of each place (P, B), and which boxes have a negative one for certain."""
    period, free = _period(encoder), len(encoder.symbols) - 2
    axes = of_axes(low, high, len(low) if len(low) <= MOST_CURVED else 0)
    inverse = axes[-1]
    residue = region.residue[1] if region.residue else 0
    places, impossible = [], np.zeros(low.shape[1], dtype=bool)
    for block in range(period):
        gone = 1 + block - (1 + block - residue) % period
        others = axes[block * free : (block + 1) * free]
        first = inverse.scaled(float(-gone)).plus(1.0).over(float(period))
        for form in others:
            first = first - form
        impossible |= first.greatest < 0
        places += [first, *others]
    parts = np.stack([form.parts for form in [*places, inverse]], axis=1)
    return Form(parts, np.stack([form.rest for form in [*places, inverse]]), inverse.curved), impossible


def _directions(encoder: Encoder) -> Array:
    """d pi / d(e_b - e_first), of shape (K, P): one row for each free frequency."""
    period, free = _period(encoder), len(encoder.symbols) - 2
    rows = np.zeros((period * free, period * (free + 1) + 1))
    for block in range(period):
        for k in range(free):
            rows[block * free + k, block * (free + 1)] = -1
            rows[block * free + k, block * (free + 1) + 1 + k] = 1
    return rows


def _change(encoder: Encoder, frequencies: Form) -> Form:
    """The derivatives (K, d, 1, B) of the activation at the end marker."""
    stream = _embedded(encoder, frequencies.curved)
    directions = _directions(encoder)
    change = constant(np.zeros((len(directions), *stream.rest.shape)), frequencies.curved)
    for number, layer in enumerate(encoder.layers):
        asked = slice(-1, None) if number == len(encoder.layers) - 1 else slice(None)
        stream, change = _layer(layer, stream, change, frequencies, directions, asked)
    return change[:, :, -1:]


def _embedded(encoder: Encoder, curved: int) -> Form:
    """The stream before the first layer, (d, P, 1)."""
    marker = encoder.symbols.index(encoder.ending)
    ordinary = [row for row in range(len(encoder.symbols)) if row != marker]
    table = (
        encoder.positions.table if isinstance(encoder.positions, Periodic) else np.zeros((1, encoder.width))
    )
    rows, added = [], []
    for position in table:
        rows += [encoder.embedding[row] for row in ordinary]
        added += [position] * len(ordinary)
    rows.append(encoder.embedding[marker])
    added.append(table[-1])
    return constant(np.array(rows).T[:, :, None], curved).plus(np.array(added).T[:, :, None])


def _layer(
    layer: EncoderLayer, stream: Form, change: Form, frequencies: Form, directions: Array, asked: slice
) -> tuple[Form, Form]:
    (before, between), (after, last) = layer.before, layer.after
    read, moved = _attended(layer, *_normed(before, stream, change), frequencies, directions, asked)
    stream, change = _normed(after, stream[:, asked] + read, change[:, :, asked] + moved)
    hidden, bent = _normed(between, stream, change)
    hidden = hidden.mapped(layer.hidden_weight).plus(layer.hidden_bias[:, None, None])
    hidden, bent = rectified(hidden, bent.mapped(layer.hidden_weight), MOST_UNITS)
    stream = stream + hidden.mapped(layer.back_weight).plus(layer.back_bias[:, None, None])
    return _normed(last, stream, change + bent.mapped(layer.back_weight))


def _normed(norm: Norm | None, stream: Form, change: Form) -> tuple[Form, Form]:
    if norm is None:
        return stream, change
    width = len(stream.rest)
    centring = width * np.eye(width) - 1
    centred, moved = stream.mapped(centring).over(width), change.mapped(centring).over(width)
    variance = contracted(centred, centred, "dpz,dpz->pz").over(width)
    scale = reciprocal_root(variance.plus(norm.epsilon), norm.epsilon)
    normed = centred * scale[None]
    along = contracted(normed, moved, "dpz,kdpz->kpz").over(width)
    turned = (moved - normed[None] * along[:, None]) * scale[None, None]
    gain = norm.gain[:, None, None]
    return normed.scaled(gain).plus(norm.bias[:, None, None]), turned.scaled(gain)


def _attended(
    layer: EncoderLayer, stream: Form, change: Form, frequencies: Form, directions: Array, asked: slice
) -> tuple[Form, Form]:
    width, places = stream.rest.shape[:2]
    size = width // layer.heads
    shape = (3, layer.heads, size, places)
    mixed = stream.mapped(layer.in_weight).plus(layer.in_bias[:, None, None])
    moving = change.mapped(layer.in_weight)
    mixed = mixed.reshaped(*shape, mixed.rest.shape[-1])
    moving = moving.reshaped(len(directions), *shape, moving.rest.shape[-1])
    root = np.full((1, 1, 1, 1), 1 / np.sqrt(size))
    scale = constant(root, frequencies.curved, upward(2 * GAMMA * root, 1))
    query, asking = mixed[0][:, :, asked] * scale, moving[:, 0][:, :, :, asked] * scale[None]
    weights, per, turning = _weights(query, mixed[1], asking, moving[:, 1], frequencies)
    value, shift = mixed[2], moving[:, 2]
    first, first_shift = value[:, :, :1], shift[:, :, :, :1]
    beyond = value - first
    mean = contracted(weights, beyond, "hacz,hdcz->hdaz")
    away = beyond[:, :, None] - mean[:, :, :, None]
    share = per[None].scaled(directions[:, None, None, :, None]) + weights[None] * turning
    moved = contracted(share, away, "khacz,hdacz->khdaz")
    moved = moved + contracted(weights, shift - first_shift, "hacz,khdcz->khdaz") + first_shift
    read = mean + first
    read = read.reshaped(width, *read.rest.shape[2:])
    moved = moved.reshaped(len(directions), width, *moved.rest.shape[3:])
    return read.mapped(layer.out_weight).plus(layer.out_bias[:, None, None]), moved.mapped(layer.out_weight)


def _weights(
    query: Form, key: Form, asking: Form, moving: Form, frequencies: Form
) -> tuple[Form, Form, Form]:
    """a, a / pi and d(s - s of the best key)."""
    scores = contracted(query, key, "hdaz,hdcz->hacz")
    turning = contracted(asking, key, "khdaz,hdcz->khacz") + contracted(query, moving, "hdaz,khdcz->khacz")
    best = scores.centre.argmax(axis=-2, keepdims=True)
    is_best = np.arange(scores.rest.shape[-2])[:, None] == best
    zero = constant(np.zeros_like(scores.rest), scores.curved)
    relative = (scores - scores.picked(best, -2)).chosen(is_best, zero)
    best_turning = turning.picked(
        np.broadcast_to(best, (*turning.rest.shape[:-2], 1, turning.rest.shape[-1])), -2
    )
    turning = turning - best_turning
    power = exponential(relative)
    total = contracted(power, frequencies, "hacz,cz->haz")
    per = power * reciprocal(total)[:, :, None]
    return per * frequencies[None, None], per, turning
