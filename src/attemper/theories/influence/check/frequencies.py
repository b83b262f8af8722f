"""What one symbol can change in a soft encoder, for all words of all n >= n0: the bound by frequencies.

**Claim.** Take an encoder without mask, with no position embeddings or with a period m, read at the end
marker, which stands at position n and nowhere else. Two words of n symbols that differ in one symbol before
the marker have outputs that differ, in each functional, by at most C / n, if C is at least `largest_bound`,
n >= n0, n = r mod m, and the frequencies of both words lie in the region's box.

**Places.** A *place* is a symbol a that is not the marker, with a residue p = (i - 1) mod m of its position;
the last place is the marker. (Without positions m = 1.) pi_(a, p) is the number of positions i < n with
this symbol and residue, divided by n; the marker's is u = 1/n. Positions with one place have one activation
on every layer, by induction: they have the same embedding, and each head gives them the same

    o_a = sum_b pi_b e^(s_ab) v_b / sum_c pi_c e^(s_ac)        over places b, c,

as each place b stands for n pi_b keys and n cancels. So the outputs are a function F(pi, u), and m and r are
all that it knows of n otherwise. There are ceil((n - 1 - p) / m) = (n - d_p) / m positions i < n of the
residue p, d_p = 1 + p - ((1 + p - r) mod m), so the frequencies of residue p add up to (1 - d_p u) / m.

**The segment.** Exchanging x_i = a for b moves pi by (e_b - e_a) / n, with the residue of i; n, and with it u
and all d_p, stay. On pi(t) = pi + t (e_b - e_a) / n, 0 <= t <= 1, frequencies are >= 0, with the same sums,
and in the box, as it is convex. There every quantity of the network is continuous and piecewise analytic in t
with finitely many pieces, by induction over its operations: sum_c pi_c e^(s_c) > 0 by the marker's u > 0,
variance + epsilon > 0, so quotients, exponentials and roots are analytic where their arguments are; and of
z(t), analytic around a closed piece, either z = 0 or z has finitely many zeros there, between which relu(z)
is 0 or z. Inside a piece the derivative of relu(z) is slope z', where the slope is 1 if z > 0, 0 if z < 0,
and any number if z = 0 throughout, for then z' = 0. The change of F is the integral of its derivative over t,

    |F(pi(1), u) - F(pi(0), u)| <= (1/n) sup |dF / d(e_b - e_a)|,

over the inner points of the pieces. So it is enough to bound, at all places with frequencies >= 0 and
0 < u <= 1/n0, what the rules of differentiation give with a slope for each unit: 1 if z > 0, 0 if z < 0, and
if z = 0 one number in [0, 1], whichever (the same for all directions).

**Boxes.** Axes are the frequencies of all symbols but the first (and the marker), in the order of the
symbols, residue after residue, and u last. The first symbol's frequency of each residue is what is left,
(1 - d_p u) / m less the others. `splits` is a tree whose leaves cover the box of all axes by construction, so
every point is in a leaf. A leaf may have places where a first frequency is negative; they are in no word, and
no form (`forms`) need stand for anything there: the points of the forms are the others. A leaf that has no
others bounds nothing and counts 0.

**One pass.** Forms of the values and of the derivatives d/d(e_b - e_first), one for each free frequency, go
through the layers together; d/d(e_b - e_a) is the difference of two, with one residue. With p_c = e^(s_c) / Z
and a_c = pi_c p_c a head has

    do = sum_c (dpi_c p_c + a_c ds_c) (v_c - o) + a_c dv_c.

As the a_c add up to 1, and so sum_c a_c (v_c - o) = 0, one number may be taken from all scores s_c, another
from all ds_c, and one vector from all v_c and one from all dv_c if it is added to the average; that makes the
boxes small. On the last layer only the marker asks. A box in which few units have both signs is taken apart
into the cases of their signs (`signs_by_cases`): every place is in a case, with the slope 1 or 0 where z = 0,
and inside a case those units have no kink. The box's bound is the greatest of its cases'.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.models.arrays import Floats, Integers
from attemper.models.enclosures.forms import (
    FLAT,
    GAMMA,
    Form,
    Frame,
    constant,
    contracted,
    exponential,
    of_axes,
    reciprocal,
    reciprocal_root,
    rectified,
    signs_by_cases,
    upward,
)
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm, Mask, NoPositions, Periodic

DEGREES = {2: 3, 3: 2, 4: 2}
"""The degree of polynomials on boxes with so many axes; with more axes they have too many terms."""

MOST_UNITS = 8
"""The most units of a feed-forward, in a box, that get noise symbols of their own."""

MOST_CASES = 16
"""Into so many cases of the signs of units a box is taken apart at most."""

BATCH = 128
"""How many boxes go through the encoder together; of words, which have no axes, eight times more."""

LONGEST = 2**53
"""Histograms of longer words are not float64 numbers."""

MOST_NUMBERS = 2**20
"""How many numbers a coefficient may have, for all units of a layer and all cases of the boxes together."""

AXES = "0123456789abcdefghijklmnopqrstuvwxyz"
"""The letters of the axes in a tree of splits."""

LEAF = "."

MOST_HALVINGS = 50
"""How often an axis can be halved so that the sides of all boxes are exact float64 numbers."""


@final
@dataclass(frozen=True)
class Region:
    """The words of a bound: n >= n0, n = r mod m for the residue (m, r), free frequencies in a box.

    The residue is None for an encoder without positions. The box has an interval for each axis but u.
    """

    n0: int
    residue: tuple[int, int] | None = None
    box: tuple[tuple[Fraction, Fraction], ...] | None = None


def axes_of(encoder: Encoder) -> int:
    """The number of axes: the free frequencies, and u.

    Raises `UnsupportedError` for encoders that are not functions of frequencies, or not read at a marker.
    """
    if encoder.mask is not Mask.UNMASKED or not isinstance(encoder.positions, NoPositions | Periodic):
        raise UnsupportedError(
            "bounds by frequencies are for encoders without mask, and without positions or with a period"
        )
    if encoder.ending is None or len(encoder.symbols) < 3:
        raise UnsupportedError("bounds are for encoders with an end marker and two symbols or more beside it")
    if any(norm.epsilon <= 0 for layer in encoder.layers for norm in layer.norms or ()):
        raise UnsupportedError("a layer norm whose epsilon is not positive has jumps: there is no bound")
    axes = _period(encoder) * (len(encoder.symbols) - 2) + 1
    if axes > len(AXES):
        raise UnsupportedError(
            f"there are {axes} axes of frequencies and 1/n, and {len(AXES)} at most are read"
        )
    return axes


def largest_bound(encoder: Encoder, functionals: Integers, region: Region, splits: str) -> float:
    """The constant C of the claim that is proved on the leaves of this tree; infinite where nothing is.

    `functionals` (F, K) are combinations of the K outputs; the bound is one for each of them.

    Raises `MalformedFileError` if the text is no tree, and `UnsupportedError` as `bounds_on_boxes`.
    """
    low, high = leaves_of(splits, axes_of(encoder))
    return float(bounds_on_boxes(encoder, functionals, region, low, high).max())


def leaves_of(splits: str, axes: int) -> tuple[Floats, Floats]:
    """The least and the greatest corners, (B, axes) each, of the leaves of a tree of splits of the unit cube.

    The text has the tree in preorder: a letter halves an axis at its midpoint, and the lower and then the
    upper half follow; "." is a leaf.

    >>> low, high = leaves_of("01...", 2)
    >>> low.tolist(), high.tolist()
    ([[0.0, 0.0], [0.0, 0.5], [0.5, 0.0]], [[0.5, 0.5], [0.5, 1.0], [1.0, 1.0]])
    """
    waiting = [((0.0,) * axes, (1.0,) * axes)]
    leaves = []
    for letter in splits:
        if not waiting:
            raise MalformedFileError("the splits go on after their tree is complete")
        low, high = waiting.pop()
        if letter == LEAF:
            leaves.append((low, high))
            continue
        axis = AXES.find(letter)
        if not 0 <= axis < axes or high[axis] - low[axis] <= 2.0**-MOST_HALVINGS:
            raise MalformedFileError(f"the splits halve '{letter}', which is no axis, or too narrow")
        middle = (low[axis] + high[axis]) * 0.5
        waiting.append(((*low[:axis], middle, *low[axis + 1 :]), high))
        waiting.append((low, (*high[:axis], middle, *high[axis + 1 :])))
    if waiting:
        raise MalformedFileError("the splits end before their tree is complete")
    return np.array([low for low, _ in leaves]), np.array([high for _, high in leaves])


def bounds_on_boxes(
    encoder: Encoder, functionals: Integers, region: Region, low: Floats, high: Floats
) -> Floats:
    """For each of B boxes of the unit cube a bound on |dF / d(e_b - e_a)|, over all a, b and functionals.

    `low` and `high` (B, axes) are corners, exactly; 0 and 1 are the ends of an axis' interval. A bound is
    infinite where nothing is known, and 0 where a box has no frequencies of words.

    Raises `UnsupportedError` for encoders as `axes_of`, and regions that do not fit them.
    """
    _require_fitting(encoder, functionals, region)
    found, size = np.empty(len(low)), _batch(encoder)
    with np.errstate(all="ignore"):
        for top in range(0, len(low), size):
            sides = _placed(encoder, region, low[top : top + size], high[top : top + size])
            found[top : top + size] = _bounds(encoder, functionals, region, *sides)
    return found


def changes_of_pairs(encoder: Encoder, functional: Floats, counts: Integers, others: Integers) -> Floats:
    """Bounds on |functional of the outputs at one word - at another|, for B pairs of histograms (B, S) each.

    Histograms count all symbols of the encoder, the marker (once) among them. For encoders without
    positions; raises `UnsupportedError` for others, as `axes_of`.
    """
    axes_of(encoder)
    if not isinstance(encoder.positions, NoPositions):
        raise UnsupportedError("histograms are all that an encoder sees only if it has no positions")
    if max(counts.sum(axis=1).max(initial=0), others.sum(axis=1).max(initial=0)) >= LONGEST:
        raise UnsupportedError(f"words of {LONGEST:,} symbols or more are not counted exactly")
    found, size = np.empty(len(counts)), 8 * _batch(encoder)
    with np.errstate(all="ignore"):
        for top in range(0, len(counts), size):
            part = slice(top, top + size)
            change = _output(encoder, counts[part]) - _output(encoder, others[part])
            found[part] = change.mapped(functional[None]).magnitude[0, 0]
    return np.where(np.isnan(found), np.inf, found)


def _output(encoder: Encoder, counts: Integers) -> Form:
    """The outputs (K, 1, B), without the bias, of words with these histograms: with all noise in the rest.

    A unit that rounding leaves undecided has a symbol, and the same number in the pass of another word,
    where it is another function: forms of two passes may only be subtracted without symbols.
    """
    ordinary = [column for column, symbol in enumerate(encoder.symbols) if symbol != encoder.ending]
    columns = counts[:, [*ordinary, encoder.symbols.index(str(encoder.ending))]].astype(np.float64)
    shares = (columns / columns.sum(axis=1, keepdims=True)).T
    frequencies = constant(shares, FLAT, upward(GAMMA * shares, 1))
    stream, _, _ = _through(encoder, frequencies, np.zeros((1, len(shares))), 0, most=1)
    found = stream.mapped(encoder.readout)
    return constant(found.centre, FLAT, found.radius)


# Boxes ---------------------------------------------------------------------------------------------


def _require_fitting(encoder: Encoder, functionals: Integers, region: Region) -> None:
    """Raises `UnsupportedError` unless the region and the functionals are about such an encoder."""
    axes, period = axes_of(encoder), _period(encoder)
    modulus, residue = region.residue or (1, 0)
    if modulus != period or not 0 <= residue < period or region.n0 < 1:
        raise UnsupportedError(
            f"this encoder has the period {period}: a bound is for n >= n0 >= 1 with one residue mod {period}"
        )
    if region.box is not None and len(region.box) != axes - 1:
        raise UnsupportedError(f"a box of frequencies has {axes - 1} intervals for this encoder")
    if functionals.ndim != 2 or functionals.shape[1] != len(encoder.readout) or not len(functionals):
        raise UnsupportedError(f"a functional combines the {len(encoder.readout)} outputs of this encoder")
    if any(not 0 <= least <= greatest <= 1 for least, greatest in region.box or ()):
        raise UnsupportedError("a box of frequencies has intervals between 0 and 1")
    if np.abs(functionals).max() >= 2**53:
        raise UnsupportedError("a functional's numbers must be below 2^53")


def _batch(encoder: Encoder) -> int:
    """How many boxes go through this encoder together: fewer through a wide one."""
    places = _period(encoder) * (len(encoder.symbols) - 1) + 1
    units = max((layer.hidden_bias.size for layer in encoder.layers), default=1)
    return max(1, min(BATCH, MOST_NUMBERS // (MOST_CASES * places * max(units, encoder.width * places))))


def _period(encoder: Encoder) -> int:
    return len(encoder.positions.table) if isinstance(encoder.positions, Periodic) else 1


def _placed(encoder: Encoder, region: Region, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The sides (axes, B) of boxes of the unit cube in the axes' intervals, rounded outwards.

    start + width t has four roundings, those of start and width among them, of numbers up to |start| + width;
    and no side need lie beyond the interval's ends.
    """
    frequencies = region.box or ((Fraction(0), Fraction(1)),) * (low.shape[1] - 1)
    intervals = [*frequencies, (Fraction(0), Fraction(1, region.n0))]
    start = np.array([[float(least)] for least, _ in intervals])
    width = np.array([[float(greatest - least)] for least, greatest in intervals])
    off = upward(8 * GAMMA * (np.abs(start) + width), 2)
    bottom = np.array([[_at_most(least)] for least, _ in intervals])
    top = np.array([[-_at_most(-greatest)] for _, greatest in intervals])
    return np.maximum(start + width * low.T - off, bottom), np.minimum(start + width * high.T + off, top)


