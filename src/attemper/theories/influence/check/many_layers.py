"""What one symbol can change in encoders of several layers, masked or not, for all words of one length.

Two words x, x' differ at one position i < n, out of given ones. A *class* is a position j with a symbol t.
For each class a box has the activation y_j of every word with x_j = t, and `kept` bounds, in each
coordinate, how far y_j moves where j != i, so that x_j = x'_j = t. Before the first layer it does not move.
The position i itself moves to another class, whose box is known; nothing else is needed of it (its head
outputs move by O(1), since its query does).

**A head, read by a class of queries j != i that sees i.** Let a, a' be the weights that x and x' give to the
visible positions other than i, adding up to 1, o_- and o'_- these averages of values v and v', and w, w' the
weights of position i. As o = (1 - w) o_- + w v_i,

    o' - o = (o'_- - o_-) + w' (v'_i - o'_-) - w (v_i - o_-)
    o'_- - o_- = sum_k a_k (v'_k - v_k) + sum_k (a'_k - a_k) v'_k                  over k != i.

1. The first sum is at most the average of how far the values move, and that is an average of known numbers.
2. With scores s, s' and eta = s' - s, the second is the integral, over tau in [0, 1], of the covariance of
   eta and v' under the weights of s + tau eta. |Cov(eta, v')| = |E eta (v' - E v')| <= E|eta| (max v' - min
   v'). The scores s + tau eta are between s and s', in the class' interval, so E|eta| is an average again.
   And eta counts up to a number common to all k: with any vector m, eta_k is dq (k'_k - m) + q dk_k but for
   dq m. The second sum is also at most (max v' - min v') tanh(R/4), R = max eta - min eta: with the weights
   at odds changed by at most e^R, a set's weight p becomes at most p e^R / (1 - p + p e^R), which is most
   above p by tanh(R/4), at p = 1/(1 + e^(R/2)); and sum_k (a'_k - a_k) v'_k is at most that total variation
   times the range. tanh(R/4) <= min(1, max|eta| / 2).
3. w is at most e/(e + Z_-), e the greatest e^s of i's class and Z_- the sum over the other positions of the
   least e^s of any symbol; v_i - o_- is at most the distance of the farthest points of their boxes. The
   average of the *others* has to stand here: with the head's own output it is false (scores (3, 0) -> (0,
   0), values (1, 0): the output moves by .4526, and both weights times both distances to outputs are
   .0904).

Both o_- and o are in the box of `highest_average` with `but_one`. Under a mask only j >= i sees i, and a
query that sees i sees itself, so there are others. Where the exchanged position is n - 1 and the mask hides
it from all j < n - 1, their classes do not move: only position n does, and only by its own weights, which
is why C/n holds at every depth there (`Exchange.LAST_BUT_ONE`); for early positions the averages of 1 give
(ln n)^(L-1) / n.

**The rest of a layer** acts at each position: LayerNorm as `tails.layer_norm_change` says, the feed-forward
by the mean-value theorem, with the slopes 1, 0 or, for units that the box leaves undecided, 1/2 +- 1/2. Of
the last layer the functional's slope on the box of all that enters is known, too, and the better bound is
taken.

These are statements about one n. No correlation between positions is kept, so they are vacuous unless scores
have a small range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Floats
from attemper.models.enclosures.averages import highest_average, powers_between
from attemper.models.enclosures.forms import GAMMA, Form, between, contracted, of_axes, upward
from attemper.models.enclosures.projections import mixed_in
from attemper.models.enclosures.tails import Tail, layer_norm_change, normed, slope_of
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm
from attemper.theories.influence.check.one_layer import readout_row, stream_of


@final
@dataclass(frozen=True, eq=False)
class Classes:
    """Activations of classes: forms (d, n, S) of their boxes, and how far they are moved, (d, n, S)."""

    box: Form
    kept: Floats

    @classmethod
    def of(cls, box: Form, kept: Floats) -> Classes:
        """No activation moves out of its box."""
        return cls(box, np.fmin(kept, _width(box)))


def _width(box: Form) -> Floats:
    """At least the differences of any two values."""
    return upward(box.greatest - box.least, 1)


@final
@dataclass(frozen=True, eq=False)
class VisiblePositions:
    """Which positions the queries (Q,) see, (Q, n), and which of these may be exchanged, (Q, n)."""

    seen: NDArray[np.bool_]
    exchanged: NDArray[np.bool_]


@final
@dataclass(frozen=True, eq=False)
class KeyBounds:
    """What one head knows of Q queries (c, Q) and of the keys and values (c, n, S), and how far they move."""

    query: Form
    key: Form
    value: Form
    query_kept: Floats
    key_kept: Floats
    value_kept: Floats


def many_layers_bound(
    encoder: Encoder, length: int, functional: Sequence[int], last: int, exchanged: NDArray[np.bool_]
) -> tuple[float, float]:
    """At least the change of the functional, and at least its range, for words with `last` at position n."""
    letters = [k for k, symbol in enumerate(encoder.symbols) if symbol != encoder.ending]
    stream = stream_of(encoder, length, letters, last)
    classes = Classes(stream, np.zeros(stream.rest.shape))
    for layer in encoder.layers[:-1]:
        classes = _after(layer, classes, *_attended(encoder, layer, classes, exchanged, all_of=True))
    layer, row = encoder.layers[-1], readout_row(encoder, functional, stream.frame)
    read = _attended(encoder, layer, classes, exchanged, all_of=False)
    residual = Classes(classes.box[:, -1:, :1], classes.kept[:, -1:, :1])
    found = _after(layer, residual, *read)
    change = upward((row.magnitude * found.kept).sum(), encoder.width)
    reach = upward((row.magnitude * _width(found.box)).sum(), encoder.width)
    sharp_change, sharp_reach = _by_slope(Tail(layer, row), residual, *read)
    return float(np.fmin(change, sharp_change)), float(np.fmin(reach, sharp_reach))


def _by_slope(tail: Tail, residual: Classes, read: Form, read_kept: Floats) -> tuple[float, float]:
    """The change and the range by the functional's slope on the box of what enters: J_o do + J_y dy."""
    width, frame = len(read.rest), read.frame
    low = np.concatenate([form.least[:, :, 0] for form in (read, residual.box)])
    high = np.concatenate([form.greatest[:, :, 0] for form in (read, residual.box)])
    axes = of_axes(low, high, frame)
    parts = np.stack([form.parts for form in axes], axis=1)[:, :, None]
    rest = np.stack([form.rest for form in axes])[:, None]
    whole = Form(parts, rest, frame)
    slope = slope_of(tail, whole[:width], whole[width:])
    change = (slope.read.magnitude * read_kept).sum() + (slope.residual.magnitude * residual.kept).sum()
    return float(upward(change, 2 * width)), float(_width(slope.value).max())


