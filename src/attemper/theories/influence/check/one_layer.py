"""What one symbol can change in encoders of one layer, for all words of one length n, with any positions.

Statements are about two words x, x' of n symbols that differ in one exchanged position i < n, and about one
functional of the outputs at position n; x_n is the end marker, or else each symbol in turn. Encoders of one
layer are bounded here, with or without a mask (position n sees all others); more layers in `many_layers`.

**One head.** With e_j = e^(s_nj) > 0 and values v_j, the head reads o = sum_j e_j v_j / Z, Z = sum_j e_j.
Its query does not change, nor do e_j and v_j at j != i. Let e, v belong to x_i, e', v' to x'_i, and let Z_-
be the sum of e_j over j != i. Then Z' o' = Z o + e' v' - e v and Z' = Z + e' - e, so

    o' - o = (e' v' - e v - (e' - e) o) / Z' = (e' v' - e v - (e' - e) o') / Z.

The first is taken where e' >= e, the second where not: the divisor is D = Z_- + max(e, e') then, and

    o' - o = (a - b y) / D,      a = e' v' - e v,  b = e' - e,  y = o or o',  D >= min Z_- + max(e, e').

All of a, b depend on i, t = x_i and t' = x'_i only, of which there are n S (S - 1). So y may be taken from
any set that has the full outputs o of all words: averages without position i are not needed.

**Sets of outputs.** For any vector k the greatest k o over all words is that of a ratio of sums over the
positions, which `averages.highest_average` bounds from above. With a matrix A of any axes, a head's o is in
the box {t: low <= t <= high} for t = A^T o, and o = A t + (I - A A^T) o: the last is tiny where A is
orthogonal, and is in the form's rest whatever A is. (The axes are those along which exchanges move the
outputs most, by a singular value decomposition; nothing depends on that.)

**All heads together.** They change together: the activation is one function g of what all heads read, and
of the residual stream at n, which does not change. By the mean-value theorem (`tails`) there is *one* point
z on the segment from o to o', and one choice of slopes, with g(o') - g(o) = J(z) (o' - o), the sum over the
heads h of J_h (a_h - b_h y_h) / D_h. J is a form on a box with o and o', hence with the segment, and with
all y_h. With y = c + sum_k g_k e_k + r in this box,

    J_h (a_h - b_h y_h) <= (J_h a_h - b_h J_h c) + |b_h| (sum_k |J_h g_k| + |J_h| r),

where J and y are not taken to be at the same point. A positive sum is at most itself over the least D_h; a
negative one is at most 0. The maximum over i, t, t' of the sum over h is the bound; x and x' in the other
order give the absolute value.

**Parts.** The box of outputs is halved, along the axes that move most, where bounds are greatest. A pair of
words belongs to a part with the *midpoint* of o and o'. In every axis o' - o is at most m (the same bound,
for the axis in the place of J), so o and o' are in the part widened by m / 2, and in the whole box. The
bound is the greatest of those of all parts. A part may be dropped if no word's o is in it, widened: if for
two heads and two sides of the part, low <= k o say, positive multiples of sum_j e_j (k v_j - low) >= 0 add
up to a negative number for the best word.

The certificate is n and the number: these boxes are found again when it is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.models.arrays import Floats
from attemper.models.enclosures import forms
from attemper.models.enclosures.averages import highest_average, powers_between
from attemper.models.enclosures.projections import mixed_in
from attemper.models.enclosures.tails import MOST_UNITS, Slope, Tail, normed, slope_of
from attemper.models.soft.weights import Encoder, position_rows

MOST_PARTS = 256
"""How many boxes of outputs are tried."""

AT_ONCE = 24
"""How many boxes are halved at a time."""

MOST_NUMBERS = 20_000_000
"""How many coefficients exist at a time, about."""

MOST_CURVED = 16
"""How many axes of a box are followed to second order."""

SHARES = (0.125, 0.25, 0.375, 0.5, 0.625, 0.75, 0.875)
"""The multiples that are tried for the sides of two heads."""


@final
@dataclass(frozen=True, eq=False)
class HeadBounds:
    """What a head can read at position n: bounds on e^s, (n, S), values (c, n, S), and axes (c, c)."""

    low: Floats
    high: Floats
    value: forms.Form
    axes: Floats


@final
@dataclass(frozen=True, eq=False)
class Exchanges:
    """The N exchanges, for one head: `shift` (c, N) is a, `gain` (N,) is b, `most` (N,) at least 1 / D."""

    shift: forms.Form
    gain: forms.Form
    most: Floats


@final
@dataclass(frozen=True, eq=False)
class OutputBoxes:
    """All that the boxes of outputs of d axes share, for one symbol at position n.

    `axes` (d, d) has the heads' axes as columns, the first one of each head first. In each axis the outputs
    are from `low` to `high`, and an exchange moves them by at most `moved`; `left_out` (d,) bounds
    (I - A A^T) o.
    """

    tail: Tail
    residual: forms.Form
    heads: tuple[HeadBounds, ...]
    exchanges: tuple[Exchanges, ...]
    axes: Floats
    low: Floats
    high: Floats
    moved: Floats
    left_out: Floats


def one_layer_bound(
    encoder: Encoder, length: int, functional: Sequence[int], last: int, exchanged: NDArray[np.bool_]
) -> tuple[float, float]:
    """At least the change of the functional, and at least its range, for words with `last` at position n."""
    letters = [k for k, symbol in enumerate(encoder.symbols) if symbol != encoder.ending]
    outputs = _outputs(encoder, stream_of(encoder, length, letters, last), functional, exchanged)
    low, high = outputs.low[:, None], outputs.high[:, None]
    found, least, greatest = _bounds(outputs, low, high)
    tried = 1
    while tried < MOST_PARTS:
        worst = _worst(found)
        new_low, new_high = _halved(len(outputs.heads), low[:, worst], high[:, worst])
        seen = _reachable(outputs, new_low, new_high)
        news = _bounds(outputs, new_low[:, seen], new_high[:, seen])
        low = np.concatenate([np.delete(low, worst, 1), new_low[:, seen]], axis=1)
        high = np.concatenate([np.delete(high, worst, 1), new_high[:, seen]], axis=1)
        kept = (np.delete(old, worst) for old in (found, least, greatest))
        found, least, greatest = (np.concatenate([old, new]) for old, new in zip(kept, news, strict=True))
        tried += 2 * len(worst)
    reach = forms.upward(greatest.max() - least.min(), 1)
    return float(found.max()), float(reach)


def _worst(bounds: Floats) -> NDArray[np.int64]:
    """The parts with the greatest bounds: those above half of the greatest, so many at a time."""
    order = np.argsort(-bounds, kind="stable")
    above = bounds[order] >= 0.5 * bounds.max()
    return np.asarray(order[above][:AT_ONCE])


def _halved(main: int, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Both halves of each box, along the widest of the first axes of the heads; they share the middle."""
    axis = (high - low)[:main].argmax(axis=0)
    at = (axis, np.arange(low.shape[1]))
    bottom, top = low.copy(), high.copy()
    top[at] = bottom[at] = low[at] + (high[at] - low[at]) * 0.5
    return np.concatenate([low, bottom], axis=1), np.concatenate([top, high], axis=1)