def _at_most(value: Fraction) -> float:
    """A float64 number at most the rational; the rational itself if it is one."""
    found = float(value)
    return found if Fraction(found) <= value else float(np.nextafter(found, -np.inf))


def _bounds(encoder: Encoder, functionals: Integers, region: Region, low: Floats, high: Floats) -> Floats:
    frequencies, empty = _frequencies(encoder, region, low, high)
    residue = region.residue[1] if region.residue else 0
    _, change, owner = _through(encoder, frequencies, _directions(encoder), residue)
    change = change.mapped(encoder.readout).mapped(functionals.astype(np.float64))
    free = len(encoder.symbols) - 2
    bounds = []
    for first in range(0, len(change.rest), free):
        rows = [change[first + k] for k in range(free)]
        pairs = [one - other for one, other in combinations(rows, 2)]
        bounds += [form.magnitude.max(axis=(0, 1)) for form in (*rows, *pairs)]
    found = np.zeros(low.shape[1])
    np.maximum.at(found, owner, np.max(bounds, axis=0))
    return np.where(empty, 0.0, np.where(np.isnan(found), np.inf, found))


def _frequencies(
    encoder: Encoder, region: Region, low: Floats, high: Floats
) -> tuple[Form, NDArray[np.bool_]]:
    """The frequencies of the places (P, B), and which boxes have a negative one at all their places."""
    period, free = _period(encoder), len(encoder.symbols) - 2
    *axes, inverse = of_axes(low, high, Frame(len(low), DEGREES[len(low)]) if len(low) in DEGREES else FLAT)
    residue = region.residue[1] if region.residue else 0
    empty = np.zeros(low.shape[1], dtype=bool)
    places = []
    for block in range(period):
        missing = 1 + block - (1 + block - residue) % period
        first = inverse.scaled(float(-missing)).plus(1.0).over(float(period))
        others = axes[block * free : (block + 1) * free]
        for form in others:
            first = first - form
        empty |= first.greatest < 0
        places += [first, *others]
    places.append(inverse)
    parts = np.stack([form.parts for form in places], axis=1)
    return Form(parts, np.stack([form.rest for form in places]), inverse.frame), empty