def _after(layer: EncoderLayer, entering: Classes, read: Form, read_kept: Floats) -> Classes:
    """The classes after a layer, from what its heads read there."""
    (_, norm_between), (norm_after, norm_last) = layer.before, layer.after
    box = entering.box + read.mapped(layer.out_weight).plus(layer.out_bias[:, None, None])
    kept = upward(entering.kept + _absolute(layer.out_weight, read_kept), 2)
    middle = _normed(norm_after, Classes.of(box, kept))
    inner = _normed(norm_between, middle)
    units = inner.box.mapped(layer.hidden_weight).plus(layer.hidden_bias[:, None, None])
    hidden = between(np.maximum(units.least, 0), np.maximum(units.greatest, 0), box.frame)
    box = middle.box + hidden.mapped(layer.back_weight).plus(layer.back_bias[:, None, None])
    residual = np.eye(len(box.rest)) * (norm_between is None)
    kept = _fed_forward(layer, residual, units, inner.kept)
    if norm_between is not None:
        kept = upward(kept + middle.kept, 1)
    return _normed(norm_last, Classes.of(box, kept))


def _fed_forward(layer: EncoderLayer, residual: Floats, units: Form, kept: Floats) -> Floats:
    """At least |(R + W' D W) dx| for slopes D: 1, 0, or 1/2 +- 1/2, as the boxes of the units say.

    |R + W' M W| dx + |W'| (H |W| dx), M and H the middles and halves of the slopes; entries of the matrix are
    off by at most as many roundings as there are units, of the sum of absolute values.
    """
    on, off = units.least >= 0, units.greatest <= 0
    middle, half = np.where(on, 1.0, np.where(off, 0.0, 0.5)), np.where(on | off, 0.0, 0.5)
    first, second = layer.hidden_weight, layer.back_weight
    whole = np.einsum("oh,hps,hi->psoi", second, middle, first, optimize=True) + residual
    size = np.abs(second) @ np.abs(first) + residual
    entries = upward(np.abs(whole) + 2 * (len(first) + 4) * GAMMA * size, len(first))
    found = np.einsum("psoi,ips->ops", entries, kept)
    loose = _absolute(second, half * _absolute(first, kept))
    return upward(found + loose, len(kept) + 4)


def _absolute(matrix: Floats, kept: Floats) -> Floats:
    """At least |W| x, for x >= 0 of shape (d, n, S)."""
    return upward(np.tensordot(np.abs(matrix), kept, 1), matrix.shape[1])


def _normed(norm: EncoderNorm | None, classes: Classes) -> Classes:
    """After LayerNorm: no coordinate is beyond the root of d, times the gain; its sides are rounded twice."""
    if norm is None:
        return classes
    box, _ = normed(norm, classes.box)
    limit = upward(np.sqrt(np.float64(len(norm.gain))) * np.abs(norm.gain), 2)[:, None, None]
    bias = norm.bias[:, None, None]
    low, high = bias - limit, bias + limit
    low, high = low - upward(2 * GAMMA * np.abs(low), 2), high + upward(2 * GAMMA * np.abs(high), 2)
    inside = between(np.fmax(box.least, low), np.fmin(box.greatest, high), box.frame)
    return Classes.of(inside, layer_norm_change(norm, classes.box, classes.kept))