def _widened(outputs: OutputBoxes, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The part with half of what an exchange moves on each side, rounded twice, inside the whole box."""
    low, high = (side + sign * 0.5 * outputs.moved[:, None] for side, sign in ((low, -1), (high, 1)))
    low = low - forms.upward(2 * forms.GAMMA * np.abs(low), 2)
    high = high + forms.upward(2 * forms.GAMMA * np.abs(high), 2)
    return np.maximum(low, outputs.low[:, None]), np.minimum(high, outputs.high[:, None])


def _bounds(outputs: OutputBoxes, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    """For each part (d, B): a bound on the change, and the least and greatest value of the functional."""
    each = (len(outputs.left_out) * 4 + 2 * MOST_UNITS + 200) * len(outputs.exchanges[0].most)
    count = max(1, MOST_NUMBERS // each)
    found = [
        _bounds_at_once(outputs, low[:, top : top + count], high[:, top : top + count])
        for top in range(0, max(1, low.shape[1]), count)
    ]
    change, least, greatest = (np.concatenate(numbers) for numbers in zip(*found, strict=True))
    return change, least, greatest


def _bounds_at_once(outputs: OutputBoxes, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    slope, read = _slope(outputs, *_widened(outputs, low, high))
    size = len(low) // len(outputs.heads)
    up = down = np.zeros((1, low.shape[1]))
    for number, exchanges in enumerate(outputs.exchanges):
        rows = slice(number * size, (number + 1) * size)
        above, below = _gains(slope.read[rows, 0], read[rows, 0], exchanges)
        up, down = up + above, down + below
    found = forms.upward(np.maximum(up, down), len(outputs.heads)).max(axis=0)
    return np.where(np.isfinite(found), found, np.inf), slope.value.least[0], slope.value.greatest[0]


def _slope(outputs: OutputBoxes, low: Floats, high: Floats) -> tuple[Slope, forms.Form]:
    """The slope on the boxes, and the forms (d, 1, B) of what the heads read there."""
    axes = forms.of_axes(low, high, outputs.residual.frame)
    parts = np.stack([form.parts for form in axes], axis=1)[:, :, None]
    rest = np.stack([form.rest for form in axes])[:, None]
    read = forms.Form(parts, rest, outputs.residual.frame).mapped(outputs.axes)
    read = forms.Form(read.parts, forms.upward(read.rest + outputs.left_out[:, None, None], 2), read.frame)
    return slope_of(outputs.tail, read, outputs.residual), read


def _gains(slope: forms.Form, read: forms.Form, exchanges: Exchanges) -> tuple[Floats, Floats]:
    """At least the parts above 0 of J (a - b y) / D and of its negative, (N, B), for one head."""
    along = forms.contracted(slope, exchanges.shift, "cz,ci->iz")
    centre = forms.contracted(slope, forms.constant(read.centre, slope.frame), "cz,cz->z")
    level = along - centre[None] * exchanges.gain[:, None]
    coefficients = read.parts[1:][(read.parts[1:] != 0).any(axis=(1, 2))]
    ways = forms.contracted(slope[None], forms.constant(coefficients, slope.frame), "gcz,gcz->gz").magnitude
    loose = ways.sum(axis=0) + (slope.magnitude * read.rest).sum(axis=0)
    loose = forms.upward(loose, len(ways) + len(read.rest) + 2)
    room = forms.upward(exchanges.gain.magnitude[:, None] * loose, 1)
    most = exchanges.most[:, None]
    above, below = (
        forms.upward(most * np.maximum(side + room, 0), 3) for side in (level.greatest, -level.least)
    )
    return above, below


def _reachable(outputs: OutputBoxes, low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Whether a word can have its outputs in the part, widened; False only where none can."""
    low, high = _widened(outputs, low, high)
    sides = [
        (number, terms)
        for number, head in enumerate(outputs.heads)
        for terms in _side_terms(head, low[number], high[number])
    ]
    found = np.ones(low.shape[1], dtype=np.bool_)
    for (one, first), (other, second) in combinations(sides, 2):
        for share in SHARES if one != other else ():
            terms = (share * first + (1 - share) * second).max(axis=1).sum(axis=0)
            size = (share * np.abs(first) + (1 - share) * np.abs(second)).max(axis=1).sum(axis=0)
            off = forms.upward((len(first) + 16) * forms.GAMMA * size, len(first) + 4)
            found &= ~(terms + off < 0)
    return found


def _side_terms(head: HeadBounds, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """At least e_j (k v_j - low) and e_j (high - k v_j) over a positive number, (n, S, B); k is the first
    axis.

    Three roundings each; quotients below `TINY`, which are rounded by more, are `TINY` or 0. The sums over j
    are at least 0 for words with low <= k o <= high.
    """
    seen = forms.contracted(forms.constant(head.axes[:, 0], head.value.frame), head.value, "c,cns->ns")
    scale = head.high.sum()
    above, below = seen.greatest[:, :, None] - low, high - seen.least[:, :, None]
    top = np.maximum(head.high / scale, forms.TINY)[:, :, None]
    bottom = np.where(head.low / scale < forms.TINY, 0, head.low / scale)[:, :, None]
    first, second = (np.maximum(away, 0) * top - np.maximum(-away, 0) * bottom for away in (above, below))
    return first, second


def stream_of(encoder: Encoder, length: int, letters: Sequence[int], last: int) -> forms.Form:
    """The activations (d, n, S) before the first layer: symbol t at position j; `last` at position n."""
    symbols = np.broadcast_to(np.array(letters), (length, len(letters))).copy()
    symbols[-1] = last
    embedded = np.moveaxis(encoder.embedding[symbols], -1, 0)
    return forms.constant(embedded, forms.Frame(min(encoder.width, MOST_CURVED), 2)).plus(
        position_rows(encoder, length).T[:, :, None]
    )


def readout_row(encoder: Encoder, functional: Sequence[int], frame: forms.Frame) -> forms.Form:
    """The functional's row of the readout, (d, 1, 1)."""
    whole = np.array(functional, dtype=np.float64)[:, None, None]
    return forms.constant(whole, frame).mapped(encoder.readout.T)


def _outputs(
    encoder: Encoder, stream: forms.Form, functional: Sequence[int], exchanged: NDArray[np.bool_]
) -> OutputBoxes:
    """The heads, their exchanges, and the box of their outputs."""
    (layer,), width = encoder.layers, encoder.width
    query, key, value = mixed_in(layer, normed(layer.before[0], stream)[0])
    heads = tuple(_head(query[h, :, -1, 0], key[h], value[h]) for h in range(layer.heads))
    exchanges = tuple(_exchanges(head, exchanged) for head in heads)
    sides = [_sides(head) for head in heads]
    moved = [_moved(*known) for known in zip(heads, exchanges, sides, strict=True)]
    low, high = (np.concatenate(side) for side in zip(*sides, strict=True))
    first = range(0, width, width // layer.heads)
    order = [*first, *(k for k in np.argsort(low - high, kind="stable") if k not in first)]
    axes = np.zeros((width, width))
    for top, head in zip(first, heads, strict=True):
        axes[top : top + len(head.axes), top : top + len(head.axes)] = head.axes
    return OutputBoxes(
        Tail(layer, readout_row(encoder, functional, stream.frame)),
        stream[:, -1:, :1],
        heads,
        exchanges,
        axes[:, order],
        low[order],
        high[order],
        np.concatenate(moved)[order],
        np.concatenate([_left_out(head) for head in heads]),
    )


def _head(query: forms.Form, key: forms.Form, value: forms.Form) -> HeadBounds:
    """A head at position n. All scores are less one number, which changes no average."""
    scores = forms.contracted(query, key, "c,cns->ns")
    low, high = powers_between(scores.plus(-scores.centre.max()))
    return HeadBounds(low, high, value, _axes(low, value.centre))


def _axes(power: Floats, value: Floats) -> Floats:
    """Orthogonal axes, about, in the order of how far exchanges move an average word's output."""
    mean = (power * value).sum(axis=(1, 2)) / power.sum()
    moves = power * (value - mean[:, None, None])
    moves = (moves - moves[:, :, :1])[:, :-1].reshape(len(value), -1)
    if not np.isfinite(moves).all():
        return np.eye(len(value))
    return np.asarray(np.linalg.svd(moves, full_matrices=moves.shape[1] < len(moves))[0])


def _sides(head: HeadBounds) -> tuple[Floats, Floats]:
    """The least and the greatest coordinate, in each axis, of what the head reads."""
    seen = head.value.mapped(head.axes.T)
    least = -highest_average(head.low, head.high, -seen.least)
    return least, highest_average(head.low, head.high, seen.greatest)


def _left_out(head: HeadBounds) -> Floats:
    """At least (I - A A^T) o in absolute value, for all outputs: no average is above the greatest value."""
    axes = forms.constant(head.axes, head.value.frame)
    gap = forms.contracted(axes, axes, "ac,bc->ab").plus(-np.eye(len(head.axes))).magnitude
    return forms.upward(gap @ head.value.magnitude.max(axis=(1, 2)), len(gap))


def _exchanges(head: HeadBounds, places: NDArray[np.bool_]) -> Exchanges:
    """All exchanges of two symbols at the positions in question, in one of both orders.

    The sum of the least e_j without that at i is taken as a difference, less the roundings of the sum.
    """
    count = len(head.low)
    least = head.low.min(axis=1)
    others = least.sum() - least - forms.upward((count + 5) * forms.GAMMA * least.sum(), count)
    others = np.maximum(others, 0)[places, None]
    first, second = np.triu_indices(head.low.shape[1], 1)
    power = forms.between(head.low, head.high, head.value.frame)
    weighted = power[None] * head.value
    shift = (weighted[:, :, second] - weighted[:, :, first])[:, places]
    gain = (power[:, second] - power[:, first])[places]
    greater = np.maximum(head.low[:, first], head.low[:, second])[places]
    most = forms.upward(1 / (others + greater), 4)
    return Exchanges(shift.reshaped(len(head.axes), most.size), gain.reshaped(most.size), most.reshape(-1))


def _moved(head: HeadBounds, exchanges: Exchanges, sides: tuple[Floats, Floats]) -> Floats:
    """At least what an exchange moves the output by in each axis: |k a - b t| / D, t in its interval."""
    low, high = sides
    middle = low + (high - low) * 0.5
    axes = forms.constant(head.axes, head.value.frame)
    along = forms.contracted(axes, exchanges.shift, "ck,ci->ki")
    level = along - forms.constant(middle[:, None], head.value.frame) * exchanges.gain[None]
    wide = forms.upward(np.maximum(high - middle, middle - low), 1)[:, None]
    found = forms.upward((level.magnitude + exchanges.gain.magnitude * wide) * exchanges.most, 4)
    return np.asarray(np.fmin(found.max(axis=1), forms.upward(high - low, 1)))