def _directions(encoder: Encoder) -> Floats:
    """d pi / d(e_b - e_first), of shape (free frequencies, P)."""
    period, free = _period(encoder), len(encoder.symbols) - 2
    rows = np.zeros((period * free, period * (free + 1) + 1))
    for row in range(period * free):
        first = row // free * (free + 1)
        rows[row, first], rows[row, first + 1 + row % free] = -1, 1
    return rows


# Layers --------------------------------------------------------------------------------------------


def _through(
    encoder: Encoder, frequencies: Form, directions: Floats, residue: int, most: int = MOST_CASES
) -> tuple[Form, Form, Integers]:
    """The marker's activation (d, 1, B') after all layers, its derivatives (K, d, 1, B'), and their boxes.

    The columns B' are cases of the signs of units; the last array has the number of each one's box.
    """
    stream = _embedded(encoder, residue, frequencies.frame)
    change = constant(np.zeros((len(directions), *stream.rest.shape)), frequencies.frame)
    owner = np.arange(frequencies.rest.shape[-1])
    for number, layer in enumerate(encoder.layers, 1):
        asking = slice(-1, None) if number == len(encoder.layers) else slice(None)
        (before, between), (after, last) = layer.before, layer.after
        read, moved = _attended(layer, *_normed(before, stream, change), frequencies, directions, asking)
        stream, change = _normed(after, stream[:, asking] + read, change[:, :, asking] + moved)
        hidden, bent = _normed(between, stream, change)
        hidden = hidden.mapped(layer.hidden_weight).plus(layer.hidden_bias[:, None, None])
        columns, signs = signs_by_cases(hidden, owner, most)
        hidden, bent, stream, change = (form[..., columns] for form in (hidden, bent, stream, change))
        frequencies, owner = frequencies[:, columns], owner[columns]
        hidden, bent = rectified(hidden, bent.mapped(layer.hidden_weight), signs, MOST_UNITS)
        stream = stream + hidden.mapped(layer.back_weight).plus(layer.back_bias[:, None, None])
        stream, change = _normed(last, stream, change + bent.mapped(layer.back_weight))
    return stream[:, -1:], change[:, :, -1:], owner


