"""What one symbol can change in a soft encoder, for every n >= 2: the recursion of Lemma 5, in balls.

**Claim.** Take an encoder whose positions a function gives, in a box, without LayerNorm, and without mask if
it has two layers or more. Two words of n >= 2 symbols that differ in one symbol x_i, i < n, have outputs that
differ, in each functional, by at most C / n, if C is at least `every_length_bound`.

**Boxes.** For each symbol there is a box that contains y_j^(k), what stands after layer k at every position j
with this symbol, in every word of every length: y_j^(0) is its embedding and a row in the positions' box, a
head puts out an average of values of all symbols, and the rest is followed by interval arithmetic.

**The recursion.** Norms are Euclidean. Let |change of y_j^(k)| <= eps_k / n for all j != i; eps_0 = 0. A head
of layer k has scores s(y_j, y_w) = (Q y_j + b_Q)(K y_w + b_K) / sqrt(d_h) and weights a_w, and writes the
average of U y_w and a constant. Over the boxes before the layer, and the queries that are asked,

    nu >= |U|;  diam >= |U y - U y'|;  range >= s(q, y) - s(q, y');  rho >= |Q^T K (y - y')| / sqrt(d_h);
    kappa >= |K^T (Q q + b_Q)| / sqrt(d_h);

all greatest values are over two keys y, y' of any symbols, and q. Then the stream between attention and
feed-forward changes, at j != i, by at most moved / n,

    moved = eps_(k-1) (1 + sum_h [nu + diam (rho + 2 kappa) / 4]) + 2 sum_h e^range diam,

and y_j^(k) by eps_k / n, eps_k = (1 + |W2||W1|) moved, as ReLU is 1-Lipschitz. So C = |r| eps_L for an output
r y_n^(L). In layer L only position n asks, the end marker if there is one. What stands at i may change by any
amount: it stays in its box.

**Proof.** Fix j != i and a head; primes are of the second word, u_w = U y_w, and o_- is the average over all
w != i with weights a_w / (1 - a_i). As o = o_- + a_i (u_i - o_-),

    o' - o = (o'_- - o_-) + a'_i (u'_i - o'_-) - a_i (u_i - o_-).

1 / a_i is at least 1 + (n-1) e^-range >= n e^-range, so the last two terms are at most 2 e^range diam / n.
The first is sum a'_w (u'_w - u_w), at most nu eps / n, and sum (a'_w - a_w) u_w over w != i, at most diam
times half of sum |a'_w - a_w|, which is at most tanh(r/4) <= r/4 for scores whose changes have the range r.
s(y'_j, y'_w) - s(y_j, y'_w) has over w a range of at most rho |y'_j - y_j|, and s(y_j, y'_w) - s(y_j, y_w) is
at most kappa |y'_w - y_w| in size: so r <= (rho + 2 kappa) eps / n. (Hahn 2020, Lemma 5, whose constant is
another; this form of the proof, with the weights' change of supplement S2, is ours.)

With a mask and two layers or more it is false: late positions see few keys, and x_1 can change the output by
the order of (ln n)^(L-1) / n.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import flint
import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.exact.balls import positive_part, precision
from attemper.models.arrays import Floats
from attemper.models.soft.weights import Bounded, Encoder, EncoderLayer, Mask

Balls = NDArray[Any]
"""Arrays of balls: what they contain are boxes."""

BITS = 128
"""The precision of everything here."""

SQUARINGS = 6
"""A norm is off by a factor of at most d^(1/128), d the lesser side of its matrix."""


def every_length_bound(
    encoder: Encoder, functionals: Sequence[Sequence[int]]
) -> tuple[flint.arb, list[flint.arb]]:
    """C of the claim for all functionals, K integers each; and by how much one query's scores range.

    The ranges are one for each layer. C is from above, and not finite where it is beyond what balls hold. Its
    size is governed by e^range.
    Raises `UnsupportedError` for other positions, LayerNorm, and a mask with several layers.

    >>> one = np.ones((1, 1))
    >>> positions = Bounded(lambda i, n: np.cos(i)[:, None], -1.0, 1.0)
    >>> blind = Encoder(("a", "b"), None, one, positions, Mask.UNMASKED, (), one, one[0], ("o",))
    >>> every_length_bound(blind, [[1]])  # no layer: position n sees itself only
    (0, [])
    """
    if not isinstance(encoder.positions, Bounded) or any(layer.norms is not None for layer in encoder.layers):
        raise UnsupportedError(
            "a bound for every n is for positions that a function gives, in a box, and without LayerNorm, "
            "which may multiply it by 1/sqrt(epsilon); 'length' asks for one by the table of positions"
        )
    if encoder.mask is not Mask.UNMASKED and len(encoder.layers) > 1:
        raise UnsupportedError("with a mask and several layers the first symbol may change more than C/n")
    with precision(BITS):
        place = flint.arb(encoder.positions.least).union(flint.arb(encoder.positions.greatest))
        boxes, change, ranges = _exact(encoder.embedding) + place, flint.arb(0), []
        for number, layer in enumerate(encoder.layers, start=1):
            asks = [symbol == encoder.ending for symbol in encoder.symbols]
            is_read_alone = number == len(encoder.layers) and any(asks)
            boxes, change, widest = _attended(layer, boxes, boxes[asks] if is_read_alone else boxes, change)
            ranges.append(widest)
            inward, outward = _exact(layer.hidden_weight), _exact(layer.back_weight)
            hidden = boxes @ inward.T + _exact(layer.hidden_bias)
            hidden = np.asarray(np.frompyfunc(positive_part, 1, 1)(hidden))
            boxes = boxes + hidden @ outward.T + _exact(layer.back_bias)
            change *= 1 + _norm(inward) * _norm(outward)
        rows = _exact(np.array(functionals, dtype=np.float64)) @ _exact(encoder.readout)
        return (_longest(rows) * change).upper(), ranges


def _attended(
    layer: EncoderLayer, boxes: Balls, asking: Balls, change: flint.arb
) -> tuple[Balls, flint.arb, flint.arb]:
    """The boxes (S, d) after attention; what its output changes by at most, times n; and the scores' range.

    `boxes` (S, d) are those before, `asking` (A, d) of them those that have queries, `change` is eps.
    """
    width, size = boxes.shape[1], boxes.shape[1] // layer.heads
    apart = (boxes[:, None] - boxes).reshape(-1, width)
    weight, bias, out = _exact(layer.in_weight), _exact(layer.in_bias), _exact(layer.out_weight)
    slope, jump, widest = flint.arb(1), flint.arb(0), flint.arb(0)
    after = boxes + (out @ bias[2 * width :] + _exact(layer.out_bias))
    for first in range(0, width, size):
        query, key, value = (weight[top : top + size] for top in range(first, 3 * width, width))
        pairing = query.T @ key / flint.arb(size).sqrt()
        pulls = asking @ pairing + bias[first : first + size] @ key / flint.arb(size).sqrt()
        written = out[:, first : first + size] @ value
        ranged, diameter = _greatest(pulls @ apart.T), _longest(apart @ written.T)
        slope += _norm(written) + diameter * (_longest(apart @ pairing.T) + 2 * _longest(pulls)) / 4
        jump += 2 * ranged.exp() * diameter
        widest = widest.max(ranged)
        after = after + np.frompyfunc(flint.arb.union, 2, 1).reduce(boxes @ written.T, axis=0)
    return after, change * slope + jump, widest


def _exact(numbers: Floats) -> Balls:
    """Balls that contain these numbers alone."""
    return np.asarray(np.frompyfunc(flint.arb, 1, 1)(numbers))


def _norm(matrix: Balls) -> flint.arb:
    """At least the spectral norm: tr((A^T A)^k)^(1/2k), k = 2^`SQUARINGS`: a trace sums all eigenvalues."""
    thin = flint.arb_mat((matrix if len(matrix) > len(matrix.T) else matrix.T).tolist())
    power = thin.transpose() * thin
    for _ in range(SQUARINGS):
        power *= power
    return reduce(lambda found, _: found.sqrt(), range(SQUARINGS + 1), power.trace().abs_upper())


def _longest(rows: Balls) -> flint.arb:
    """At least the length of each row."""
    sizes = np.asarray(np.frompyfunc(flint.arb.abs_upper, 1, 1)(rows))
    return _greatest((sizes**2).sum(axis=1)).sqrt()


def _greatest(values: Balls) -> flint.arb:
    """At least the size of each, exactly; not a number if one of them may be any."""
    return flint.arb(reduce(flint.arb.max, [value.abs_upper() for value in values.flat]))