def _attended(
    encoder: Encoder, layer: EncoderLayer, classes: Classes, exchanged: NDArray[np.bool_], *, all_of: bool
) -> tuple[Form, Floats]:
    """What the heads read, (d, n, S), and how far that moves; of position n only, (d, 1, 1), or of all."""
    length, letters = classes.kept.shape[1:]
    asked = (slice(None), slice(None)) if all_of else (slice(-1, None), slice(0, 1))
    entering = _normed(layer.before[0], classes)
    moved = _absolute(layer.in_weight, entering.kept).reshape(3, layer.heads, -1, length, letters)
    moved[0] = upward(moved[0] / np.sqrt(moved.shape[2]), 2)
    query, key, value = mixed_in(layer, entering.box)
    query, moving = query[:, :, *asked], moved[0][:, :, *asked]
    shape = moving.shape[2:]
    places = np.repeat(np.arange(length)[asked[0]], shape[1])
    seen: NDArray[np.bool_] = encoder.mask.sees(places[:, None], np.arange(length))
    sight = VisiblePositions(seen, seen & exchanged)
    found = [
        _read(
            sight,
            KeyBounds(
                query[h].reshaped(-1, len(places)),
                key[h],
                value[h],
                moving[h].reshape(-1, len(places)),
                moved[1][h],
                moved[2][h],
            ),
        )
        for h in range(layer.heads)
    ]
    low, high, change = (np.concatenate(each).reshape(-1, *shape) for each in zip(*found, strict=True))
    return between(low, high, classes.box.frame), change


def _read(sight: VisiblePositions, keys: KeyBounds) -> tuple[Floats, Floats, Floats]:
    """The least and greatest output of a head and what an exchange moves it by, (c, Q): see above."""
    seen = sight.seen[:, :, None]
    key = keys.key.plus(-keys.key.centre.mean(axis=(1, 2), keepdims=True))
    scores = contracted(keys.query, key, "cq,cns->qns")
    best = np.where(seen, scores.centre, -np.inf).max(axis=(1, 2), keepdims=True)
    low, high = (np.where(seen, power, 0.0) for power in powers_between(scores.plus(-best)))
    turned = np.einsum("cq,cns->qns", keys.query_kept, key.magnitude)
    turned = turned + np.einsum("cq,cns->qns", keys.query.magnitude, keys.key_kept)
    turned = np.where(seen, upward(turned, 2 * len(key.rest) + 2), 0.0)
    turning = np.fmin(highest_average(low, high, turned, but_one=True), turned.max(axis=(1, 2)) * 0.5)
    turning = np.fmin(turning, 1.0)
    weight = _greatest_weights(low, high) * sight.exchanged[:, :, None]
    found = [
        _coordinate(low, high, weight, turning, value, kept)
        for value, kept in zip((keys.value[c] for c in range(len(key.rest))), keys.value_kept, strict=True)
    ]
    least, greatest, change = (np.stack(each) for each in zip(*found, strict=True))
    return least, greatest, change


def _greatest_weights(low: Floats, high: Floats) -> Floats:
    """At least the weight of each symbol at each position: e / (e + Z_-), (Q, n, S).

    Z_- is a difference, less the roundings of the sum.
    """
    least = low.min(axis=2)
    total = least.sum(axis=1, keepdims=True)
    count = least.shape[1]
    others = np.maximum(total - least - upward((count + 5) * GAMMA * total, count), 0)[:, :, None]
    return np.where(high == 0, 0.0, np.fmin(upward(high / (high + others), 2), 1.0))


def _coordinate(
    low: Floats, high: Floats, weight: Floats, turning: Floats, value: Form, kept: Floats
) -> tuple[Floats, Floats, Floats]:
    """One coordinate of a head's output: its least and greatest value, and its change, (Q,)."""
    top, bottom = value.greatest, value.least
    greatest = highest_average(low, high, top, but_one=True)
    least = -highest_average(low, high, -bottom, but_one=True)
    values = np.maximum(highest_average(low, high, kept, but_one=True), 0)
    span = upward(top.max() - bottom.min(), 1)
    far = np.maximum(top - least[:, None, None], greatest[:, None, None] - bottom)
    own = np.sort(upward(weight * np.maximum(upward(far, 1), 0), 1), axis=2)[:, :, -2:]
    exchange = own.sum(axis=2).max(axis=1) if own.shape[2] == 2 else np.zeros(len(low))
    change = upward(values + span * turning + exchange, 4)
    return least, greatest, np.fmin(change, upward(greatest - least, 1))