def _embedded(encoder: Encoder, residue: int, frame: Frame) -> Form:
    """The stream of the places before the first layer, (d, P, 1): the marker is at n = residue mod m."""
    marker = encoder.symbols.index(str(encoder.ending))
    ordinary = [row for row in range(len(encoder.symbols)) if row != marker]
    table = encoder.positions.table if isinstance(encoder.positions, Periodic) else None
    period = _period(encoder)
    rows = np.concatenate([*[encoder.embedding[ordinary]] * period, encoder.embedding[[marker]]])
    stream = constant(rows.T[:, :, None], frame)
    if table is None:
        return stream
    added = np.concatenate([np.repeat(table, len(ordinary), axis=0), table[[(residue - 1) % period]]])
    return stream.plus(added.T[:, :, None])


def _normed(norm: EncoderNorm | None, stream: Form, change: Form) -> tuple[Form, Form]:
    """LayerNorm x = c / sqrt(mean c^2 + epsilon), c = y - mean y, and dx = (dc - x mean(x dc)) / the root.

    d I - 1 is an exact matrix, and d c is its product with y. The variance is not negative.
    """
    if norm is None:
        return stream, change
    width = len(stream.rest)
    centring = width * np.eye(width) - 1
    centred, moved = stream.mapped(centring).over(width), change.mapped(centring).over(width)
    variance = contracted(centred, centred, "dpz,dpz->pz").over(width)
    inverse = reciprocal_root(variance.plus(norm.epsilon), norm.epsilon)
    normed = centred * inverse[None]
    along = contracted(normed, moved, "dpz,kdpz->kpz").over(width)
    turned = (moved - normed[None] * along[:, None]) * inverse[None, None]
    gain = norm.gain[:, None, None]
    return normed.scaled(gain).plus(norm.bias[:, None, None]), turned.scaled(gain)


