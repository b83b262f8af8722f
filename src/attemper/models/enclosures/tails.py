"""What follows the heads of an encoder's last layer at position n: its slope on boxes, and LayerNorm's.

**Mean-value theorem.** Let g be a composition of smooth functions and ReLUs on a convex set, J(x, p) the
product of its derivatives at x where each ReLU at z has the slope p: 1 if z > 0, 0 if z < 0, and any number
in [0, 1] if z = 0. *For all x, x' there is a point z of the segment between them, and slopes p, with g(x')
- g(x) = J(z, p) (x' - x).* Proof: replace ReLU by the smooth functions r_m(z) = integral of a slope that
rises from 0 at -1/m to 1 at 1/m; they converge to ReLU uniformly. For each m the mean-value theorem on the
segment gives a point z_m and slopes p_m = r_m'(z-value at z_m) in [0, 1]. A subsequence of (z_m, p_m)
converges, to (z, p) say. If a unit is positive at z it is above 1/m at z_m from some m on, so its slope is
1; likewise for negative ones. J and the functions are continuous in the point and the slopes, so the
identity holds in the limit.

This is what `forms.rectified` encloses: a *point* is a place with a choice of slopes. So if a form stands for
J at all points of a box, |g(x') - g(x)| is at most the greatest |J (x' - x)| over what the form allows, for
all x, x' whose segment is in the box; a box with both has it.

**LayerNorm.** With u = x - mean(x), s = sqrt(|u|^2 / d + eps) and y = u / s, it is y * gain + bias, and its
derivative diag(gain) (1/s) (P - y y^T / d), P = I - 1 1^T / d. A row r becomes (1/s) (P - y y^T / d) (gain
* r): that matrix is symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import sqrt
from typing import final

import flint
import numpy as np

from attemper.exact.balls import precision
from attemper.models.arrays import Floats
from attemper.models.enclosures import forms
from attemper.models.enclosures.smooth import smoothed
from attemper.models.soft.activations import Activation
from attemper.models.soft.weights import EncoderLayer, EncoderNorm

MOST_UNITS = 64
"""The most units, in a box, that get noise symbols of their own."""

MOST_SQUARES = 2.0**1022
"""What is said of a sum of squares from below is at most this: an overflow must not become a bound."""

Back = Callable[[forms.Form], forms.Form]
"""From the derivative by what a step gives to that by what it takes; both of shape (d, 1, B)."""


@final
@dataclass(frozen=True, eq=False)
class Tail:
    """A functional of the activation at position n, as a function of what the heads there read.

    `row` (d, 1, 1) is the functional's row of the readout.
    """

    layer: EncoderLayer
    row: forms.Form


@final
@dataclass(frozen=True, eq=False)
class Slope:
    """The derivatives by what the heads read, and by the residual stream, (d, 1, B), and the value (1, B)."""

    read: forms.Form
    residual: forms.Form
    value: forms.Form


@final
@dataclass(frozen=True, eq=False)
class BehindHeads:
    """What goes on at all points of boxes, (d, 1, B): the residual sum, before its norm and after, and units.

    `back_after`, `back_between` and `back_last` take derivatives back through the norms.
    """

    total: forms.Form
    units: forms.Form
    signs: forms.Signs
    last: forms.Form
    back_after: Back
    back_between: Back
    back_last: Back


def followed(layer: EncoderLayer, read: forms.Form, residual: forms.Form) -> BehindHeads:
    """What follows heads that read this, for forms (d, 1, B) of what goes in."""
    (_, norm_between), (norm_after, norm_last) = layer.before, layer.after
    middle = read.mapped(layer.out_weight).plus(layer.out_bias[:, None, None]) + residual
    middle, back_after = normed(norm_after, middle)
    middle = _named(middle, middle)
    entering, back_between = normed(norm_between, middle)
    entering = _named(entering, middle)
    units = entering.mapped(layer.hidden_weight).plus(layer.hidden_bias[:, None, None])
    signs = forms.Signs(units.least >= 0, units.greatest <= 0)
    if layer.activation is Activation.RELU:
        none = forms.constant(np.zeros((1, 1, 1, 1)), units.frame)
        hidden, _ = forms.rectified(units, none, signs, MOST_UNITS)
    else:
        hidden = smoothed(units, layer.activation, MOST_UNITS)
    found = middle + hidden.mapped(layer.back_weight).plus(layer.back_bias[:, None, None])
    found = _named(found, hidden)
    last, back_last = normed(norm_last, found)
    return BehindHeads(found, units, signs, last, back_after, back_between, back_last)


def slope_of(tail: Tail, read: forms.Form, residual: forms.Form) -> Slope:
    """The functional and its derivatives at all points of boxes, with ReLU, for forms (d, 1, B) of what
    goes in.

    The units are rectified twice, for their values and, when the derivative by them is known, for their
    slopes; the second time their symbols come after all others, so a symbol never has two meanings.
    """
    layer, ahead = tail.layer, followed(tail.layer, read, residual)
    row = _named(ahead.back_last(tail.row), ahead.total)
    asked = row.mapped(layer.back_weight.T)
    _, asked = forms.rectified(ahead.units, asked[None], ahead.signs, MOST_UNITS)
    row = row + ahead.back_between(asked[0].mapped(layer.hidden_weight.T))
    row = ahead.back_after(_named(row, row))
    value = forms.contracted(tail.row, ahead.last, "dpz,dpz->pz")
    return Slope(row.mapped(layer.out_weight.T), row, value)


def _named(form: forms.Form, other: forms.Form) -> forms.Form:
    """The form (d, 1, B) with its rests as coefficients of d new symbols, after those of both forms.

    What is off by at most r is off by r e, e in [-1, 1] a function of the point. Linear maps add the rests up
    by absolute values, and coefficients with their signs.
    """
    first, width = max(len(form.parts), len(other.parts)), len(form.rest)
    boxes = max(form.rest.shape[-1], other.rest.shape[-1])
    parts = np.zeros((first + width, width, 1, boxes))
    parts[: len(form.parts)] = form.parts
    parts[first + np.arange(width), np.arange(width)] = form.rest
    return forms.Form(parts, np.zeros((width, 1, boxes)), form.frame)


def normed(norm: EncoderNorm | None, stream: forms.Form) -> tuple[forms.Form, Back]:
    """LayerNorm of forms (d, P, B), and how a derivative goes back through it: see the head of this file.

    The variance |u|^2 / d is at least (k u)^2 / (d |k|^2) for any vector k != 0 (Cauchy and Schwarz). Here k
    is the centre of the form of u: k u is linear in the noise, so this says more than the square's own form
    where boxes are wide. It is taken as ((k u) / |k|^2) (k u) / d, as (k u)^2 may overflow where |k|^2 does
    not, with some roundings less: nine units for those of |k|^2, the quotients, the product and the sum. What
    underflows of them is nothing beside epsilon, which is above TINY: if the first quotient is below 2^-1022,
    the second is below 2^-1020.
    """
    if norm is None:
        return stream, _unchanged
    width, scaling = len(stream.rest), norm.gain[:, None, None]
    centred = _centred(stream)
    along = forms.contracted(forms.constant(centred.centre, stream.frame), centred, "dpz,dpz->pz").least
    square = forms.upward((centred.centre * centred.centre).sum(axis=0), width)
    above = np.maximum(along, 0)
    variance = forms.contracted(centred, centred, "dpz,dpz->pz").over(width)
    at_least = _with_epsilon(above / square * above / width, norm) * (1 - 9 * forms.GAMMA)
    scale = forms.reciprocal_root(variance.plus(norm.epsilon), at_least)
    unit = centred * scale[None]

    def back(row: forms.Form) -> forms.Form:
        scaled = _centred(row.scaled(scaling))
        share = forms.contracted(unit, scaled, "dpz,dpz->pz").over(width)
        return (scaled - unit * share[None]) * scale[None]

    return unit.scaled(scaling).plus(norm.bias[:, None, None]), back


def _unchanged(row: forms.Form) -> forms.Form:
    return row


def _with_epsilon(variance: Floats, norm: EncoderNorm) -> Floats:
    """At most variance + epsilon but for one rounding, and finite; nothing is known where variance is NaN.

    An infinite variance is a mean of squares, none of them infinite, whose sum overflows: that is above
    `MOST_SQUARES`.
    """
    most = MOST_SQUARES / len(norm.gain)
    return np.minimum(np.fmax(variance, 0), most) + min(norm.epsilon, most)


def _centred(form: forms.Form) -> forms.Form:
    """x - mean(x), as (d I - 1 1^T) x / d: that matrix has integers."""
    width = len(form.rest)
    return form.mapped(width * np.eye(width) - 1).over(width)


def layer_norm_slope_by_coordinates(norm: EncoderNorm) -> float:
    """At least LayerNorm's Lipschitz constant in the maximum norm: kappa_d max |gain| / sqrt(eps).

    >>> norm = EncoderNorm(np.ones(16), np.zeros(16), 1e-5)
    >>> round(layer_norm_slope_by_coordinates(norm), 2)
    592.93
    """
    with precision(64):
        found = _kappa(len(norm.gain)) * flint.arb(float(np.abs(norm.gain).max()))
        found /= flint.arb(norm.epsilon).sqrt()
        return float(np.nextafter(float(found.upper()), np.inf)) + forms.TINY  # no processor takes that for 0


@cache
def _kappa(width: int) -> flint.arb:
    """A ball whose upper end is at least kappa_d, the maximum norm of LayerNorm' for gain and epsilon 1.

    With the unit vector v = u / |u| and z = 1 / (variance + 1), so 1/s = sqrt z and y y^T / d = (1 - z) v
    v^T, it is the maximum over coordinates i, signs q, z in [0, 1] and unit vectors v of sum 0 of

        sqrt(z) (P_i q - (1 - z) v_i (v q)).

    With a = P e_i and b = P q, -(v a) (v b) is at most (|a| |b| - a b) / 2, for v along a/|a| - b/|b|. For
    S = sum q: a b = q_i - S/d, |a|^2 = 1 - 1/d, |b|^2 = d - S^2/d. So kappa_d is the maximum over q_i = 1
    (-1 gives less), S = 2 m + 2 - d for m = 0, ..., d - 2 (at S = d it is 0), and z of

        sqrt(z) ((1 + z) (1 - S/d) + (1 - z) |a| |b|) / 2 = sqrt(z) (p + r z),
        p, r = ((1 - S/d) +- |a| |b|) / 2,

    which is greatest at z = -p / (3 r) if that is between 0 and 1, with the value 2 p / 3 sqrt(z), or else at
    z = 1, p + r = 1 - S/d. (Up to d = 57 that is 2 (1 - 1/d), at S = 2 - d; at d = 256 it is 3.51.)
    """
    found = flint.arb(0)
    for total in range(2 - width, width, 2):
        first = 1 - flint.arb(total) / width
        other = ((1 - flint.arb(1) / width) * (width - flint.arb(total * total) / width)).sqrt()
        start, rise = (first + other) / 2, (first - other) / 2
        found = found.max(first)
        if rise < 0 and not -start / (3 * rise) > 1:
            found = found.max(2 * start / 3 * (-start / (3 * rise)).sqrt())
    return found


def layer_norm_change(norm: EncoderNorm, stream: forms.Form, change: Floats) -> Floats:
    """At least the change (d, P, B) of LayerNorm, where x changes by at most `change` inside its boxes.

    By the mean-value theorem the change is diag(gain) (1/s) (P - y y^T / d) D at a point of the box, |D| <=
    `change`. Coordinate c of the bracket is at most |D|_2 (all eigenvalues are in [0, 1]), and at most
    |D_c| + mean |D| + |y_c| |D|_2 / sqrt(d) (Cauchy, |y|_2 <= sqrt(d)); s is at least what the box shows. In
    the whole space it is at most `layer_norm_slope_by_coordinates` max |D|.
    """
    width = len(change)
    centred = _centred(stream)
    square = np.maximum(centred.least, np.maximum(-centred.greatest, 0))
    spread = (square * square).sum(axis=0) / width * (1 - (width + 8) * forms.GAMMA)
    deviation = np.sqrt(_with_epsilon(spread, norm) * (1 - 8 * forms.GAMMA)) * (1 - 4 * forms.GAMMA)
    length = forms.upward(np.sqrt(forms.upward((change * change).sum(axis=0), width)), 2)
    own = np.minimum(forms.upward(centred.magnitude / deviation, 1), forms.upward(np.asarray(sqrt(width)), 1))
    mixed = change + change.sum(axis=0) / width + own * length / np.float64(sqrt(width))
    moved = forms.upward(np.fmin(length, forms.upward(mixed, width + 8)) / deviation, 2)
    inside = forms.upward(moved * np.abs(norm.gain)[:, None, None], 1)
    anywhere = forms.upward(layer_norm_slope_by_coordinates(norm) * change.max(axis=0), 1)
    return np.asarray(np.fmin(inside, anywhere))