def _attended(
    layer: EncoderLayer, stream: Form, change: Form, frequencies: Form, directions: Floats, asking: slice
) -> tuple[Form, Form]:
    """What the heads write at the places that are asked for, and its derivatives.

    Letters of axes: heads h, width of a head d, asking place a, key's place c, direction k, box z.
    """
    width, places, boxes = change.rest.shape[1:]
    size = width // layer.heads
    mixed = stream.mapped(layer.in_weight).plus(layer.in_bias[:, None, None])
    query, key, value = mixed.reshaped(3, layer.heads, size, places, stream.rest.shape[-1])
    moved = change.mapped(layer.in_weight).reshaped(len(directions), 3, layer.heads, size, places, boxes)
    turned, led, shifted = moved[:, 0], moved[:, 1], moved[:, 2]
    root = np.full((1, 1, 1, 1), 1 / np.sqrt(size))
    scale = constant(root, frequencies.frame, upward(2 * GAMMA * root, 1))
    query, turned = query[:, :, asking] * scale, turned[:, :, :, asking] * scale[None]
    scores = contracted(query, key, "hdaz,hdcz->hacz")
    moving = contracted(turned, key, "khdaz,hdcz->khacz") + contracted(query, led, "hdaz,khdcz->khacz")
    weights, shares, moving = _weights(scores, moving, frequencies)
    beyond = value - value[:, :, :1]
    mean = contracted(weights, beyond, "hacz,hdcz->hdaz")
    factor = shares[None].scaled(directions[:, None, None, :, None]) + weights[None] * moving
    change = contracted(factor, beyond[:, :, None] - mean[:, :, :, None], "khacz,hdacz->khdaz")
    change = change + contracted(weights, shifted - shifted[:, :, :, :1], "hacz,khdcz->khdaz")
    read, change = mean + value[:, :, :1], change + shifted[:, :, :, :1]
    read = read.reshaped(width, *read.rest.shape[2:]).mapped(layer.out_weight)
    change = change.reshaped(len(directions), width, *change.rest.shape[3:]).mapped(layer.out_weight)
    return read.plus(layer.out_bias[:, None, None]), change


def _weights(scores: Form, moving: Form, frequencies: Form) -> tuple[Form, Form, Form]:
    """The weights a_c, e^(s_c) / Z = a_c / pi_c, and ds_c - ds_b.

    b is the key with the best score in the middle of the box. s_b is taken from all scores; s_b - s_b is 0.
    """
    best = scores.centre.argmax(axis=-2, keepdims=True)
    itself = np.arange(scores.rest.shape[-2])[:, None] == best
    nothing = constant(np.zeros_like(scores.rest), scores.frame)
    power = exponential((scores - scores.picked(best, -2)).chosen(itself, nothing))
    shares = power * reciprocal(contracted(power, frequencies, "hacz,cz->haz"))[:, :, None]
    wanted = np.broadcast_to(best, (*moving.rest.shape[:-2], 1, moving.rest.shape[-1]))
    return shares * frequencies[None, None], shares, moving - moving.picked(wanted, -2)
